"""Trials of learning with few labels: what is run, in processes side by side, and their means."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
from ccm_tasks import gold_of, read_task
from common import progress

import trelliswork as tw

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from trelliswork.learn.protocols import Protocol
    from trelliswork.tagger import Tagger

GAMMA, CYCLES = 0.9, 5  # the share of the supervised model is the paper's


@dataclass(frozen=True)
class Setting:
    """What is learned, and from how many labels.

    Attributes
    ----------
    task, base, training
        The data set, the kind of model, and the training protocol.
    size
        Number of labelled sentences.
    semi
        Whether unlabelled sentences are learned from as well.
    rules
        Places of the rules that are left, for an ablation; None: all of them.
    """

    task: str
    base: str
    training: Protocol
    size: int
    semi: bool = False
    rules: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Trial:
    """One draw of a setting: share of tokens right, and seconds of learning and labelling."""

    accuracy: float
    learning: float
    labelling: float


@dataclass(frozen=True)
class Mean:
    """Mean accuracy over draws, its standard error, and their number."""

    accuracy: float
    error: float
    draws: int

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> Mean:
        """Return the mean of trials."""
        found = np.array([trial.accuracy for trial in trials])
        error = found.std(ddof=1) / np.sqrt(found.size) if found.size > 1 else 0.0
        return cls(float(found.mean()), float(error), int(found.size))

    def __str__(self) -> str:
        spread = f" ± {100 * self.error:.2f}" if self.draws > 1 else ""
        return f"{100 * self.accuracy:.2f}{spread}"


@dataclass(frozen=True)
class Source:
    """Where data are read from, and how many unlabelled sentences there are."""

    data: Path | None
    part: str
    unlabelled: int


def make_tagger(setting: Setting, source: Source, seed: int) -> Tagger:
    """Return the tagger of a setting, not yet fitted."""
    task = _task(setting.task, source)
    chosen = range(len(task.rules)) if setting.rules is None else setting.rules
    common: dict[str, Any] = {
        "constraints": [task.rules[i] for i in chosen],
        "training": setting.training,
        "labels": task.labels,
        "on_infeasible": "relax",
        "n_jobs": 1,
        "random_state": seed,
    }
    if setting.base == "HMM":
        return tw.HMMTagger(**common)
    common["features"] = task.features[setting.base]
    return (
        tw.PerceptronTagger(**common) if setting.base == "perceptron" else tw.CRFTagger(**common)
    )


def run_trial(setting: Setting, seed: int, source: Source) -> Trial:
    """Draw labels, learn, and label what is held out."""
    logging.getLogger("trelliswork").setLevel(logging.ERROR)  # hard rules are often in conflict
    task = _task(setting.task, source)
    draw = task.draw(setting.size, seed, source.unlabelled)
    begun = time.perf_counter()
    tagger: Any = make_tagger(setting, source, seed)
    if setting.semi:
        tagger = tw.CODLTagger(tagger, gamma=GAMMA, cycles=CYCLES, on_infeasible="relax")
        tagger.fit(draw.labelled, unlabelled=draw.unlabelled)
    else:
        tagger.fit(draw.labelled)
    learned = time.perf_counter()
    predicted = tagger.predict(task.held_out)
    labelled = time.perf_counter()
    accuracy = tw.report(gold_of(task.held_out), predicted, scheme="plain").token_accuracy
    return Trial(accuracy, learned - begun, labelled - learned)


def run_all(
    settings: Iterable[Setting],
    seeds: Sequence[int],
    source: Source,
    console: Console,
    *,
    parallel: int = 1,
) -> dict[Setting, list[Trial]]:
    """Run all settings with all seeds; where all of train is labelled, chance may have no part."""
    work = [
        (setting, seed)
        for setting in dict.fromkeys(settings)
        for seed in (seeds[:1] if _is_settled(setting, source) else seeds)
    ]
    found: dict[Setting, list[Trial]] = {setting: [] for setting, _ in work}
    with (
        progress(console) as bar,
        ProcessPoolExecutor(parallel, mp_context=get_context("spawn")) as pool,
    ):
        running = bar.add_task("trials", total=len(work))
        futures = [pool.submit(run_trial, setting, seed, source) for setting, seed in work]
        for (setting, _), future in zip(work, futures, strict=True):
            found[setting].append(future.result())
            bar.advance(running)
    return found


def means(found: Mapping[Setting, Sequence[Trial]]) -> dict[Setting, Mean]:
    """Return the mean of every setting."""
    return {setting: Mean.of(trials) for setting, trials in found.items()}


def without_rules(setting: Setting, n_rules: int, left_out: Iterable[int]) -> Setting:
    """Return a setting with some rules left out."""
    gone = set(left_out)
    return replace(setting, rules=tuple(i for i in range(n_rules) if i not in gone))


def _is_settled(setting: Setting, source: Source) -> bool:
    """Whether all draws are the same: of all sentences, by a learner that knows no chance."""
    everything = setting.size >= len(_task(setting.task, source).train)
    return everything and not setting.semi and setting.base != "perceptron"


@lru_cache
def _task(name: str, source: Source) -> Any:
    return read_task(name, source.data, source.part)
