"""The factor of a whole sequence: its best labelling is found by a Viterbi pass.

``T`` tokens, ``L`` labels, ``S`` states, ``A`` arcs, ``P`` patterns; links are indicators,
``(T, L)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.automata.automaton import Automaton
from trelliswork.graphs.factor import Rows
from trelliswork.graphs.structures import (
    Structured,
    checked_scores,
    largest,
    open_values,
    settled,
)
from trelliswork.graphs.variables import Categorical, codes_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, ByteArray, FloatArray, IdArray


__all__ = ["Chain"]


class Chain(Structured):
    """A sequence as one factor, solved by the kernel: any automaton over its labels.

        h(y) = start[y_1] + Σ_t weights[y_{t−1}, y_t] + end[y_T]

    Parameters
    ----------
    variables
        Categorical variables of shape ``(T,)`` with ``L`` values each.
    weights
        The ``(L, L)`` transition matrix, rows = label before; with an automaton one weight per
        pattern, shape ``(P,)``. Default: zeros.
    start, end
        Scores of the first and of the last label, shape ``(L,)``. Default: zeros.
    automaton
        Default: the complete first-order automaton over the labels. If a labelling has several
        paths, the best one counts.

    Attributes
    ----------
    automaton : Automaton
        The automaton over the labels.
    """

    automaton: Automaton
    pattern_weights: FloatArray  # (P,)
    start: FloatArray  # (L,)
    end: FloatArray  # (L,)

    def __init__(
        self,
        variables: Categorical,
        weights: ArrayLike | None = None,
        *,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        automaton: Automaton | None = None,
    ) -> None:
        if not isinstance(variables, Categorical) or variables.ndim != 1 or not variables.size:
            raise ValueError(
                "Chain: expected categorical variables of shape (tokens,), at least one, got "
                f"{variables!r}. Make them: graph.categorical(tokens, labels)."
            )
        n_labels = variables.n_values
        over = Automaton.chain(n_labels) if automaton is None else automaton
        if over.n_labels != n_labels or over.n_classes != 1:
            raise ValueError(
                f"Chain: expected an automaton over {n_labels} labels without guards, got {over!r}."
            )
        given = np.zeros(over.n_patterns) if weights is None else np.asarray(weights, dtype=float)
        if over.is_chain and given.shape == (n_labels, n_labels):
            given = given.ravel()
        graph, codes = codes_of(variables.literals)
        self._set(
            graph=graph,
            codes=codes,
            automaton=over,
            pattern_weights=checked_scores("weights", given, (over.n_patterns,)),
            start=checked_scores(
                "start", np.zeros(n_labels) if start is None else start, (n_labels,)
            ),
            end=checked_scores("end", np.zeros(n_labels) if end is None else end, (n_labels,)),
        )

    def best(self, scores: FloatArray, fixed: ByteArray) -> float:
        """Return the score of the best path, by one pass over the arcs at each token."""
        automaton, arcs = self.automaton, self._of_arcs()
        phi = np.where(self._open(fixed), self._of_tokens(scores), -np.inf)  # (T, L)
        alpha = automaton.initial
        for row in phi:
            reached = np.full(automaton.n_states, -np.inf)
            through = alpha[automaton.source] + arcs + row[automaton.label]
            np.maximum.at(reached, automaton.target, through)
            alpha = reached
        return float((alpha + automaton.final).max(initial=-np.inf))

    def lowest(self, fixed: ByteArray) -> float:
        """Return the score of the worst path that is not forbidden."""
        automaton = self.automaton

        def cost(weights: FloatArray) -> FloatArray:
            return np.where(weights == -np.inf, np.inf, weights)

        arcs, final = cost(self._of_arcs()), cost(automaton.final)
        phi = np.where(self._open(fixed), cost(self._of_tokens(np.zeros(fixed.size))), np.inf)
        alpha = cost(automaton.initial)
        for row in phi:
            reached = np.full(automaton.n_states, np.inf)
            through = alpha[automaton.source] + arcs + row[automaton.label]
            np.minimum.at(reached, automaton.target, through)
            alpha = reached
        return float((alpha + final).min(initial=np.inf))

    def implied(self, fixed: ByteArray) -> ByteArray | None:
        """Return `fixed` after closing the labels that no path has."""
        automaton = self.automaton
        takes = np.isfinite(self._of_arcs())
        is_open = self._open(fixed) & np.isfinite(self._of_tokens(np.zeros(fixed.size)))
        before = [np.isfinite(automaton.initial)]
        for row in is_open[:-1]:
            through = before[-1][automaton.source] & takes & row[automaton.label]
            before.append(_reached(automaton.target[through], automaton.n_states))
        after = np.isfinite(automaton.final)
        used = np.zeros_like(is_open)
        for t in reversed(range(len(is_open))):
            onwards = after[automaton.target] & takes & is_open[t][automaton.label]
            used[t, automaton.label[onwards & before[t][automaton.source]]] = True
            after = _reached(automaton.source[onwards], automaton.n_states)
        if not used.any(axis=1).all():
            return None
        return settled(used.ravel(), (automaton.n_labels,) * len(used))

    def rows(self) -> Rows:
        """Return the rows of a flow: one unit goes through the states, a column for every arc."""
        automaton, links = self.automaton, self.codes.size
        n_tokens, n_states = links // automaton.n_labels, automaton.n_states
        starts, ends = (
            np.flatnonzero(np.isfinite(w)) for w in (automaton.initial, automaton.final)
        )
        gains = self._of_arcs() + self._of_tokens(np.zeros(links))[:, automaton.label]  # (T, A)
        token, arc = np.nonzero(np.isfinite(gains))
        n_steps = token.size
        steps = links + np.arange(n_steps + starts.size + ends.size)
        begins, stops = steps[n_steps : n_steps + starts.size], steps[n_steps + starts.size :]
        leaves = token * n_states + automaton.source[arc]
        enters = (token + 1) * n_states + automaton.target[arc]
        # Flow out − flow in = 0 at every state; Σ steps with label y at t − l_ty = 0; Σ starts = 1.
        base = (n_tokens + 1) * n_states
        label = base + token * automaton.n_labels + automaton.label[arc]
        total = np.full(starts.size, base + links)
        parts = [
            (leaves, steps[:n_steps], 1.0),
            (n_tokens * n_states + ends, stops, 1.0),
            (enters, steps[:n_steps], -1.0),
            (starts, begins, -1.0),
            (label, steps[:n_steps], 1.0),
            (base + np.arange(links), np.arange(links), -1.0),
            (total, begins, 1.0),
        ]
        right = np.append(np.zeros(base + links), 1.0)
        return Rows(
            np.concatenate([row for row, _, _ in parts]),
            np.concatenate([column for _, column, _ in parts]),
            np.concatenate([np.full(row.size, sign) for row, _, sign in parts]),
            right,
            right,
            np.concatenate([gains[token, arc], automaton.initial[starts], automaton.final[ends]]),
        )

    def _open(self, fixed: ByteArray) -> BoolArray:
        return open_values(fixed.reshape(-1, self.automaton.n_labels))

    def _of_tokens(self, scores: FloatArray) -> FloatArray:
        """Return the scores of labels, with those of the first and of the last, ``(T, L)``."""
        phi = scores.reshape(-1, self.automaton.n_labels).copy()
        phi[0] += self.start
        phi[-1] += self.end
        return phi

    def _of_arcs(self) -> FloatArray:
        """Return the sum of the weights of the patterns that each arc fires."""
        return self._summed(self.pattern_weights)

    def _summed(self, weights: FloatArray) -> FloatArray:
        automaton = self.automaton
        owner = np.repeat(np.arange(automaton.n_arcs), np.diff(automaton.pattern_offsets))
        sums = np.zeros(automaton.n_arcs)
        np.add.at(sums, owner, weights[automaton.pattern_ids])
        return sums

    @property
    def _additions(self) -> int:
        automaton = self.automaton
        n_tokens = self.codes.size // automaton.n_labels
        return 2 * n_tokens + int(np.diff(automaton.pattern_offsets).max(initial=0)) + 4

    def _reach(self, scores: FloatArray) -> float:
        automaton = self.automaton
        of_tokens = np.abs(scores).reshape(-1, automaton.n_labels).max(axis=1)
        finite = np.where(np.isfinite(self.pattern_weights), np.abs(self.pattern_weights), 0.0)
        ends = (self.start, self.end, automaton.initial, automaton.final)
        of_arcs = of_tokens.size * largest(self._summed(finite))
        return float(of_tokens.sum() + of_arcs + sum(map(largest, ends)))

    def _make(self) -> _core.Structure:
        n_tokens = self.codes.size // self.automaton.n_labels
        return _core.chain_structure(
            self.automaton._core, self.pattern_weights, self.start, self.end, n_tokens
        )

    def _details(self) -> str:
        return f"; {self.automaton.n_labels} labels, {self.automaton.n_arcs} arcs"


def _reached(states: IdArray, n_states: int) -> BoolArray:
    """Return a mask of states, from their indices."""
    mask = np.zeros(n_states, dtype=bool)
    mask[states] = True
    return mask
