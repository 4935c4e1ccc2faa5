"""Is one system better than another, or lucky? Approximate randomisation.

The test of Noreen (1989), as Yeh (2000) gives it for F1. If two systems are equally good, then
their outputs on a sentence can be swapped. So swap them, a fair coin a sentence, and see how often
the scores differ by at least as much as they really do:

    p = (1 + #{shuffles with |Δ'| ≥ |Δ|}) / (1 + #shuffles)

A score is a function of three sums over sentences (right, predicted, gold segments), so a shuffle
is one row of a random 0/1 matrix times an ``(n, 3)`` matrix of differences.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from trelliswork.errors import DataError
from trelliswork.evaluation.scoring import SegmentReader, known_hits, pair_up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from trelliswork.evaluation.scoring import LabelSequences, Pair
    from trelliswork.labels.schemes import Scheme

Metric: TypeAlias = Literal["f1", "accuracy"]

COINS_PER_CHUNK = 1 << 21  # bounds memory: 16 MiB of doubles, whatever the size of the corpus
TIE = 1e-12  # differences that are equal in exact arithmetic must compare as equal


@dataclass(frozen=True, slots=True)
class SignificanceTest:
    """The outcome of `randomization_test`.

    Attributes
    ----------
    p_value
        How likely a difference of at least this size is if the systems are equally good.
    difference
        The second score less the first.
    first, second
        The two scores.
    metric
        ``"f1"`` (micro F1 of segments) or ``"accuracy"`` (of tokens).
    shuffles
        How often the outputs were shuffled.
    seed
        The seed that gives this outcome again.
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
    """Test whether two systems differ, two-sided, paired over sentences.

    Parameters
    ----------
    gold
        A corpus, or one sequence of gold labels a sentence.
    first, second
        The predictions of the two systems for the same sentences.
    metric
        ``"f1"``: micro F1 of segments. ``"accuracy"``: of tokens with a known gold label.
    shuffles
        How often to shuffle.
    random_state
        The seed; ``None`` draws one, and the outcome records it.
    scheme, strict, level, outside
        What a segment is; see `report`.
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
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    *,
    metric: Metric = "f1",
    shuffles: int = 10_000,
    random_state: int | None = None,
) -> SignificanceTest:
    """Run the test on counts by sentence.

    Parameters
    ----------
    first, second
        Shape ``(n, 3)``: right, predicted and gold segments of each of ``n`` sentences. For
        accuracy: right tokens, then all tokens twice.
    metric
        The name of the score, for the record.
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
    # A sentence with equal counts weighs nothing, swapped or not.
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
        Shape ``(n, 3)``: right, predicted and gold segments of each of ``n`` sentences; see
        `Report.sentence_counts`.
    samples
        How often to draw ``n`` sentences with replacement.
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
    first_total: NDArray[np.float64],
    second_total: NDArray[np.float64],
    change: NDArray[np.float64],
    swaps: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the second score less the first under each assignment of outputs.

    Parameters
    ----------
    first_total, second_total
        Shape ``(3,)``: the counts of both systems, summed over sentences.
    change
        Shape ``(n, 3)``: by sentence, the second system's counts less the first's.
    swaps
        Shape ``(m, n)``: 1 where a sentence's outputs are swapped, else 0.

    Returns
    -------
    ndarray
        Shape ``(m,)``.
    """
    moved = swaps @ change
    return _f1(second_total - moved) - _f1(first_total + moved)


def _f1(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``2 correct / (predicted + gold)``, or 0 where there is nothing: ``(m, 3) → (m,)``."""
    size = totals[:, 1] + totals[:, 2]
    return np.divide(2 * totals[:, 0], size, out=np.zeros_like(size), where=size > 0)


def _coins(generator: np.random.Generator, rows: int, columns: int) -> NDArray[np.float64]:
    """Return fair 0/1 coins, shape ``(rows, columns)``, one random bit each."""
    packed = generator.integers(0, 256, size=(rows, (columns + 7) // 8), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=columns).astype(np.float64)


def _segment_counts(pairs: list[Pair], reader: SegmentReader) -> NDArray[np.float64]:
    rows = [reader.count(pair).totals for pair in pairs]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _token_counts(pairs: list[Pair]) -> NDArray[np.float64]:
    rows = []
    for pair in pairs:
        hits = known_hits(pair)
        rows.append([sum(hits), len(hits), len(hits)])
    return np.array(rows, dtype=np.float64).reshape(-1, 3)
