"""Weights that are 0 at every optimum, or make no difference, known before training.

The gradient of a likelihood is bounded, whatever the weights: a feature that is seen once with a
label cannot be worth a penalty of 1. What a regularizer outweighs in any case is left out, which
changes nothing but the time that training takes. ``n`` parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trelliswork.learn.sparsity.regularizer import Regularizer

__all__ = ["may_live"]


def may_live(regularizer: Regularizer, steepest: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which weights might not be 0 at an optimum, shape ``(n,)``.

    Parameters
    ----------
    regularizer
        ``Ω``.
    steepest
        What the gradient of each weight never exceeds, shape ``(n,)``; may be infinite.

    Examples
    --------
    >>> from trelliswork.learn.sparsity.regularizer import Regularizer
    >>> may_live(Regularizer(3, 1.0), np.array([0.5, 1.0, 7.0])).tolist()
    [False, False, True]
    """
    left = np.maximum(steepest - regularizer.l1, 0.0)
    alive = left > 0.0
    for level in regularizer.levels:
        # A group is 0 where the dual norm of all that l1 leaves of it is within its strength.
        with np.errstate(over="ignore"):
            strongest = level.dual_norms(left)
        lives = np.append(strongest > level.strengths, True)
        alive &= lives[level.groups]
    return alive
