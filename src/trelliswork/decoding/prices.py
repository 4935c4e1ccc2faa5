"""Exact decoding under hard and soft constraints: prices on rules linear in counts.

    ŷ = argmax_y P(y),      P(y) = score(y) − Σ_c ρ_c v_c(y)

Constraints that are linear in counts, *rows*, never enter a product: the core puts prices on their
counts, and searches if prices leave a gap. The others, *bits*, are added lazily: decode without
them, multiply those that the answer violates into the automaton of that sequence, and decode again.
Each round maximises an upper bound of `P`, so the first answer that violates nothing
new is the best. ``B`` sequences, ``N`` tokens, ``R`` rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from trelliswork import _core
from trelliswork._utils.arguments import check_time_limit
from trelliswork.decoding.certificate import Leaf
from trelliswork.decoding.masks import open_labels
from trelliswork.decoding.priced_answers import PricedAnswers, prices_by_term
from trelliswork.errors import TooLargeError
from trelliswork.inference.results import tags_of
from trelliswork.inference.trellis import derive, rows_of
from trelliswork.planning.token_charges import with_token_charges
from trelliswork.proofs.answer import FEASIBLE, OPTIMAL, TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan
    from trelliswork.planning.pricing import Charges


__all__ = ["CORE_METHODS", "PricedMethod", "priced_batch"]

PricedMethod = Literal["dual", "astar", "branch", "auto"]
CORE_METHODS: tuple[PricedMethod, ...] = ("dual", "astar", "branch", "auto")  # as in the core
MAX_ITERATIONS = 200
MAX_STATES = 100_000
MAX_NODES = 100_000


def priced_batch(
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    *,
    method: PricedMethod = "auto",
    constraints: Sequence[int] | None = None,
    allowed: BoolArray | None = None,
    time_limit: float | None = None,
    max_iter: int = MAX_ITERATIONS,
    max_nodes: int = MAX_NODES,
    step: float | None = None,
    prices: FloatArray | None = None,
    give_up: bool = False,
    n_jobs: int | None = None,
) -> PricedAnswers:
    """Find the best labelling of each sequence under hard and soft constraints.

    Parameters
    ----------
    plan
        The constraints.
    trellis
        Scores on the model automaton, without constraints.
    evidence
        The outcomes of token tests on the batch.
    method
        The method that settles the rows. ``"dual"``: prices alone, which may leave a gap;
        ``"branch"``: prices, then branch and bound; ``"auto"``: prices, then the search, then
        branch and bound; ``"astar"``: the search, then as ``"auto"`` if that takes too long.
    constraints
        Indices of the constraints to apply. Default: all.
    allowed
        Further mask of allowed labels, as `decode_batch` takes it.
    time_limit
        Seconds for each round of a sequence. Default: none.
    max_iter, max_nodes
        Maximum number of iterations of the dual, and of nodes of branch and bound.
    step
        Step ``η_t = step / √t`` of the dual. Default: Polyak's, from the gap.
    prices
        Initial prices, shape ``(B, R)``: those of an earlier answer under the same constraints.
        Default: 0.
    give_up
        Whether a sequence that would need a product beyond the plan's budget keeps its last answer.
    n_jobs
        Threads.

    Raises
    ------
    RuleError
        If a penalty is yet to be learned.
    TooLargeError
        If violated hard bits need a product beyond the budget, unless `give_up`. If violated soft
        bits do, the answer is `FEASIBLE`, with a bound.
    """
    check_time_limit(time_limit)
    applied = range(len(plan.constraints)) if constraints is None else constraints
    trellis = with_token_charges(plan, trellis, evidence, applied)
    charges = plan.pricing.charges(plan.costs, constraints)
    penalties, bits = charges.penalties, list(charges.bits)
    problem = _Problem(
        plan,
        trellis,
        evidence,
        charges,
        mask=open_labels(plan, evidence, applied, allowed),
        options=_core.SolverOptions(
            method=CORE_METHODS.index(method),
            max_iterations=max_iter,
            step=step or 0.0,
            tolerance=TOLERANCE,
            seconds=time_limit or 0.0,
            max_states=MAX_STATES,
            max_nodes=max_nodes,
            group_of_tag=plan.label_of_tag,
        ),
        prices=prices,
        n_jobs=n_jobs,
    )
    found = PricedAnswers.empty(trellis.n_sequences, trellis.n_tokens, charges.rows)
    inside = np.zeros((trellis.n_sequences, len(bits)), dtype=bool)
    inside[:, charges.free] = True
    pending = np.arange(trellis.n_sequences)
    too_large = pending[:0]
    while pending.size:
        for chosen, pattern in _groups(pending, inside):
            own = tuple(bits[k] for k in np.flatnonzero(pattern))
            try:
                problem.solve(found, chosen, own)
            except TooLargeError as error:
                too_large = np.union1d(too_large, chosen)
                for b in chosen.tolist():
                    left = [i for i in own if i not in found.bits[b]]
                    if np.isfinite(penalties[left]).all():
                        continue
                    if not give_up:
                        place = f"sequence {evidence.numbers[b]}"
                        raise TooLargeError(f"{place}: {error}") from None
                    broken = {plan.terms[i].constraint for i in bits if i not in found.bits[b]}
                    found.given_up[b] = tuple(c for c in applied if c not in broken)
        if inside.all():
            break
        pending = np.setdiff1d(pending, too_large)
        pending = pending[np.isin(found.status[pending], (OPTIMAL, FEASIBLE))]
        pending = pending[~inside[pending].all(axis=1)]
        if pending.size:
            tags = found.tags[rows_of(trellis.offsets, pending)]
            violated = plan.terms.violations(tags, evidence.take(pending), bits)[:, bits] > 0
            new = _bits_to_add(violated & ~inside[pending], penalties[bits])
            inside[pending] |= new
            pending = pending[new.any(axis=1)]
    if too_large.size:
        problem.charge(found, np.setdiff1d(too_large, np.fromiter(found.given_up, np.int64)), bits)
    return found


def _groups(pending: IntArray, inside: BoolArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Yield groups of sequences with the same bits in their automaton, and a mask of the bits."""
    own = inside[pending]
    if (own == own[0]).all():
        yield pending, own[0]
        return
    patterns, group_of = np.unique(own, axis=0, return_inverse=True)
    for group, pattern in enumerate(patterns):
        yield pending[group_of.ravel() == group], pattern


