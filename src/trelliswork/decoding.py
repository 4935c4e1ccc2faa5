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

from trelliswork.conflicts import group_by_rules, open_labels
from trelliswork.derived import derive
from trelliswork.evidence import rows_of
from trelliswork.inference import viterbi

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from trelliswork.conflicts import OnInfeasible
    from trelliswork.evidence import Evidence
    from trelliswork.plan import Plan
    from trelliswork.trellis import Trellis

    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]

__all__ = [
    "DecodedBatch",
    "Decoding",
    "decode_batch",
    "describe_batch",
]

Status = Literal["optimal", "relaxed", "unconstrained"]
Method = Literal["chain", "lazy", "product"]
METHODS: tuple[Method, ...] = ("chain", "lazy", "product")


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
        No labelling that satisfies what was asked for scores more.
    gap : float
        ``upper_bound − score``; 0 for a proven optimum.
    status : str
        ``"optimal"``; ``"relaxed"`` (best under some of the constraints: all together cannot be
        satisfied) or ``"unconstrained"`` (best under none, for the same reason).
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


@dataclass(frozen=True, eq=False)
class DecodedBatch:
    """Best labellings of a batch under constraints.

    Attributes
    ----------
    labels : numpy.ndarray
        Label ids, shape ``(N,)``.
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

    labels: NDArray[np.int32]
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
        Labels that each token may have for other reasons, shape ``(N, L)``.
    on_infeasible
        What to do with a sequence that no labelling fits: raise, drop constraints of minimal
        conflicting subsets, the last given first, until one fits, or drop all.
    n_jobs
        Threads.

    Raises
    ------
    InfeasibleError
        With ``on_infeasible="error"``, naming the sequence and a minimal conflicting subset.
    """
    everything = tuple(range(len(plan.constraints)))
    found = _decode_lazily(plan, trellis, evidence, everything, allowed, n_jobs)
    hopeless = np.flatnonzero(np.isneginf(found.scores))
    if not hopeless.size or not plan.constraints:
        return found
    groups = group_by_rules(plan, evidence, hopeless, allowed, on_infeasible)
    for kept, members in groups.items():
        chosen = np.array(members)
        rows = rows_of(trellis.offsets, chosen)
        part = _decode_lazily(
            plan,
            derive(trellis, sequences=chosen),
            evidence.take(chosen),
            kept,
            None if allowed is None else allowed[rows],
            n_jobs,
        )
        found.labels[rows] = part.labels
        found.scores[chosen] = part.scores
        found.iterations[chosen] += part.iterations
        found.methods[chosen] = part.methods
        found.kept.update(dict.fromkeys(members, kept))
    return replace(
        found, fallback="unconstrained" if on_infeasible == "unconstrained" else "relaxed"
    )


def describe_batch(plan: Plan, evidence: Evidence, found: DecodedBatch) -> list[Decoding]:
    """Return the answers of `decode_batch` one by one, with names and what is known of each."""
    names = plan.labels.decode(found.labels.tolist())
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


def _decode_lazily(
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    constraints: Sequence[int],
    allowed: BoolArray | None,
    n_jobs: int | None,
) -> DecodedBatch:
    """Decode under some of the constraints; a score of ``-inf`` where nothing satisfies them."""
    mask = open_labels(plan, evidence, constraints, allowed)
    rules = [i for i in constraints if i in plan.rules]
    best = viterbi(trellis, allowed=mask, n_jobs=n_jobs)
    once = np.ones(trellis.n_sequences, dtype=np.int64)
    found = DecodedBatch(best.labels, best.scores, once, np.zeros_like(once))
    if not rules:
        return found
    added = np.zeros((trellis.n_sequences, len(rules)), dtype=bool)
    if tuple(rules) == plan.rules and plan.compact is not None:
        answered = np.isfinite(found.scores)
        labels = np.maximum(found.labels, 0)  # -1 where there is no answer
        obeyed = plan.accepts_together(plan.compact, labels, evidence)
        pending = np.flatnonzero(answered & ~obeyed)
        added[pending] = True
    else:
        pending = _broken(plan, rules, found.labels, found.scores, evidence, added)
    while pending.size:
        patterns, group_of = np.unique(added[pending], axis=0, return_inverse=True)
        for group, pattern in enumerate(patterns):
            chosen = pending[group_of.ravel() == group]
            rows = rows_of(trellis.offsets, chosen)
            compiled = plan.product([rules[i] for i in np.flatnonzero(pattern)])
            classes = evidence.classes(compiled.tests)
            best = viterbi(
                derive(trellis, sequences=chosen, automaton=compiled.automaton, classes=classes),
                allowed=None if mask is None else mask[rows],
                n_jobs=n_jobs,
            )
            found.labels[rows] = best.labels
            found.scores[chosen] = best.scores
            found.iterations[chosen] += 1
            found.methods[chosen] = METHODS.index("product" if pattern.all() else "lazy")
        part = evidence.take(pending)
        rows = rows_of(trellis.offsets, pending)
        own = added[pending]
        again = _broken(plan, rules, found.labels[rows], found.scores[pending], part, own)
        added[pending] = own
        pending = pending[again]
    return found


def _broken(
    plan: Plan,
    rules: Sequence[int],
    labels: NDArray[np.int32],
    scores: NDArray[np.float64],
    evidence: Evidence,
    added: BoolArray,
) -> IntArray:
    """Mark the rules that answers break as added; return which sequences break a new one."""
    feasible = np.isfinite(scores)
    labels = np.maximum(labels, 0)  # -1 where there is no answer
    new = np.zeros_like(feasible)
    for place, rule in enumerate(rules):
        if added[:, place].all():
            continue
        broken = feasible & ~plan.accepts(rule, labels, evidence) & ~added[:, place]
        added[:, place] |= broken
        new |= broken
    return np.flatnonzero(new)
