"""A penalty on groups of parameters that makes whole groups exactly 0.

    R(w) = l2 ‖w‖² + Σ_g λ_g ‖w_g‖₂

for groups that do not overlap; a group of one parameter has an l1 penalty. ``n`` parameters, ``G``
groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

__all__ = ["GroupPenalty"]


@dataclass(frozen=True, eq=False)
class GroupPenalty:
    """``R``, with what optimisers ask of it.

    Attributes
    ----------
    groups : numpy.ndarray
        The group of each parameter, −1 for none, shape ``(n,)``.
    strengths : numpy.ndarray
        ``λ``, shape ``(G,)``.
    l2 : float
        The coefficient of the square.
    """

    groups: NDArray[np.int32]
    strengths: FloatArray
    l2: float

    def value(self, x: FloatArray) -> float:
        """Return ``R(x)``."""
        return self.l2 * float(x @ x) + float(self.strengths @ self.norms(x))

    def norms(self, x: FloatArray) -> FloatArray:
        """Return ``‖x_g‖`` of every group, shape ``(G,)``."""
        # One more at the front for the parameters without a group.
        squares = np.bincount(self.groups + 1, weights=x * x, minlength=self.strengths.size + 1)
        norms: FloatArray = np.sqrt(squares[1:])
        return norms

    def residual(self, x: FloatArray, gradient: FloatArray) -> float:
        """Return the norm of the shortest subgradient of a smooth function plus ``R``.

        Along a group at 0 it is ``(‖∇_g‖ − λ_g)₊``, along others that of
        ``∇_g + λ_g x_g / ‖x_g‖ + 2 l2 x_g``.
        """
        norms = self.norms(x)
        slope = gradient + x * (2.0 * self.l2 + self._of_parameters(_ratio(self.strengths, norms)))
        of_groups = self.norms(slope)
        left = np.where(norms > 0.0, of_groups, np.maximum(of_groups - self.strengths, 0.0))
        alone = slope[self.groups < 0]
        return float(np.sqrt(left @ left + alone @ alone))

    def shorten(self, x: FloatArray, steps: FloatArray) -> FloatArray:
        """Return the proximal map: argmin over ``u`` of ``Σ_k (u_k − x_k)² / 2 steps_k + R(u)``.

        Parameters
        ----------
        x
            Shape ``(n,)``.
        steps
            Positive, alike within a group, shape ``(n,)``; see `least_in_groups`.
        """
        norms = self.norms(x)
        of_groups = np.zeros(self.strengths.size + 1)
        of_groups[self.groups] = steps
        left = np.maximum(norms - of_groups[:-1] * self.strengths, 0.0)
        return x * self._of_parameters(_ratio(left, norms), 1.0) / (1.0 + 2.0 * self.l2 * steps)

    def least_in_groups(self, values: FloatArray) -> FloatArray:
        """Return the least value in the group of each parameter, its own if it has none."""
        least = np.full(self.strengths.size, np.inf)
        grouped = self.groups >= 0
        np.minimum.at(least, self.groups[grouped], values[grouped])
        return np.where(grouped, self._of_parameters(least), values)

    def _of_parameters(self, of_groups: FloatArray, without: float = 0.0) -> FloatArray:
        found: FloatArray = np.append(of_groups, without)[self.groups]  # −1 is the last
        return found


def _ratio(values: FloatArray, norms: FloatArray) -> FloatArray:
    """Return ``values / norms``, 0 where a norm is."""
    return np.divide(values, norms, out=np.zeros_like(norms), where=norms > 0.0)
