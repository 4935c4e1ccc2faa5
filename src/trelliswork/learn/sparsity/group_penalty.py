"""The penalty of online learning: Euclidean group norms plus a square.

    R(w) = l2 ‖w‖² + Σ_g λ_g ‖w_g‖₂

for groups that do not overlap; a group of one parameter has an l1 penalty. ``n`` parameters, ``G``
groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray
    from trelliswork.learn.sparsity.group_norms import GroupNorms


__all__ = ["GroupPenalty"]


@dataclass(frozen=True, eq=False)
class GroupPenalty:
    """The penalty ``R``.

    Attributes
    ----------
    level : GroupNorms
        The group norms.
    l2 : float
        The coefficient of the square.
    """

    level: GroupNorms
    l2: float

    def value(self, x: FloatArray) -> float:
        """Return ``R(x)``."""
        return self.l2 * float(x @ x) + self.level.value(x)

    def residual(self, x: FloatArray, gradient: FloatArray) -> float:
        """Return the norm of the shortest subgradient of a smooth function plus ``R``.

        For a group at 0 it is ``(‖∇_g‖ − λ_g)₊``, for others the norm of
        ``∇_g + λ_g x_g / ‖x_g‖ + 2 l2 x_g``.
        """
        level = self.level
        slope = gradient + 2.0 * self.l2 * x + level.gradient(x)
        of_groups = level.norms(slope)
        at_zero = np.maximum(of_groups - level.strengths, 0.0)
        left = np.where(level.norms(x) > 0.0, of_groups, at_zero)
        alone = slope[level.groups < 0]
        return float(np.sqrt(left @ left + alone @ alone))

    def shorten(self, x: FloatArray, steps: FloatArray) -> FloatArray:
        """Return the proximal map: argmin over ``u`` of ``Σ_k (u_k − x_k)² / 2 steps_k + R(u)``.

        Parameters
        ----------
        x
            Shape ``(n,)``.
        steps
            Positive step sizes, equal within a group, shape ``(n,)``; see `least_in_groups`.
        """
        of_groups = np.zeros(self.level.strengths.size + 1)
        of_groups[self.level.groups] = steps  # −1, in no group, is the last
        return self.level.prox(x, of_groups[:-1]) / (1.0 + 2.0 * self.l2 * steps)

    def least_in_groups(self, values: FloatArray) -> FloatArray:
        """Return the minimum over the group of each parameter; its own value if it has none."""
        groups = self.level.groups
        least = np.full(self.level.strengths.size + 1, np.inf)
        grouped = groups >= 0
        np.minimum.at(least, groups[grouped], values[grouped])
        return np.where(grouped, least[groups], values)
