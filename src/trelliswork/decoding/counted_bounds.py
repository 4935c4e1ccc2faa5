"""Upper bounds by counting: one dynamic program for rows whose automata would be too large.

    G(y) = score(y) − Σ_{i ∈ K} ρ_i v_i(y) − Σ_{rows i ∉ K} λ_i r_i(y),    r_i(y) = a_i·n(y) − b_i

Its states are pairs of a state of the automaton and the counts of the rows in ``K`` so far. Prices
of all rows, those in ``K`` too, bound the completions of a state, because ``λ_i r_i ≤ ρ_i v_i``: a
state that cannot pass a *threshold* is pruned, and if none is left, no labelling passes it. This
is no search: states are made layer by layer, from the first token to the last. ``T`` tokens, ``D``
longest segment, ``L`` letters, ``S`` states, ``A`` arcs, ``F`` states with counts, ``K`` rows,
``M`` quantities, the names that rows count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.automata.automaton import Automaton


__all__ = ["CountedRows", "counted_bound"]

MAX_STATES = 2_000_000  # in one layer, before those of one state and count are merged


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The rows in ``K``, as arrays.

    Attributes
    ----------
    on_arcs : numpy.ndarray
        The count that each arc adds to each quantity, shape ``(A, M)``.
    coefficients : numpy.ndarray
        Shape ``(K, M)``.
    bounds, penalties, prices : numpy.ndarray
        ``b``, ``ρ`` and ``λ``, shape ``(K,)``.
    """

    on_arcs: IntArray
    coefficients: IntArray
    bounds: IntArray
    penalties: FloatArray
    prices: FloatArray

    def least_slack(self, counts: IntArray, n_left: int) -> FloatArray:
        """Return a lower bound on the final ``Σ_i ρ_i v_i − λ_i r_i``, shape ``(F,)``.

        Parameters
        ----------
        counts
            Of the quantities so far, shape ``(F, M)``.
        n_left
            Tokens that are left; each adds at most one arc.
        """
        added = self.on_arcs @ self.coefficients.T
        least = n_left * np.minimum(0, added.min(axis=0, initial=0))
        most = n_left * np.maximum(0, added.max(axis=0, initial=0))
        excess = counts @ self.coefficients.T - self.bounds
        # Convex in r and 0 at r = 0: the reachable value nearest to 0 costs the least.
        nearest = np.where(excess + least > 0, excess + least, np.minimum(excess + most, 0))
        paid = np.where(nearest > 0, self.penalties - self.prices, 0.0)
        with np.errstate(invalid="ignore"):  # ∞ · 0 of a hard row that is satisfied
            above = np.where(nearest > 0, paid * nearest, 0.0)
        total: FloatArray = (above - self.prices * np.minimum(nearest, 0)).sum(axis=1)
        return total


def counted_bound(
    automaton: Automaton,
    arc_scores: FloatArray,
    phi: FloatArray,
    rows: CountedRows,
    constant: float,
    threshold: float,
) -> float:
    """Return ``max(threshold, max_y G(y))``.

    Parameters
    ----------
    automaton
        The automaton.
    arc_scores
        Weights of the arcs into a segment that begins at each token, prices of all rows in them,
        shape ``(T, A)``.
    phi
        Scores of segments, by their last token, shape ``(T, D, L)``.
    rows
        The rows that are counted.
    constant
        Added to every score: ``Σ_i λ_i b_i`` over all rows, and the constant of the product.
    threshold
        The bound to be proven: labellings that do not pass it are pruned.

    Raises
    ------
    TooLargeError
        If a layer has too many states.
    """
    n_tokens, n_durations, _ = phi.shape
    best_end = _best_completions(automaton, arc_scores, phi)
    n_quantities = rows.coefficients.shape[1]
    order = np.argsort(automaton.source, kind="stable")
    firsts = np.searchsorted(automaton.source[order], np.arange(automaton.n_states + 1))
    start = np.flatnonzero(np.isfinite(automaton.initial))
    empty = _Layer(start, np.zeros((start.size, n_quantities), np.int64), automaton.initial[start])
    layers: list[list[_Layer]] = [[empty]] + [[] for _ in range(n_tokens)]
    for begin in range(n_tokens):
        layer = _merged(layers[begin])
        layers[begin] = []
        copies = np.diff(firsts)[layer.states]
        if copies.sum() > MAX_STATES:
            raise TooLargeError(
                f"The proof counts more than {MAX_STATES:,} states of token {begin}."
            )
        entry = np.repeat(np.arange(layer.states.size), copies)
        within = np.arange(entry.size) - np.repeat(np.cumsum(copies) - copies, copies)
        arcs = order[firsts[layer.states[entry]] + within]
        reached = layer.values[entry] + arc_scores[begin, arcs]
        for duration in range(min(n_durations, n_tokens - begin)):
            end = begin + duration
            values = reached + phi[end, duration, automaton.label[arcs]]
            bound = values + best_end[end + 1, automaton.target[arcs]] + constant
            chosen = np.flatnonzero(bound > threshold)
            counts = layer.counts[entry[chosen]] + rows.on_arcs[arcs[chosen]]
            passes = bound[chosen] - rows.least_slack(counts, n_tokens - end - 1) > threshold
            kept = chosen[passes]
            layers[end + 1].append(
                _Layer(automaton.target[arcs[kept]].astype(np.int64), counts[passes], values[kept])
            )
    last = _merged(layers[n_tokens])
    if not last.states.size:
        return threshold
    value = last.values + automaton.final[last.states] + constant
    return max(threshold, float((value - rows.least_slack(last.counts, 0)).max()))


@dataclass(frozen=True, eq=False)
class _Layer:
    """States before a token: pairs of state and counts, with the best value of each."""

    states: IntArray
    counts: IntArray
    values: FloatArray


def _merged(parts: list[_Layer]) -> _Layer:
    """Return every pair of state and counts once, with its best value."""
    states = np.concatenate([part.states for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    values = np.concatenate([part.values for part in parts])
    keys, key_of = np.unique(np.column_stack([states, counts]), axis=0, return_inverse=True)
    best = np.full(len(keys), -np.inf)
    np.maximum.at(best, key_of.ravel(), values)
    return _Layer(keys[:, 0], keys[:, 1:], best)


def _best_completions(automaton: Automaton, arc_scores: FloatArray, phi: FloatArray) -> FloatArray:
    """Return the best completion from each token and state, under prices, ``(T + 1, S)``."""
    n_tokens, n_durations, _ = phi.shape
    best = np.full((n_tokens + 1, automaton.n_states), -np.inf)
    best[n_tokens] = automaton.final
    for begin in range(n_tokens - 1, -1, -1):
        for duration in range(min(n_durations, n_tokens - begin)):
            end = begin + duration
            values = (
                arc_scores[begin]
                + phi[end, duration, automaton.label]
                + best[end + 1, automaton.target]
            )
            np.maximum.at(best[begin], automaton.source, values)
    return best
