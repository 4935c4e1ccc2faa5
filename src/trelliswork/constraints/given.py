"""The argument ``constraints`` of functions and estimators: one or several, of several kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from trelliswork.automata.automaton import Automaton
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.on_tokens import Where
from trelliswork.constraints.regular import matches
from trelliswork.constraints.text.parser import parse
from trelliswork.constraints.token_tests import TokenTest
from trelliswork.errors import RegexError, RuleError

__all__ = ["HasConstraint", "as_constraints"]


@runtime_checkable
class HasConstraint(Protocol):
    """An object with a constraint, such as a mined rule."""

    @property
    def constraint(self) -> Constraint:
        """The constraint."""


def as_constraints(given: Any) -> tuple[Constraint, ...]:
    """Return constraints, expressions and automata, one or a sequence of them, as constraints.

    An object with an attribute ``constraint``, such as a mined rule, stands for that constraint.

    Raises
    ------
    TypeError, RuleError, RegexError
        For anything else, and for expressions that cannot be read, naming the place.
    """
    if given is None:
        return ()
    single = isinstance(
        given, str | Automaton | Constraint | HasConstraint | Mapping | Where | TokenTest
    )
    if single or not isinstance(given, Iterable):
        return (_one(given, "constraints"),)
    return tuple(_one(item, f"constraints[{i}]") for i, item in enumerate(given))


def _one(given: Any, name: str) -> Constraint:
    if isinstance(given, Constraint):
        return given
    if isinstance(given, HasConstraint):
        return given.constraint
    if isinstance(given, Automaton):
        return matches(given)
    if isinstance(given, str):
        return _expression(given, name)
    raise _refused(given, name)


def _expression(text: str, name: str) -> Constraint:
    """Return a regular expression as a rule; the source of a rule is not an expression.

    Without parentheses or ``: soft`` a text such as ``a before b`` may be either, and is an
    expression of three labels.
    """
    is_rule = _is_rule(text)
    if not (is_rule and {"(", ":"}.intersection(text)):
        try:
            return matches(text)
        except RegexError as error:
            if not is_rule:
                raise RegexError(f"{name}: {error}") from None
    raise RuleError(
        f"{name}: expected a regular expression over labels, got the text of a rule, {text!r}. "
        "Read it with trelliswork.constraints.parse, or a file of rules with read_rules."
    )


def _is_rule(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _refused(given: Any, name: str) -> TypeError:
    expected = "expected a constraint, a regular expression or an Automaton"
    if isinstance(given, Where):
        return TypeError(
            f"{name}: {expected}, got where({given.test!r}), which says for which tokens and not "
            "what they may be. Go on with .allow(labels)."
        )
    if isinstance(given, TokenTest):
        return TypeError(
            f"{name}: {expected}, got the test {given!r}. Make a rule with only_on(test, label) or "
            "where(test).allow(label)."
        )
    several = ", or a sequence of these" if name == "constraints" else ""
    return TypeError(f"{name}: {expected}{several}, got {type(given).__name__} {given!r}.")
