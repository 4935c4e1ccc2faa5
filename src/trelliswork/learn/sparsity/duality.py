"""Duality gap: an upper bound on the distance of an objective from its optimum.

The loss of a CRF is ``f(w) = Σ_b log Z_b(w) − w·c``, with ``c`` the counts of the gold labels, and

    min_w f(w) + Σ_k a_k w_k² + Ω(w)  ≥  s h − R*(−s ∇f(w))    for any w and 0 ≤ s ≤ 1,
    h = f(w) − w·∇f(w),     R*(u) ≤ Σ_k z_k² / (4 a_k),  z = prox_Ω(u)

``h`` is the entropy of the model's labellings. It is the dual objective at the model's own
expectations; at ``s`` times these plus ``1 − s`` times the gold counts it is at least ``s h``, as
entropy is concave. Where ``a_k = 0``, ``z_k`` must be 0, which the choice of ``s`` ensures:
``s = 1 / (dual norm of ∇f)``, over these ``k`` alone or over all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray
    from trelliswork.learn.sparsity.regularizer import Regularizer


__all__ = ["lower_bound"]

_ROUNDING = 1.0 + 1e-12


def lower_bound(
    x: FloatArray,
    loss: float,
    gradient: FloatArray,
    l2: FloatArray,
    regularizer: Regularizer,
) -> float:
    """Return a lower bound on the minimum of ``f + l2 + Ω``; minus infinity if none is known.

    Parameters
    ----------
    x
        ``w``, shape ``(n,)``.
    loss, gradient
        ``f(w)`` and ``∇f(w)``, without any penalty; ``f`` must be convex.
    l2
        ``a``, one number for all weights or one per weight.
    regularizer
        ``Ω``.
    """
    entropy = loss - float(x @ gradient)
    excess = max(1.0, regularizer.dual_norm(-gradient))
    bound = entropy / excess if np.isfinite(excess) else -np.inf
    bent = np.broadcast_to(l2 > 0.0, x.shape)
    if not bent.any():
        return bound
    excess = max(1.0, regularizer.dual_norm(np.where(bent, 0.0, -gradient)) * _ROUNDING)
    left = regularizer.prox(-gradient / excess, 1.0)
    if left[~bent].any():  # groups with l2 on some weights only
        return bound
    curvatures = np.broadcast_to(l2, x.shape)[bent]
    return max(bound, entropy / excess - float((left[bent] ** 2 / (4.0 * curvatures)).sum()))
