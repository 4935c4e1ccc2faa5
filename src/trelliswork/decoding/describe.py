"""Conversion of decoded batches to `Decoding` objects."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.decoding.answers import METHODS, Decoding
from trelliswork.proofs.answer import OPTIMAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trelliswork.decoding.answers import DecodedBatch
    from trelliswork.decoding.certificate import Certificate
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan
    from trelliswork.proofs.answer import Status

__all__ = ["describe_batch", "describe_nbest", "prices_by_rule"]


def describe_batch(plan: Plan, evidence: Evidence, found: DecodedBatch) -> list[Decoding]:
    """Return the answers of `decode_batch` as one `Decoding` per sequence."""
    names = plan.names(found.tags)
    broken = plan.violations(found.tags, evidence)
    answers = []
    for b, (first, last) in enumerate(pairwise(evidence.offsets.tolist())):
        labels, score = names[first:last], float(found.scores[b])
        status: Status = "optimal"
        bound, certificate = score, None
        violations = {
            repr(plan.constraints[c]): int(broken[b, c]) for c in np.flatnonzero(broken[b])
        }
        if b in found.kept:
            status = found.fallback
            for c in plan.masks:
                degree = plan.constraints[c].violations(
                    labels, evidence.sentences[b], scheme=plan.labels
                )
                if degree:
                    violations[repr(plan.constraints[c])] = degree
        elif found.priced is not None:
            certificate = found.priced.certificate(b)
            if found.priced.status[b] != OPTIMAL:
                status, bound = "feasible", max(score, float(found.priced.bounds[b]))
            elif b in found.priced.searched:
                status = "unverified"
        answers.append(
            Decoding(
                labels=labels,
                score=score,
                upper_bound=bound,
                status=status,
                violations=violations,
                method=METHODS[found.methods[b]],
                iterations=int(found.iterations[b]),
                prices=prices_by_rule(plan, certificate),
                certificate=certificate,
            )
        )
    return answers


def prices_by_rule(plan: Plan, certificate: Certificate | None) -> Mapping[str, float]:
    """Return the prices of a proof with one leaf, summed over the terms of each constraint."""
    found: dict[str, float] = {}
    if certificate is not None and len(certificate.leaves) == 1:
        for term, price in certificate.leaves[0].prices.items():
            name = repr(plan.constraints[plan.terms[term].constraint])
            found[name] = found.get(name, 0.0) + price
    return found


def describe_nbest(
    plan: Plan, evidence: Evidence, found: Sequence[DecodedBatch]
) -> list[list[Decoding]]:
    """Return the answers of `decode_nbest_batch`, one list per sequence, best first."""
    answers: list[list[Decoding]] = [[] for _ in evidence.sentences]
    for rank in found:
        there = np.isfinite(rank.scores)
        shown = replace(rank, tags=np.maximum(rank.tags, 0))  # -1 without an answer
        for own, decoding, exists in zip(
            answers, describe_batch(plan, evidence, shown), there.tolist(), strict=True
        ):
            if exists:
                own.append(decoding)
    return answers
