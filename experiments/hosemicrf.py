"""What the experiments with high-order and semi-Markov models share: trials, tables, plots.

The paper is Cuong, Ye, Lee and Chieu, Conditional Random Field with High-order Dependencies for
Sequence Labeling and Segmentation (JMLR 15, 2014). C1, C2, C3 are chains of that order, SC1, SC2,
SC3 their semi-Markov counterparts; its σ_reg = 1 is l2 = 0.5.
"""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from common import ResultTable, new_figure, progress, save_figure
from trials import Trial, TrialStore

from trelliswork.evaluation.scoring import SegmentReader, pair_up
from trelliswork.evaluation.significance import compare_counts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from common import Findings
    from rich.console import Console

    import trelliswork as tw
    from trelliswork.labels.schemes import Scheme

SIGMA_1 = 0.5  # the paper's λ² / (2 σ²) is our l2 ‖w‖²
SIGMA_10 = 0.005
ALL = "All"

Division: TypeAlias = tuple[list[int], list[int]]
"""The sequences to train on, and those to test on."""

Learn: TypeAlias = "Callable[[str, list[int], list[int]], tuple[tw.CRFTagger, list[list[str]]]]"
"""From the name of a model and a division: the trained tagger, and labels of what is tested."""


def add_trial_options(
    parser: argparse.ArgumentParser, models: Iterable[str], folds: int, max_iter: int
) -> None:
    """Add the options of experiments that train several models on several folds."""
    parser.add_argument(
        "--models",
        nargs="+",
        default=list(models),
        metavar="MODEL",
        help=f"run these only, of {' '.join(models)}; finished trials are kept and shown too",
    )
    parser.add_argument("--folds", type=int, default=folds, help=f"(default: {folds})")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the folds")
    parser.add_argument(
        "--max-iter", type=int, default=max_iter, help=f"of training (default: {max_iter})"
    )
    parser.add_argument("--jobs", type=int, default=1, help="threads of a trial (default: 1)")
    parser.add_argument(
        "--parallel", type=int, default=1, help="trials that run side by side (default: 1)"
    )


def fold_divisions(n: int, folds: int, seed: int) -> list[Division]:
    """Divide ``n`` sequences at random into folds, each tested by a model of the others."""
    fold = np.random.default_rng(seed).permutation(n) % folds
    return [
        (np.flatnonzero(fold != k).tolist(), np.flatnonzero(fold == k).tolist())
        for k in range(folds)
    ]


@dataclass
class Trials:
    """Trains models on divisions of one corpus, and keeps what came out on disk.

    Parameters
    ----------
    gold
        The labels that count, one sequence each.
    scheme
        How segments are read off them.
    divisions
        What to train and test on; a trial's ``seed`` is the number of its division.
    learn
        How to train a model and to use it.
    directory
        Where finished trials are kept.
    settings
        For every model all that its outcome depends on: a trial under other settings is another
        one.
    """

    gold: list[list[str]]
    scheme: Scheme
    divisions: list[Division]
    learn: Learn
    directory: Path
    settings: Mapping[str, dict[str, Any]]
    _stores: dict[str, TrialStore] = field(init=False)

    def __post_init__(self) -> None:
        self._stores = {
            model: TrialStore(self.directory, settings) for model, settings in self.settings.items()
        }

    def known(self, models: Iterable[str]) -> dict[str, list[Trial]]:
        """Return the trials of the models that have been tried on every division."""
        found = {}
        for model in models:
            store = self._stores[model]
            trials = [store.load(model, k) for k in range(len(self.divisions))]
            complete = [trial for trial in trials if trial is not None]
            if len(complete) == len(trials):
                found[model] = complete
        return found

    def run(self, models: Sequence[str], console: Console, parallel: int = 1) -> None:
        """Run the trials of some models that have not been run before."""
        todo = [
            (model, k)
            for model in models
            for k in range(len(self.divisions))
            if self._stores[model].load(model, k) is None
        ]
        with progress(console) as bar, ThreadPoolExecutor(parallel) as pool:
            task = bar.add_task("trials", total=len(todo))
            for trial in pool.map(lambda item: self._run(*item), todo):
                bar.update(task, advance=1, description=f"{trial.model}, part {trial.seed}")

    def _run(self, model: str, k: int) -> Trial:
        train, test = self.divisions[k]
        begun = time.perf_counter()
        tagger, predicted = self.learn(model, train, test)
        seconds = time.perf_counter() - begun
        right: Counter[str] = Counter()
        guessed: Counter[str] = Counter()
        there: Counter[str] = Counter()
        rows, hits, tokens = [], 0, 0
        reader = SegmentReader(self.scheme)
        for pair in pair_up([self.gold[i] for i in test], predicted):
            counts = reader.count(pair)
            rows.append(list(counts.totals))
            right.update(counts.correct)
            guessed.update(counts.predicted)
            there.update(counts.gold)
            hits += sum(a == b for a, b in zip(*pair, strict=True))
            tokens += len(pair.gold)
        fields = {
            name: [right[name], guessed[name], there[name]] for name in sorted(guessed | there)
        }
        training = tagger.training_log_[-1].seconds if tagger.training_log_ else 0.0
        notes = {
            "fields": fields,
            "tokens": [hits, tokens],
            "iterations": tagger.n_iter_,
            "stop_reason": tagger.stop_reason_,
            **size_of(tagger),
        }
        trial = Trial(model, k, rows, 0.0, training, seconds - training, notes)
        return self._stores[model].save(trial)


