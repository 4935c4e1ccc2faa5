"""Scores over several trials: records of runs that survive an interruption, and tests."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Trial:
    """One model, trained on one sample and scored.

    Attributes
    ----------
    model, seed
        Which.
    counts
        Right, predicted and gold segments of every sequence, shape ``(n, 3)``.
    violations
        Share of sequences whose labelling breaks the rules.
    training_seconds, decoding_seconds
        Wall-clock time.
    notes
        Anything else worth keeping.
    """

    model: str
    seed: int
    counts: list[list[int]]
    violations: float
    training_seconds: float
    decoding_seconds: float
    notes: dict[str, Any]

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall and F1."""
        right, predicted, gold = np.sum(self.counts, axis=0).tolist()
        precision, recall = right / max(1, predicted), right / max(1, gold)
        return precision, recall, 2 * right / max(1, predicted + gold)


class TrialStore:
    """Trials on disk, one file each, so that a run can be taken up where it ended.

    Parameters
    ----------
    directory
        Where the files go.
    settings
        Everything that the outcome depends on beside model and seed: trials under other settings
        are other files.
    """

    def __init__(self, directory: Path, settings: dict[str, Any]) -> None:
        text = json.dumps(settings, sort_keys=True)
        self.directory = directory / hashlib.sha256(text.encode()).hexdigest()[:12]

    def path(self, model: str, seed: int, suffix: str = "json") -> Path:
        """Return the file of a trial."""
        return self.directory / f"{model}-{seed}.{suffix}"

    def load(self, model: str, seed: int) -> Trial | None:
        """Return a trial that was run before, if there is one."""
        path = self.path(model, seed)
        return Trial(**json.loads(path.read_text())) if path.exists() else None

    def save(self, trial: Trial) -> Trial:
        """Write a trial, and return it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.path(trial.model, trial.seed).write_text(json.dumps(asdict(trial)))
        return trial


def permutation_test(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p-value of a difference of means over trials, exactly.

    Under the hypothesis that both models are equal, any division of all trials into two groups is
    as likely as the one observed: p is the share of divisions whose means differ at least as much.
    With five trials each the smallest possible p is 2/252.
    """
    values = np.array([*first, *second])
    n = len(first)
    observed = abs(values[:n].mean() - values[n:].mean())
    splits = itertools.combinations(range(values.size), n)
    differences = []
    for split in splits:
        inside = np.zeros(values.size, dtype=bool)
        inside[list(split)] = True
        differences.append(abs(values[inside].mean() - values[~inside].mean()))
    return float(np.mean(np.array(differences) >= observed - 1e-12))


def summed_counts(trials: Sequence[Trial]) -> NDArray[np.float64]:
    """Return the counts of each sequence over all trials of a model, shape ``(n, 3)``.

    A sequence's outputs of all trials are swapped together in a randomisation test: they depend on
    each other.
    """
    counts = np.array([trial.counts for trial in trials], dtype=np.float64)
    return np.asarray(counts.sum(axis=0))
