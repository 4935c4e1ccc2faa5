"""Rules: declarative constraints on labellings.

A rule is a value. It counts its violations ``v_c(y)`` in a labelling (`Constraint.violations`),
explains them (`Constraint.explain`), and compiles to an automaton (`Constraint.compile`) or to rows
``a · n(y) ≤ b`` (`Constraint.rows`). Rules combine with ``&``, ``|`` and ``~``, print as the source
that made them, and are read back by `parse`. They are hard unless made soft (`Constraint.soft`).
`text` is the parser of rule files, `lint` finds contradictions and superfluous rules.

Imports `automata`, `labels`, `features` and the floors below. Models and decoding are unknown here.

>>> from trelliswork.constraints import at_most, parse, precedes
>>> rule = at_most(1, "title") & precedes("author", "title")
>>> rule.violations(["title", "author", "title"])
2
>>> parse(repr(rule)) == rule
True
"""

from trelliswork.constraints.base import Constraint
from trelliswork.constraints.counting import at_least, at_most, contiguous, exactly
from trelliswork.constraints.edges import ends_with, starts_with, valid_scheme
from trelliswork.constraints.linear import CountExpression, Linear, count
from trelliswork.constraints.lint.lint import Finding, find_contradiction, lint
from trelliswork.constraints.on_tokens import changes_only_at, only_on, where
from trelliswork.constraints.overlap import no_overlap
from trelliswork.constraints.pairs import excludes, precedes, requires
from trelliswork.constraints.positions import at, not_at
from trelliswork.constraints.predicates import Predicate, predicate
from trelliswork.constraints.reading import judge
from trelliswork.constraints.regular import arc_list, as_constraint, matches
from trelliswork.constraints.rows import Row
from trelliswork.constraints.soft import Soft
from trelliswork.constraints.text.parser import (
    PlacedRule,
    iter_rules,
    parse,
    parse_rules,
    read_rules,
)
from trelliswork.constraints.token_tests import TokenTest, token

__all__ = [
    "Constraint",
    "CountExpression",
    "Finding",
    "Linear",
    "PlacedRule",
    "Predicate",
    "Row",
    "Soft",
    "TokenTest",
    "arc_list",
    "as_constraint",
    "at",
    "at_least",
    "at_most",
    "changes_only_at",
    "contiguous",
    "count",
    "ends_with",
    "exactly",
    "excludes",
    "find_contradiction",
    "iter_rules",
    "judge",
    "lint",
    "matches",
    "no_overlap",
    "not_at",
    "only_on",
    "parse",
    "parse_rules",
    "precedes",
    "predicate",
    "read_rules",
    "requires",
    "starts_with",
    "token",
    "valid_scheme",
    "where",
]
