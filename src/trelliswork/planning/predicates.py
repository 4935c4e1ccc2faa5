"""Predicates of a plan: rules that are Python functions, which compile into nothing.

``B`` sequences, ``N`` tokens, ``C`` rules.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trelliswork._utils.tables import join_names, shorten
from trelliswork.constraints.predicates import Predicate
from trelliswork.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork._typing import IdArray, IntArray
    from trelliswork.constraints import Constraint
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = [
    "costly_predicates",
    "hard_predicates",
    "predicate_violations",
    "predicates_of",
    "refuse_predicates",
]


def predicates_of(
    rules: tuple[Constraint, ...], chosen: Iterable[int]
) -> list[tuple[int, Predicate]]:
    """Return the predicates among some rules, with their indices."""
    found = []
    for i in chosen:
        rule = rules[i].hard
        if isinstance(rule, Predicate):
            found.append((i, rule))
    return found


def hard_predicates(plan: Plan) -> frozenset[int]:
    """Return the predicates of a plan that are hard."""
    return frozenset(plan.predicates) - frozenset(plan.soft)


def costly_predicates(plan: Plan, constraints: Iterable[int] | None = None) -> list[int]:
    """Return the predicates whose penalty is not 0, among some rules. Default: among all."""
    chosen = range(len(plan.constraints)) if constraints is None else constraints
    return plan.costs.costly(i for i in chosen if i in plan.predicates)


def refuse_predicates(plan: Plan, what: str, constraints: Iterable[int] | None = None) -> None:
    """Raise a `RuleError` if there are predicates.

    Parameters
    ----------
    plan
        The plan.
    what
        The rest of the message: what cannot be done with predicates, and what to do instead.
    constraints
        Those to look at. Default: all.
    """
    chosen = range(len(plan.constraints)) if constraints is None else constraints
    found = [shorten(repr(plan.constraints[i])) for i in chosen if i in plan.predicates]
    if found:
        kind = "is a Python function" if len(found) == 1 else "are Python functions"
        raise RuleError(f"{join_names(found)} {kind}: {what}")


def predicate_violations(
    plan: Plan, tags: IdArray, evidence: Evidence, constraints: Iterable[int]
) -> IntArray:
    """Return the violations of predicates by labellings, ``v_c(y)``, shape ``(B, C)``.

    Parameters
    ----------
    plan
        The plan.
    tags
        Tags of all tokens, shape ``(N,)``; labels in a chain.
    evidence
        The sentences of the batch.
    constraints
        Those to look at; 0 for all others, and for rules that are no predicates.
    """
    found = np.zeros((evidence.offsets.size - 1, len(plan.constraints)), dtype=np.int64)
    predicates = predicates_of(plan.constraints, constraints)
    if not predicates:
        return found
    tag_names = plan.tag_names
    names = [tag_names[tag] for tag in tags.tolist()]
    for b, (first, last) in enumerate(pairwise(evidence.offsets.tolist())):
        for i, rule in predicates:
            found[b, i] = rule.count(names[first:last], evidence.sentences[b])
    return found
