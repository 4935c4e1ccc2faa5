"""``rule.per_token()``: rules on single tokens, with a violation for every token that breaks them.

A rule such as ``where(test).allow("year")`` is broken or not, by one token or by ten. Counted token
by token it has a degree, so that a labelling that breaks it twice is worse than one that does once,
and decoding gains from mending one of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.automaton import Automaton
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.monitors import Symbols
from trelliswork.constraints.on_tokens import ChangesOnlyAt
from trelliswork.constraints.positions import PositionWise

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray, IdArray, IntArray
    from trelliswork.constraints.arguments import Unit
    from trelliswork.constraints.reading import Reading
    from trelliswork.constraints.token_tests import SentenceLike, TokenTest
    from trelliswork.labels.label_set import LabelSet

__all__ = ["PerToken", "change_counter", "count_changes", "leaving_table"]


@dataclass(frozen=True, repr=False)
class PerToken(Constraint):
    """A rule about single tokens, or about changes between them; made by `Constraint.per_token`.

    Attributes
    ----------
    rule : Constraint
        The rule, which is broken where this one is.
    """

    rule: Constraint

    def __post_init__(self) -> None:
        if not isinstance(self.rule, PositionWise | ChangesOnlyAt):
            raise TypeError(
                "per_token: expected a rule about single tokens, where(…).allow(…), only_on, at, "
                f"not_at or changes_only_at, got {self.rule!r}."
            )

    @property
    def tests(self) -> tuple[TokenTest, ...]:
        """The token tests that the rule asks."""
        return self.rule.tests

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        return self.rule.names

    @property
    def counts_changes(self) -> bool:
        """Whether the rule counts changes between tokens instead of tokens."""
        return isinstance(self.rule, ChangesOnlyAt)

    def allowed(self, labels: LabelSet, sentence: SentenceLike) -> BoolArray | None:
        """Return the allowed labels of each token; ``None`` for a rule about changes."""
        return self.rule.allowed(labels, sentence)

    def per_token(self) -> Constraint:
        """Return the rule itself: it counts tokens already."""
        return self

    def _degree(self, reading: Reading) -> int:
        assert isinstance(self.rule, PositionWise | ChangesOnlyAt)
        return len(self.rule._broken(reading))

    def _faults(self, reading: Reading) -> list[str]:
        return self.rule._faults(reading)

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        return self.rule._build(labels, max_states)

    def __repr__(self) -> str:
        return f"{self.rule!r}.per_token()"


def change_counter(labels: LabelSet) -> tuple[Automaton, IntArray]:
    """Return an automaton that accepts everything, and its arcs that leave a segment too early.

    States know whether the last token passed the test, and which segments a label would leave.

    Returns
    -------
    automaton
        Over ``2 L`` letters: label ``y`` on a token that passes the test is letter ``L + y``.
    added : numpy.ndarray
        1 where a label leaves a segment whose last token did not pass, shape ``(S, L)``.
    """
    n_labels = len(labels)
    leaves, row_of = np.unique(leaving_table(labels), axis=0, return_inverse=True)
    row_of = row_of.ravel()  # NumPy 2.0 gave it the shape of the input
    n_rows = len(leaves)
    # State (passed, row); the start, which leaves nothing, first.
    state = np.arange(2 * n_rows).reshape(2, n_rows)
    state = np.where(state == row_of[0], 0, np.where(state == 0, row_of[0], state))
    source, letter = np.indices((2 * n_rows, 2 * n_labels))
    target = state[:, row_of[1:]].ravel()[letter.ravel()]
    added = np.empty((2 * n_rows, n_labels), dtype=np.int64)
    added[state[0]] = leaves
    added[state[1]] = 0
    made = Automaton(2 * n_rows, 2 * n_labels, source.ravel(), letter.ravel(), target)
    return made, added


def count_changes(labels: LabelSet, ids: IdArray, passes: BoolArray, offsets: IntArray) -> IntArray:
    """Return how often each labelling leaves a segment at a token that fails, shape ``(B,)``.

    Parameters
    ----------
    labels
        The labels.
    ids
        Those of all tokens, shape ``(N,)``.
    passes
        Which tokens pass the test, shape ``(N,)``.
    offsets
        Sequence ``b`` is tokens ``offsets[b]`` to ``offsets[b + 1]``, shape ``(B + 1,)``.
    """
    leaves = leaving_table(labels)
    wrong = np.zeros(ids.size + 1, dtype=np.int64)
    wrong[1:-1] = leaves[ids[:-1] + 1, ids[1:]] * ~passes[:-1]  # at the token after the change
    wrong[offsets[1:-1]] = 0  # the first token of the next sequence changes nothing
    total = np.concatenate([[0], np.cumsum(wrong)])
    found: IntArray = total[offsets[1:]] - total[offsets[:-1]]
    return found


@lru_cache(maxsize=64)
def leaving_table(labels: LabelSet) -> IdArray:
    """Return whether a label leaves a segment of the one before it, shape ``(L + 1, L)``."""
    return Symbols.of_leaves(labels).table
