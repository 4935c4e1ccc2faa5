"""Small models: l2, l1, group lasso by template and trees of groups, on chunks and entities.

Strengths are chosen on a fifth of the training set, held out with a seed, by one rule: the fewest
weights whose F1 there is at most 0.3 points below the best of the path. Then a model is trained on
the whole training set and scored on the part that `--eval` names (CoNLL-2000 has a test part only).
The group lasso chooses templates, and the model of these is trained under l2 alone; the tree,
templates, their features, and single weights of these under l1, is trained as it is and debiased.
CRFsuite's OWL-QN, on the same features of CoNLL-2000, stands beside ours.

    python experiments/sparsity.py [--data DIR] [--task conll2000] [--without-crfsuite]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from common import Findings, ResultTable, find_data, options, settings_of

import trelliswork as tw

if TYPE_CHECKING:
    from trelliswork.features import Templates

SEED = 0
SHARE = 0.2  # of the training set, to choose on
TOLERANCE = 0.003  # of F1
N_POINTS = 12
# The levels of the tree, relative to each other; the path multiplies all.
TREE = tw.GroupLasso(by=("template", "feature"), strength=(100.0, 1.0))
TREE_L1 = 0.5
TREE_STRENGTHS = (4.0, 2.0, 1.0, 0.5, 0.25)
HEADER = (
    "model",
    "F1",
    "weights",
    "templates",
    "file, kB",
    "tokens/s",
    "training, s",
    "choosing, s",
)


@dataclass(frozen=True)
class Task:
    """A data set, and how it is read."""

    name: str
    columns: tuple[str, ...]
    features: str

    def read(self, data: Path | None, *parts: str) -> tw.Corpus:
        """Read the first part that there is."""
        folder = find_data(data)
        if folder is None:
            sys.exit("No data sets here: pass --data DIR or set TRELLISWORK_DATA.")
        for part in parts:
            for suffix in ("conll", "conll.gz"):
                path = folder / self.name / f"{part}.{suffix}"
                if path.exists():
                    return tw.read_conll(path, self.columns, "\t")
        sys.exit(f"{folder / self.name}: expected a file of {' or '.join(parts)}, found none.")


TASKS = (
    Task("conll2000", ("word", "pos", "label"), "chunking"),
    Task("wnut17", ("word", "label"), "ner"),
)


@dataclass(frozen=True)
class Row:
    """What is said of one model."""

    name: str
    f1: float
    weights: int
    templates: int | None
    size: int
    speed: float
    training: float
    choosing: float

    def cells(self) -> list[str]:
        """Return the cells of a table."""
        return [
            self.name,
            f"{100 * self.f1:.2f}",
            f"{self.weights:,}",
            "" if self.templates is None else str(self.templates),
            f"{self.size / 1000:,.0f}",
            f"{self.speed:,.0f}",
            f"{self.training:.1f}",
            f"{self.choosing:.1f}" if self.choosing else "",
        ]


def main() -> None:
    """Run all models on all tasks."""
    parser = options(__doc__, data=True)
    parser.add_argument("--task", choices=[task.name for task in TASKS], help="default: both")
    parser.add_argument("--jobs", type=int, default=None, metavar="N", help="threads of training")
    parser.add_argument("--without-crfsuite", action="store_true", help="leave the rival out")
    parser.add_argument("--sentences", type=int, metavar="N", help="of the training set, at most")
    arguments = parser.parse_args()
    findings = Findings("sparsity", arguments.output, settings_of(arguments))
    for task in TASKS:
        if arguments.task in (None, task.name):
            run(task, arguments, findings)
    print(findings.write())  # noqa: T201


def run(task: Task, arguments: Any, findings: Findings) -> None:
    """Train and measure all models of one task."""
    train = tw.Corpus(list(task.read(arguments.data, "train"))[: arguments.sentences])
    scored = task.read(arguments.data, arguments.eval, "test")
    rows = []

    def tagger(**parameters: Any) -> tw.CRFTagger:
        chosen = {"features": task.features, "max_iter": 1000, "n_jobs": arguments.jobs}
        return tw.CRFTagger(**(chosen | parameters))

    def fit(name: str, model: tw.CRFTagger, choosing: float = 0.0) -> None:
        findings.console.print(f"{task.name}: {name} …", highlight=False)
        began = time.perf_counter()
        model.fit(train)
        rows.append(measure(name, model, scored, time.perf_counter() - began, choosing))

    fit("l2 = 1", tagger())
    fit("l1 = 1", tagger(l1=1.0, l2=0.0))
    fit("l1 = 1, debiased with l2 = 1", tagger(l1=1.0, l2=1.0, debias=True))
    began = time.perf_counter()
    found = tw.select_templates(
        train,
        SHARE,
        tagger=tagger(),
        n=N_POINTS,
        tolerance=TOLERANCE,
        random_state=SEED,
    )
    findings.note(f"**{task.name}**: {found.sentence()}; left out: {', '.join(found.dropped)}.")
    templates: Templates | None = found.templates
    fit(
        "group lasso by template, then l2 = 1",
        tagger(features=templates),
        time.perf_counter() - began,
    )
    began = time.perf_counter()
    tree = tagger(
        l1=TREE_L1,
        regularizer=TREE,
        debias=True,
    )
    chosen = tw.select_templates(
        train,
        SHARE,
        tagger=tree,
        strengths=TREE_STRENGTHS,
        tolerance=TOLERANCE,
        random_state=SEED,
    )
    seconds = time.perf_counter() - began
    strength = chosen.chosen.strength
    tree.set_params(l1=strength * TREE_L1, regularizer=TREE.times(strength))
    fit(f"tree × {strength:g}, debiased", tree, seconds)
    if task.name == "conll2000" and not arguments.without_crfsuite:
        rows.append(crfsuite(train, scored))
    title = f"{task.name}: {len(train):,} sentences for training"
    findings.table(ResultTable(title, HEADER, [row.cells() for row in rows]))
    findings.values[task.name] = {
        "rows": [vars(row) for row in rows],
        "groups": found.to_dict(),
        "tree": chosen.to_dict(),
    }
    picture = arguments.output / f"sparsity_{task.name}.png"
    arguments.output.mkdir(parents=True, exist_ok=True)
    found.plot(picture)
    findings.picture(picture)


def measure(
    name: str, tagger: tw.CRFTagger, scored: tw.Corpus, training: float, choosing: float
) -> Row:
    """Return what is said of a trained model, read back from its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tw"
        tagger.save(path)
        loaded = tw.load(path)
        size = path.stat().st_size
    loaded.n_jobs = 1
    model = loaded.model_
    counts = [np.count_nonzero(model.state.weights), np.count_nonzero(model.pattern_weights)]
    kept = {int(owner) for owner in model.encoder.feature_templates()["state"][1]}
    predicted, speed = timed(lambda: loaded.predict(scored), sum(map(len, scored)))
    f1 = tw.report(scored, predicted).f1
    return Row(name, f1, int(sum(counts)), len(kept), size, speed, training, choosing)


