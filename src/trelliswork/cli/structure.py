"""Options of ``train`` that say what a model looks at: its order and its segments."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

__all__ = ["MaxSegment", "MinPatternCount", "Order", "read_max_segment"]

Order = Annotated[
    int, typer.Option(min=1, help="Most labels before a label that a weight looks at.")
]
MaxSegment = Annotated[
    str,
    typer.Option(
        metavar="INT|auto|LABEL=INT,…",
        help="Most tokens of a segment, for all or by label; above 1, labels stand on segments. "
        "auto: as long as the longest in TRAIN.",
    ),
]
MinPatternCount = Annotated[
    int, typer.Option(min=1, help="Leave out label patterns seen fewer times.")
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
