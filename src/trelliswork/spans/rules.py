"""Compiled constraints on roles: rules on the counts of roles.

A constraint is a sum of rules, each with a violation ``v(n)`` of the counts ``n`` of filled roles:

| rule | ``v(n)`` |
| --- | --- |
| linear | ``max(0, a·n − b)`` |
| both ``a`` and ``b`` | 1 if ``n_a > 0`` and ``n_b > 0`` |
| ``a`` without ``b`` | 1 if ``n_a > 0`` and ``n_b = 0`` |

Between roles that fill once, the last two are linear: ``n_a + n_b ≤ 1`` and ``n_a − n_b ≤ 0``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from trelliswork import _core
from trelliswork._utils.tables import shorten
from trelliswork.constraints.overlap import NoOverlap
from trelliswork.constraints.pairs import Excludes, Requires
from trelliswork.constraints.soft import Soft
from trelliswork.errors import LabelError, RuleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trelliswork._typing import BoolArray
    from trelliswork.constraints.base import Constraint
    from trelliswork.spans.table import SpanTable

__all__ = ["RoleRule", "SpanRulebook", "compile_rules"]

RuleKind = Literal["linear", "both", "without"]
MANY = 1_000_000
"""The limit of the count of a role without a rule: tables have fewer spans."""

ONCE = -1  # the constraint of the default rule that a role fills once

RULEBOOKS_KEPT = 2048


@dataclass(frozen=True)
class RoleRule:
    """One rule about the counts of roles.

    Attributes
    ----------
    kind : str
        ``"linear"``, ``"both"`` or ``"without"``.
    terms : tuple of (int, float)
        Indices of roles and coefficients ``a``, which are unused if the violation is a bit.
    bound : float
        ``b``.
    penalty : float
        ``ρ``; infinite: hard.
    constraint : int
        The index of its constraint; `ONCE`: the default rule that a role fills once.
    """

    kind: RuleKind
    terms: tuple[tuple[int, float], ...]
    bound: float
    penalty: float
    constraint: int

    def violation(self, counts: Sequence[int]) -> float:
        """Return ``v(n)``."""
        if self.kind == "linear":
            return max(0.0, self.excess(counts))
        (first, _), (second, _) = self.terms
        return float(counts[first] > 0 and (counts[second] > 0) == (self.kind == "both"))

    def excess(self, counts: Sequence[int]) -> float:
        """Return ``a·n − b``."""
        return sum(a * counts[role] for role, a in self.terms) - self.bound


@dataclass(frozen=True, eq=False)
class SpanRulebook:
    """The constraints on the roles of a table.

    Attributes
    ----------
    roles : tuple of str
        The ``R`` roles.
    constraints : tuple of Constraint
        As given.
    rules : tuple of RoleRule
        All rules.
    most : tuple of int
        The limit of the count of each role; `MANY` without a limit.
    overlap : tuple of float
        The penalties of the constraints ``no_overlap``; infinite: hard.
    """

    roles: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    rules: tuple[RoleRule, ...]
    most: tuple[int, ...]
    overlap: tuple[float, ...]

    @cached_property
    def once(self) -> BoolArray:
        """A mask of the roles that fill once at most, shape ``(R,)``."""
        return np.array(self.most, dtype=np.int64) <= 1

    @property
    def apart(self) -> bool:
        """Whether no two spans may overlap."""
        return math.inf in self.overlap

    @cached_property
    def is_chain(self) -> bool:
        """Whether all rules are linear, and overlaps either forbidden or free."""
        return all(rule.kind == "linear" for rule in self.rules) and (
            self.apart or not any(self.overlap)
        )

    def chains(self, table: SpanTable) -> bool:
        """Return whether a table under these rules is a chain of spans with prices on roles.

        The score of the null span of a role that may fill more often is not linear in its count.
        """
        return self.is_chain and (table.null is None or not table.null[~self.once].any())

    @cached_property
    def native(self) -> _core.SpanRules:
        """The rules as the core reads them; all are linear."""
        terms = [term for rule in self.rules for term in rule.terms]
        return _core.SpanRules(
            len(self.roles),
            [len(rule.terms) for rule in self.rules],
            [role for role, _ in terms],
            [a for _, a in terms],
            [rule.bound for rule in self.rules],
            [rule.penalty for rule in self.rules],
        )

    @property
    def is_soft(self) -> bool:
        """Whether some constraint is soft."""
        return any(constraint.is_soft for constraint in self.constraints)


@lru_cache(maxsize=RULEBOOKS_KEPT)
def compile_rules(roles: tuple[str, ...], constraints: tuple[Constraint, ...]) -> SpanRulebook:
    """Compile constraints for the roles of a table.

    A role fills at most once, unless a rule about it alone sets another limit or requires two.

    Raises
    ------
    LabelError
        For names that are not roles.
    RuleError
        For constraints that are not about the counts of roles, or whose penalty is still to be
        learned.
    """
    index = {role: i for i, role in enumerate(roles)}
    for constraint in constraints:
        _check(constraint, index)
    parts = [(i, part) for i, rule in enumerate(constraints) for part in rule.conjuncts]
    overlap = tuple(_penalty(part) for _, part in parts if isinstance(part.hard, NoOverlap))
    rows = [rule for i, part in parts for rule in _linear_rules(i, part, index)]
    named = {role for rule in rows for role in _limited(rule)}
    once = [
        RoleRule("linear", ((role, 1.0),), 1.0, math.inf, ONCE)
        for role in range(len(roles))
        if role not in named
    ]
    most = _most([*rows, *once], len(roles))
    bits = [
        _pair_rule(i, part.hard, _penalty(part), index, most)
        for i, part in parts
        if isinstance(part.hard, Excludes | Requires)
    ]
    rules = (*once, *rows, *bits)
    return SpanRulebook(roles, constraints, rules, most, overlap)


def _penalty(constraint: Constraint) -> float:
    if not isinstance(constraint, Soft):
        return math.inf
    assert constraint.penalty is not None, "checked"
    return constraint.penalty


def _check(constraint: Constraint, index: Mapping[str, int]) -> None:
    """Raise unless a constraint is about the counts of these roles."""
    if isinstance(constraint, Soft) and constraint.penalty is None:
        raise RuleError(f"{constraint!r} has no penalty. Say what a violation costs: .soft(2.0).")
    for part in constraint.conjuncts:
        rule, is_counted = part.hard, isinstance(part.hard, NoOverlap | Excludes | Requires)
        rows = () if is_counted else rule.rows
        units = {unit for _, unit in rule.names} | {
            u for row in rows or () for _, _, u in row.terms
        }
        if rows is None or units - {"segment"}:
            raise RuleError(
                f"{shorten(repr(rule))}: expected a rule about how often roles are filled: "
                "no_overlap, at_most, at_least, exactly, excludes, requires, a comparison of "
                "counts, or several joined by &, with unit='segment'."
            )
        for name, _ in rule.names:
            if name not in index:
                known = ", ".join(map(repr, index))
                raise LabelError(f"{rule!r}: {name!r} is no role. There are: {shorten(known)}.")


def _linear_rules(i: int, part: Constraint, index: Mapping[str, int]) -> Iterator[RoleRule]:
    for row in part.hard.rows or ():
        terms = tuple((index[name], float(a)) for a, name, _ in row.terms)
        yield RoleRule("linear", terms, float(row.bound), _penalty(part), i)


def _limited(rule: RoleRule) -> list[int]:
    """Return the role, if any, whose default limit of one a rule replaces."""
    if len(rule.terms) != 1:
        return []
    ((role, a),) = rule.terms
    return [role] if a > 0.0 or rule.bound / a > 1.0 else []


def _most(rules: Iterable[RoleRule], n_roles: int) -> tuple[int, ...]:
    """Return the limits of the counts of roles, from hard rules about one role alone."""
    most = [MANY] * n_roles
    for rule in rules:
        if rule.penalty == math.inf and len(rule.terms) == 1 and rule.terms[0][1] > 0.0:
            ((role, a),) = rule.terms
            most[role] = max(0, min(most[role], math.floor(rule.bound / a)))
    return tuple(most)


def _pair_rule(
    i: int, rule: Constraint, penalty: float, index: Mapping[str, int], most: Sequence[int]
) -> RoleRule:
    pair = cast("Excludes | Requires", rule)
    a, b = index[pair.a], index[pair.b]
    if isinstance(pair, Excludes):
        kind: RuleKind = "both" if max(most[a], most[b]) > 1 else "linear"
        return RoleRule(kind, ((a, 1.0), (b, 1.0)), 1.0, penalty, i)
    kind = "without" if most[a] > 1 else "linear"
    return RoleRule(kind, ((a, 1.0), (b, -1.0)), 0.0, penalty, i)