def size_of(tagger: tw.CRFTagger) -> dict[str, int]:
    """Return how many patterns (labels among them), states and arcs a model has."""
    model = tagger.model_
    return {
        # A chain of order 1 lists all pairs; those not observed have no weight.
        "patterns": model.structure.n_letters + int(np.count_nonzero(model.pattern_weights)),
        "states": model.automaton.n_states,
        "arcs": model.automaton.n_arcs,
    }


def field_scores(trials: Sequence[Trial]) -> dict[str, float]:
    """Return F1 by field, and micro F1 under ``All``, over the sequences of several trials."""
    totals: dict[str, Any] = {}
    for trial in trials:
        for name, counts in trial.notes["fields"].items():
            totals[name] = np.add(totals.get(name, 0), counts)
    totals[ALL] = np.sum([*totals.values()], axis=0) if totals else np.zeros(3)
    return {
        name: float(2 * right / max(1, guessed + there))
        for name, (right, guessed, there) in totals.items()
    }


def token_accuracy(trials: Sequence[Trial]) -> float:
    """Return the share of tokens labelled right."""
    hits, tokens = np.sum([trial.notes["tokens"] for trial in trials], axis=0).tolist()
    return float(hits / max(1, tokens))


def score_table(
    title: str,
    fields: Sequence[str],
    found: Mapping[str, Mapping[str, float]],
    paper: Mapping[str, Mapping[str, float]],
) -> ResultTable:
    """Return F1 by field and model in per cent, the paper's beside ours where it has one."""
    header, columns = ["field"], []
    for model, scores in found.items():
        if model in paper:
            header.append(f"{model} paper")
            columns.append([f"{paper[model][name]:.2f}" for name in fields])
        header.append(model)
        columns.append([f"{100 * scores.get(name, 0.0):.2f}" for name in fields])
    rows = [[name, *cells] for name, *cells in zip(fields, *columns, strict=True)]
    return ResultTable(title, header, rows)


def significance_table(
    title: str, trials: Mapping[str, Sequence[Trial]], paper: Mapping[tuple[str, str], str]
) -> tuple[ResultTable, dict[str, Any]]:
    """Compare every two models by paired randomisation, as in the paper's tables.

    A cell has our p, and in brackets the paper's; ``<``: the model of the row is worse than that of
    the column. Ours are two-sided.
    """
    names = list(trials)
    counts = {
        name: np.concatenate([np.array(t.counts).reshape(-1, 3) for t in trials[name]])
        for name in names
    }
    rows, tests = [], {}
    for i, first in enumerate(names[:-1]):
        row = [first, *["–"] * i]
        for second in names[i + 1 :]:
            test = compare_counts(counts[first], counts[second], random_state=0)
            tests[f"{first}, {second}"] = test.to_dict()
            sign = "<" if test.difference > 0 else ">"
            theirs = paper.get((first, second))
            row.append(f"{test.p_value:.4f}{sign}" + (f" ({theirs})" if theirs else ""))
        rows.append(row)
    return ResultTable(title, ["", *names[1:]], rows), tests


def paper_tests(names: Sequence[str], cells: str) -> dict[tuple[str, str], str]:
    """Read the upper triangle of a table of p-values, row by row."""
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return dict(zip(pairs, cells.split(), strict=True))


def show_growth(
    runner: Trials, orders: Sequence[int], title: str, path: Path, findings: Findings
) -> None:
    """Train SC models of several orders, one after the other, and show what they cost."""
    names = {order: f"SC{order}" for order in orders}
    runner.run(list(names.values()), findings.console)
    known = runner.known(names.values())
    grown = {order: known[model][0] for order, model in names.items()}
    findings.table(growth_table(title, {names[order]: grown[order] for order in grown}))
    growth_plot(grown, path)
    findings.picture(path)
    findings.values["growth"] = {
        names[order]: {"training_seconds": trial.training_seconds, **trial.notes}
        for order, trial in grown.items()
    }


def growth_table(title: str, trials: Mapping[str, Trial]) -> ResultTable:
    """Return what each model costs: patterns, states, arcs, seconds."""
    rows = [
        [
            name,
            *(f"{trial.notes[key]:,}" for key in ("patterns", "states", "arcs", "iterations")),
            f"{trial.training_seconds / max(1, trial.notes['iterations']):.3f}",
            f"{trial.training_seconds:.1f}",
        ]
        for name, trial in trials.items()
    ]
    header = ("model", "patterns", "states", "arcs", "iterations", "s an iteration", "s in all")
    return ResultTable(title, header, rows)


def growth_plot(trials: Mapping[int, Trial], path: Path) -> None:
    """Draw the number of patterns and the seconds of training against the highest order."""
    orders = list(trials)
    figure = new_figure(8, 3)
    left, right = figure.subplots(1, 2)
    left.bar(orders, [trials[k].notes["patterns"] for k in orders], color="0.6")
    left.set(xlabel="highest order", ylabel="patterns", xticks=orders)
    spent = [trials[k].training_seconds for k in orders]
    each = [s / max(1, trials[k].notes["iterations"]) for k, s in zip(orders, spent, strict=True)]
    right.plot(orders, each, "o-", label="an iteration (left axis)")
    right.set(xlabel="highest order", ylabel="s", xticks=orders, ylim=(0, None))
    total = right.twinx()
    total.plot(orders, spent, "s--", color="C1", label="in all (right axis)")
    total.set(ylabel="s", ylim=(0, None))
    lines = [*right.get_lines(), *total.get_lines()]
    right.legend(lines, [line.get_label() for line in lines], fontsize="small")
    save_figure(figure, path)
