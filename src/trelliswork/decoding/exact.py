"""Exact decoding of batches under constraints, hard and soft.

    ŷ = argmax_y P(y),      P(y) = score(y) − Σ_c ρ_c v_c(y),   ρ_c = ∞ for a hard constraint

The best labelling is found by prices and lazy products (`trelliswork.decoding.prices`), lists of
the best by lazy intersection (`trelliswork.decoding.lazy`). ``B`` sequences, ``N`` tokens, ``L``
labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.decoding.answers import METHODS, DecodedBatch
from trelliswork.decoding.conflicts import check_on_infeasible, group_by_rules, scores_forbid_all
from trelliswork.decoding.lazy import best_lazily
from trelliswork.decoding.prefixes import search_broken
from trelliswork.decoding.prices import MAX_NODES, priced_batch
from trelliswork.errors import SearchLimitError
from trelliswork.inference.trellis import derive, rows_of
from trelliswork.inference.verbs import paths_to_find
from trelliswork.planning.predicates import (
    costly_predicates,
    hard_predicates,
    refuse_predicates,
)
from trelliswork.proofs.answer import INFEASIBLE, UNSOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, IntArray
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.decoding.priced_answers import PricedAnswers
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan
    from trelliswork.proofs.answer import Status


__all__ = ["decode_batch", "decode_nbest_batch"]


@dataclass(frozen=True, eq=False)
class _Batch:
    """A batch to be decoded under one set of rules or another.

    Attributes are the parameters of `decode_batch`; `may_relax`: sequences may go without rules.
    """

    plan: Plan
    trellis: Trellis
    evidence: Evidence
    allowed: BoolArray | None
    may_relax: bool
    time_limit: float | None
    max_nodes: int
    n_jobs: int | None

    def solve(self, members: IntArray, constraints: Sequence[int] | None) -> PricedAnswers:
        """Decode some of the sequences under some of the constraints."""
        plan, trellis, evidence = self.plan, self.trellis, self.evidence
        mask = self.allowed
        if not np.array_equal(members, np.arange(trellis.n_sequences)):
            mask = None if mask is None else mask[rows_of(trellis.offsets, members)]
            trellis = derive(trellis, sequences=members)
            evidence = evidence.take(members)
        answers = priced_batch(
            plan,
            trellis,
            evidence,
            constraints=constraints,
            allowed=mask,
            time_limit=self.time_limit,
            max_nodes=self.max_nodes,
            # A search under predicates needs no product.
            give_up=self.may_relax
            or bool(plan.predicates and costly_predicates(plan, constraints)),
            n_jobs=self.n_jobs,
        )
        if plan.predicates or (answers.status == UNSOLVED).any():
            search_broken(
                answers,
                plan,
                trellis,
                evidence,
                constraints=constraints,
                allowed=mask,
                time_limit=self.time_limit,
            )
        return answers


def decode_batch(
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    *,
    constraints: Sequence[int] | None = None,
    allowed: BoolArray | None = None,
    on_infeasible: OnInfeasible = "error",
    time_limit: float | None = None,
    max_nodes: int = MAX_NODES,
    n_jobs: int | None = None,
) -> DecodedBatch:
    """Find the best labelling of each sequence under all or some constraints, exactly.

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
    allowed
        Further mask of allowed labels, such as partial labels, shape ``(N, L)``; in a semi-Markov
        model ``(N, 2, L)``, labels that may begin and continue.
    on_infeasible
        The treatment of an infeasible sequence. ``"error"`` raises; ``"relax"`` drops the last
        constraint of every minimal conflict until a labelling exists; ``"unconstrained"`` drops
        all. A sequence that would need a product beyond the plan's budget is treated alike: raise,
        keep the constraints that fit, or drop all.
    time_limit
        Seconds for each round of a sequence; at the limit, the best labelling so far is the answer.
    max_nodes
        Maximum number of nodes of branch and bound; at the limit, the same.
    n_jobs
        Threads.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="error"``, naming the sequence and a minimal conflicting subset; and
        always for a sequence that has no labelling even without constraints.
    TooLargeError
        With ``on_infeasible="error"``, naming the sequence that needs too large a product.
    """
    check_on_infeasible(on_infeasible)

    batch = _Batch(
        plan, trellis, evidence, allowed, on_infeasible != "error", time_limit, max_nodes, n_jobs
    )
    found = batch.solve(np.arange(trellis.n_sequences), constraints)
    if on_infeasible == "error":
        for b in np.flatnonzero(found.status == UNSOLVED).tolist():
            raise SearchLimitError(
                f"sequence {evidence.numbers[b]}: no labelling that satisfies the constraints "
                "was found before the limit was reached, and no proof that there is none. Allow "
                "more time, use fewer or simpler hard constraints, or set on_infeasible='relax'."
            )
    kept_rules = {} if on_infeasible == "unconstrained" else dict(found.given_up)
    infeasible = np.flatnonzero(np.isin(found.status, (INFEASIBLE, UNSOLVED)))
    groups: dict[tuple[int, ...], list[int]] = {}
    if infeasible.size:
        groups = group_by_rules(plan, evidence, infeasible, allowed, on_infeasible, constraints)
    if on_infeasible == "unconstrained":
        groups.setdefault((), []).extend(found.given_up)
    while groups:
        weaker: dict[tuple[int, ...], list[int]] = {}
        for kept, members in groups.items():
            chosen = np.array(members, dtype=np.int64)
            if not chosen.size:
                continue
            found.put(batch.solve(chosen, kept), chosen, trellis.offsets)
            kept_rules.update(dict.fromkeys(members, kept))
            kept_rules.update({b: found.given_up[b] for b in members if b in found.given_up})
            # Scores may forbid all that is left, and a search under predicates may find nothing.
            lost = [b for b in members if found.status[b] in (INFEASIBLE, UNSOLVED)]
            if kept and lost:
                fewer = tuple(i for i in kept if i not in hard_predicates(plan))
                weaker.setdefault(fewer if len(fewer) < len(kept) else (), []).extend(lost)
        groups = weaker
    for b in np.flatnonzero(np.isneginf(found.scores)).tolist():
        raise scores_forbid_all(plan, evidence.numbers[b])
    return DecodedBatch(
        found.tags,
        found.scores,
        found.iterations,
        _methods(plan, found),
        kept_rules,
        "unconstrained" if on_infeasible == "unconstrained" else "relaxed",
        found,
    )


def _methods(plan: Plan, found: PricedAnswers) -> IntArray:
    """Return the method that settled each sequence, as indices in `METHODS`."""
    n_others = len(plan.terms.bits) - len(plan.pricing.free)
    added = np.array([len(set(bits) - plan.pricing.free) for bits in found.bits], dtype=np.int64)
    chosen = np.where(added > 0, METHODS.index("lazy"), METHODS.index("chain"))
    chosen[(added > 0) & (added == n_others)] = METHODS.index("product")
    branched = np.isin(np.arange(chosen.size), list(found.leaves))
    priced = (found.prices != 0).any(axis=1) | found.counted.any(axis=1) | branched
    of_core = np.array([METHODS.index(name) for name in ("dual", "astar", "branch")])
    chosen[priced] = of_core[found.methods[priced]]
    for b, method in found.searched.items():
        chosen[b] = METHODS.index(method)
    return chosen


def decode_nbest_batch(
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    k: int,
    *,
    allowed: BoolArray | None = None,
    on_infeasible: OnInfeasible = "error",
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> list[DecodedBatch]:
    """Find the `k` best labellings of each sequence under all constraints, exactly.

    The other parameters are those of `decode_batch`; a time limit applies only if `k` is 1.

    Returns
    -------
    list of DecodedBatch
        The best labellings, the second best and so on, `k` in all or as many as can exist. If a
        sequence has fewer, its scores are ``-inf`` and its tags -1.
    """
    check_on_infeasible(on_infeasible)
    k = paths_to_find(trellis, k)
    if k == 1:
        best = decode_batch(
            plan,
            trellis,
            evidence,
            allowed=allowed,
            on_infeasible=on_infeasible,
            time_limit=time_limit,
            n_jobs=n_jobs,
        )
        return [best]
    refuse_predicates(
        plan,
        "lists of the best labellings need all constraints as automata. Ask for one, k=1, or put "
        "the tagger under other constraints: with_constraints.",
    )
    everything = tuple(range(len(plan.constraints)))
    may_relax = on_infeasible != "error"
    found = best_lazily(
        plan, trellis, evidence, everything, allowed=allowed, k=k, give_up=may_relax, n_jobs=n_jobs
    )
    infeasible = np.flatnonzero(np.isneginf(found.scores[:, 0]))
    groups = group_by_rules(plan, evidence, infeasible, allowed, on_infeasible)
    kept_rules: dict[int, tuple[int, ...]] = {}
    if on_infeasible == "unconstrained":
        groups.setdefault((), []).extend(found.given_up)
    else:
        kept_rules |= found.given_up
    while groups:
        lost: list[int] = []
        for kept, members in groups.items():
            chosen = np.array(members, dtype=np.int64)
            rows = rows_of(trellis.offsets, chosen)
            part = best_lazily(
                plan,
                derive(trellis, sequences=chosen),
                evidence.take(chosen),
                kept,
                allowed=None if allowed is None else allowed[rows],
                k=k,
                give_up=may_relax,
                n_jobs=n_jobs,
            )
            found.tags[:, rows] = part.tags
            found.scores[chosen] = part.scores
            found.iterations[chosen] += part.iterations
            found.methods[chosen] = part.methods
            kept_rules.update(dict.fromkeys(members, kept))
            kept_rules.update({members[b]: rules for b, rules in part.given_up.items()})
            if kept:  # scores may forbid all that is left
                lost += chosen[np.isneginf(part.scores[:, 0])].tolist()
        groups = {(): lost} if lost else {}
    for b in np.flatnonzero(np.isneginf(found.scores[:, 0])).tolist():
        raise scores_forbid_all(plan, evidence.numbers[b])
    fallback: Status = "unconstrained" if on_infeasible == "unconstrained" else "relaxed"
    return [
        DecodedBatch(tags, scores, found.iterations, found.methods, kept_rules, fallback)
        for tags, scores in zip(found.tags, found.scores.T, strict=True)
    ]
