"""Batches on products: what sums, n-best lists and samples under constraints run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.conflicts import check_on_infeasible, group_by_rules, open_labels
from trelliswork.derived import derive
from trelliswork.inference import log_partition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.conflicts import OnInfeasible
    from trelliswork.evidence import Evidence
    from trelliswork.plan import Plan
    from trelliswork.trellis import Trellis

    IntArray = NDArray[np.int64]

__all__ = ["constrained_trellis", "feasible_trellises"]


def constrained_trellis(plan: Plan, trellis: Trellis, evidence: Evidence) -> Trellis:
    """Put a batch on the product with all constraints: what sums, n-best and samples run on.

    Masks become scores of ``-inf``. A sequence that no labelling fits has no path.

    Parameters
    ----------
    plan
        The compiled constraints.
    trellis
        Scores on the model automaton, without constraints.
    evidence
        What the constraints see of the batch.

    Raises
    ------
    TooLargeError
        Where the product has more arcs than the plan's budget for decoding.
    """
    return _on_product(plan, trellis, evidence, range(len(plan.constraints)))


def feasible_trellises(
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    *,
    on_infeasible: OnInfeasible = "error",
    n_jobs: int | None = None,
) -> list[tuple[IntArray, Trellis]]:
    """Put a batch on products under which every sequence has a labelling.

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
    everyone = np.arange(trellis.n_sequences)
    together = constrained_trellis(plan, trellis, evidence)
    hopeless = np.isneginf(log_partition(together, n_jobs=n_jobs))
    if not hopeless.any():
        return [(everyone, together)]
    everything = tuple(range(len(plan.constraints)))
    groups = {everything: np.flatnonzero(~hopeless).tolist()}
    groups |= group_by_rules(plan, evidence, np.flatnonzero(hopeless), None, on_infeasible)
    found = []
    for kept, members in groups.items():
        chosen = np.array(members, dtype=np.int64)
        part = derive(trellis, sequences=chosen)
        found.append((chosen, _on_product(plan, part, evidence.take(chosen), kept)))
    return found


def _on_product(
    plan: Plan, trellis: Trellis, evidence: Evidence, constraints: Sequence[int]
) -> Trellis:
    compiled = plan.product(i for i in constraints if i in plan.rules)
    mask = open_labels(plan, evidence, constraints)
    scores = None if mask is None else np.where(mask[:, None, :], trellis.scores, -np.inf)
    classes = evidence.classes(compiled.tests)
    return derive(trellis, automaton=compiled.automaton, classes=classes, scores=scores)
