"""Exact decoding under constraints, by lazy intersection.

    ŷ = argmax_{y ∈ L₁ ∩ L₂ ∩ …} score(y)

Decode without automata first. If the answer satisfies every constraint, it is the best one that
does. If not, multiply the constraints that it breaks into the automaton of that sequence and decode
again: each round maximises over a superset of the intersection, so the first answer that breaks
nothing is exact, and as no constraint is added twice there are at most as many rounds as
constraints, and one. Most sequences need one round, on the dense chain. Where the product with all
constraints is small, a second round on it is the last. ``B`` sequences, ``N`` tokens, ``L`` labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from trelliswork.conflicts import check_on_infeasible, group_by_rules, scores_forbid_all
from trelliswork.derived import derive
from trelliswork.evidence import rows_of
from trelliswork.inference import paths_to_find
from trelliswork.lazy import METHODS, best_lazily

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from trelliswork.certificate import Certificate
    from trelliswork.conflicts import OnInfeasible
    from trelliswork.evidence import Evidence
    from trelliswork.lazy import Method
    from trelliswork.plan import Plan
    from trelliswork.trellis import Trellis

    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]

__all__ = [
    "DecodedBatch",
    "Decoding",
    "decode_batch",
    "decode_nbest_batch",
    "describe_batch",
    "describe_nbest",
]

Status = Literal["optimal", "feasible", "relaxed", "unconstrained", "unverified"]


@dataclass(frozen=True)
class Decoding:
    """The answer to one sequence, and what is known about it.

    Attributes
    ----------
    labels : list of str
        The labelling, one name a token.
    score : float
        Its score under the model.
    upper_bound : float
        No labelling that satisfies what was asked for scores more; in a list of the best, none but
        those before it.
    gap : float
        ``upper_bound − score``; 0 for a proven optimum.
    status : str
        ``"optimal"``; ``"relaxed"`` (best under some of the constraints: all together cannot be
        satisfied, or need a product beyond the budget) or ``"unconstrained"`` (best under none,
        for the same reasons).
    violations : dict
        How badly each constraint that is broken is broken, by its expression.
    method : str
        ``"chain"`` (no automaton was needed), ``"lazy"`` (those of some constraints) or
        ``"product"`` (those of all).
    iterations : int
        Rounds of decoding.
    """

    labels: list[str]
    score: float
    upper_bound: float
    gap: float
    status: Status
    violations: Mapping[str, int]
    method: Method
    iterations: int
    prices: Mapping[str, float] = field(default_factory=dict)
    certificate: Certificate | None = None


@dataclass(frozen=True, eq=False)
class DecodedBatch:
    """Best labellings of a batch under constraints.

    Attributes
    ----------
    tags : numpy.ndarray
        Tags of all tokens, shape ``(N,)``; labels in a chain.
    scores : numpy.ndarray
        Shape ``(B,)``.
    iterations : numpy.ndarray
        Rounds of decoding, shape ``(B,)``.
    methods : numpy.ndarray
        Place of the method in `METHODS`, shape ``(B,)``.
    kept : dict
        For each sequence that no labelling of which satisfies all constraints: the indices of those
        that were kept.
    fallback : str
        The status of those sequences.
    """

    tags: NDArray[np.int32]
    scores: NDArray[np.float64]
    iterations: IntArray
    methods: IntArray
    kept: dict[int, tuple[int, ...]] = field(default_factory=dict)
    fallback: Status = "relaxed"


def decode_batch(
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    *,
    allowed: BoolArray | None = None,
    on_infeasible: OnInfeasible = "error",
    n_jobs: int | None = None,
) -> DecodedBatch:
    """Find the best labelling of each sequence that satisfies all constraints, exactly.

    Parameters
    ----------
    plan
        The compiled constraints.
    trellis
        Scores on the model automaton, without constraints.
    evidence
        What the constraints see of the batch.
    allowed
        Labels that each token may have for other reasons, shape ``(N, L)``; in a semi-Markov model
        ``(N, 2, L)``, those that may begin and go on.
    on_infeasible
        What to do with a sequence that no labelling fits: raise, drop constraints of minimal
        conflicting subsets, the last given first, until one fits, or drop all. The same goes for a
        sequence that would need a product beyond the plan's budget: raise, keep the constraints
        that fit, or drop all.
    n_jobs
        Threads.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="error"``, naming the sequence and a minimal conflicting subset; and,
        whatever `on_infeasible`, for a sequence that no labelling fits without constraints either.
    TooLargeError
        With ``on_infeasible="error"``, naming the sequence that needs too large a product.
    """
    (best,) = decode_nbest_batch(
        plan,
        trellis,
        evidence,
        1,
        allowed=allowed,
        on_infeasible=on_infeasible,
        n_jobs=n_jobs,
    )
    return best


def decode_nbest_batch(
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    k: int,
    *,
    allowed: BoolArray | None = None,
    on_infeasible: OnInfeasible = "error",
    n_jobs: int | None = None,
) -> list[DecodedBatch]:
    """Find the `k` best labellings of each sequence that satisfy all constraints, exactly.

    The other parameters are those of `decode_batch`.

    Returns
    -------
    list of DecodedBatch
        The best labellings, the second best and so on, `k` in all or as many as there can be.
        Where a sequence has fewer, its scores are ``-inf`` and its tags -1.
    """
    check_on_infeasible(on_infeasible)
    k = paths_to_find(trellis, k)
    everything = tuple(range(len(plan.constraints)))
    lenient = on_infeasible != "error"
    found = best_lazily(
        plan, trellis, evidence, everything, allowed=allowed, k=k, give_up=lenient, n_jobs=n_jobs
    )
    hopeless = np.flatnonzero(np.isneginf(found.scores[:, 0]))
    groups = group_by_rules(plan, evidence, hopeless, allowed, on_infeasible)
    kept_rules: dict[int, tuple[int, ...]] = {}
    if on_infeasible == "unconstrained":
        groups.setdefault((), []).extend(found.given_up)
    else:
        kept_rules |= found.given_up
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
            give_up=lenient,
            n_jobs=n_jobs,
        )
        found.tags[:, rows] = part.tags
        found.scores[chosen] = part.scores
        found.iterations[chosen] += part.iterations
        found.methods[chosen] = part.methods
        kept_rules.update(dict.fromkeys(members, kept))
        kept_rules.update({members[b]: rules for b, rules in part.given_up.items()})
    for b in np.flatnonzero(np.isneginf(found.scores[:, 0])).tolist():
        raise scores_forbid_all(plan, evidence.numbers[b])
    fallback: Status = "unconstrained" if on_infeasible == "unconstrained" else "relaxed"
    return [
        DecodedBatch(tags, scores, found.iterations, found.methods, kept_rules, fallback)
        for tags, scores in zip(found.tags, found.scores.T, strict=True)
    ]


def describe_batch(plan: Plan, evidence: Evidence, found: DecodedBatch) -> list[Decoding]:
    """Return the answers of `decode_batch` one by one, with names and what is known of each."""
    names = plan.names(found.tags)
    answers = []
    for b, (first, last) in enumerate(pairwise(evidence.offsets.tolist())):
        labels, score, rounds = names[first:last], float(found.scores[b]), int(found.iterations[b])
        kept = found.kept.get(b)
        status: Status = "optimal"
        broken: dict[str, int] = {}
        if kept is not None:
            status = found.fallback
            degrees = {
                repr(c): c.violations(labels, evidence.sentences[b], scheme=plan.labels)
                for c in plan.constraints
            }
            broken = {name: degree for name, degree in degrees.items() if degree}
        method = METHODS[found.methods[b]]
        answers.append(Decoding(labels, score, score, 0.0, status, broken, method, rounds))
    return answers


def describe_nbest(
    plan: Plan, evidence: Evidence, found: Sequence[DecodedBatch]
) -> list[list[Decoding]]:
    """Return the answers of `decode_nbest_batch`, a list a sequence, best first."""
    answers: list[list[Decoding]] = [[] for _ in evidence.sentences]
    for rank in found:
        there = np.isfinite(rank.scores)
        shown = replace(rank, tags=np.maximum(rank.tags, 0))  # -1 where there is no answer
        for own, decoding, exists in zip(
            answers, describe_batch(plan, evidence, shown), there.tolist(), strict=True
        ):
            if exists:
                own.append(decoding)
    return answers
