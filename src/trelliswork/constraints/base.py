"""`Constraint`: the base class of rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from trelliswork.automata.automaton import MAX_STATES
from trelliswork.constraints.monitors import compile_rule
from trelliswork.constraints.reading import Reading, is_known, unknown_name
from trelliswork.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints.arguments import Unit
    from trelliswork.constraints.rows import Row
    from trelliswork.constraints.soft import Soft
    from trelliswork.constraints.token_tests import SentenceLike, TokenTest
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.schemes import Scheme

__all__ = ["Constraint"]


class Constraint(ABC):
    """A rule about labellings: a frozen value that can be compared, hashed, printed and read back.

    ``c1 & c2``, ``c1 | c2`` and ``~c`` are rules too. A rule is hard, so that no labelling breaks
    it, unless it is made soft: ``c.soft()``. `repr` prints the expression that made the rule, and
    `trelliswork.constraints.parse` reads it back to an equal one.
    """

    word: ClassVar[str] = ""
    """The word for the rule in source, messages and rule files."""

    _builds_unambiguous: ClassVar[bool] = False
    """Whether `_build` never gives a labelling two paths, deterministic or not."""

    def violations(
        self,
        labels: Sequence[str],
        sentence: SentenceLike | None = None,
        *,
        scheme: Scheme | LabelSet | None = None,
    ) -> int:
        """Return the violations of the rule in a labelling: 0 if it is satisfied.

        Parameters
        ----------
        labels
            The ``T`` labels.
        sentence
            The sentence they belong to; only rules with token tests need it.
        scheme
            The form of segments: a scheme name, or a label set, which also refuses names it does
            not know. ``None`` guesses from these labels: bio, bioes, bilou or path where all of
            them have their tags, else plain.
        """
        return self.degree(Reading(labels, sentence, scheme))

    def degree(self, reading: Reading) -> int:
        """Return the violations of the rule in a `Reading`; see `violations`."""
        self._check_reading(reading)
        return self._degree(reading)

    def explain(
        self,
        labels: Sequence[str],
        sentence: SentenceLike | None = None,
        *,
        scheme: Scheme | LabelSet | None = None,
    ) -> list[str]:
        """Return messages on the violations and their places; none if the rule is satisfied.

        The parameters are those of `violations`. Tokens are counted from 0.
        """
        reading = Reading(labels, sentence, scheme)
        return self._faults(reading) if self.degree(reading) else []

    @property
    def tests(self) -> tuple[TokenTest, ...]:
        """The token tests of the rule; none if it does not depend on the input."""
        return ()

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions, each with its unit."""
        return ()

    @property
    def conjuncts(self) -> tuple[Constraint, ...]:
        """The operands of ``&`` at the top of the rule; any other rule is its only conjunct."""
        return (self,)

    @property
    def rows(self) -> tuple[Row, ...] | None:
        """The rows whose violations add up to those of the rule; ``None`` if it is not linear."""
        return None

    @property
    def is_soft(self) -> bool:
        """Whether the rule may be broken at a penalty, see `soft`."""
        return False

    @property
    def is_predicate(self) -> bool:
        """Whether the rule is a Python function, which has no automaton."""
        return False

    @property
    def hard(self) -> Constraint:
        """The hard rule: itself, or the rule that was made soft."""
        return self

    def soft(self, penalty: float | None = None) -> Soft:
        """Return the soft rule: a labelling pays a penalty for every violation.

        Parameters
        ----------
        penalty
            The penalty of each violation, ``ρ ≥ 0``: a finite number. ``None``: it is
            learned in training.

        Examples
        --------
        >>> from trelliswork.constraints import at_most
        >>> at_most(1, "title").soft(1.5)
        at_most(1, 'title').soft(1.5)
        """
        from trelliswork.constraints import soft  # whose rules are constraints themselves

        return soft.Soft(self, penalty)

    def per_token(self) -> Constraint:
        """Return the rule with one violation for every token, or change, that breaks it.

        For rules about single tokens: ``where(…).allow(…)``, ``only_on``, ``at``, ``not_at`` and
        ``changes_only_at``.

        Raises
        ------
        TypeError
            For any other rule.

        Examples
        --------
        >>> from trelliswork.constraints import token, where
        >>> rule = where(token(regex="[0-9]+")).allow("year")
        >>> labels, tokens = ["title", "title", "title"], ["1984", "and", "2001"]
        >>> rule.violations(labels, tokens), rule.per_token().violations(labels, tokens)
        (1, 2)
        """
        from trelliswork.constraints import per_token  # whose rules are constraints themselves

        return per_token.PerToken(self)

    def in_segments(self) -> Constraint:
        """Return the rule for a semi-Markov model: units that are left open become segments."""
        return self

    def compile(self, labels: LabelSet, *, max_states: int = MAX_STATES) -> Automaton:
        """Return the language of labellings that satisfy the rule, as an unambiguous automaton.

        Without token tests its letters are the labels. With ``k`` tests there are ``L * 2**k``
        letters: letter ``c * L + y`` is label ``y`` on a token of class ``c``, and bit ``i`` of
        ``c`` says whether the token passes ``tests[i]``. A soft rule has the automaton of the rule
        inside.

        Parameters
        ----------
        labels
            The labels.
        max_states
            Maximum number of states to try.

        Raises
        ------
        LabelError
            If the rule has a name that the label set does not know.
        RuleError
            If the rule adds and subtracts counts, so that no automaton is large enough.
        TooLargeError
            If the automaton, or one on the way to it, has more states than that.
        """
        return compile_rule(self.hard, labels, max_states)

    def allowed(self, labels: LabelSet, sentence: SentenceLike) -> BoolArray | None:
        """Return the allowed labels of each token, shape ``(T, L)``, if the rule is such a mask.

        ``None`` if the rule does not concern each token alone.
        """
        return None

    def check(self, labels: LabelSet) -> None:
        """Raise a `LabelError` if the rule has a name that the label set does not know."""
        for name, unit in self.unknown_names(labels):
            raise LabelError(f"{self!r}: {unknown_name(name, unit, labels)}")

    def unknown_names(self, labels: LabelSet) -> list[tuple[str, Unit]]:
        """Return the names of the rule that the label set does not know."""
        return [(name, unit) for name, unit in self.names if not is_known(labels, name, unit)]

    @abstractmethod
    def _degree(self, reading: Reading) -> int:
        """Return the violations of the rule in a labelling."""

    @abstractmethod
    def _faults(self, reading: Reading) -> list[str]:
        """Return messages about a labelling that breaks the rule."""

    @abstractmethod
    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        """Return an automaton of the rule, ambiguous or not."""

    def _check_reading(self, reading: Reading) -> None:
        if not reading.has_sentence and self.tests:
            raise ValueError(
                f"{self!r} looks at the input. Pass the sentence that the labels belong to as "
                "sentence=."
            )
        if reading.is_complete and not all(reading.knows(*name) for name in self.names):
            self.check(reading.label_set)

    def _operand(self) -> str:
        """Return the source of the rule as an operand, in parentheses if necessary."""
        return repr(self)

    def __and__(self, other: object) -> Constraint:
        if not isinstance(other, Constraint) or other.is_soft or other.is_predicate:
            return NotImplemented
        from trelliswork.constraints import combined  # whose rules are constraints themselves

        return combined.both(self, other)

    def __or__(self, other: object) -> Constraint:
        if not isinstance(other, Constraint) or other.is_soft or other.is_predicate:
            return NotImplemented
        from trelliswork.constraints import combined

        return combined.either(self, other)

    def __invert__(self) -> Constraint:
        from trelliswork.constraints import combined

        return combined.Not(self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} is a rule, neither true nor false. Combine rules with &, | and ~ instead of "
            "'and', 'or' and 'not'; ask c.violations(labels) whether a labelling breaks it."
        )
