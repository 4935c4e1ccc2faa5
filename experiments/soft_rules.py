"""Soft constraints that are mined and learned on some sentences and scored on others.

A tagger is trained already. For each division (learn, score) of the sentences: mine rules where its
predictions break what gold keeps, learn their penalties, both on the former, and decode the latter.
With halves both ways, every sentence is scored once, by rules that never saw it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.stats import wilcoxon

import trelliswork as tw
from trelliswork.decoding.prices import priced_batch
from trelliswork.proofs.answer import OPTIMAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from trelliswork.constraints import Constraint
    from trelliswork.decoding.answers import Decoding
    from trelliswork.mining.families import Template

    IntArray = NDArray[np.int64]

Division: TypeAlias = "tuple[IntArray, IntArray]"
"""Indices of the sentences to learn from, and of those to score."""

ALL: tuple[Template, ...] = ("singleton", "hierarchical", "pairwise")
FAMILIES: dict[str, tuple[Template, ...]] = {
    "only-one": ("singleton",),
    "hierarchical": ("hierarchical",),
    "pairwise": ("pairwise",),
    "all": ALL,
}


@dataclass(frozen=True)
class Settings:
    """How rules are mined and their penalties learned.

    Attributes
    ----------
    cutoff, smoothing, min_predicted, merge
        Of `trelliswork.mine`.
    method, c, learning_rate, n_epochs
        Of `trelliswork.learn_penalties`.
    """

    cutoff: float = 2.75
    smoothing: float = 0.0
    min_predicted: int = 1
    merge: bool = True
    method: str = "ssvm"
    c: float = 1.0
    learning_rate: float = 0.1
    n_epochs: int = 30


@dataclass(frozen=True, eq=False)
class Task:
    """Sentences, their gold labels, and a trained tagger under its hard rules.

    Attributes
    ----------
    tagger
        Trained on other sentences; `constraints` are its hard rules.
    sentences, gold, predicted
        What is labelled; its labels; and what the tagger says without soft rules.
    """

    tagger: tw.CRFTagger
    constraints: tuple[Constraint, ...]
    sentences: list[tw.Sentence]
    gold: list[list[str]]
    predicted: list[list[str]] = field(default_factory=list)

    @classmethod
    def make(cls, tagger: tw.CRFTagger, sentences: Iterable[tw.Sentence]) -> Task:
        """Label sentences with a tagger, and keep all that is needed."""
        own = list(sentences)
        gold = [[str(label) for label in sentence.labels or ()] for sentence in own]
        return cls(tagger, tagger.plan_.constraints, own, gold, tagger.predict(own))

    def report(self, predicted: list[list[str]], inside: Sequence[int] | None = None) -> tw.Report:
        """Score labels of all sentences, or of those inside."""
        chosen = range(len(self.gold)) if inside is None else inside
        labels = self.tagger.labels_
        return tw.report(
            [self.gold[i] for i in chosen],
            [predicted[i] for i in chosen],
            scheme=labels.scheme,
            outside=labels.outside,
        )

    def part(self, inside: IntArray) -> list[tw.Sentence]:
        """Return some of the sentences."""
        return [self.sentences[i] for i in inside.tolist()]


@dataclass(frozen=True, eq=False)
class Learned:
    """Rules with penalties, and the tagger under them."""

    rules: tw.MinedRules
    tagger: tw.CRFTagger
    seconds: float

    @property
    def penalties(self) -> NDArray[np.float64]:
        """The penalties, shape ``(C,)``."""
        return np.array([rule.penalty for rule in self.rules], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What rules of one kind do, over all divisions.

    Attributes
    ----------
    predicted
        Labels of all sentences; those that no division scores keep the labels without rules.
    answers
        What decoding says about each sentence that was scored, by its index.
    learned
        One entry a division.
    seconds
        Decoding time in all.
    """

    predicted: list[list[str]]
    answers: dict[int, Decoding]
    learned: list[Learned]
    seconds: float

    @property
    def sparsity(self) -> float:
        """The share of penalties that are exactly 0."""
        penalties = np.concatenate([one.penalties for one in self.learned])
        return float((penalties == 0).mean()) if penalties.size else 0.0

    @property
    def n_rules(self) -> float:
        """How many rules a division has, in the mean."""
        return float(np.mean([len(one.rules) for one in self.learned]))


def halves(n: int, seed: int) -> list[Division]:
    """Return two random halves, both ways."""
    order = np.random.default_rng(seed).permutation(n)
    one, other = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
    return [(one, other), (other, one)]


def learn(task: Task, inside: IntArray, templates: Sequence[Template], how: Settings) -> Learned:
    """Mine rules on some sentences and learn their penalties there."""
    begun = time.perf_counter()
    gold = [task.gold[i] for i in inside.tolist()]
    rules = tw.mine(
        gold,
        [task.predicted[i] for i in inside.tolist()],
        templates,
        cutoff=how.cutoff,
        smoothing=how.smoothing,
        min_predicted=how.min_predicted,
        merge=how.merge,
        labels=task.tagger.labels_,
    )
    if not rules:
        return Learned(rules, task.tagger, time.perf_counter() - begun)
    tagger = tw.learn_penalties(
        task.tagger,
        task.part(inside),
        gold,
        constraints=[*task.constraints, *rules.constraints],
        method=how.method,  # type: ignore[arg-type]
        c=how.c,
        learning_rate=how.learning_rate,
        n_epochs=how.n_epochs,
        random_state=0,
    )
    return Learned(rules.with_penalties(tagger), tagger, time.perf_counter() - begun)


