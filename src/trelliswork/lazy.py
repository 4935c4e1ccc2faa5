"""The best labellings under constraints, by lazy intersection; see `trelliswork.decoding`.

The same holds of the ``K`` best as of the best one: where all of the ``K`` best on the product with
some constraints satisfy the others too, they are the ``K`` best that satisfy all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from trelliswork.conflicts import open_labels
from trelliswork.derived import derive
from trelliswork.errors import TooLargeError
from trelliswork.evidence import rows_of
from trelliswork.inference import kbest, viterbi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.evidence import Evidence
    from trelliswork.plan import Plan
    from trelliswork.trellis import Trellis

    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]

__all__ = ["METHODS", "LazyAnswers", "Method", "best_lazily"]

Method = Literal["chain", "lazy", "product"]
METHODS: tuple[Method, ...] = ("chain", "lazy", "product")


@dataclass(frozen=True, eq=False)
class LazyAnswers:
    """The ``K`` best labellings of each sequence of a batch.

    Attributes
    ----------
    tags : numpy.ndarray
        Labellings as tags, shape ``(K, N)``; labels in a chain. -1 where there is none.
    scores : numpy.ndarray
        Shape ``(B, K)``; ``-inf`` there.
    iterations : numpy.ndarray
        Rounds of decoding, shape ``(B,)``.
    methods : numpy.ndarray
        Place of the method in `METHODS`, shape ``(B,)``.
    given_up : dict
        Sequences that would need a product beyond the budget, and the constraints that their
        answers are the best under.
    """

    tags: NDArray[np.int32]
    scores: NDArray[np.float64]
    iterations: IntArray
    methods: IntArray
    given_up: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def none(cls, n_sequences: int, n_tokens: int, k: int) -> LazyAnswers:
        """Return room for answers."""
        return cls(
            np.full((k, n_tokens), -1, dtype=np.int32),
            np.full((n_sequences, k), -np.inf),
            np.zeros(n_sequences, dtype=np.int64),
            np.zeros(n_sequences, dtype=np.int64),
        )


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
    """Find the `k` best labellings of each sequence that satisfy some of the constraints.

    The other parameters are those of `decode_batch`; `constraints` are indices. With `give_up`, a
    sequence that would need a product beyond the budget keeps the answers of its last round.
    """
    mask = open_labels(plan, evidence, constraints, allowed)
    rules = [i for i in constraints if i in plan.rules]
    found = LazyAnswers.none(trellis.n_sequences, trellis.n_tokens, k)
    everyone = np.arange(trellis.n_sequences)
    _solve(found, trellis, everyone, np.arange(trellis.n_tokens), mask, n_jobs)
    if not rules:
        return found
    added = np.zeros((trellis.n_sequences, len(rules)), dtype=bool)
    solved = added.copy()  # the rules in the product that gave the present answer
    masks = tuple(i for i in constraints if i in plan.masks)
    if tuple(rules) == plan.rules and plan.compact is not None:
        pending = _not_in(plan, found, evidence)
        added[pending] = True
    else:
        pending = _add_broken(plan, rules, found, everyone, evidence, added)
    while pending.size:
        patterns, group_of = np.unique(added[pending], axis=0, return_inverse=True)
        for group, pattern in enumerate(patterns):
            chosen = pending[group_of.ravel() == group]
            try:
                compiled = plan.product([rules[i] for i in np.flatnonzero(pattern)])
            except TooLargeError as error:
                if not give_up:
                    raise TooLargeError(
                        f"X: sequence {evidence.numbers[chosen[0]]}: {error}"
                    ) from None
                for b in chosen.tolist():
                    under = [rules[i] for i in np.flatnonzero(solved[b])]
                    found.given_up[b] = tuple(sorted((*masks, *under)))
                continue
            classes = evidence.classes(compiled.tests)
            part = derive(trellis, sequences=chosen, automaton=compiled.automaton, classes=classes)
            _solve(found, part, chosen, rows_of(trellis.offsets, chosen), mask, n_jobs)
            found.methods[chosen] = METHODS.index("product" if pattern.all() else "lazy")
            solved[chosen] = pattern
        pending = np.setdiff1d(pending, np.fromiter(found.given_up, dtype=np.int64))
        pending = _add_broken(plan, rules, found, pending, evidence, added)
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
    count = len(several.tags)  # fewer than k where no sequence has so many
    found.tags[:, rows] = -1
    found.tags[:count, rows] = several.tags
    found.scores[sequences] = -np.inf
    found.scores[sequences, :count] = several.scores


def _not_in(plan: Plan, found: LazyAnswers, evidence: Evidence) -> IntArray:
    """Return the sequences with an answer outside the intersection of all automata."""
    outside = np.zeros(len(found.scores), dtype=bool)
    assert plan.compact is not None, "asked for only where there is one"
    for tags, scores in zip(found.tags, found.scores.T, strict=True):
        obeyed = plan.accepts_together(plan.compact, np.maximum(tags, 0), evidence)
        outside |= np.isfinite(scores) & ~obeyed
    return np.flatnonzero(outside)


def _add_broken(
    plan: Plan,
    rules: Sequence[int],
    found: LazyAnswers,
    sequences: IntArray,
    evidence: Evidence,
    added: BoolArray,
) -> IntArray:
    """Mark the rules that answers break as added; return which sequences break a new one."""
    rows = rows_of(evidence.offsets, sequences)
    part = evidence.take(sequences)
    own = added[sequences]
    new = np.zeros(sequences.size, dtype=bool)
    for tags, scores in zip(found.tags[:, rows], found.scores[sequences].T, strict=True):
        there = np.isfinite(scores)
        if not there.any():
            break  # the answers after it are no better
        tags = np.maximum(tags, 0)  # -1 where there is no answer
        for place, rule in enumerate(rules):
            if own[:, place].all():
                continue
            broken = there & ~own[:, place] & ~plan.accepts(rule, tags, part)
            own[:, place] |= broken
            new |= broken
    added[sequences] = own
    return sequences[new]
