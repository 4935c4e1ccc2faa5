"""`lint`: find implied, dead and contradictory rules.

Findings are decided on the languages of the rules, for all labellings and all inputs at once.
Let ``U`` be the set of all labellings, of one token or more, or of the given lengths.
Linear rules have no language of their own; they are judged by the ranges of their sums, see
`trelliswork.constraints.lint.counts`. Soft rules forbid nothing, so that nothing follows from them;
but hard rules may make them useless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from trelliswork.automata.automaton import Automaton
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.lint.counts import CountLinter
from trelliswork.constraints.lint.findings import Finding, in_order
from trelliswork.constraints.lint.languages import LanguageLinter
from trelliswork.constraints.lint.queries import Languages
from trelliswork.constraints.regular import as_constraint
from trelliswork.constraints.soft import Soft
from trelliswork.errors import LabelError, RuleError, TooLargeError
from trelliswork.labels.label_set import LabelSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Finding", "find_contradiction", "lint"]

MAX_STATES = 20_000
"""Fewer than elsewhere: many sets of rules are looked at, each with an automaton of its own."""

Rule: TypeAlias = Constraint | Automaton | str


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
        The largest automaton to try. Larger sets of rules are listed as unchecked.

    Returns
    -------
    list of Finding
        Rules with unknown names first; then contradictions; then rules that are dead, free, always
        broken or implied, in the order of the rules; then lengths and inputs without a labelling.

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
    rules, found = [], []
    for constraint in constraints:
        rule = as_constraint(constraint)
        try:
            rule.check(labels)
            rules.append(rule)
        except LabelError as error:
            found.append(Finding("unknown", (rule,), str(error)))
    with_language, counting = _by_kind(rules, labels, max_states)
    languages = Languages(with_language, labels, lengths, max_states)
    found += LanguageLinter(with_language, languages).findings()
    found += CountLinter(rules, counting, labels, languages.lengths).findings()
    return in_order(found + _free(rules))


def find_contradiction(
    constraints: Sequence[Constraint], labels: LabelSet, *, max_states: int = MAX_STATES
) -> Finding | None:
    """Return a smallest set of rules that no labelling satisfies; ``None`` if there is none.

    Much less work than `lint`. Soft rules contradict nothing. Rules that are too large together
    count as if some labelling satisfied them.

    Parameters
    ----------
    constraints
        The rules.
    labels
        The labels; they know all names.
    max_states
        The largest automaton to try.
    """
    hard = [rule for rule in constraints if not rule.is_soft]
    with_language, counting = _by_kind(hard, labels, max_states)
    if found := CountLinter(hard, counting, labels, None).contradictions():
        return found[0]
    languages = Languages(with_language, labels, None, max_states)
    everything = tuple(range(len(with_language)))
    try:
        if not languages.is_contradictory(everything):
            return None
    except TooLargeError:
        return None
    (finding,) = LanguageLinter(with_language, languages).contradictions()
    return finding


def _by_kind(
    rules: Sequence[Constraint], labels: LabelSet, max_states: int
) -> tuple[list[Constraint], list[Constraint]]:
    """Return the rules that have an automaton, and the linear ones."""
    with_language, counting = [], []
    for rule in rules:
        try:
            rule.compile(labels, max_states=max_states)
        except RuleError:
            counting.append(rule)
            continue
        except TooLargeError:
            pass  # it has an automaton; the linter reports that it is too large
        with_language.append(rule)
    return with_language, counting


def _free(rules: Sequence[Constraint]) -> list[Finding]:
    """Find soft rules with penalty 0, and rules that occur twice."""
    found = []
    before: dict[Constraint, Constraint] = {}
    for rule in rules:
        if not isinstance(rule, Soft):
            continue
        if rule.penalty == 0.0:
            message = f"{rule!r} costs nothing to break: its penalty is 0. Leave it out."
            found.append(Finding("free", (rule,), message))
        elif rule.hard in before:
            first = before[rule.hard]
            same = "is given twice" if first == rule else f"is the same rule as {first!r}"
            message = f"{rule!r} {same}: penalties add up."
            found.append(Finding("implied", (rule, first), message))
        else:
            before[rule.hard] = rule
    return found
