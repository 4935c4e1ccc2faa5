"""A sparse training task: an objective with its regularizer.

`SparseTask.screened` leaves out weights that are 0 at every optimum. These are known before
training, as the gradient of the likelihood is bounded for all weights: a feature seen once with a
label cannot outweigh an l1 coefficient of 1. Screening changes the time of training only.
`SparseTask.survivors` is the smooth objective of the weights that are not 0 after training, to fit
them again without the regularizer. ``n`` parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.learn.sparsity.regularizer import Regularizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from trelliswork._typing import BoolArray, FloatArray
    from trelliswork.features import Encoder
    from trelliswork.learn.objective.objective import Objective
    from trelliswork.learn.objective.soft_terms import SoftTerms
    from trelliswork.learn.sparsity.group_lasso import GroupLasso

    MakeObjective = Callable[[BoolArray | None, SoftTerms | None], Objective]

__all__ = ["SparseTask", "may_be_nonzero"]


@dataclass(frozen=True, eq=False)
class SparseTask:
    """An objective plus a regularizer.

    Attributes
    ----------
    objective : Objective
        The smooth part.
    regularizer : Regularizer or None
        The non-smooth part; None without one.
    """

    objective: Objective
    regularizer: Regularizer | None
    _make: MakeObjective | None
    _soft: SoftTerms | None
    _kept: BoolArray  # mask of the weights in the objective, without penalties

    @classmethod
    def whole(
        cls,
        make: MakeObjective,
        soft: SoftTerms | None,
        encoder: Encoder,
        l1: float,
        groups: GroupLasso | None,
    ) -> SparseTask:
        """Return the task with all weights.

        Parameters
        ----------
        make
            Makes an objective from a mask of weights, see `Objective`, and soft constraints.
        soft
            The soft constraints in training.
        encoder
            The features.
        l1, groups
            The regularizer. l1 applies to penalties of soft constraints as well.
        """
        objective = make(None, soft)
        n_weights = objective.n_parameters - objective.n_penalties
        every = np.ones(n_weights, dtype=bool)
        if l1 == 0.0 and groups is None:
            return cls(objective, None, make, soft, every)
        regularizer = Regularizer(
            objective.n_parameters,
            l1,
            () if groups is None else groups.levels(objective.layout, encoder),
            np.arange(n_weights, objective.n_parameters),
        )
        return cls(objective, regularizer, make, soft, every)

    def screened(self, weakest: float = 1.0) -> SparseTask:
        """Return the task without the weights that the regularizer keeps at 0.

        Parameters
        ----------
        weakest
            The smallest factor that the regularizer will be multiplied by.
        """
        alive = self.may_be_nonzero(weakest)
        if self.regularizer is None or alive.all():
            return self
        assert self._make is not None
        n_weights = alive.size - self.objective.n_penalties
        kept = self._kept.copy()
        kept[kept] = alive[:n_weights]
        return replace(
            self,
            objective=self._make(kept, self._soft),
            regularizer=self.regularizer.take(np.flatnonzero(alive)),
            _kept=kept,
        )

    def may_be_nonzero(self, weakest: float = 1.0) -> BoolArray:
        """Return the mask of the parameters that `screened` keeps, shape ``(n_parameters,)``."""
        if self.regularizer is None:
            return np.ones(self.objective.n_parameters, dtype=bool)
        return may_be_nonzero(self.regularizer.times(weakest), self.objective.gradient_bounds())

    def times(self, factor: float) -> SparseTask:
        """Return the task with ``factor ×`` its regularizer."""
        regularizer = self.regularizer
        return replace(self, regularizer=None if regularizer is None else regularizer.times(factor))

    def adapted(self, parameters: FloatArray) -> SparseTask:
        """Return the task with adaptive groups, reweighted by the parameters of an initial fit."""
        assert self.regularizer is not None
        return replace(self, regularizer=self.regularizer.adapted(parameters))

    def final(self) -> SparseTask:
        """Return the task without its factory of objectives, which holds the features."""
        return replace(self, _make=None)

    def survivors(self, parameters: FloatArray) -> tuple[Objective, FloatArray]:
        """Return the smooth objective of the nonzero weights, and their values.

        Penalties of soft constraints that are 0 stay 0.
        """
        assert self._make is not None
        n_weights = int(self._kept.sum())
        alive = parameters != 0.0
        kept = self._kept.copy()
        kept[kept] = alive[:n_weights]
        soft = self._soft
        if soft is not None:
            fixed = soft.penalties.copy()
            fixed[soft.learned[~alive[n_weights:]]] = 0.0
            soft = replace(soft, penalties=fixed)
        return self._make(kept, soft), parameters[alive]


def may_be_nonzero(regularizer: Regularizer, bounds: FloatArray) -> BoolArray:
    """Return which weights may be nonzero at an optimum, shape ``(n,)``.

    Parameters
    ----------
    regularizer
        ``Ω``.
    bounds
        Upper bounds on the absolute gradient of each weight, shape ``(n,)``; may be infinite.

    Examples
    --------
    >>> from trelliswork.learn.sparsity.regularizer import Regularizer
    >>> may_be_nonzero(Regularizer(3, 1.0), np.array([0.5, 1.0, 7.0])).tolist()
    [False, False, True]
    """
    left = np.maximum(bounds - regularizer.l1, 0.0)
    alive = left > 0.0
    for level in regularizer.levels:
        # A group is 0 if the dual norm of its gradient after l1 is at most its strength.
        with np.errstate(over="ignore"):
            strongest = level.dual_norms(left)
        lives = np.append(strongest > level.strengths, True)
        alive &= lives[level.groups]
    return alive
