"""Options of the model: its kind, features, order, segments and penalty.

The option ``--features``: a bundle, a template file, or template text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import typer

from trelliswork.errors import TemplateError
from trelliswork.features import BUNDLES, Templates, bundle

__all__ = [
    "FEATURES_HELP",
    "L2",
    "Features",
    "MaxSegment",
    "MinCount",
    "ModelKind",
    "ModelOptions",
    "Order",
    "read_l2",
    "read_max_segment",
    "resolve_features",
]


class ModelKind(StrEnum):
    """Kinds of models."""

    CRF = "crf"
    HMM = "hmm"
    PERCEPTRON = "perceptron"


class Which(StrEnum):
    """Pairs of names that have a weight: those observed, or all."""

    OBSERVED = "observed"
    ALL = "all"


FEATURES_HELP = (
    f"Bundle of templates ({', '.join(BUNDLES)}), path of a template file (ours, CRF++ or Wapiti), "
    'or template text such as "word[-1..1]".'
)
Features = Annotated[str, typer.Option(metavar="TEXT", help=FEATURES_HELP)]

Order = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Number of previous labels that a weight depends on. 0: no transitions.",
    ),
]

MaxSegment = Annotated[
    str,
    typer.Option(
        metavar="N|auto|LABEL=N,…",
        help="Maximum tokens per segment, for all labels or by label. Above 1, labels stand on "
        "segments. auto: the longest in TRAIN.",
    ),
]

MinCount = Annotated[
    int, typer.Option(metavar="N", min=1, help="Drop features that occur less often.")
]

L2 = Annotated[
    str,
    typer.Option(
        "--l2",
        metavar="FLOAT|N:FLOAT,…",
        help="Strength of the L2 penalty, for all weights or by order: 0:1,2:0.1.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The model to train."""

    panel: ClassVar[str] = "Model"

    model: Annotated[
        ModelKind,
        typer.Option(
            metavar="KIND",
            help="Conditional random field (crf), hidden Markov model (hmm) or averaged "
            "perceptron (perceptron).",
        ),
    ] = ModelKind.CRF
    features: Features = "ner"
    min_count: MinCount = 1
    order: Order = 1
    max_segment: MaxSegment = "1"
    adjacent: Annotated[
        bool,
        typer.Option("--adjacent", help="Let segments with the same plain label be adjacent."),
    ] = False
    min_pattern_count: Annotated[
        int, typer.Option(metavar="N", min=1, help="Drop label patterns that occur less often.")
    ] = 1
    max_patterns: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Maximum number of label patterns; the most frequent are kept."
        ),
    ] = None
    edge_order: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Highest order of the label patterns with edge: features."
        ),
    ] = 1
    pairs: Annotated[Which, typer.Option(help="(feature, label) pairs that have a weight.")] = (
        Which.OBSERVED
    )
    transitions: Annotated[
        Which | None,
        typer.Option(
            help="(label, label) pairs that have a weight. Default: observed; all with segments."
        ),
    ] = None
    l2: L2 = "1.0"
    smoothing: Annotated[
        float,
        typer.Option(
            metavar="FLOAT",
            min=0.0,
            help="hmm: trust in the shape of a word relative to the word itself.",
        ),
    ] = 1.0
    init: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Start from the weights of this model."),
    ] = None


def read_max_segment(text: str) -> int | Literal["auto"] | dict[str, int]:
    """Read ``3``, ``auto`` or ``author=30,year=3``.

    Raises
    ------
    ValueError
        If the text has another form.
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
    """Read ``0.5``, or strengths by order: ``0:1,2:0.1``.

    Raises
    ------
    ValueError
        If the text has another form.
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


BARE_TEMPLATES = ("word", "token", "bias")

TEMPLATE_PREFIXES = ("edge", "begin", "end", "segment")


def resolve_features(given: str) -> str | Templates:
    """Return the name of a bundle, or the templates of a file or of the text itself."""
    if given in BUNDLES:
        bundle(given)
        return given
    if Path(given).is_file():
        return Templates.from_file(given)
    # Every other template has a bracket or a prefix; paths rarely do.
    has_prefix = given.partition(":")[0].strip() in TEMPLATE_PREFIXES
    if given in BARE_TEMPLATES or has_prefix or any(mark in given for mark in "[(\n"):
        return Templates.parse(given, origin="--features")
    raise TemplateError(
        f"--features: expected a bundle ({', '.join(BUNDLES)}), the path of a template file, or "
        f"template text, got {given!r}, and there is no such file."
    )
