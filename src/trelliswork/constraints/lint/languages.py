"""Findings about rules with automata, from their languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from trelliswork.constraints.arguments import join_words
from trelliswork.constraints.lint.findings import Finding
from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork.constraints.base import Constraint
    from trelliswork.constraints.lint.findings import Kind
    from trelliswork.constraints.lint.queries import Languages, Lengths

__all__ = ["LanguageLinter"]

_Answer = TypeVar("_Answer")


class LanguageLinter:
    """The linter of rules with automata; rules are numbers here.

    Parameters
    ----------
    rules
        Rules that have automata, hard ones and soft ones.
    languages
        Their languages.
    """

    def __init__(self, rules: Sequence[Constraint], languages: Languages) -> None:
        self._rules = rules
        self._languages = languages
        self._hard = tuple(i for i, rule in enumerate(rules) if not rule.is_soft)
        self._unchecked: list[tuple[int, ...]] = []

    def findings(self) -> list[Finding]:
        """Return all findings."""
        everything = range(len(self._rules))
        found = self.contradictions()
        dead = [i for i in everything if self._ask(self._languages.is_universal, (i,))]
        found += [self._finding("dead", (i,), self._never(i)) for i in dead]
        alive = [i for i in everything if i not in dead]
        if not any(finding.kind == "contradictory" for finding in found):
            hard = tuple(i for i in alive if i in self._hard)
            found += self._broken([i for i in alive if i not in hard], hard)
            found += self._implied(alive)
            found += self._lengths(hard)
            found += self._inputs(hard)
        for subset in sorted(self._unchecked, key=len)[-1:]:
            message = (
                f"{len(subset)} rules together pass {self._languages.max_states:,} states. Smaller "
                "sets were judged as far as possible; raise max_states to judge all."
            )
            found.append(self._finding("unchecked", subset, message))
        return found

    def _never(self, i: int) -> str:
        never = "is never broken" if self._rules[i].is_soft else "never excludes a labelling"
        return f"{self._rules[i]!r} {never}."

    def contradictions(self) -> list[Finding]:
        """Return a smallest set of hard rules that no labelling satisfies, if there is one."""
        conflict = self._smallest(self._languages.is_contradictory, self._hard)
        if conflict is None:
            return []
        within = self._languages.described_lengths
        if len(conflict) == 1:
            message = f"No labelling{within} satisfies {self._list(conflict)}."
        else:
            message = f"No labelling{within} satisfies all of {self._list(conflict)}. Drop one."
        return [self._finding("contradictory", conflict, message)]

    def _broken(self, soft: list[int], hard: tuple[int, ...]) -> list[Finding]:
        """Find soft rules that every labelling of the hard ones breaks."""
        found = []
        for i in soft:

            def exclude(subset: tuple[int, ...], i: int = i) -> bool:
                return self._languages.is_contradictory((*subset, i))

            reasons = () if self._ask(exclude, ()) else self._smallest(exclude, hard)
            if reasons is not None:
                within = self._languages.described_lengths
                those = f" that satisfies {self._list(reasons)}" if reasons else ""
                message = f"Every labelling{within}{those} breaks {self._rules[i]!r}."
                found.append(self._finding("broken", (i, *reasons), message))
        return found

    def _implied(self, alive: list[int]) -> list[Finding]:
        """Drop implied rules one by one, the last first, so that no two imply each other."""
        found: list[Finding] = []
        kept = list(alive)
        for i in reversed(alive):
            others = tuple(j for j in kept if j != i and j in self._hard)

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
        """Return a smallest set of rules with a monotone property: supersets have it too.

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
        """Return the answer, or ``None`` if the rules are too large to judge."""
        try:
            return question(rules)
        except TooLargeError:
            self._unchecked.append(rules)
            return None

    def _list(self, rules: tuple[int, ...]) -> str:
        return join_words([repr(self._rules[i]) for i in rules])

    def _finding(self, kind: Kind, rules: tuple[int, ...], message: str) -> Finding:
        return Finding(kind, tuple(self._rules[i] for i in rules), message)
