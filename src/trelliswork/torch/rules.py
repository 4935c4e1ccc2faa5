"""The rules of a layer: their arguments, their language, and their names in errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, TypeAlias

from trelliswork._utils.tables import join_names, shorten
from trelliswork.automata.automaton import Automaton
from trelliswork.constraints import Constraint, as_constraint, lint
from trelliswork.errors import InfeasibleError

if TYPE_CHECKING:
    from trelliswork.labels.label_set import LabelSet

__all__ = ["Rule", "Rules", "as_rules", "compile_rules", "describe"]

Rule: TypeAlias = Constraint | Automaton | str
Rules: TypeAlias = Rule | Sequence[Rule]

KINDS = "a regular expression, an Automaton or a constraint"


def as_rules(language: Rule | None, constraints: Rules | None) -> tuple[Rule, ...]:
    """Return the rules in the arguments of a layer as one sequence."""
    if language is not None and not isinstance(language, Rule):
        raise TypeError(
            f"language: expected {KINDS}, got {_show(language)}. Give several as constraints=."
        )
    rules = [] if language is None else [language]
    if isinstance(constraints, Rule):
        rules.append(constraints)
    elif isinstance(constraints, Iterable):
        rules.extend(constraints)
    elif constraints is not None:
        raise TypeError(f"constraints: expected {KINDS}, or several, got {_show(constraints)}.")
    for rule in rules:
        if not isinstance(rule, Rule):
            raise TypeError(f"constraints: each must be {KINDS}, got {_show(rule)}.")
    return tuple(rules)


def describe(rules: Sequence[Rule]) -> str:
    """Return the names of rules for an error message."""
    return join_names([shorten(repr(rule)) for rule in rules])


def compile_rules(rules: Sequence[Rule], labels: LabelSet) -> Automaton:
    """Return the language of labellings that obey all rules, as an unambiguous automaton.

    Raises
    ------
    InfeasibleError
        No labelling of any length does.
    """
    compiled = [_compile(rule, labels) for rule in rules]
    language = reduce(and_, compiled).trim().unambiguous()
    if language.n_arcs == 0:
        named = [
            automaton if isinstance(rule, Automaton) else rule
            for rule, automaton in zip(rules, compiled, strict=True)
        ]
        found = [finding for finding in lint(named, labels) if finding.kind == "contradictory"]
        guilty = found[0].rules if found else rules
        raise InfeasibleError(
            f"No labelling of any length satisfies {describe(guilty)}. "
            f"{'Correct it' if len(guilty) == 1 else 'Drop one'}: a layer needs labellings."
        )
    return language


def _compile(rule: Rule, labels: LabelSet) -> Automaton:
    if isinstance(rule, Automaton) and rule.labels in (None, labels.names):
        if rule.n_labels != len(labels):
            raise ValueError(
                f"language: expected an automaton over {len(labels)} labels, got one over "
                f"{rule.n_labels}."
            )
        return Automaton._from_arrays(rule._arrays(), labels.names)
    constraint = as_constraint(rule)
    if constraint.tests:
        raise ValueError(
            f"language: {constraint!r} looks at tokens, which a layer does not see. Give the layer "
            "constraints on labels alone."
        )
    if constraint.is_soft:
        raise ValueError(
            f"language: {constraint!r} is soft, and a layer forbids what breaks a rule. Leave out "
            ".soft(), or train a CRFTagger."
        )
    return constraint.compile(labels)


def _show(given: object) -> str:
    return f"{type(given).__name__} {shorten(repr(given))}"
