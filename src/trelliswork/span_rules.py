"""Constraints on roles, as the solvers of spans read them: rules about how often roles are filled.

A constraint is a sum of rules, each of which has a violation ``v(n)`` of the counts ``n`` of filled
roles and a row below it, ``a·n − b ≤ v(n)``, that can be priced:

| rule | ``v(n)`` | row |
| --- | --- | --- |
| linear | ``max(0, a·n − b)`` | itself |
| both ``a`` and ``b`` | 1 where ``n_a > 0`` and ``n_b > 0`` | ``n_a / m_a + n_b / m_b − 1`` |
| ``a`` without ``b`` | 1 where ``n_a > 0`` and ``n_b = 0`` | ``n_a / m_a − n_b`` |

``m`` is the most that a role can be filled. Where that is once, all rules are linear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from trelliswork import _core
from trelliswork.constraints.counting import AtMost, Exactly
from trelliswork.constraints.overlap import NoOverlap
from trelliswork.constraints.pairs import Excludes, Requires
from trelliswork.constraints.soft import Soft
from trelliswork.errors import LabelError, RuleError
from trelliswork.tables import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from trelliswork.constraints.base import Constraint

__all__ = ["RoleRule", "SpanRulebook", "compile_rules"]

RuleKind = Literal["linear", "both", "without"]
KINDS: tuple[RuleKind, ...] = ("linear", "both", "without")  # in the core's order
MANY = 1_000_000
"""How often a role can be filled at most where no rule says it: tables have fewer spans."""

ONCE, NULL = -1, -2  # rules that no constraint asks for

RULEBOOKS_KEPT = 2048


@dataclass(frozen=True)
class RoleRule:
    """One rule about the counts of roles.

    Attributes
    ----------
    kind : str
        ``"linear"``, ``"both"`` or ``"without"``.
    terms : tuple of (int, float)
        Indices of roles and coefficients; two where the violation is a bit.
    bound : float
        ``b``.
    penalty : float
        ``ρ``; infinite: hard.
    constraint : int
        The index of the constraint it is a part of; `ONCE`: a role fills once; `NULL`: it makes up
        for the score of a null span.
    """

    kind: RuleKind
    terms: tuple[tuple[int, float], ...]
    bound: float
    penalty: float
    constraint: int

    @property
    def is_null(self) -> bool:
        """Whether the rule is there for the score of a null span."""
        return self.constraint == NULL

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
        How often each role can be filled, `MANY` where nothing limits it.
    overlap : tuple of float
        The penalties of the constraints ``no_overlap``; infinite: hard.
    native : _core.SpanRules
        The rules in the core.
    """

    roles: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    rules: tuple[RoleRule, ...]
    most: tuple[int, ...]
    overlap: tuple[float, ...]
    native: _core.SpanRules

    @property
    def apart(self) -> bool:
        """Whether no two spans may overlap."""
        return math.inf in self.overlap

    @property
    def is_chain(self) -> bool:
        """Whether spans that overlap are forbidden, or cost nothing."""
        return self.apart or not any(self.overlap)

    @property
    def is_soft(self) -> bool:
        """Whether some constraint may be broken."""
        return any(constraint.is_soft for constraint in self.constraints)

    def with_null(self, null: NDArray[np.float64]) -> SpanRulebook:
        """Return the rules with those that make up for the null span of roles.

        A role that fills once has its null score taken from the scores of its spans. One that can
        fill more often pays it, or gains it, once: a rule of its own.
        """
        extra = []
        for role, (most, score) in enumerate(zip(self.most, null.tolist(), strict=True)):
            if most <= 1 or score == 0.0:
                continue
            if score > 0.0:
                terms = ((role, 1.0 / most), (role, 0.0))
                extra.append(RoleRule("both", terms, 0.0, score, NULL))
            else:
                extra.append(RoleRule("linear", ((role, -1.0),), -1.0, -score, NULL))
        if not extra:
            return self
        rules = (*self.rules, *extra)
        return SpanRulebook(
            self.roles, self.constraints, rules, self.most, self.overlap, _native(self.roles, rules)
        )


@lru_cache(maxsize=RULEBOOKS_KEPT)
def compile_rules(roles: tuple[str, ...], constraints: tuple[Constraint, ...]) -> SpanRulebook:
    """Return what constraints mean for the roles of a table.

    A role fills at most once, unless ``at_most`` or ``exactly`` names it.

    Raises
    ------
    LabelError
        For names that are none of the roles.
    RuleError
        For constraints that are not about how often roles are filled, or whose penalty is still to
        be learned.
    """
    index = {role: i for i, role in enumerate(roles)}
    for constraint in constraints:
        _check(constraint, index)
    parts = [(i, part) for i, rule in enumerate(constraints) for part in rule.conjuncts]
    overlap = tuple(_penalty(part) for _, part in parts if isinstance(part.hard, NoOverlap))
    rows = [rule for i, part in parts for rule in _linear_rules(i, part, index)]
    named = {index[part.hard.label] for _, part in parts if isinstance(part.hard, AtMost | Exactly)}
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
    return SpanRulebook(roles, constraints, rules, most, overlap, _native(roles, rules))


def _penalty(constraint: Constraint) -> float:
    if not isinstance(constraint, Soft):
        return math.inf
    assert constraint.penalty is not None, "checked"
    return constraint.penalty


def _check(constraint: Constraint, index: Mapping[str, int]) -> None:
    """Raise where a constraint is none about the counts of these roles."""
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


def _most(rules: Iterable[RoleRule], n_roles: int) -> tuple[int, ...]:
    """Return how often roles can be filled: the least that a hard rule about one alone allows."""
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
    is_linear = most[a] <= 1 and most[b] <= 1
    share_a, share_b = 1.0 / max(1, most[a]), 1.0 / max(1, most[b])
    if isinstance(pair, Excludes):
        kind: RuleKind = "linear" if is_linear else "both"
        return RoleRule(kind, ((a, share_a), (b, share_b)), 1.0, penalty, i)
    kind = "linear" if most[a] <= 1 else "without"
    return RoleRule(kind, ((a, share_a), (b, -1.0)), 0.0, penalty, i)


def _native(roles: tuple[str, ...], rules: Sequence[RoleRule]) -> _core.SpanRules:
    sizes = [len(rule.terms) for rule in rules]
    terms = [term for rule in rules for term in rule.terms]
    return _core.SpanRules(
        len(roles),
        np.array([KINDS.index(rule.kind) for rule in rules], dtype=np.int8),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([role for role, _ in terms], dtype=np.int32),
        np.array([a for _, a in terms], dtype=np.float64),
        np.array([rule.bound for rule in rules], dtype=np.float64),
        np.array([rule.penalty for rule in rules], dtype=np.float64),
    )
