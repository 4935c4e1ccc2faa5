"""Batches on the product automaton: the trellises of marginals, k-best lists and samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.decoding.conflicts import check_on_infeasible, group_by_rules
from trelliswork.decoding.masks import masked_scores, open_labels
from trelliswork.inference.sums import has_path
from trelliswork.inference.trellis import derive
from trelliswork.planning.predicates import refuse_predicates
from trelliswork.planning.token_charges import with_token_charges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import IntArray
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan
    from trelliswork.planning.rule_product import RuleProduct


__all__ = ["constrained_trellis", "feasible_trellises"]


def constrained_trellis(
    plan: Plan, trellis: Trellis, evidence: Evidence, constraints: Sequence[int] | None = None
) -> Trellis:
    """Return a batch on the product of the model and constraints.

    Masks become scores of ``-inf``. An infeasible sequence has no path. Soft constraints are
    included: a path scores ``P(y) + Σ_i ρ_i v_i(ε)``, with the same constant for all paths.

    Parameters
    ----------
    plan
        The compiled constraints.
    trellis
        Scores on the model automaton, without constraints.
    evidence
        The outcomes of token tests on the batch.
    constraints
        Indices of the constraints to apply. Default: all.

    Raises
    ------
    TooLargeError
        If the product has more arcs than the plan's budget for decoding.
    RuleError
        If a soft constraint has no penalty yet.
    """
    if constraints is None:
        constraints = range(len(plan.constraints))
    refuse_predicates(
        plan,
        "functions cannot be summed over, and probabilities, marginals and samples need all "
        "constraints as automata. Use predict or decode, or put the tagger under other "
        "constraints: with_constraints.",
        constraints,
    )
    trellis = with_token_charges(plan, trellis, evidence, constraints)
    rules = [i for i in constraints if i in plan.hard_rules]
    priced = plan.costs.costly_terms(constraints)
    compiled: RuleProduct
    weights = None
    if priced:
        compiled = plan.terms.product((*plan.terms.of(rules), *priced), evidence.longest)
        weights = plan.costs.weights(trellis.weights)
    else:
        compiled = plan.hard.product(rules, evidence.longest)
    mask = open_labels(plan, evidence, constraints)
    return derive(
        trellis,
        automaton=compiled.automaton,
        classes=evidence.classes(compiled.tests),
        scores=None if mask is None else masked_scores(trellis, mask),
        weights=weights,
    )


def feasible_trellises(
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    *,
    on_infeasible: OnInfeasible = "error",
    n_jobs: int | None = None,
) -> list[tuple[IntArray, Trellis]]:
    """Return a batch on products on which every sequence has a labelling.

    Returns
    -------
    list of (sequences, trellis)
        Indices of sequences under the same constraints, and their scores on the product; one entry
        unless some sequences cannot satisfy all constraints.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="error"``, as `decode_batch`.
    """
    check_on_infeasible(on_infeasible)
    all_sequences = np.arange(trellis.n_sequences)
    together = constrained_trellis(plan, trellis, evidence)
    infeasible = ~has_path(together, n_jobs=n_jobs)
    if not infeasible.any():
        return [(all_sequences, together)]
    everything = tuple(range(len(plan.constraints)))
    groups = {everything: np.flatnonzero(~infeasible).tolist()}
    groups |= group_by_rules(plan, evidence, np.flatnonzero(infeasible), None, on_infeasible)
    found = []
    for kept, members in groups.items():
        chosen = np.array(members, dtype=np.int64)
        part = derive(trellis, sequences=chosen)
        found.append((chosen, constrained_trellis(plan, part, evidence.take(chosen), kept)))
    return found
