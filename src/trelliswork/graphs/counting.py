"""Counts of true literals: the best sums of scores, and forced values, of many factors at once.

Arrays end in an axis of ``K`` literals; the axes before it are any, and are those of the results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.graphs.factor import FREE, UNIT

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, ByteArray, FloatArray


__all__ = ["best_counts", "count_error", "implied_counts", "precise_sums"]


def best_counts(
    scores: FloatArray, fixed: ByteArray, least: ArrayLike, most: ArrayLike
) -> FloatArray:
    """Return the best sums of the scores of `least` to `most` literals; ``-inf`` without any.

    Parameters
    ----------
    scores, fixed
        Scores of the literals, and their values: 0, 1 or `FREE`; shape ``(…, K)``.
    least, most
        Limits of the number of true literals, shape ``(…)``.
    """
    is_on, is_free = fixed == 1, fixed == FREE
    n_on, n_free = is_on.sum(axis=-1), is_free.sum(axis=-1)
    first = np.maximum(np.asarray(least) - n_on, 0)[..., None]
    last = np.minimum(np.asarray(most) - n_on, n_free)[..., None]
    free = -np.sort(np.where(is_free, -scores, np.inf), axis=-1)  # the best first
    place = np.arange(scores.shape[-1])
    taken = np.where(place < first, free, np.maximum(free, 0.0))
    terms = np.concatenate([np.where(is_on, scores, 0.0), np.where(place < last, taken, 0.0)], -1)
    return np.where((first <= last)[..., 0], precise_sums(terms), -np.inf)


def count_error(scores: FloatArray, best: FloatArray) -> FloatArray:
    """Return a bound on the rounding error of `best_counts`; not finite if it may overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        n_terms = 2 * scores.shape[-1] + 2
        beyond = (n_terms * UNIT) ** 2 * np.abs(scores).sum(axis=-1)
        return np.asarray(UNIT * np.where(np.isneginf(best), 0.0, np.abs(best)) + beyond)


def implied_counts(
    fixed: ByteArray, least: ArrayLike, most: ArrayLike
) -> tuple[ByteArray, BoolArray]:
    """Return `fixed` with the values that the limits force, and whether any values are left.

    Returns
    -------
    fixed, is_possible : numpy.ndarray
        Shapes ``(…, K)`` and ``(…)``.
    """
    is_free = fixed == FREE
    n_on = (fixed == 1).sum(axis=-1)
    n_open = n_on + is_free.sum(axis=-1)
    is_full, is_needed = n_on == most, n_open == least
    forced = np.where(is_full[..., None], np.int8(0), np.int8(1))
    closed = np.where(is_free & (is_full | is_needed)[..., None], forced, fixed)
    return closed.astype(np.int8), (n_on <= most) & (n_open >= least)


def precise_sums(terms: FloatArray) -> FloatArray:
    """Return sums over the last axis whose rounding errors are added up too (Neumaier 1974)."""
    total = np.zeros(terms.shape[:-1])
    rest = np.zeros_like(total)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(terms.shape[-1]):
            term = terms[..., k]
            new = total + term
            is_larger = np.abs(total) >= np.abs(term)
            rest += np.where(is_larger, (total - new) + term, (term - new) + total)
            total = new
        return np.where(np.isfinite(rest), total + rest, total)
