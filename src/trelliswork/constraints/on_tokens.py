"""Rules that depend on the input: ``where(…).allow``, ``only_on``, ``changes_only_at``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.arguments import call, check_names, either, places
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.monitors import Symbols, build, language
from trelliswork.constraints.positions import PositionWise
from trelliswork.constraints.token_tests import TokenTest

if TYPE_CHECKING:
    from collections.abc import Hashable

    from trelliswork._typing import BoolArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints.reading import Reading
    from trelliswork.labels.label_set import LabelSet


@dataclass(frozen=True, repr=False)
class ByTest(PositionWise):
    """A rule about the tokens that pass a test, or about the others."""

    test: TokenTest

    @property
    def tests(self) -> tuple[TokenTest, ...]:
        """The token tests that the rule asks."""
        return (self.test,)


@dataclass(frozen=True, repr=False)
class Allow(ByTest):
    """See `where`."""

    word = "where"

    def _restricted(self, n_tokens: int, outcomes: BoolArray | None) -> list[int]:
        assert outcomes is not None
        return [int(t) for t in outcomes.nonzero()[0]]

    def _faults(self, reading: Reading) -> list[str]:
        return [
            f"token {t} passes {self.test!r} and is {reading.labels[t]!r}; "
            f"expected {either(self.labels)}."
            for t in self._broken(reading)
        ]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        return _one_state(labels, [np.ones(len(labels), np.bool_), self._choice(labels)])

    def __repr__(self) -> str:
        return call(f"{self.word}({self.test!r}).allow", *self.labels)


@dataclass(frozen=True, repr=False)
class OnlyOn(ByTest):
    """See `only_on`."""

    word = "only_on"

    def _restricted(self, n_tokens: int, outcomes: BoolArray | None) -> list[int]:
        assert outcomes is not None
        return [int(t) for t in (~outcomes).nonzero()[0]]

    def _choice(self, labels: LabelSet) -> BoolArray:
        return ~self._named(labels)

    def _faults(self, reading: Reading) -> list[str]:
        return [
            f"token {t} is {reading.labels[t]!r} and does not pass {self.test!r}; "
            f"{either(self.labels)} expected only where tokens do."
            for t in self._broken(reading)
        ]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        return _one_state(labels, [self._choice(labels), np.ones(len(labels), np.bool_)])

    def __repr__(self) -> str:
        return call(self.word, self.test, *self.labels)


@dataclass(frozen=True, repr=False)
class ChangesOnlyAt(Constraint):
    """See `changes_only_at`."""

    word = "changes_only_at"
    test: TokenTest

    @property
    def tests(self) -> tuple[TokenTest, ...]:
        """The token tests that the rule asks."""
        return (self.test,)

    def _broken(self, reading: Reading) -> list[int]:
        """Return the last tokens of segments that end although the test fails there."""
        passes = reading.passes(self.test)
        ends = sorted({span.end for span in reading.spans if span.end < len(reading)})
        return [end - 1 for end in ends if not passes[end - 1]]

    def _degree(self, reading: Reading) -> int:
        return int(bool(self._broken(reading)))

    def _faults(self, reading: Reading) -> list[str]:
        broken = self._broken(reading)
        end = "a segment ends" if len(broken) == 1 else "segments end"
        return [
            f"{end} at {places(broken)}, where {self.test!r} does not pass; "
            "expected changes only where it does."
        ]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        def step(may_leave: bool, leaves: Hashable, token_class: int) -> bool | None:
            return None if leaves and not may_leave else token_class == 1

        return build(
            labels,
            Symbols.of_leaves(labels),
            True,
            step,
            lambda _: True,
            n_tests=1,
            max_states=max_states,
        )

    def __repr__(self) -> str:
        return call(self.word, self.test)


@dataclass(frozen=True)
class Where:
    """The first half of a rule: the tokens that pass a test; see `where`."""

    test: TokenTest

    def allow(self, *labels: str) -> Constraint:
        """Require that each of these tokens has one of these labels.

        Parameters
        ----------
        *labels
            Token labels, or names of segments: all tokens inside them.
        """
        return Allow(check_names("allow", labels), self.test)


def where(test: TokenTest) -> Where:
    """Begin a rule on the tokens that pass a test: ``where(test).allow(*labels)``.

    Parameters
    ----------
    test
        A token test; see `token`.

    Examples
    --------
    >>> from trelliswork.constraints import token
    >>> rule = where(token(regex="(19|20)[0-9][0-9]")).allow("year", "pages")
    >>> rule.violations(["year", "title"], ["1998", "1999"])
    1
    """
    return Where(_check_test("where", test))


def only_on(test: TokenTest, *labels: str) -> Constraint:
    """Require that these labels occur only on tokens that pass a test.

    Parameters
    ----------
    test
        A token test; see `token`.
    *labels
        Token labels, or names of segments: all tokens inside them.
    """
    return OnlyOn(check_names("only_on", labels), _check_test("only_on", test))


def changes_only_at(test: TokenTest) -> Constraint:
    """Require that every segment that is left ends on a token that passes a test.

    A segment is left where it ends before the sequence does: at ``t``, if token ``t + 1`` begins
    another or is outside. Coming from outside leaves nothing, and neither does the end of the
    sequence.

    Parameters
    ----------
    test
        A token test; see `token`. It reads the last token of the segment being left.

    Examples
    --------
    >>> from trelliswork.constraints import token
    >>> rule = changes_only_at(token(regex=".*[.,;:]"))
    >>> rule.violations(["author", "author", "title"], ["Lee", ",", "Cats"])
    0
    >>> rule.violations(["author", "title", "title"], ["Lee", ",", "Cats"])
    1
    """
    return ChangesOnlyAt(_check_test("changes_only_at", test))


def _check_test(word: str, test: object) -> TokenTest:
    """Return the test; raise a `TypeError` if it is not a token test."""
    if not isinstance(test, TokenTest):
        raise TypeError(
            f"{word}: expected a token test such as token(regex='[0-9]+'), got "
            f"{type(test).__name__} {test!r}."
        )
    return test


def _one_state(labels: LabelSet, choices: list[BoolArray]) -> Automaton:
    """Return the automaton that allows ``choices[class]`` at every token."""
    letters = np.flatnonzero(np.concatenate(choices))
    return language(1, labels, [(0, int(letter), 0) for letter in letters], [0], [0], n_tests=1)