def timed(predict: Any, n_tokens: int) -> tuple[Any, float]:
    """Return predictions and tokens a second, the median of five runs."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        found = predict()
        times.append(time.perf_counter() - began)
    return found, n_tokens / sorted(times)[2]


def crfsuite(train: tw.Corpus, scored: tw.Corpus) -> Row:
    """Train CRFsuite's OWL-QN on the features of the chunking bundle, spelled out in Python."""
    sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
    try:
        import pycrfsuite  # type: ignore[import-not-found,import-untyped,unused-ignore]
        from chunking import extract  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        sys.exit("CRFsuite is not here: pip install python-crfsuite, or --without-crfsuite.")

    def rows(sentence: tw.Sentence) -> list[list[str]]:
        found: list[list[str]] = extract(sentence.tokens, sentence.columns["pos"])
        return found

    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select("lbfgs")
    trainer.set_params({"c1": 1.0, "c2": 0.0, "max_iterations": 1000})
    for sentence in train:
        trainer.append(pycrfsuite.ItemSequence(rows(sentence)), sentence.labels)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.crfsuite")  # noqa: PTH118
        began = time.perf_counter()
        trainer.train(path)
        seconds = time.perf_counter() - began
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        size = Path(path).stat().st_size
        predicted, speed = timed(
            lambda: [tagger.tag(rows(sentence)) for sentence in scored], sum(map(len, scored))
        )
    active = int(trainer.logparser.last_iteration["active_features"])
    f1 = tw.report(scored, predicted).f1
    return Row("CRFsuite, c1 = 1", f1, active, None, size, speed, seconds, 0.0)


if __name__ == "__main__":
    main()
