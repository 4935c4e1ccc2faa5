"""Significance of the difference of two systems, by approximate randomisation.

The test of Noreen (1989), applied to F1 by Yeh (2000). If two systems are equally good, their
outputs on a sentence are exchangeable. So the outputs of each sentence are swapped at random, and
the p-value is the share of shuffles whose scores differ by at least the observed difference:

    p = (1 + #{shuffles with |Δ'| ≥ |Δ|}) / (1 + #shuffles)

A score is a function of three sums over sentences (correct, predicted, gold segments), so a shuffle
is one row of a random 0/1 matrix times an ``(n, 3)`` matrix of differences.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from trelliswork.errors import DataError
from trelliswork.evaluation.scoring import SegmentReader, known_hits, pair_up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from trelliswork._typing import FloatArray
    from trelliswork.evaluation.scoring import LabelSequences, Pair
    from trelliswork.labels.schemes import Scheme

Metric: TypeAlias = Literal["f1", "accuracy"]

COINS_PER_CHUNK = 1 << 21  # bounds memory: 16 MiB of doubles
TIE = 1e-12  # tolerance for differences that are equal in exact arithmetic


@dataclass(frozen=True, slots=True)
class SignificanceTest:
    """Result of `randomization_test`.

    Attributes
    ----------
    p_value
        Probability of a difference of at least this size if the systems are equally good.
    difference
        The second score minus the first.
    first, second
        The two scores.
    metric
        ``"f1"`` (micro F1 of segments) or ``"accuracy"`` (of tokens).
    shuffles
        Number of shuffles.
    seed
        The seed, to reproduce the result.
    """

    p_value: float
    difference: float
    first: float
    second: float
    metric: Metric
    shuffles: int
    seed: int

    def __str__(self) -> str:
        return (
            f"{self.metric}: {self.first:.4f} against {self.second:.4f}, difference "
            f"{self.difference:+.4f}, p = {self.p_value:.4g} ({self.shuffles} shuffles)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return asdict(self)


def randomization_test(
    gold: LabelSequences,
    first: LabelSequences,
    second: LabelSequences,
    *,
    metric: Metric = "f1",
    shuffles: int = 10_000,
    random_state: int | None = None,
    scheme: Scheme | None = None,
    strict: bool = False,
    level: int | None = None,
    outside: str | None = None,
) -> SignificanceTest:
    """Test whether two systems differ (two-sided, paired by sentence).

    Parameters
    ----------
    gold
        A corpus, or one sequence of gold labels per sentence.
    first, second
        The predictions of the two systems for the same sentences.
    metric
        ``"f1"``: micro F1 of segments. ``"accuracy"``: of tokens with a known gold label.
    shuffles
        Number of shuffles.
    random_state
        The seed; ``None`` draws one. The result records it.
    scheme, strict, level, outside
        Definition of segments; see `report`.
    """
    if metric not in ("f1", "accuracy"):
        raise ValueError(f"metric: expected 'f1' or 'accuracy', got {metric!r}.")
    gold = list(gold)
    first_pairs, second_pairs = pair_up(gold, first), pair_up(gold, second)
    if metric == "accuracy":
        counts = [_token_counts(pairs) for pairs in (first_pairs, second_pairs)]
    else:
        reader = SegmentReader.choose(
            [*first_pairs, *second_pairs], scheme, strict=strict, level=level, outside=outside
        )
        counts = [_segment_counts(pairs, reader) for pairs in (first_pairs, second_pairs)]
    return compare_counts(
        counts[0], counts[1], metric=metric, shuffles=shuffles, random_state=random_state
    )


def compare_counts(
    first: FloatArray,
    second: FloatArray,
    *,
    metric: Metric = "f1",
    shuffles: int = 10_000,
    random_state: int | None = None,
) -> SignificanceTest:
    """Run the test on counts per sentence.

    Parameters
    ----------
    first, second
        Shape ``(n, 3)``: correct, predicted and gold segments of each of ``n`` sentences. For
        accuracy: correct tokens, then all tokens twice.
    metric
        The name of the score in the result.
    shuffles, random_state
        See `randomization_test`.
    """
    if shuffles < 1:
        raise ValueError(f"shuffles: expected 1 or more, got {shuffles}.")
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if first.shape != second.shape or first.ndim != 2 or first.shape[1] != 3:
        raise DataError(
            f"Expected two arrays of counts of one shape (n, 3), got {first.shape} and "
            f"{second.shape}. Count the same sentences for both systems."
        )
    seed = cast("int", np.random.SeedSequence(random_state).entropy)
    generator = np.random.default_rng(seed)
    change = second - first
    # Swapping a sentence with equal counts has no effect.
    change = change[change.any(axis=1)]
    totals = first.sum(axis=0), second.sum(axis=0)
    scores = [float(score) for score in _f1(np.stack(totals))]
    observed = abs(scores[1] - scores[0])
    rows = max(1, COINS_PER_CHUNK // max(1, len(change)))
    extreme = 0
    for begin in range(0, shuffles, rows):
        swaps = _coins(generator, min(rows, shuffles - begin), len(change))
        differences = shuffled_differences(*totals, change, swaps)
        extreme += int(np.count_nonzero(np.abs(differences) >= observed - TIE))
    return SignificanceTest(
        p_value=(extreme + 1) / (shuffles + 1),
        difference=scores[1] - scores[0],
        first=scores[0],
        second=scores[1],
        metric=metric,
        shuffles=shuffles,
        seed=seed,
    )


def f1_standard_error(
    counts: ArrayLike, *, samples: int = 1000, random_state: int | None = None
) -> float:
    """Return the standard error of F1 over sentences, by the bootstrap (Efron 1979).

    Parameters
    ----------
    counts
        Shape ``(n, 3)``: correct, predicted and gold segments of each of ``n`` sentences; see
        `Report.sentence_counts`.
    samples
        Number of bootstrap samples.
    random_state
        The seed.

    Examples
    --------
    >>> round(f1_standard_error([[1, 1, 1], [0, 1, 1]] * 50, random_state=0), 2)
    0.05
    """
    rows = np.asarray(counts, np.float64).reshape(-1, 3)
    if not len(rows):
        return 0.0
    generator = np.random.default_rng(random_state)
    share = np.full(len(rows), 1.0 / len(rows))
    chunk = max(1, COINS_PER_CHUNK // len(rows))
    scores = []
    for begin in range(0, samples, chunk):
        drawn = generator.multinomial(len(rows), share, size=min(chunk, samples - begin))
        scores.append(_f1(drawn @ rows))
    return float(np.concatenate(scores).std(ddof=1)) if samples > 1 else 0.0


def shuffled_differences(
    first_total: FloatArray,
    second_total: FloatArray,
    change: FloatArray,
    swaps: FloatArray,
) -> FloatArray:
    """Return the second score minus the first for each shuffle.

    Parameters
    ----------
    first_total, second_total
        Shape ``(3,)``: the counts of both systems, summed over sentences.
    change
        Shape ``(n, 3)``: counts of the second system minus those of the first, by sentence.
    swaps
        Shape ``(m, n)``: 1 if the outputs of a sentence are swapped, else 0.

    Returns
    -------
    ndarray
        Shape ``(m,)``.
    """
    moved = swaps @ change
    return _f1(second_total - moved) - _f1(first_total + moved)


def _f1(totals: FloatArray) -> FloatArray:
    """Return ``2 correct / (predicted + gold)``, 0 without segments: ``(m, 3) → (m,)``."""
    size = totals[:, 1] + totals[:, 2]
    return np.divide(2 * totals[:, 0], size, out=np.zeros_like(size), where=size > 0)


def _coins(generator: np.random.Generator, rows: int, columns: int) -> FloatArray:
    """Return fair random bits, shape ``(rows, columns)``."""
    packed = generator.integers(0, 256, size=(rows, (columns + 7) // 8), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=columns).astype(np.float64)


def _segment_counts(pairs: list[Pair], reader: SegmentReader) -> FloatArray:
    rows = [reader.count(pair).totals for pair in pairs]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _token_counts(pairs: list[Pair]) -> FloatArray:
    rows = []
    for pair in pairs:
        hits = known_hits(pair)
        rows.append([sum(hits), len(hits), len(hits)])
    return np.array(rows, dtype=np.float64).reshape(-1, 3)
