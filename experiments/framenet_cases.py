"""Scored cases: targets with their candidates and the scores of a trained model, kept on disk.

Training takes minutes and decoding seconds, so the scores of a part are written to
``framenet_trials`` in the output directory, under a name that depends on all settings.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from common import progress
from framenet_data import directory_of, read_frames, read_targets, split_documents
from framenet_scorer import Scorer
from framenet_spans import SpanFilter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from framenet_data import Target
    from framenet_scorer import FloatArray
    from framenet_spans import IntArray
    from rich.console import Console

    from trelliswork.learn.optimizers.common import Iteration

VERSION = 1  # of features and model: scores of another one are not read


@dataclass(frozen=True)
class Settings:
    """What scores depend on."""

    part: str
    n_candidates: int = 60
    l2: float = 3.0
    bits: int = 22
    max_iter: int = 80
    tol: float = 1e-3
    limit: int | None = None  # first targets of both parts

    @property
    def digest(self) -> str:
        """Return a short name for these settings."""
        text = json.dumps([VERSION, asdict(self)])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Case:
    """A target with candidates.

    Attributes
    ----------
    target : Target
        The target and its gold arguments.
    spans : numpy.ndarray
        Candidates, start and end, shape ``(S, 2)``.
    scores : numpy.ndarray
        c(r, s), shape ``(S, R)``.
    empty : numpy.ndarray
        c(r, ∅), shape ``(R,)``.
    """

    target: Target
    spans: IntArray
    scores: FloatArray
    empty: FloatArray


def read_cases(data: Path | None, settings: Settings, cache: Path, console: Console) -> list[Case]:
    """Return the scored cases of a part, from disk or by training.

    The part ``tune`` is held-out documents of the training part, scored by a model of the others.
    """
    directory = directory_of(data)
    frames = read_frames(directory)
    train = read_targets(directory, "train", frames)
    if settings.part == "tune":
        train, targets = split_documents(train)
    else:
        targets = read_targets(directory, settings.part, frames)
    train, targets = train[: settings.limit], targets[: settings.limit]
    path = cache / f"{settings.part}-{settings.digest}.npz"
    if not path.exists():
        cases = train_and_score(train, targets, settings, console)
        write_scores(path, cases)
    return read_scores(path, targets)


def train_and_score(
    train: Sequence[Target], targets: Sequence[Target], settings: Settings, console: Console
) -> list[Case]:
    """Train on some targets, and score others."""
    spans = SpanFilter(settings.n_candidates).fit(train)
    scorer = Scorer(settings.l2, bits=settings.bits, max_iter=settings.max_iter, tol=settings.tol)
    with progress(console) as bar:
        task = bar.add_task(f"training on {len(train)} targets", total=settings.max_iter)

        def on_step(iteration: Iteration) -> bool:
            bar.update(task, completed=iteration.number)
            return False

        scorer.fit(train, [spans.propose(target) for target in train], on_step)
    candidates = [spans.propose(target) for target in targets]
    scored = scorer.score(targets, candidates)
    return [
        Case(target, own, *scores)
        for target, own, scores in zip(targets, candidates, scored, strict=True)
    ]


def write_scores(path: Path, cases: Sequence[Case]) -> None:
    """Write spans and scores of cases, end to end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        sizes=np.array([len(case.spans) for case in cases]),
        spans=np.concatenate([case.spans for case in cases]).astype(np.int32),
        scores=np.concatenate([case.scores.ravel() for case in cases]),
        empty=np.concatenate([case.empty for case in cases]),
    )


def read_scores(path: Path, targets: Sequence[Target]) -> list[Case]:
    """Read back what :func:`write_scores` wrote for these targets."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    n_roles = np.array([len(target.frame.roles) for target in targets])
    rows = np.cumsum(arrays["sizes"])[:-1]
    cells = np.cumsum(arrays["sizes"] * n_roles)[:-1]
    parts = zip(
        targets,
        np.split(arrays["spans"].astype(np.int64), rows),
        np.split(arrays["scores"], cells),
        np.split(arrays["empty"], np.cumsum(n_roles)[:-1]),
        strict=True,
    )
    return [
        Case(target, spans, scores.reshape(len(spans), -1), empty)
        for target, spans, scores, empty in parts
    ]