def apply(
    task: Task, divisions: Sequence[Division], templates: Sequence[Template], how: Settings
) -> Outcome:
    """Learn and decode in every division."""
    predicted = list(task.predicted)
    answers: dict[int, Decoding] = {}
    learned, seconds = [], 0.0
    for inside, scored in divisions:
        learned.append(learn(task, inside, templates, how))
        begun = time.perf_counter()
        found = learned[-1].tagger.decode(task.part(scored))
        seconds += time.perf_counter() - begun
        for i, answer in zip(scored.tolist(), found, strict=True):
            predicted[i], answers[i] = answer.labels, answer
    return Outcome(predicted, answers, learned, seconds)


def stop_early(
    task: Task, divisions: Sequence[Division], learned: Sequence[Learned], max_iter: int
) -> tuple[list[list[str]], IntArray, NDArray[np.bool_]]:
    """Decode by prices alone, with few iterations.

    Returns
    -------
    predicted
        The best labellings met.
    iterations, converged
        Of the sentences that are scored, division by division.
    """
    predicted = list(task.predicted)
    iterations, converged = [], []
    for (_, scored), one in zip(divisions, learned, strict=True):
        sentences = task.part(scored)
        trellis = one.tagger.model_.trellis(sentences)
        plan = one.tagger.plan_
        evidence = plan.evidence(sentences, trellis.offsets)
        found = priced_batch(plan, trellis, evidence, method="dual", max_iter=max_iter)
        names = plan.names(found.tags)
        for place, i in enumerate(scored.tolist()):
            predicted[i] = names[trellis.offsets[place] : trellis.offsets[place + 1]]
        iterations.append(found.iterations)
        converged.append(found.status == OPTIMAL)
    return predicted, np.concatenate(iterations), np.concatenate(converged)


def error_reduction(before: float, after: float) -> float:
    """Return which share of the errors is gone."""
    return (after - before) / (1 - before) if before < 1 else 0.0


def signed_rank(one: tw.Report, other: tw.Report) -> float:
    """Return the p-value of Wilcoxon's signed-rank test on the F1 of each sentence."""
    first, second = (_sentence_f1(report) for report in (one, other))
    if np.array_equal(first, second):
        return 1.0
    return float(wilcoxon(first, second).pvalue)


def tune(
    task: Task, inside: IntArray, grid: Sequence[Settings], folds: int, seed: int
) -> list[tuple[Settings, float]]:
    """Compare settings by cross-validation within some sentences: F1 of each."""
    fold = np.random.default_rng(seed).permutation(len(inside)) % folds
    divisions = [(inside[fold != k], inside[fold == k]) for k in range(folds)]
    return [
        (how, task.report(apply(task, divisions, ALL, how).predicted, inside.tolist()).f1)
        for how in grid
    ]


def iteration_statistics(
    task: Task, divisions: Sequence[Division], outcome: Outcome
) -> dict[str, Any]:
    """Return how many passes decoding took, and what became of broken rules."""
    before, after = [], []
    for (_, scored), one in zip(divisions, outcome.learned, strict=True):
        before.append(_breaks_rules(one, task, scored, task.predicted))
        after.append(_breaks_rules(one, task, scored, outcome.predicted))
    order = np.concatenate([scored for _, scored in divisions]).tolist()
    answers = [outcome.answers[i] for i in order]
    broken, still = np.concatenate(before), np.concatenate(after)
    passes = np.array([answer.iterations for answer in answers])
    changed = [a.labels != task.predicted[i] for i, a in zip(order, answers, strict=True)]
    return {
        "sentences": len(answers),
        "broken without rules": float(broken.mean()),
        "fixed": float((broken & ~still).mean()),
        "left broken": float((broken & still).mean()),
        "changed": float(np.mean(changed)),
        "certified": float(np.mean([answer.status == "optimal" for answer in answers])),
        "passes": float(passes.mean()),
        "passes where broken": float(passes[broken].mean()) if broken.any() else 0.0,
        "most passes": int(passes.max()),
    }


def _breaks_rules(
    learned: Learned, task: Task, inside: IntArray, labels: Sequence[Sequence[str]]
) -> NDArray[np.bool_]:
    """Return which labellings break a soft rule that costs something."""
    plan = learned.tagger.plan_
    chosen = [labels[i] for i in inside.tolist()]
    ids = learned.tagger.labels_.encode([label for own in chosen for label in own])
    evidence = plan.evidence(task.part(inside), np.cumsum([0, *map(len, chosen)]))
    costly = np.isfinite(plan.penalties) & (plan.penalties > 0)
    return np.asarray((plan.violations(ids, evidence)[:, costly] > 0).any(axis=1))


def _sentence_f1(report: tw.Report) -> NDArray[np.float64]:
    right, predicted, gold = np.array(report.sentence_counts, dtype=np.float64).T
    both = predicted + gold
    return np.where(both > 0, 2 * right / np.maximum(both, 1), 1.0)
