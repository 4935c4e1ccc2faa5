"""Search over prefixes of labellings: what decodes under Python functions.

    ŷ = argmax_y P(y),      P(y) = score(y) − Σ_c ρ_c v_c(y)

A *hypothesis* is a labelling of the first ``t`` tokens. It carries a state of the model and one of
every item's violation automaton (`trelliswork.planning.counting_automata`), side by side: nothing
is multiplied. What no completion of it exceeds is

    f = score so far + h[t, state] − Σ_i ρ_i m_i − Σ_p ρ_p Σ_{s ≤ t} prefix_p(y_1 … y_s)

with ``h`` what the model alone can still add, from a backward Viterbi pass, and ``m_i`` the least
violation that item ``i`` can still end with. ``f`` never rises along a path and ends as ``P``.

*Beam* search keeps those of each length with the largest ``f``; the largest ``f`` it cut off bounds
what it missed. *Best-first* search, A*, goes on with the largest ``f`` of all: the first complete
labelling is the best one. Predicates are asked last, about hypotheses that are next in line by all
else. ``B`` sequences, ``N`` tokens.

Answers of a search over prefixes: alone, or after exact methods that do not settle a sequence.

The exact methods know nothing of predicates, and charge for less than all constraints do. So an
answer of theirs that breaks no predicate is the best under all constraints, with the same proof.
Where it breaks one, the search over prefixes takes over, with everything else inside. And where
they ended before they had found any labelling under hard constraints, a wide beam often has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from trelliswork import _core
from trelliswork._utils.arguments import check_time_limit
from trelliswork.decoding.certificate import Certificate
from trelliswork.decoding.conflicts import open_labels
from trelliswork.inference.results import tags_of
from trelliswork.inference.trellis import derive, rows_of
from trelliswork.planning.predicates import costly_predicates, predicate_violations, predicates_of
from trelliswork.planning.token_charges import with_token_charges
from trelliswork.proofs.answer import FEASIBLE, INFEASIBLE, OPTIMAL, TOLERANCE, UNSOLVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.constraints import Predicate
    from trelliswork.decoding.answers import Decoding
    from trelliswork.decoding.priced_answers import PricedAnswers
    from trelliswork.decoding.problem_batch import ProblemBatch
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = [
    "SEARCH_METHODS",
    "WIDTH",
    "PrefixAnswers",
    "SearchMethod",
    "check_width",
    "search_batch",
    "search_broken",
    "solve_by_search",
]


SearchMethod = Literal["beam", "astar"]

SEARCH_METHODS: tuple[SearchMethod, ...] = ("beam", "astar")  # as in the core

WIDTH = 10

MAX_STATES = 100_000
"""Hypotheses that best-first search goes on with, before a beam takes over."""


@dataclass(eq=False)
class PrefixAnswers:
    """What a search found for each sequence of a batch.

    Attributes
    ----------
    tags : numpy.ndarray
        Shape ``(N,)``; labels in a chain, -1 where no labelling was found.
    scores, bounds : numpy.ndarray
        ``P`` of each labelling, and what no labelling exceeds, shape ``(B,)``.
    status : numpy.ndarray
        One of those of `trelliswork.decoding.priced_answers`, shape ``(B,)``.
    methods : numpy.ndarray
        Place in `SEARCH_METHODS`, shape ``(B,)``: a beam where best-first search reached a limit.
    expanded : numpy.ndarray
        Hypotheses that the search went on with, shape ``(B,)``.
    """

    tags: NDArray[np.int32]
    scores: FloatArray
    bounds: FloatArray
    status: NDArray[np.int32]
    methods: NDArray[np.int32]
    expanded: IntArray


def check_width(width: Any) -> None:
    """Raise a `ValueError` for anything that is no width of a beam."""
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
        The constraints, predicates among them or not.
    trellis
        Scores on the model automaton, without constraints.
    evidence
        What the constraints see of the batch.
    method
        ``"beam"``, or ``"astar"`` for best-first search.
    width
        Hypotheses of each length that a beam keeps; None: all. Without predicates those with the
        same future count once.
    constraints
        Indices of the constraints to heed. Default: all.
    allowed
        Labels that each token may have for other reasons, as `decode_batch` takes them.
    time_limit
        Seconds for each sequence. Best-first search then ends, and a beam goes on with 10
        hypotheses of each length at most. Default: none.
    max_states
        Hypotheses that best-first search goes on with. Where it reaches that, or the time limit,
        the answer is that of a beam of this width, with the best bound there is.
    n_jobs
        Threads. Predicates are asked on one.

    Raises
    ------
    RuleError
        Where a penalty is yet to be learned, or a predicate is no number of violations.
    TooLargeError
        Where the automaton of one item has too many states.
    """
    check_time_limit(time_limit)
    check_width(width)
    heeded = range(len(plan.constraints)) if constraints is None else constraints
    plan.costs.check(heeded)
    penalties, by_item = plan.penalties, plan.costs.of_terms
    trellis = with_token_charges(plan, trellis, evidence, heeded)
    items = [i for i in plan.terms.of(heeded) if by_item[i] > 0.0]
    asked = [(i, rule) for i, rule in predicates_of(plan.constraints, heeded) if penalties[i] > 0.0]
    found = _core.search_prefixes(
        trellis._batch(open_labels(plan, evidence, heeded, allowed), n_jobs),
        [
            _core.SearchItem(
                plan.terms.violation_automaton(i, evidence.longest).of_core,
                float(by_item[i]),
                evidence.classes(plan.terms.tests_of(i)),
            )
            for i in items
        ],
        _core.Predicates(
            penalties[[i for i, _ in asked]],
            any(rule.prefix is not None for _, rule in asked),
            _Counter(plan, evidence, [rule for _, rule in asked]),
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


class _Counter:
    """Asks predicates about prefixes, for the core.

    Parameters
    ----------
    plan
        The constraints.
    evidence
        What they see of the batch.
    rules
        The ``Q`` predicates to ask.
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
            Which one.
        tags
            Of its first ``t`` tokens.
        n_new
            How many of them are new.
        before
            What was counted before these, ``(Q,)``.
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


RESCUE_WIDTH = 200
"""Of a beam that looks for any labelling under hard constraints."""


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
    """Search anew where an answer breaks a predicate that costs anything, or there is none.

    Parameters
    ----------
    found
        Answers without predicates, which are changed.
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
    """Take the answers of a search, unless one from before is better."""
    ends = np.cumsum(np.diff(offsets)[chosen])
    for place, b in enumerate(chosen.tolist()):
        rows = slice(offsets[b], offsets[b + 1])
        last = int(ends[place])
        own = searched.tags[last - (rows.stop - rows.start) : last]
        if b in found.given_up:
            found.scores[b] = -np.inf  # it was the best under some of the hard constraints
        found.bounds[b] = min(searched.bounds[place], found.bounds[b])
        found.iterations[b] += searched.expanded[place]
        found.searched[b] = SEARCH_METHODS[searched.methods[place]]
        found.prices[b], found.counted[b], found.bits[b] = 0.0, False, ()
        found.leaves.pop(b, None)
        found.given_up.pop(b, None)
        status = searched.status[place]
        if status in (FEASIBLE, UNSOLVED) and found.scores[b] > searched.scores[place]:
            status = FEASIBLE  # what broke predicates is better than what was found in time
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

    The parameters are those of `search_batch`. Without predicates there is a proof of what nothing
    better was cut off from: to count all items.

    Raises
    ------
    InfeasibleError, SearchLimitError
        Where the search met no labelling, with a proof that there is none and without.
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
