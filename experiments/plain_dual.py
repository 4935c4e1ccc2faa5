"""Algorithm 1 of the paper, as it is written: dual decomposition under hard constraints.

    y ← argmax_y ⟨w − Aᵀλ, y⟩,    λ ← max(0, λ + η (Ay − b))

for ``A y ≤ b``, until every constraint holds with equality or has ``λ = 0``, or for so many
iterations; the last ``y`` is the answer, even if it breaks constraints. Rules that are mined can
contradict each other, and then there is nothing else to be had from it. (The library's own decoding
proves such sentences infeasible, and would drop rules by choice.)

Only for labels such as BIO, where the label alone tells which segments begin at a token: a price is
then a score of labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.inference import Trellis, viterbi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    import trelliswork as tw
    from trelliswork.constraints import Constraint

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class LastIterates:
    """What the algorithm ends with: labels, and of each sentence its iterations and its state."""

    predicted: list[list[str]]
    iterations: IntArray
    converged: NDArray[np.bool_]
    feasible: NDArray[np.bool_]


def counts_of_labels(rules: Sequence[Constraint], labels: tw.LabelSet) -> tuple[IntArray, IntArray]:
    """Return what each label adds to each row, shape ``(R, L)``, and the bounds, ``(R,)``."""
    may_follow = np.concatenate([labels.transitions.start[None], labels.transitions.step])
    added, bounds = [], []
    for rule in rules:
        for row in rule.rows or ():
            table = row.table(labels)
            largest = np.where(may_follow, table, np.iinfo(np.int64).min).max(axis=0)
            smallest = np.where(may_follow, table, np.iinfo(np.int64).max).min(axis=0)
            reached = may_follow.any(axis=0)
            if (largest != smallest)[reached].any():
                raise ValueError(f"{rule!r}: expected labels that tell which segments begin.")
            added.append(np.where(reached, largest, 0))
            bounds.append(row.bound)
    shape = len(bounds), len(labels)
    return np.array(added, dtype=np.int64).reshape(shape), np.array(bounds, dtype=np.int64)


def algorithm_1(
    tagger: tw.CRFTagger,
    rules: Sequence[Constraint],
    sentences: list[tw.Sentence],
    *,
    max_iter: int,
    step: float = 1.0,
) -> LastIterates:
    """Decode under linear rules as hard constraints, with steps ``η_t = step / √t``.

    Parameters
    ----------
    tagger
        A trained chain under its own hard rules.
    rules
        Linear rules, all hard.
    sentences
        What to label.
    max_iter
        Most Viterbi passes of a sentence.
    step
        See above.
    """
    added, bounds = counts_of_labels(rules, tagger.labels_)
    trellis = tagger.trellis(sentences)
    offsets = trellis.offsets
    tags = np.zeros(trellis.n_tokens, dtype=np.int64)
    prices = np.zeros((len(sentences), len(bounds)))
    iterations = np.zeros(len(sentences), dtype=np.int64)
    converged = np.zeros(len(sentences), dtype=bool)
    feasible = np.zeros(len(sentences), dtype=bool)
    pending = np.arange(len(sentences))
    for t in range(1, max_iter + 1):
        rows = np.concatenate([np.arange(offsets[b], offsets[b + 1]) for b in pending])
        lengths = np.diff(offsets)[pending]
        scores = trellis.scores[rows, 0] - np.repeat(prices[pending] @ added, lengths, axis=0)
        bounds_of = np.concatenate([[0], np.cumsum(lengths)])
        priced = Trellis(
            scores,
            trellis.automaton,
            offsets=bounds_of,
            weights=trellis.weights,
            start=trellis.start,
            end=trellis.end,
        )
        tags[rows] = viterbi(priced).labels
        iterations[pending] += 1
        sums = np.add.reduceat(added.T[tags[rows]], bounds_of[:-1], axis=0)
        excess = sums - bounds
        feasible[pending] = (excess <= 0).all(axis=1)
        slack = (excess == 0) | ((excess < 0) & (prices[pending] == 0))
        converged[pending] = slack.all(axis=1)
        moved = np.maximum(0.0, prices[pending] + step / np.sqrt(t) * excess)
        pending, moved = pending[~slack.all(axis=1)], moved[~slack.all(axis=1)]
        prices[pending] = moved
        if not pending.size:
            break
    names = [tagger.labels_.names[tag] for tag in tags]
    predicted = [names[first:last] for first, last in pairwise(offsets.tolist())]
    return LastIterates(predicted, iterations, converged, feasible)
