"""Trials of learning with few labels: what is run, in processes side by side, and their means.

Every trial is kept in a file, so that a run can be taken up where it ended.
"""

from __future__ import annotations

import hashlib
import json
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
from ccm_tasks import gold_of, read_task
from common import progress

import trelliswork as tw
from trelliswork.cli.errors import no_warnings_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from trelliswork.learn.protocols import Protocol
    from trelliswork.taggers.base import Tagger

GAMMA, CYCLES = 0.9, 5  # the share of the supervised model is the paper's
EPOCHS = 5  # of perceptrons: most of CIBT's time is hard decoding


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
    """Where data are read from, how many unlabelled sentences there are, where trials are kept."""

    data: Path | None
    part: str
    unlabelled: int
    kept: Path


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
    if setting.base == "perceptron":
        return tw.PerceptronTagger(**common, epochs=EPOCHS)
    if setting.training == "wCIBT":  # the likelihood does not learn penalties of counted tokens
        common |= {"training": None, "penalties": "perceptron"}
    if setting.training == "CIBT":
        common["on_conflict"] = "skip"
    return tw.CRFTagger(**common)


@no_warnings_of("trelliswork")  # hard rules are often in conflict
def run_trial(setting: Setting, seed: int, source: Source) -> Trial:
    """Draw labels, learn, and label what is held out."""
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


def kept_trial(setting: Setting, seed: int, source: Source) -> Trial:
    """Return a trial that was run before under the same rules and settings, or run it."""
    tagger = make_tagger(setting, source, seed)
    described = {
        "setting": asdict(setting),
        "tagger": repr(tagger.get_params()),
        "seed": seed,
        "part": source.part,
        "unlabelled": [source.unlabelled, GAMMA, CYCLES] if setting.semi else None,
    }
    text = json.dumps(described, sort_keys=True)
    path = source.kept / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if path.exists():
        return Trial(**json.loads(path.read_text()))
    trial = run_trial(setting, seed, source)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(trial)))
    return trial


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
    with progress(console) as bar:
        running = bar.add_task("trials", total=len(work))
        for (setting, _), trial in zip(work, _outcomes(work, source, parallel), strict=True):
            found[setting].append(trial)
            bar.advance(running)
    return found


def _outcomes(
    work: Sequence[tuple[Setting, int]], source: Source, parallel: int
) -> Iterator[Trial]:
    """Run trials one after another, or in processes side by side; yields them in order."""
    if parallel == 1:
        for setting, seed in work:
            yield kept_trial(setting, seed, source)
        return
    with ProcessPoolExecutor(parallel, mp_context=get_context("spawn")) as pool:
        for future in [pool.submit(kept_trial, *one, source) for one in work]:
            yield future.result()


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
