"""Options for sparse models: L1, group norms, optimiser, debiasing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args

import typer

from trelliswork._utils.tables import join_names
from trelliswork.learn.optimizers.minimizer import Solver
from trelliswork.learn.sparsity.group_lasso import GROUPINGS, GroupLasso

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GapTol", "NormName", "NormOption", "SparsityOptions"]


class NormName(StrEnum):
    """Norms of groups."""

    L2 = "l2"
    LINF = "linf"


NormOption = Annotated[
    NormName,
    typer.Option("--norm", help="Norm of a group: Euclidean length (l2) or maximum (linf)."),
]
GapTol = Annotated[
    float,
    typer.Option(
        "--gap-tol",
        metavar="FLOAT",
        min=0.0,
        help="Sparse penalties: stop when the duality gap is at most this share of the loss.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class SparsityOptions:
    """Penalties that make weights zero, and the optimiser."""

    panel: ClassVar[str] = "Sparsity"

    l1: Annotated[
        float,
        typer.Option(
            "--l1", metavar="FLOAT", min=0.0, help="Strength of the L1 penalty. Larger: sparser."
        ),
    ] = 0.0
    group_lasso: Annotated[
        list[str] | None,
        typer.Option(
            "--group-lasso",
            metavar="GROUPS[:FLOAT]",
            help="Penalty on whole groups of weights, and its strength: template:50. Groups: "
            f"{join_names(GROUPINGS)}. Repeat for groups within groups.",
        ),
    ] = None
    norm: NormOption = NormName.L2
    adaptive: Annotated[
        bool,
        typer.Option(
            "--adaptive",
            help="Fit under L2 alone first, then divide each strength of --group-lasso by the norm "
            "of its group: fewer groups at the same score.",
        ),
    ] = False
    debias: Annotated[
        bool,
        typer.Option(
            "--debias", help="Refit the remaining weights without --l1 and --group-lasso."
        ),
    ] = False
    solver: Annotated[
        str,
        typer.Option(
            "--solver",
            metavar="NAME",
            help=f"Optimiser: {', '.join(get_args(Solver))}. auto: chosen by the penalties.",
        ),
    ] = "auto"

    def groups(self) -> GroupLasso | None:
        """Read ``template:50``, or several, coarse and fine; ``None`` if there are none.

        Raises
        ------
        ValueError
            If a text has another form, or two are about the same groups.
        """
        strengths: dict[Any, float] = {}
        for text in self.group_lasso or ():
            name, colon, number = (piece.strip() for piece in text.partition(":"))
            if name not in GROUPINGS:
                raise ValueError(
                    f"--group-lasso: expected {', '.join(GROUPINGS[:-1])} or {GROUPINGS[-1]}, "
                    f"perhaps with a strength (template:50), got {text!r}."
                )
            if name in strengths:
                raise ValueError(f"--group-lasso: expected all groups once, got {name} twice.")
            strengths[name] = _strength(number, text) if colon else 1.0
        if not strengths:
            return None
        if len(strengths) == 1:
            ((only, strength),) = strengths.items()
            return GroupLasso(only, strength, self.norm.value, adaptive=self.adaptive)
        return GroupLasso(
            tuple(strengths), tuple(strengths.values()), self.norm.value, adaptive=self.adaptive
        )

    def check(self, given: Sequence[str]) -> None:
        """Raise a `ValueError` at the first option that has no effect.

        Parameters
        ----------
        given
            Names of the parameters that are given on the command line.
        """
        groups = self.groups()
        for name in ("norm", "adaptive"):
            if name in given and groups is None:
                raise ValueError(f"--{name}: expected with --group-lasso only.")
        is_sparse = self.l1 > 0 or groups is not None
        for name, option in (("debias", "--debias"), ("gap_tol", "--gap-tol")):
            if name in given and not is_sparse:
                raise ValueError(
                    f"{option}: expected with --l1 or --group-lasso only, without which no weight "
                    "is 0."
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
