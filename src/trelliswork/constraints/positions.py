"""Rules on each token alone: ``at`` and ``not_at``, and their base class.

Rules of this kind have a mask (`Constraint.allowed`) as well as an automaton.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.arguments import Unit, call, check_names, either, places
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.monitors import check_size, language
from trelliswork.constraints.reading import Reading, token_names

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints.token_tests import SentenceLike
    from trelliswork.labels.label_set import LabelSet


@dataclass(frozen=True, repr=False)
class PositionWise(Constraint):
    """A rule on each token alone: some tokens have a smaller choice of labels."""

    labels: tuple[str, ...]

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        return tuple((name, "token") for name in self.labels)

    @abstractmethod
    def _restricted(self, n_tokens: int, outcomes: BoolArray | None) -> list[int]:
        """Return the tokens that the rule is about.

        Parameters
        ----------
        n_tokens
            The number of tokens, ``T``.
        outcomes
            Outcome of the test for each token, shape ``(T,)``, or ``None`` without a test.
        """

    def _choice(self, labels: LabelSet) -> BoolArray:
        """Return the labels that those tokens may have, shape ``(L,)``."""
        return self._named(labels)

    def _named(self, labels: LabelSet) -> BoolArray:
        wanted = frozenset[str]().union(*(token_names(labels, name) for name in self.labels))
        return np.array([label in wanted for label in labels])

    def allowed(self, labels: LabelSet, sentence: SentenceLike) -> BoolArray | None:
        """Return the allowed labels of each token, shape ``(T, L)``."""
        self.check(labels)
        mask = np.ones((len(sentence), len(labels)), dtype=np.bool_)
        outcomes = self.tests[0].passes(sentence) if self.tests else None
        mask[self._restricted(len(sentence), outcomes)] = self._choice(labels)
        return mask

    def _broken(self, reading: Reading) -> list[int]:
        outcomes = reading.passes(self.tests[0]) if self.tests else None
        choice = self._choice(reading.label_set)
        allowed = {y for y, good in zip(reading.label_set, choice, strict=True) if good}
        restricted = self._restricted(len(reading), outcomes)
        return [t for t in restricted if reading.labels[t] not in allowed]

    def _degree(self, reading: Reading) -> int:
        return int(bool(self._broken(reading)))


@dataclass(frozen=True, repr=False)
class At(PositionWise):
    """See `at`."""

    word = "at"
    _builds_unambiguous = True
    position: int

    def _restricted(self, n_tokens: int, outcomes: BoolArray | None) -> list[int]:
        token = self.position if self.position >= 0 else n_tokens + self.position
        return [token] if 0 <= token < n_tokens else []

    def _faults(self, reading: Reading) -> list[str]:
        token = self._broken(reading)[0]
        return [
            f"{places([token])} is {reading.labels[token]!r}; {self._expected()} expected there."
        ]

    def _expected(self) -> str:
        return either(self.labels)

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        """Count the tokens up to the position; from the end, read the same backwards.

        Backwards, the deterministic automaton becomes one that guesses how far the end is: not
        deterministic, but unambiguous, and as small.
        """
        from_end = self.position < 0
        distance = -self.position - 1 if from_end else self.position
        check_size(distance + 2, max_states)
        last = distance + 1  # the state once the position is past
        every, choice = np.arange(len(labels)), np.flatnonzero(self._choice(labels))
        arcs = [(i, int(y), i + 1) for i in range(distance) for y in every]
        arcs += [(distance, int(y), last) for y in choice]
        arcs += [(last, int(y), last) for y in every]
        states = range(distance + 2)
        if not from_end:
            return language(len(states), labels, arcs, [0], states)
        backwards = [(target, letter, source) for source, letter, target in arcs]
        return language(len(states), labels, backwards, states, [0])

    def __repr__(self) -> str:
        return call(self.word, self.position, *self.labels)


@dataclass(frozen=True, repr=False)
class NotAt(At):
    """See `not_at`."""

    word = "not_at"

    def _choice(self, labels: LabelSet) -> BoolArray:
        return ~self._named(labels)

    def _expected(self) -> str:
        return f"anything but {either(self.labels)}"


def at(position: int, *labels: str) -> Constraint:
    """Require that the token at a position has one of these labels.

    Satisfied if the sequence is too short to have that token.

    Parameters
    ----------
    position
        Counted from 0; negative from the end, -1 being the last token.
    *labels
        Token labels, or names of segments: all tokens inside them.

    Examples
    --------
    >>> at(-1, "year", "note").violations(["author", "title"])
    1
    """
    place = _position("at", position)
    return At(check_names("at", labels), place)


def not_at(position: int, *labels: str) -> Constraint:
    """Require that the token at a position has none of these labels.

    The parameters are those of `at`.
    """
    place = _position("not_at", position)
    return NotAt(check_names("not_at", labels), place)


def _position(word: str, position: object) -> int:
    if isinstance(position, bool) or not hasattr(position, "__index__"):
        raise TypeError(
            f"{word}: expected a position first, a whole number, got {type(position).__name__} "
            f"{position!r}."
        )
    return operator.index(position)