def _bits_to_add(broken: BoolArray, penalties: FloatArray) -> BoolArray:
    """Return the bits to add, from those that answers violate, shape ``(B, n_bits)``.

    All hard ones, and the two soft ones that cost most: an answer that satisfies these often
    satisfies the others too, and products of many bits are large.
    """
    cost = np.where(broken, penalties, -1.0)
    soft = np.where(np.isfinite(cost), cost, -1.0)
    least = np.sort(soft, axis=1)[:, -2:].min(axis=1, initial=np.inf)
    chosen: BoolArray = broken & (cost >= least[:, None])
    return chosen


@dataclass(eq=False)
class _Problem:
    """A batch with its charges and the options of the core."""

    plan: Plan
    trellis: Trellis
    evidence: Evidence
    charges: Charges
    mask: BoolArray | None
    options: _core.SolverOptions
    prices: FloatArray | None
    n_jobs: int | None

    def solve(self, found: PricedAnswers, chosen: IntArray, bits: tuple[int, ...]) -> None:
        """Write the best labellings of some sequences under all rows and some bits."""
        plan, trellis = self.plan, self.trellis
        base = plan.pricing.marked(bits, by_class=trellis.position_weights is None)
        added, classes = base.class_weights(plan.costs, plan.labels), None
        part = derive(
            trellis,
            sequences=None if chosen.size == trellis.n_sequences else chosen,
            automaton=base.marked.automaton,
            classes=self.evidence.classes(base.tests),
            weights=base.weights(plan.costs, trellis.weights),
        )
        token_rows = rows_of(trellis.offsets, chosen)
        if added is not None:
            classes = self.evidence.classes(plan.pricing.change_tests(base.changes))
            assert classes is not None, "there are tests"
            classes = classes[token_rows]
        answers = _core.solve(
            part._batch(None if self.mask is None else self.mask[token_rows], self.n_jobs),
            self.charges.for_core(base, bits),
            self.options,
            classes,
            added,
            None if self.prices is None else self.prices[chosen],
        )
        found.tags[token_rows] = tags_of(
            answers.labels, answers.begins.astype(bool), part.automaton.n_labels
        )
        found.scores[chosen] = answers.scores + base.constant(plan.costs)
        found.bounds[chosen] = answers.bounds + base.constant(plan.costs)
        found.status[chosen] = answers.status
        found.methods[chosen] = answers.methods
        found.iterations[chosen] += answers.iterations
        found.prices[chosen] = answers.prices
        found.counted[chosen] = answers.counted.view(bool)
        for b in chosen.tolist():
            found.bits[b] = bits
        for b in set(found.leaves).intersection(chosen.tolist()):
            del found.leaves[b]  # of an earlier round
        found.leaves |= self._leaves(chosen, answers)

    def charge(self, found: PricedAnswers, chosen: IntArray, bits: Sequence[int]) -> None:
        """Subtract the penalties of soft bits outside the product; these answers are not proven."""
        if not chosen.size:
            return
        tags = found.tags[rows_of(self.trellis.offsets, chosen)]
        broken = self.plan.terms.violations(tags, self.evidence.take(chosen), bits)[:, bits]
        for place, b in enumerate(chosen.tolist()):
            for i, degree in zip(bits, broken[place].tolist(), strict=True):
                if degree and i not in found.bits[b]:
                    found.scores[b] -= self.charges.penalties[i] * degree
            found.status[b] = FEASIBLE

    def _leaves(
        self, chosen: IntArray, answers: _core.SolverAnswers
    ) -> dict[int, tuple[Leaf, ...]]:
        """Return the leaves of branch and bound, by sequence."""
        names = [frozenset({name}) for name in self.plan.labels.names]
        return {
            b: tuple(
                Leaf(
                    tuple((token, names[group], inside) for token, group, inside in decisions),
                    prices_by_term(self.charges.rows, prices),
                )
                for decisions, prices in leaves
            )
            for b, leaves in zip(chosen.tolist(), answers.leaves, strict=True)
            if leaves
        }
