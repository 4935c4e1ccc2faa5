"""Lazy intersection: the best labellings under constraints, on products that grow on demand.

The best labelling maximises ``P(y) = score(y) − Σ_i ρ_i v_i(y)`` over terms ``i``. A product with
some terms ``K`` maximises ``G(y) = score(y) − Σ_{i ∈ K} ρ_i v_i(y) ≥ P(y)``. So an answer that
violates no other term has ``P = G`` and is the best one; terms that it violates are added. The same
holds for the ``k`` best: if all of them satisfy the constraints outside the product, they are the
``k`` best under all constraints.

The *parts* of a product are hard constraints, and terms of soft ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.decoding.answers import METHODS
from trelliswork.decoding.masks import open_labels
from trelliswork.errors import TooLargeError
from trelliswork.inference.trellis import derive, rows_of
from trelliswork.inference.verbs import kbest, viterbi
from trelliswork.planning.token_charges import with_token_charges
from trelliswork.planning.violation_automata import round_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import TokenTest
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = ["LazyAnswers", "Parts", "best_lazily"]


MAX_TOGETHER = 12  # soft terms in one small product: most double its states


@dataclass(frozen=True, eq=False)
class LazyAnswers:
    """The ``k`` best labellings of each sequence of a batch.

    Attributes
    ----------
    tags : numpy.ndarray
        Labellings as tags, shape ``(k, N)``; labels in a chain. -1 without a labelling.
    scores : numpy.ndarray
        Shape ``(B, k)``; ``-inf`` without a labelling.
    iterations : numpy.ndarray
        Rounds of decoding, shape ``(B,)``.
    methods : numpy.ndarray
        Index of the method in `METHODS`, shape ``(B,)``.
    terms : dict
        By sequence, the terms in the product of its answers; no entry without a product.
    given_up : dict
        Sequences that would need a product beyond the budget, and the constraints under which
        their answers are the best.
    """

    tags: IdArray
    scores: FloatArray
    iterations: IntArray
    methods: IntArray
    terms: dict[int, tuple[int, ...]] = field(default_factory=dict)
    given_up: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def empty(cls, n_sequences: int, n_tokens: int, k: int) -> LazyAnswers:
        """Return empty answers."""
        return cls(
            np.full((k, n_tokens), -1, dtype=np.int32),
            np.full((n_sequences, k), -np.inf),
            np.zeros(n_sequences, dtype=np.int64),
            np.zeros(n_sequences, dtype=np.int64),
        )


@dataclass(frozen=True, eq=False)
class Parts:
    """The ``U`` parts that products are made of; hard constraints come first.

    Attributes
    ----------
    plan : Plan
        The compiled constraints.
    rules : tuple of int
        Hard constraints that are automata.
    terms : tuple of int
        Terms of soft constraints whose penalty is not 0.
    compact : Automaton or None
        The language of all `rules` together if it is small: then they are added together.
    all_at_once : bool
        Whether the product of everything is small, so that all parts are added together.
    """

    plan: Plan
    rules: tuple[int, ...]
    terms: tuple[int, ...]
    compact: Automaton | None
    all_at_once: bool

    @classmethod
    def of(cls, plan: Plan, constraints: Sequence[int], evidence: Evidence) -> Parts:
        """Return the parts of some constraints, on a batch.

        Raises
        ------
        RuleError
            If one of them is soft and has no penalty yet.
        """
        rules = tuple(i for i in constraints if i in plan.hard_rules)
        compact = plan.hard.together if rules and rules == plan.hard_rules else None
        soft = [i for i in constraints if i in plan.soft]
        if not soft:
            return cls(plan, rules, (), compact, compact is not None)
        terms = plan.costs.costly_terms(soft)
        together = len(terms) <= MAX_TOGETHER and plan.terms.are_compact(
            (*plan.terms.of(rules), *terms), evidence.longest
        )
        return cls(plan, rules, terms, compact, together)

    @property
    def count(self) -> int:
        """Number of parts, ``U``."""
        return len(self.rules) + len(self.terms)

    def constraints(self, chosen: BoolArray) -> list[int]:
        """Return the constraints whose parts are all chosen; `chosen` is a mask ``(U,)``."""
        whole = [rule for rule, there in zip(self.rules, chosen, strict=False) if there]
        soft: dict[int, bool] = {}
        for term, there in zip(self.terms, chosen[len(self.rules) :].tolist(), strict=True):
            constraint = self.plan.terms[term].constraint
            soft[constraint] = soft.get(constraint, True) and there
        return whole + [constraint for constraint, there in soft.items() if there]

    def chosen_terms(self, chosen: BoolArray) -> tuple[int, ...]:
        """Return the terms of the chosen parts; `chosen` is a mask ``(U,)``."""
        n_rules = len(self.rules)
        rules = [rule for rule, there in zip(self.rules, chosen.tolist(), strict=False) if there]
        soft = [self.terms[place] for place in np.flatnonzero(chosen[n_rules:])]
        return tuple(sorted((*self.plan.terms.of(rules), *soft)))

    def lengths(self, evidence: Evidence) -> IntArray:
        """Return the length for which the product of each sequence is built, shape ``(B,)``."""
        lengths = np.diff(evidence.offsets)
        if not self.plan.terms.depend_on_length((*self.plan.terms.of(self.rules), *self.terms)):
            return np.zeros_like(lengths)
        return np.array([round_length(length) for length in lengths.tolist()], dtype=np.int64)

    def broken(self, tags: IdArray, evidence: Evidence, known: BoolArray) -> BoolArray:
        """Return the parts to add for the labellings of a batch, shape ``(B, U)``.

        These are the violated parts, and the parts that are added together with them.

        Parameters
        ----------
        tags
            Tags of all tokens, shape ``(N,)``.
        evidence
            The outcomes of token tests on the batch.
        known
            Parts that were added before, shape ``(B, U)``; these are not examined.
        """
        found = np.zeros_like(known)
        n_rules = len(self.rules)
        if self.compact is not None and not known[:, :n_rules].all():
            obeyed = self.plan.hard.accepts_together(self.compact, tags, evidence)
            found[:, :n_rules] = ~obeyed[:, None]
        elif self.compact is None:
            for place, rule in enumerate(self.rules):
                if not known[:, place].all():
                    found[:, place] = ~self.plan.hard.accepts(rule, tags, evidence)
        if self.terms and not known[:, n_rules:].all():
            degrees = self.plan.terms.violations(tags, evidence, self.terms)
            found[:, n_rules:] = degrees[:, self.terms] > 0
        found &= ~known
        if self.all_at_once:
            found |= found.any(axis=1, keepdims=True)
        return found

    def product(
        self, chosen: BoolArray, length: int, trellis: Trellis
    ) -> tuple[Automaton, tuple[TokenTest, ...], FloatArray | None, float]:
        """Return the product of the model and a mask of parts ``(U,)``, up to a length.

        Returns
        -------
        automaton, tests
            As those of `RuleProduct`.
        weights
            Weights of its patterns; None: those of the trellis.
        constant
            The constant to add to its scores.

        Raises
        ------
        TooLargeError
            If it has more arcs than the plan's budget for decoding.
        """
        if not chosen[len(self.rules) :].any():
            rules = [rule for rule, there in zip(self.rules, chosen, strict=False) if there]
            compiled = self.plan.hard.product(rules, length)
            return compiled.automaton, compiled.tests, None, 0.0
        made = self.plan.terms.product(self.chosen_terms(chosen), length)
        weights = self.plan.costs.weights(trellis.weights)
        return made.automaton, made.tests, weights, self.plan.costs.constant(made)


def best_lazily(
    plan: Plan,
    trellis: Trellis,
    evidence: Evidence,
    constraints: Sequence[int],
    *,
    allowed: BoolArray | None = None,
    k: int = 1,
    give_up: bool = False,
    n_jobs: int | None = None,
) -> LazyAnswers:
    """Find the `k` best labellings of each sequence under some of the constraints.

    The other parameters are those of `decode_batch`; `constraints` are indices. With `give_up`, a
    sequence that would need a product beyond the budget keeps the answers of its last round.

    Raises
    ------
    RuleError
        If a soft constraint has no penalty yet.
    TooLargeError
        Without `give_up`, for a sequence that would need a product beyond the budget.
    """
    trellis = with_token_charges(plan, trellis, evidence, constraints)
    mask = open_labels(plan, evidence, constraints, allowed)
    parts = Parts.of(plan, constraints, evidence)
    found = LazyAnswers.empty(trellis.n_sequences, trellis.n_tokens, k)
    all_sequences = np.arange(trellis.n_sequences)
    _solve(found, trellis, all_sequences, np.arange(trellis.n_tokens), mask, n_jobs)
    if not parts.count:
        return found
    lengths = parts.lengths(evidence)
    added = np.zeros((trellis.n_sequences, parts.count), dtype=bool)
    solved = added.copy()  # the parts in the product of the present answer
    masks = tuple(i for i in constraints if i in plan.masks)
    pending = _add_broken(parts, found, all_sequences, evidence, added)
    while pending.size:
        # Counters are built for a length: sequences of similar length share a product.
        keys = np.concatenate([added[pending], lengths[pending, None]], axis=1)
        groups, group_of = np.unique(keys, axis=0, return_inverse=True)
        for group, key in enumerate(groups):
            chosen = pending[group_of.ravel() == group]
            pattern, length = key[:-1].astype(bool), int(key[-1])
            try:
                automaton, tests, weights, constant = parts.product(pattern, length, trellis)
            except TooLargeError as error:
                if not give_up:
                    raise TooLargeError(
                        f"sequence {evidence.numbers[chosen[0]]}: {error}"
                    ) from None
                for b in chosen.tolist():
                    found.given_up[b] = tuple(sorted((*masks, *parts.constraints(solved[b]))))
                continue
            part = derive(
                trellis,
                sequences=chosen,
                automaton=automaton,
                classes=evidence.classes(tests),
                weights=weights,
            )
            _solve(found, part, chosen, rows_of(trellis.offsets, chosen), mask, n_jobs)
            found.scores[chosen] += constant
            found.methods[chosen] = METHODS.index("product" if pattern.all() else "lazy")
            solved[chosen] = pattern
            found.terms.update(dict.fromkeys(chosen.tolist(), parts.chosen_terms(pattern)))
        pending = np.setdiff1d(pending, np.fromiter(found.given_up, dtype=np.int64))
        pending = _add_broken(parts, found, pending, evidence, added)
    return found


def _solve(
    found: LazyAnswers,
    trellis: Trellis,
    sequences: IntArray,
    rows: IntArray,
    mask: BoolArray | None,
    n_jobs: int | None,
) -> None:
    """Write the best labellings of some sequences, whose trellis is given, to `found`."""
    open_there = None if mask is None else mask[rows]
    k = len(found.tags)
    found.iterations[sequences] += 1
    if k == 1:
        best = viterbi(trellis, allowed=open_there, n_jobs=n_jobs)
        found.tags[0, rows] = best.tags
        found.scores[sequences, 0] = best.scores
        return
    several = kbest(trellis, k, allowed=open_there, n_jobs=n_jobs)
    count = len(several.tags)  # fewer than k if no sequence has so many
    found.tags[:, rows] = -1
    found.tags[:count, rows] = several.tags
    found.scores[sequences] = -np.inf
    found.scores[sequences, :count] = several.scores


def _add_broken(
    parts: Parts,
    found: LazyAnswers,
    sequences: IntArray,
    evidence: Evidence,
    added: BoolArray,
) -> IntArray:
    """Mark violated parts as added; return the sequences whose answers violate a new one."""
    rows = rows_of(evidence.offsets, sequences)
    part = evidence.take(sequences)
    own = added[sequences]
    new = np.zeros(sequences.size, dtype=bool)
    for tags, scores in zip(found.tags[:, rows], found.scores[sequences].T, strict=True):
        there = np.isfinite(scores)
        if not there.any():
            break  # the answers after it are no better
        tags = np.maximum(tags, 0)  # -1 without an answer
        broken = there[:, None] & parts.broken(tags, part, own)
        new |= (broken & ~own).any(axis=1)
        own |= broken
    added[sequences] = own
    return sequences[new]
