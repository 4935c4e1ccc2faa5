"""The words, operators and methods of rules in text."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from trelliswork.constraints import (
    counting,
    edges,
    on_tokens,
    overlap,
    pairs,
    positions,
    regular,
    token_tests,
)
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.linear import CountExpression, count

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS: dict[str, Callable[..., object]] = {
    word.__name__: word
    for word in (
        regular.matches,
        regular.arc_list,
        edges.starts_with,
        edges.ends_with,
        edges.valid_scheme,
        pairs.precedes,
        pairs.requires,
        pairs.excludes,
        overlap.no_overlap,
        counting.contiguous,
        counting.at_most,
        counting.at_least,
        counting.exactly,
        count,
        on_tokens.where,
        on_tokens.only_on,
        positions.at,
        positions.not_at,
        on_tokens.changes_only_at,
        token_tests.token,
    )
}
OFFERED = [word for word in WORDS if word != "arc_list"]
"""The words that messages name; automata are printed as `arc_list`."""

QUOTED = {"matches", "arc_list", "token", "predicate"}
"""Words whose strings are no labels, so that they need quotes."""

BETWEEN: dict[str, Callable[[str, str], Constraint]] = {
    "before": pairs.precedes,
    "precedes": pairs.precedes,
    "requires": pairs.requires,
    "excludes": pairs.excludes,
}
METHODS: dict[str, tuple[type, str]] = {
    "allow": (on_tokens.Where, "where(test)"),
    "soft": (Constraint, "a rule"),
    "per_token": (Constraint, "a rule"),
    "equals": (CountExpression, "counts"),
}
CONSTANTS = {"True": True, "False": False, "None": None}


def _equal(left: object, right: object) -> object:
    """Compare two sides for equality; at least one of them is a sum of counts."""
    if not isinstance(left, CountExpression):
        left, right = right, left
    return left.equals(right) if isinstance(left, CountExpression) else left == right


COMPARISONS: dict[str, Callable[..., object]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": _equal,
}
ARITHMETIC: dict[str, Callable[..., object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
BINDING = {**dict.fromkeys(COMPARISONS, 1), "|": 2, "&": 3, "+": 4, "-": 4, "*": 5}
BINDING_OF_ONE = 6  # ~ and - before one operand
CLOSING = {"(": ")", "[": "]", "{": "}"}

MAX_DEPTH = 60
"""Maximum depth of nested expressions: Python's stack has room for ten times as many."""
