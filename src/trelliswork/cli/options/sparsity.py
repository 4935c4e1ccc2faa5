"""Options that make weights 0: l1, norms of groups, how they are minimised, and what is left."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, get_args

import typer

from trelliswork._utils.tables import join_names
from trelliswork.learn.optimizers.choose import Solver
from trelliswork.learn.sparsity.group_lasso import GROUPINGS, GroupLasso

__all__ = [
    "L1",
    "Adaptive",
    "Debias",
    "GapTol",
    "GroupLassoTexts",
    "NormName",
    "NormOption",
    "SolverOption",
    "check_sparsity",
    "read_groups",
]


class NormName(StrEnum):
    """Norms of groups."""

    L2 = "l2"
    LINF = "linf"


L1 = Annotated[
    float,
    typer.Option("--l1", min=0.0, help="Strength of the L1 penalty: the more, the fewer weights."),
]
GroupLassoTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--group-lasso",
        metavar="GROUPS[:FLOAT]",
        help="Weights that live or die together, and how strong that is: template:50. Groups are "
        f"{join_names(GROUPINGS)}. May be given again, for groups within groups.",
    ),
]
NormOption = Annotated[
    NormName, typer.Option("--norm", help="What --group-lasso keeps small: length, or maximum.")
]
Adaptive = Annotated[
    bool,
    typer.Option(
        "--adaptive",
        help="Fit once under L2 alone, and divide the strengths of --group-lasso by the size that "
        "groups have there: fewer groups for the same score.",
    ),
]
SolverOption = Annotated[
    str,
    typer.Option(
        "--solver",
        metavar="|".join(get_args(Solver)),
        help="How to minimise. auto: by what there is to minimise.",
    ),
]
Debias = Annotated[
    bool,
    typer.Option(
        "--debias", help="Fit the weights that are left once more, without what made others 0."
    ),
]
GapTol = Annotated[
    float,
    typer.Option(
        "--gap-tol",
        min=0.0,
        help="With --l1 or --group-lasso: stop when the loss is proven to be this near its "
        "minimum, as a share of it.",
    ),
]


def read_groups(options: Mapping[str, Any]) -> GroupLasso | None:
    """Read ``template:50``, or several, coarse and fine; None: there are none.

    Parameters
    ----------
    options
        All options, by the names of the parameters of the command.

    Raises
    ------
    ValueError
        A text is no such thing, or two are about the same groups.
    """
    strengths: dict[Any, float] = {}
    for text in options["group_lasso"] or ():
        name, colon, number = (piece.strip() for piece in text.partition(":"))
        if name not in GROUPINGS:
            raise ValueError(
                f"--group-lasso: expected {', '.join(GROUPINGS[:-1])} or {GROUPINGS[-1]}, perhaps "
                f"with a strength (template:50), got {text!r}."
            )
        if name in strengths:
            raise ValueError(f"--group-lasso: expected all groups once, got {name} twice.")
        strengths[name] = _strength(number, text) if colon else 1.0
    if not strengths:
        return None
    norm, adaptive = options["norm"].value, options["adaptive"]
    if len(strengths) == 1:
        ((only, strength),) = strengths.items()
        return GroupLasso(only, strength, norm, adaptive=adaptive)
    return GroupLasso(tuple(strengths), tuple(strengths.values()), norm, adaptive=adaptive)


def check_sparsity(options: Mapping[str, Any], given: Sequence[str]) -> None:
    """Raise a `ValueError` at the first option that has no effect on the others given.

    Parameters
    ----------
    options
        All options, by the names of the parameters of the command.
    given
        The names of those that stand on the command line.
    """
    groups = read_groups(options)
    for name in ("norm", "adaptive"):
        if name in given and groups is None:
            raise ValueError(f"--{name}: expected with --group-lasso only.")
    is_sparse = options["l1"] > 0 or groups is not None
    for name, option in (("debias", "--debias"), ("gap_tol", "--gap-tol")):
        if name in given and not is_sparse:
            raise ValueError(
                f"{option}: expected with --l1 or --group-lasso only, without which no weight is 0."
            )


def _strength(number: str, text: str) -> float:
    try:
        strength = float(number)
    except ValueError:
        strength = -1.0
    if not 0.0 <= strength < math.inf:
        raise ValueError(
            f"--group-lasso: expected a number from 0 up after the colon (template:50), got "
            f"{text!r}."
        )
    return strength
