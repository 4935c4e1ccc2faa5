"""Upper bounds by one dynamic program: some terms counted exactly, other rows at a price.

    G(y) = score(y) − Σ_{i ∈ K} ρ_i v_i(y) − Σ_{rows i ∉ K} λ_i (a_i·n(y) − b_i),   D = max_y G(y)

The count of a row follows from pairs of neighbouring labels, so a price is a weight on pairs: the
automaton of the terms in ``K`` is marked with the pair that each arc completes. Nothing is searched
here, as this proves the answers of searches: prices and decisions come with the certificate. It
runs `viterbi` on the compiled automata of the plan.

Letters: ``T`` tokens, ``L`` labels (letters, in a semi-Markov model), ``A`` arcs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.arrays import Arrays, arc_order
from trelliswork.automata.automaton import Automaton
from trelliswork.constraints.rows import Row
from trelliswork.decoding.counted_bounds import CountedRows, counted_bound
from trelliswork.decoding.masks import masked_scores
from trelliswork.inference.trellis import Trellis
from trelliswork.inference.verbs import viterbi
from trelliswork.planning.splitting import letter_table
from trelliswork.planning.token_charges import with_token_charges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.decoding.problem import Problem


__all__ = ["Relaxation", "arc_scores", "mark_pairs", "segment_scores"]


def mark_pairs(automaton: Automaton) -> tuple[Automaton, IntArray]:
    """Return an automaton with the same paths whose arcs are marked with pairs of labels.

    States are pairs (state, last label). The arc that reads label ``y`` after label ``p`` fires
    pattern ``P + (p + 1) L + y`` besides its own; ``p = -1`` before the first label.

    Returns
    -------
    automaton, pairs
        The pair ``(p + 1) L + y`` of each arc, shape ``(A,)``.
    """
    n_labels, n_states, width = automaton.n_labels, automaton.n_states, automaton.n_labels + 1
    source, label, target = (
        column.astype(np.int64) for column in (automaton.source, automaton.label, automaton.target)
    )
    begins = np.flatnonzero(np.isfinite(automaton.initial))
    # One state at least, even where nothing begins.
    keys = np.unique(np.concatenate([[0], begins * width, target * width + label + 1]))
    state, last = keys // width, keys % width
    firsts = np.searchsorted(keys, np.arange(n_states + 1) * width)
    copies = np.diff(firsts)[source]
    arc = np.repeat(np.arange(source.size), copies)
    within = np.arange(arc.size) - np.repeat(np.cumsum(copies) - copies, copies)
    new_source = firsts[source[arc]] + within
    new_target = np.searchsorted(keys, target[arc] * width + label[arc] + 1)
    order = arc_order(
        new_source.astype(np.int32), label[arc].astype(np.int32), new_target.astype(np.int32)
    )
    arc, new_source, new_target = arc[order], new_source[order], new_target[order]
    pairs = last[new_source] * n_labels + label[arc]
    counts = np.diff(automaton.pattern_offsets)[arc] + 1
    offsets = np.concatenate([[0], np.cumsum(counts)])
    shift = np.repeat(automaton.pattern_offsets[arc] - offsets[:-1], counts)
    ids = np.append(automaton.pattern_ids, 0)[
        np.minimum(shift + np.arange(offsets[-1]), automaton.pattern_ids.size)
    ]
    ids[offsets[1:] - 1] = automaton.n_patterns + pairs
    marked = Automaton._from_arrays(
        Arrays(
            keys.size,
            n_labels,
            automaton.n_patterns + width * n_labels,
            new_source.astype(np.int32),
            label[arc].astype(np.int32),
            new_target.astype(np.int32),
            offsets.astype(np.int64),
            ids.astype(np.int32),
            np.where(last == 0, automaton.initial[state], -np.inf),
            automaton.final[state].copy(),
            None if automaton.guards is None else automaton.guards[arc],
            automaton.n_classes,
            None,
            None,
        )
    )
    return marked, pairs


class Relaxation:
    """A problem with some of its terms counted exactly.

    Parameters
    ----------
    problem
        The problem.
    terms
        Indices in ``plan.terms`` of the terms in the product, ``K``.

    Attributes
    ----------
    trellis : Trellis
        The scores on the product, whose arcs are marked; its last ``(L + 1) L`` patterns are pairs.
    pairs : numpy.ndarray
        The pair of each arc, shape ``(A,)``.
    constant : float
        The cost of the terms in the product for a labelling of no tokens: added to every score.

    Raises
    ------
    TooLargeError
        If the product has more arcs than the plan's budget for decoding.
    """

    def __init__(self, problem: Problem, terms: Sequence[int]) -> None:
        plan = problem.plan
        given = with_token_charges(plan, problem.trellis, problem.evidence)
        self.problem = problem
        self.terms = tuple(terms)
        weights = np.zeros(plan.model.n_patterns) if given.weights is None else given.weights
        automaton, classes, self.constant = plan.model, None, 0.0
        if self.terms:
            compiled = plan.terms.product(self.terms, len(problem))
            automaton, classes = compiled.automaton, problem.evidence.classes(compiled.tests)
            weights, self.constant = plan.costs.weights(weights), plan.costs.constant(compiled)
        marked, self.pairs = mark_pairs(automaton)
        n_pairs = marked.n_patterns - automaton.n_patterns
        self.trellis = Trellis(
            given.scores,
            marked,
            weights=np.concatenate([weights, np.zeros(n_pairs)]),
            position_weights=given.position_weights,
            start=given.start,
            end=given.end,
            classes=classes,
        )

    def bound(self, prices: Mapping[int, float], allowed: BoolArray | None) -> float:
        """Return ``max_y G(y)`` over the labellings that a mask leaves; ``-inf`` without any.

        Parameters
        ----------
        prices
            ``λ`` of rows outside the product, by their indices in ``plan.terms``.
        allowed
            Labels of each token, as `viterbi` takes them.
        """
        trellis = self.trellis
        weights, total = self._priced(prices)
        priced = Trellis(
            trellis.scores,
            trellis.automaton,
            weights=weights,
            position_weights=trellis.position_weights,
            start=trellis.start,
            end=trellis.end,
            classes=trellis.classes,
        )
        return float(viterbi(priced, allowed=allowed, n_jobs=1).scores[0]) + total

    def counted_bound(
        self,
        prices: Mapping[int, float],
        counted: Sequence[int],
        allowed: BoolArray | None,
        threshold: float,
    ) -> float:
        """Return ``max(threshold, max_y G(y))`` with more rows counted, see `counted_bounds`.

        Parameters
        ----------
        prices, allowed
            As in `bound`; prices of counted rows prune states that cannot pass the threshold.
        counted
            The rows that are counted, by their indices in ``plan.terms``.
        threshold
            The bound to be proven.
        """
        plan, trellis = self.problem.plan, self.trellis
        weights, total = self._priced(prices)
        rows = [plan.terms[i].row for i in counted]
        quantities = dict.fromkeys(
            (name, unit) for row in rows if row for _, name, unit in row.terms
        )
        places = {quantity: place for place, quantity in enumerate(quantities)}
        coefficients = np.zeros((len(rows), len(quantities)), dtype=np.int64)
        for i, row in enumerate(rows):
            for coefficient, name, unit in row.terms if row else ():
                coefficients[i, places[name, unit]] = coefficient
        tables = [
            letter_table(Row(((1, name, unit),), 0), plan.labels, plan.segmentation).ravel()
            for name, unit in quantities
        ]
        return counted_bound(
            trellis.automaton,
            arc_scores(trellis, weights),
            segment_scores(trellis, allowed),
            CountedRows(
                np.stack(tables, axis=1)[self.pairs],
                coefficients,
                np.array([row.bound for row in rows if row], dtype=np.int64),
                plan.costs.of_terms[list(counted)],
                np.array([prices.get(i, 0.0) for i in counted]),
            ),
            total,
            threshold,
        )

    def _priced(self, prices: Mapping[int, float]) -> tuple[FloatArray, float]:
        """Return the weights of patterns under prices, and the constant of every score."""
        plan = self.problem.plan
        assert self.trellis.weights is not None, "set above"
        weights, total = self.trellis.weights.copy(), self.constant
        for term, price in prices.items():
            row = plan.terms[term].row
            assert row is not None, "only rows have prices"
            table = plan.terms.table(term)
            weights[-table.size :] -= price * table.ravel()
            total += price * row.bound
        return weights, total


def arc_scores(trellis: Trellis, weights: FloatArray) -> FloatArray:
    """Return the scores of the arcs into a segment that begins at each token, shape ``(T, A)``."""
    automaton = trellis.automaton
    arc = np.repeat(np.arange(automaton.n_arcs), np.diff(automaton.pattern_offsets))
    ids = automaton.pattern_ids
    constant = np.bincount(arc, weights=weights[ids], minlength=automaton.n_arcs)
    scores: FloatArray = np.tile(constant.astype(np.float64), (trellis.n_tokens, 1))
    if trellis.position_weights is not None:
        local = ids < trellis.position_weights.shape[1]
        for token, own in enumerate(trellis.position_weights):
            scores[token] += np.bincount(
                arc[local], weights=own[ids[local]], minlength=automaton.n_arcs
            )
    if automaton.guards is not None and trellis.classes is not None:
        is_open = automaton.guards[None] >> trellis.classes[:, None].astype(np.uint64)
        scores[is_open & np.uint64(1) == 0] = -np.inf
    return scores


def segment_scores(trellis: Trellis, allowed: BoolArray | None) -> FloatArray:
    """Return the scores of segments with those of start, end and mask, shape ``(T, D, L)``."""
    scores = trellis.scores.copy() if allowed is None else masked_scores(trellis, allowed)
    n_tokens, n_durations, _ = scores.shape
    for back in range(min(n_tokens, n_durations)):
        if trellis.start is not None:
            scores[back, back] += trellis.start
        if trellis.end is not None:
            scores[n_tokens - 1, back] += trellis.end
    return scores
