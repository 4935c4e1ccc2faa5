"""Rules about rules: which are implied by others, dead, or in contradiction.

Everything is decided on the languages of the rules, for all labellings and all inputs at once.
Let ``U`` be the labellings at all: of one token or more, or of the lengths that are asked about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from trelliswork.automaton import Automaton
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.languages import Languages
from trelliswork.constraints.regular import as_constraint
from trelliswork.constraints.words import joined
from trelliswork.errors import LabelError, TooLargeError
from trelliswork.labels import LabelSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trelliswork.constraints.languages import Lengths

__all__ = ["Finding", "find_contradiction", "lint"]

Kind: TypeAlias = Literal[
    "contradictory", "dead", "implied", "lengths", "inputs", "unknown", "unchecked"
]


MAX_STATES = 20_000
"""Fewer than elsewhere: many sets of rules are looked at, each with an automaton of its own."""

_Answer = TypeVar("_Answer")

Rule: TypeAlias = Constraint | Automaton | str


@dataclass(frozen=True)
class Finding:
    """One thing that `lint` found.

    Attributes
    ----------
    kind
        ``"contradictory"``: no labelling satisfies these rules. ``"dead"``: the rule excludes
        nothing. ``"implied"``: the first of the rules follows from the others. ``"lengths"``: no
        labelling of some lengths satisfies these rules. ``"inputs"``: some inputs have no labelling
        that satisfies these rules. ``"unknown"``: the rule names what the label set does not know,
        and was left out. ``"unchecked"``: these rules together are too large to judge.
    rules
        The rules, as few as possible.
    message
        What was found, for people.
    """

    kind: Kind
    rules: tuple[Constraint, ...]
    message: str

    def __str__(self) -> str:
        return self.message


def lint(
    constraints: Rule | Iterable[Rule],
    labels: LabelSet,
    *,
    lengths: Iterable[int] | None = None,
    max_states: int = MAX_STATES,
) -> list[Finding]:
    """Look for implied, dead and contradictory rules.

    Parameters
    ----------
    constraints
        The rules, or one alone; automata and regular expressions are read as `matches` rules.
    labels
        The labels.
    lengths
        The numbers of tokens of the sentences at hand, such as ``range(1, 60)``. ``None``: any
        number from 1, and only the shortest and longest feasible ones are spoken of.
    max_states
        The largest automaton to try. What is larger is listed as unchecked.

    Returns
    -------
    list of Finding
        Rules with unknown names first; then contradictions; then dead and implied rules in the
        order of the rules; then lengths and inputs without a labelling.

    Examples
    --------
    >>> from trelliswork import LabelSet
    >>> from trelliswork.constraints import at_most, exactly
    >>> labels = LabelSet(["author", "title"])
    >>> for finding in lint([exactly(1, "title"), at_most(2, "title")], labels):
    ...     print(finding)
    at_most(2, 'title') is implied by exactly(1, 'title').
    """
    if not isinstance(labels, LabelSet):
        raise TypeError(
            f"labels: expected a LabelSet, got {type(labels).__name__}. Write "
            "LabelSet(names), with the scheme of the labels, such as 'bio'."
        )
    if isinstance(constraints, Rule):
        constraints = [constraints]
    rules, unknown = [], []
    for constraint in constraints:
        rule = as_constraint(constraint)
        try:
            rule.check(labels)
            rules.append(rule)
        except LabelError as error:
            unknown.append(Finding("unknown", (rule,), str(error)))
    return unknown + _Linter(rules, Languages(rules, labels, lengths, max_states)).findings()


def find_contradiction(
    constraints: Sequence[Constraint], labels: LabelSet, *, max_states: int = MAX_STATES
) -> Finding | None:
    """Return a smallest set of rules that no labelling satisfies; ``None`` where there is none.

    Much less work than `lint`. Rules that are too large together count as if some labelling
    satisfied them.

    Parameters
    ----------
    constraints
        The rules.
    labels
        The labels; they know all names.
    max_states
        The largest automaton to try.
    """
    languages = Languages(list(constraints), labels, None, max_states)
    everything = tuple(range(len(constraints)))
    try:
        if not languages.is_contradictory(everything):
            return None
    except TooLargeError:
        return None
    (found,) = _Linter(constraints, languages).contradictions(everything)
    return found


class _Linter:
    """Asks questions of the languages; rules are numbers here."""

    def __init__(self, rules: Sequence[Constraint], languages: Languages) -> None:
        self._rules = rules
        self._languages = languages
        self._unchecked: list[tuple[int, ...]] = []

    def findings(self) -> list[Finding]:
        everything = tuple(range(len(self._rules)))
        found = self.contradictions(everything)
        dead = [i for i in everything if self._ask(self._languages.is_universal, (i,))]
        found += [
            self._finding("dead", (i,), f"{self._rules[i]!r} never excludes a labelling.")
            for i in dead
        ]
        alive = [i for i in everything if i not in dead]
        if not any(finding.kind == "contradictory" for finding in found):
            found += self._implied(alive)
            found += self._lengths(tuple(alive))
            found += self._inputs(tuple(alive))
        for subset in sorted(self._unchecked, key=len)[-1:]:
            message = (
                f"{len(subset)} rules together pass {self._languages.max_states:,} states. Smaller "
                "sets were judged as far as possible; raise max_states to judge all."
            )
            found.append(self._finding("unchecked", subset, message))
        return found

    def contradictions(self, everything: tuple[int, ...]) -> list[Finding]:
        conflict = self._smallest(self._languages.is_contradictory, everything)
        if conflict is None:
            return []
        within = self._languages.described_lengths
        if len(conflict) == 1:
            message = f"No labelling{within} satisfies {self._list(conflict)}."
        else:
            message = f"No labelling{within} satisfies all of {self._list(conflict)}. Drop one."
        return [self._finding("contradictory", conflict, message)]

    def _implied(self, alive: list[int]) -> list[Finding]:
        """Drop implied rules one by one, the last first, so that no two imply each other."""
        found: list[Finding] = []
        kept = list(alive)
        for i in reversed(alive):
            others = tuple(j for j in kept if j != i)

            def implies(subset: tuple[int, ...], i: int = i) -> bool:
                return self._languages.implies(subset, i)

            reasons = self._smallest(implies, others) if others else None
            if reasons is None:
                continue
            kept.remove(i)
            if self._rules[i] in [self._rules[j] for j in reasons]:
                message = f"{self._rules[i]!r} is given twice."
            else:
                message = f"{self._rules[i]!r} is implied by {self._list(reasons)}."
            found.insert(0, self._finding("implied", (i, *reasons), message))
        return found

    def _lengths(self, alive: tuple[int, ...]) -> list[Finding]:
        infeasible = self._ask(self._languages.infeasible_lengths, alive)
        found = []
        for lengths in infeasible or []:

            def exclude(subset: tuple[int, ...], lengths: Lengths = lengths) -> bool:
                return self._languages.exclude_lengths(subset, lengths)

            guilty = self._smallest(exclude, alive)
            message = f"No labelling of {lengths} satisfies {self._list(guilty or alive)}."
            found.append(self._finding("lengths", guilty or alive, message))
        return found

    def _inputs(self, alive: tuple[int, ...]) -> list[Finding]:
        guilty = self._smallest(
            lambda subset: self._languages.input_without_labelling(subset) is not None, alive
        )
        if guilty is None:
            return []
        example = self._languages.input_without_labelling(guilty)
        message = f"No labelling satisfies {self._list(guilty)} where {example}."
        return [self._finding("inputs", guilty, message)]

    def _smallest(
        self, holds: Callable[[tuple[int, ...]], bool], rules: tuple[int, ...]
    ) -> tuple[int, ...] | None:
        """Return a smallest set of rules for which something holds that more rules keep true.

        Single rules and pairs are tried before the others are dropped one after the other; they
        are all that is tried where all rules together are too large to judge.
        """
        together = self._ask(holds, rules)
        if together is False:
            return None
        singles = [(i,) for i in rules]
        pairs = [(i, j) for i in rules for j in rules if i < j]
        for subset in (*singles, *pairs):
            if self._ask(holds, subset):
                return subset
        if not together:
            return None
        subset = rules
        for i in rules:
            without = tuple(j for j in subset if j != i)
            if self._ask(holds, without):
                subset = without
        return subset

    def _ask(
        self, question: Callable[[tuple[int, ...]], _Answer], rules: tuple[int, ...]
    ) -> _Answer | None:
        """Return the answer, or ``None`` where the rules are too large to judge."""
        try:
            return question(rules)
        except TooLargeError:
            self._unchecked.append(rules)
            return None

    def _list(self, rules: tuple[int, ...]) -> str:
        return joined([repr(self._rules[i]) for i in rules])

    def _finding(self, kind: Kind, rules: tuple[int, ...], message: str) -> Finding:
        return Finding(kind, tuple(self._rules[i] for i in rules), message)
