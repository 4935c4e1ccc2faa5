"""Search over prefixes of labellings: decoding under predicates, which are Python functions.

    ŷ = argmax_y P(y),      P(y) = score(y) − Σ_c ρ_c v_c(y)

A *hypothesis* is a labelling of the first ``t`` tokens. It carries a state of the model and one of
each violation automaton (`trelliswork.planning.violation_automata`), without a product. The upper
bound of its completions is

    f = score so far + h[t, state] − Σ_i ρ_i m_i − Σ_p ρ_p Σ_{s ≤ t} prefix_p(y_1 … y_s)

with ``h`` the best completion under the model alone, from a backward Viterbi pass, and ``m_i`` the
least final violation of term ``i``. ``f`` never rises along a path and ends as ``P``.

*Beam* search keeps the hypotheses of each length with the largest ``f``; the largest pruned ``f``
bounds the labellings that it missed. *Best-first* search, A*, expands the hypothesis with the
largest ``f`` of all: the first complete labelling is the best one. Predicates are called last, for
hypotheses that are next in the queue without them.

The search runs alone (`solve_by_search`), or after the exact methods (`search_broken`). Those leave
predicates out, so their answer is the best under all constraints, with the same proof, if it
violates no predicate. If it violates one, the search decodes the sequence again under all
constraints. If the exact methods ended without any labelling under hard constraints, a wide beam
often finds one. ``B`` sequences, ``N`` tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork import _core
from trelliswork._utils.arguments import check_time_limit
from trelliswork.decoding.certificate import Certificate
from trelliswork.decoding.masks import open_labels
from trelliswork.decoding.priced_answers import SEARCH_METHODS
from trelliswork.inference.results import tags_of
from trelliswork.inference.trellis import derive, rows_of
from trelliswork.planning.predicates import costly_predicates, predicate_violations, predicates_of
from trelliswork.planning.token_charges import with_token_charges
from trelliswork.proofs.answer import FEASIBLE, INFEASIBLE, OPTIMAL, TOLERANCE, UNSOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.constraints import Predicate
    from trelliswork.decoding.answers import Decoding
    from trelliswork.decoding.priced_answers import PricedAnswers, SearchMethod
    from trelliswork.decoding.problem_batch import ProblemBatch
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = [
    "WIDTH",
    "PrefixAnswers",
    "check_width",
    "search_batch",
    "search_broken",
    "solve_by_search",
]


WIDTH = 10

MAX_STATES = 100_000
"""Hypotheses that best-first search expands before a beam takes over."""

RESCUE_WIDTH = 200
"""The width of a beam that looks for any labelling under hard constraints."""


@dataclass(eq=False)
class PrefixAnswers:
    """Results of a search for each sequence of a batch.

    Attributes
    ----------
    tags : numpy.ndarray
        Shape ``(N,)``; labels in a chain, -1 without a labelling.
    scores, bounds : numpy.ndarray
        ``P`` of each labelling, and the upper bound of all labellings, shape ``(B,)``.
    status : numpy.ndarray
        The code of each status, as in `trelliswork.proofs.answer`, shape ``(B,)``.
    methods : numpy.ndarray
        Index in `SEARCH_METHODS`, shape ``(B,)``: a beam if best-first search reached a limit.
    expanded : numpy.ndarray
        Hypotheses that the search expanded, shape ``(B,)``.
    """

    tags: IdArray
    scores: FloatArray
    bounds: FloatArray
    status: IdArray
    methods: IdArray
    expanded: IntArray


def check_width(width: Any) -> None:
    """Raise a `ValueError` unless `width` is a valid width of a beam."""
    whole = isinstance(width, Integral) and not isinstance(width, bool)
    if width is not None and not (whole and width >= 1):
        raise ValueError(f"width: expected a whole number from 1 up, or None, got {width!r}.")


def search_batch(
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    *,
    method: SearchMethod = "astar",
    width: int | None = WIDTH,
    constraints: Sequence[int] | None = None,
    allowed: BoolArray | None = None,
    time_limit: float | None = None,
    max_states: int = MAX_STATES,
    n_jobs: int | None = None,
) -> PrefixAnswers:
    """Find the best labelling of each sequence by a search over prefixes.

    Parameters
    ----------
    plan
        The constraints, with or without predicates.
    trellis
        Scores on the model automaton, without constraints.
    evidence
        The outcomes of token tests on the batch.
    method
        ``"beam"``, or ``"astar"`` for best-first search.
    width
        Hypotheses of each length that a beam keeps; None: all. Without predicates, hypotheses with
        the same future count once.
    constraints
        Indices of the constraints to apply. Default: all.
    allowed
        Further mask of allowed labels, as `decode_batch` takes it.
    time_limit
        Seconds for each sequence. Then best-first search ends, and a beam continues with at most 10
        hypotheses of each length. Default: none.
    max_states
        Hypotheses that best-first search expands. At this limit, or the time limit, the answer is
        that of a beam of this width, with the best bound found.
    n_jobs
        Threads. Predicates are called on one.

    Raises
    ------
    RuleError
        If a penalty is yet to be learned, or a predicate returns no number of violations.
    TooLargeError
        If the automaton of one term has too many states.
    """
    check_time_limit(time_limit)
    check_width(width)
    applied = range(len(plan.constraints)) if constraints is None else constraints
    plan.costs.check(applied)
    penalties, by_term = plan.penalties, plan.costs.of_terms
    trellis = with_token_charges(plan, trellis, evidence, applied)
    terms = [i for i in plan.terms.of(applied) if by_term[i] > 0.0]
    asked = [
        (i, rule) for i, rule in predicates_of(plan.constraints, applied) if penalties[i] > 0.0
    ]
    found = _core.search_prefixes(
        trellis._batch(open_labels(plan, evidence, applied, allowed), n_jobs),
        [
            _core.SearchTerm(
                plan.terms.violation_automaton(i, evidence.longest).for_core,
                float(by_term[i]),
                evidence.classes(plan.terms.tests_of(i)),
            )
            for i in terms
        ],
        _core.Predicates(
            penalties[[i for i, _ in asked]],
            any(rule.prefix is not None for _, rule in asked),
            _PredicateCaller(plan, evidence, [rule for _, rule in asked]),
        ),
        _core.PrefixOptions(
            method=SEARCH_METHODS.index(method),
            width=0 if width is None else int(width),
            max_states=max_states,
            seconds=time_limit or 0.0,
            tolerance=TOLERANCE,
        ),
    )
    tags = tags_of(found.labels, found.begins.astype(bool), trellis.automaton.n_labels)
    return PrefixAnswers(
        tags, found.scores, found.bounds, found.status, found.methods, found.expanded
    )


class _PredicateCaller:
    """Calls predicates on prefixes, for the core.

    Parameters
    ----------
    plan
        The constraints.
    evidence
        The input as they see it.
    rules
        The ``Q`` predicates to call.
    """

    def __init__(self, plan: Plan, evidence: Evidence, rules: Sequence[Predicate]) -> None:
        self._names = plan.tag_names
        self._sentences = evidence.sentences
        self._lengths = np.diff(evidence.offsets).tolist()
        self._rules = rules

    def __call__(self, sequence: int, tags: list[int], n_new: int, before: list[int]) -> list[int]:
        """Return the violations of each predicate so far, ``(Q,)``.

        Parameters
        ----------
        sequence
            The index of the sequence.
        tags
            The tags of its first ``t`` tokens.
        n_new
            The number of new tags among them.
        before
            The counts before these, ``(Q,)``.
        """
        labels, sentence = [self._names[tag] for tag in tags], self._sentences[sequence]
        is_complete = len(tags) == self._lengths[sequence]
        found = []
        for rule, total in zip(self._rules, before, strict=True):
            if rule.prefix is None:
                found.append(rule.count(labels, sentence) if is_complete else total)
                continue
            ends = range(len(tags) - n_new + 1, len(tags) + 1)
            total += sum(rule.count_new(labels[:end], sentence) for end in ends)
            if is_complete:
                rule.check_sum(total, labels, sentence)
            found.append(total)
        return found


def search_broken(
    found: PricedAnswers,
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    *,
    constraints: Sequence[int] | None = None,
    allowed: BoolArray | None = None,
    width: int | None = WIDTH,
    time_limit: float | None = None,
) -> None:
    """Search again if an answer violates a predicate with a penalty, or if there is no answer.

    Parameters
    ----------
    found
        Answers without predicates, changed in place.
    plan, trellis, evidence, constraints, allowed, width, time_limit
        As in `search_batch`.
    """
    penalties, functions = plan.penalties, costly_predicates(plan, constraints)
    if not functions and not (found.status == UNSOLVED).any():
        return
    has_answer = np.isin(found.status, (OPTIMAL, FEASIBLE))
    cost = np.zeros(trellis.n_sequences)
    answered = np.flatnonzero(has_answer)
    if answered.size and functions:
        tags = found.tags[rows_of(trellis.offsets, answered)]
        own = evidence.take(answered)
        broken = predicate_violations(plan, tags, own, functions)[:, functions]
        each = np.broadcast_to(penalties[functions], broken.shape)
        charged = np.multiply(broken, each, out=np.zeros(broken.shape), where=broken > 0)
        cost[answered] = charged.sum(axis=1)
    left = (cost > 0.0) | (found.status == UNSOLVED)
    if functions:
        left[list(found.given_up)] = True
    chosen = np.flatnonzero(left)
    if not chosen.size:
        return
    searched = search_batch(
        plan,
        derive(trellis, sequences=chosen),
        evidence.take(chosen),
        constraints=constraints,
        allowed=None if allowed is None else allowed[rows_of(trellis.offsets, chosen)],
        method="astar" if functions else "beam",
        width=width if functions else RESCUE_WIDTH,
        time_limit=time_limit,
    )
    found.scores[chosen] -= cost[chosen]
    _put(found, searched, chosen, trellis.offsets)


def _put(
    found: PricedAnswers, searched: PrefixAnswers, chosen: IntArray, offsets: IntArray
) -> None:
    """Replace answers by those of a search, unless the earlier answer is better."""
    ends = np.cumsum(np.diff(offsets)[chosen])
    for place, b in enumerate(chosen.tolist()):
        rows = slice(offsets[b], offsets[b + 1])
        last = int(ends[place])
        own = searched.tags[last - (rows.stop - rows.start) : last]
        if b in found.given_up:
            found.scores[b] = -np.inf  # the best under some of the hard constraints only
        found.bounds[b] = min(searched.bounds[place], found.bounds[b])
        found.iterations[b] += searched.expanded[place]
        found.searched[b] = SEARCH_METHODS[searched.methods[place]]
        found.prices[b], found.counted[b], found.bits[b] = 0.0, False, ()
        found.leaves.pop(b, None)
        found.given_up.pop(b, None)
        status = searched.status[place]
        if status in (FEASIBLE, UNSOLVED) and found.scores[b] > searched.scores[place]:
            status = FEASIBLE  # the earlier answer is better than the one found in time
        else:
            found.tags[rows], found.scores[b] = own, searched.scores[place]
        if status == INFEASIBLE:
            found.scores[b] = -np.inf
        found.status[b] = status


def solve_by_search(
    batch: ProblemBatch,
    method: SearchMethod,
    time_limit: float | None,
    width: int | None,
    n_jobs: int | None,
) -> list[Decoding]:
    """Answer problems by a search over prefixes alone.

    The parameters are those of `search_batch`. Without predicates, an answer from which nothing
    better was pruned has a certificate: the product with all terms.

    Raises
    ------
    InfeasibleError, SearchLimitError
        If the search found no labelling, with and without a proof that there is none.
    """
    plan = batch.plan
    found = search_batch(
        plan,
        batch.trellis,
        batch.evidence,
        method=method,
        width=width,
        allowed=batch.allowed,
        time_limit=time_limit,
        n_jobs=n_jobs,
    )
    for b in np.flatnonzero(np.isin(found.status, (INFEASIBLE, UNSOLVED))).tolist():
        batch.refuse_search(b, found.status[b] == INFEASIBLE)
    everything = Certificate(tuple(np.flatnonzero(plan.costs.of_terms > 0.0).tolist()))
    proven = found.status == OPTIMAL
    return [
        batch.answer(
            b,
            found.tags,
            float(found.bounds[b]),
            is_best=bool(proven[b]),
            method=SEARCH_METHODS[found.methods[b]],
            iterations=int(found.expanded[b]),
            certificate=everything if proven[b] and not plan.predicates else None,
        )
        for b in range(len(batch.problems))
    ]
