"""Options of ``train`` that say what a model looks at: its order and its segments."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import typer

__all__ = [
    "L2",
    "Adjacent",
    "EdgeOrder",
    "MaxPatterns",
    "MaxSegment",
    "MinPatternCount",
    "Order",
    "read_l2",
    "read_max_segment",
]

Order = Annotated[
    int,
    typer.Option(
        min=0, help="Most labels before a label that a weight looks at; 0: no transitions."
    ),
]
MaxSegment = Annotated[
    str,
    typer.Option(
        metavar="INT|auto|LABEL=INT,…",
        help="Most tokens of a segment, for all or by label; above 1, labels stand on segments. "
        "auto: as long as the longest in TRAIN.",
    ),
]
Adjacent = Annotated[
    bool, typer.Option("--adjacent", help="Segments with one plain label may touch.")
]
MinPatternCount = Annotated[
    int, typer.Option(min=1, help="Leave out label patterns seen fewer times.")
]
MaxPatterns = Annotated[
    int | None, typer.Option(min=1, help="Keep so many label patterns, the most frequent.")
]
EdgeOrder = Annotated[
    int, typer.Option(min=0, help="Highest order of the patterns that read edge: templates.")
]
L2 = Annotated[
    str,
    typer.Option(
        "--l2",
        metavar="FLOAT|ORDER:FLOAT,…",
        help="Strength of the L2 penalty, for all weights or by order: 0:1,2:0.1.",
    ),
]


def read_max_segment(text: str) -> int | Literal["auto"] | dict[str, int]:
    """Read ``3``, ``auto`` or ``author=30,year=3``.

    Raises
    ------
    ValueError
        The text is none of these.
    """
    if text == "auto":
        return "auto"
    if text.isdecimal() and int(text) > 0:
        return int(text)
    longest: dict[str, int] = {}
    for part in text.split(","):
        # A label may contain "=", a number cannot.
        label, _, length = (piece.strip() for piece in part.rpartition("="))
        if not label or not length.isdecimal() or int(length) < 1:
            raise ValueError(
                "--max-segment: expected a number of tokens, auto, or label=number pairs joined "
                f"by commas, got {part!r}."
            )
        if label in longest:
            raise ValueError(f"--max-segment: expected every label once, got {label!r} twice.")
        longest[label] = int(length)
    return longest


def read_l2(text: str) -> float | dict[int, float]:
    """Read ``0.5`` or ``0:1,2:0.1``, strengths by order.

    Raises
    ------
    ValueError
        The text is neither.
    """
    if ":" not in text:
        return _strength(text)
    strengths: dict[int, float] = {}
    for part in text.split(","):
        order, colon, strength = (piece.strip() for piece in part.partition(":"))
        if not colon or not order.isdecimal():
            raise ValueError(f"--l2: expected order:number pairs joined by commas, got {part!r}.")
        if int(order) in strengths:
            raise ValueError(f"--l2: expected every order once, got {order} twice.")
        strengths[int(order)] = _strength(strength)
    return strengths


def _strength(text: str) -> float:
    try:
        strength = float(text)
    except ValueError:
        strength = -1.0
    if not 0.0 <= strength < math.inf:
        raise ValueError(
            f"--l2: expected a number from 0 up, or one for each order (0:1,2:0.1), got {text!r}."
        )
    return strength
