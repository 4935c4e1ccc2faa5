"""Calibration: accuracy of labels against their confidence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.tables import percent, text_table
from trelliswork.errors import DataError
from trelliswork.evaluation.scoring import is_correct, pair_up

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from trelliswork.evaluation.scoring import LabelSequences

ROUNDING = 1e-9  # marginals may exceed 1 by rounding


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Tokens whose confidence lies in ``[low, high)``; the last bin includes 1.

    Attributes
    ----------
    low, high
        The range of confidence.
    count
        Number of tokens in it.
    confidence
        Their mean confidence; ``None`` for an empty bin.
    accuracy
        Their accuracy; ``None`` for an empty bin.
    """

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Confidence against accuracy; the result of `calibration`.

    Attributes
    ----------
    bins
        One entry per range of confidence, ascending.
    """

    bins: tuple[CalibrationBin, ...]

    @property
    def count(self) -> int:
        """The number of tokens."""
        return sum(b.count for b in self.bins)

    @property
    def expected_error(self) -> float:
        """The expected calibration error, ``Σ_b n_b / N · |accuracy_b − confidence_b|``."""
        gaps = (
            b.count * abs(b.accuracy - b.confidence)
            for b in self.bins
            if b.accuracy is not None and b.confidence is not None
        )
        return sum(gaps) / self.count if self.count else 0.0

    def __str__(self) -> str:
        rows = [
            [f"{b.low:.2f}–{b.high:.2f}", str(b.count), _share(b.confidence), _share(b.accuracy)]
            for b in self.bins
        ]
        table = text_table(("range", "tokens", "confidence", "accuracy"), rows)
        return f"expected calibration error  {percent(self.expected_error)}\n\n{table}"

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain numbers, lists and dictionaries."""
        return {
            "expected_error": self.expected_error,
            "bins": [
                {
                    "low": b.low,
                    "high": b.high,
                    "count": b.count,
                    "confidence": b.confidence,
                    "accuracy": b.accuracy,
                }
                for b in self.bins
            ],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent)

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw the reliability diagram as a PNG; needs the ``plots`` extra."""
        from trelliswork.evaluation.plots import plot_calibration

        plot_calibration(self, path)


def calibration(
    gold: LabelSequences,
    predicted: LabelSequences,
    confidences: Iterable[Sequence[float]],
    bins: int = 10,
) -> Calibration:
    """Compare the confidence of predicted labels with their accuracy.

    Parameters
    ----------
    gold, predicted
        A corpus, or one sequence of labels per sentence. Tokens whose gold label is ``None`` are
        excluded; for a set of alternatives, any of them is correct.
    confidences
        One sequence per sentence with the probability of each predicted label.
    bins
        The number of ranges of equal width.

    Raises
    ------
    DataError
        If lengths differ or a confidence is not a probability; names the sentence.
    """
    if bins < 1:
        raise ValueError(f"bins: expected 1 or more, got {bins}.")
    pairs = pair_up(gold, predicted)
    sure = [np.asarray(row, dtype=np.float64) for row in confidences]
    if len(sure) != len(pairs):
        raise DataError(
            f"confidences: expected {len(pairs)} sequences, one per sentence, got {len(sure)}."
        )
    hits: list[bool] = []
    kept: list[float] = []
    for index, (pair, row) in enumerate(zip(pairs, sure, strict=True)):
        _check_row(row, len(pair.gold), index)
        for right, guess, confidence in zip(*pair, row.tolist(), strict=True):
            if right is not None:
                hits.append(is_correct(right, guess))
                kept.append(confidence)
    return Calibration(_fill(np.array(kept), np.array(hits, dtype=np.float64), bins))


def _fill(confidence: np.ndarray, hit: np.ndarray, bins: int) -> tuple[CalibrationBin, ...]:
    edges = np.linspace(0.0, 1.0, bins + 1)
    index = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, bins - 1)
    count = np.bincount(index, minlength=bins)
    confidence_sum = np.bincount(index, confidence, minlength=bins)
    hit_sum = np.bincount(index, hit, minlength=bins)
    return tuple(
        CalibrationBin(
            float(edges[b]),
            float(edges[b + 1]),
            int(count[b]),
            float(confidence_sum[b] / count[b]) if count[b] else None,
            float(hit_sum[b] / count[b]) if count[b] else None,
        )
        for b in range(bins)
    )


def _check_row(row: np.ndarray, length: int, index: int) -> None:
    if row.shape != (length,):
        raise DataError(
            f"confidences, sentence {index}: expected {length} numbers, one per token, got an "
            f"array of shape {row.shape}. Pass the probability of each predicted label."
        )
    wrong = np.flatnonzero(~((row >= -ROUNDING) & (row <= 1 + ROUNDING)))
    if len(wrong):
        raise DataError(
            f"confidences, sentence {index}, token {wrong[0]}: expected a probability, got "
            f"{row[wrong[0]]}."
        )


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)
