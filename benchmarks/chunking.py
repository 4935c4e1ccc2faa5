"""CoNLL-2000 chunking against CRFsuite: the same features, the same objective, one run.

Each measurement is a process of its own. Both sides have the same features, made natively by us and
in Python for CRFsuite, as its users do; the equal final losses show that both minimise the same
function: observed (feature, label) pairs and transitions, ``−log-likelihood + ‖w‖²``. Tagging is
measured from tokens to labels, extraction included.

    python benchmarks/chunking.py [--data DIR] [--repeats 3]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import (
    data_directory,
    machine,
    markdown_table,
    median_of,
    peak_megabytes,
    run_child,
    write_results,
)

COLUMNS = ("word", "pos", "label")
# CRFsuite's own final loss is the goal: training time is the time to come within 0.1% of it.
CLOSE_ENOUGH = 1.001


def read(data: Path, part: str) -> Any:
    """Read one part of CoNLL-2000."""
    import trelliswork as tw

    return tw.read_conll(data / "conll2000" / f"{part}.conll.gz", COLUMNS)


def extract(words: tuple[str, ...], tags: tuple[str, ...]) -> list[list[str]]:
    """Extract the chunking features in Python, as a CRFsuite user does."""
    n = len(words)
    rows = []
    for t in range(n):
        row = []
        for d in (-2, -1, 0, 1, 2):
            if 0 <= t + d < n:
                row.append(f"w[{d}]={words[t + d]}")
                row.append(f"pos[{d}]={tags[t + d]}")
        for d in (-1, 0):
            if t + d >= 0 and t + d + 1 < n:
                row.append(f"w[{d}]|w[{d + 1}]={words[t + d]}|{words[t + d + 1]}")
        for width in (2, 3):
            for d in range(-2, 4 - width):
                if t + d >= 0 and t + d + width <= n:
                    row.append(f"pos[{d}]*{width}=" + "|".join(tags[t + d : t + d + width]))
        if t == 0:
            row.append("__BOS__")
        if t == n - 1:
            row.append("__EOS__")
        rows.append(row)
    return rows


def train_ours(
    data: Path, model: Path, goal: float | None, jobs: int, **settings: Any
) -> dict[str, Any]:
    """Train with Trelliswork; `goal` is the loss to reach."""
    import trelliswork as tw

    corpus = read(data, "train")
    before = peak_megabytes()
    chosen = {"l2": 1.0, "max_iter": 1000} | settings
    tagger = tw.CRFTagger(features="chunking", n_jobs=jobs, **chosen)
    began = time.perf_counter()
    tagger.fit(corpus)
    total = time.perf_counter() - began
    # What is not in the log is extraction and setting up: it counts.
    overhead = total - tagger.training_log_[-1].seconds
    reached = next(
        (step for step in tagger.training_log_ if goal is None or step.loss <= goal), None
    )
    tagger.save(model)
    return {
        "seconds": total,
        "seconds_to_goal": overhead + reached.seconds if reached else None,
        "iterations": tagger.n_iter_,
        "iterations_to_goal": reached.iteration if reached else None,
        "loss": tagger.loss_,
        "peak_mb": peak_megabytes(),
        "peak_mb_before": before,
    }


def train_crfsuite(data: Path, model: Path, c1: float = 0.0, c2: float = 1.0) -> dict[str, Any]:
    """Train with python-crfsuite on the same features; only `train` is timed."""
    import pycrfsuite

    corpus = read(data, "train")
    before = peak_megabytes()
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select("lbfgs")
    trainer.set_params({"c1": c1, "c2": c2, "max_iterations": 1000})
    began = time.perf_counter()
    for sentence in corpus:
        rows = extract(sentence.tokens, sentence.columns["pos"])
        trainer.append(pycrfsuite.ItemSequence(rows), sentence.labels)
    appended = time.perf_counter() - began
    began = time.perf_counter()
    trainer.train(str(model))
    seconds = time.perf_counter() - began
    return crfsuite_log(trainer.logparser, seconds) | {
        "seconds_reading": appended,
        "peak_mb": peak_megabytes(),
        "peak_mb_before": before,
    }


def crfsuite_log(log: Any, seconds: float) -> dict[str, Any]:
    """Summarise CRFsuite's log; what its iterations do not account for is setting up."""
    last = log.last_iteration
    overhead = seconds - sum(step["time"] for step in log.iterations)
    reached = next(
        step["num"]
        for step in log.iterations
        if float(step["loss"]) <= float(last["loss"]) * CLOSE_ENOUGH
    )
    to_goal = sum(step["time"] for step in log.iterations if step["num"] <= reached)
    return {
        "seconds": seconds,
        "seconds_to_goal": overhead + to_goal,
        "iterations": int(last["num"]),
        "iterations_to_goal": int(reached),
        "loss": float(last["loss"]),
    }


def train_sklearn_crfsuite(data: Path, model: Path) -> dict[str, Any]:
    """Train with sklearn-crfsuite on feature dicts, as its users do."""
    import sklearn_crfsuite

    corpus = read(data, "train")
    crf = sklearn_crfsuite.CRF(
        algorithm="lbfgs", c1=0.0, c2=1.0, max_iterations=1000, model_filename=str(model)
    )
    began = time.perf_counter()
    dicts = [
        [dict.fromkeys(row, 1.0) for row in extract(s.tokens, s.columns["pos"])] for s in corpus
    ]
    crf.fit(dicts, [s.labels for s in corpus])
    seconds = time.perf_counter() - began
    return crfsuite_log(crf.training_log_, seconds) | {"peak_mb": peak_megabytes()}


def tag_ours(data: Path, model: Path, jobs: int) -> dict[str, Any]:
    """Tag the test set from tokens with Trelliswork."""
    import trelliswork as tw

    corpus = read(data, "test")
    tagger = tw.load(model)
    tagger.n_jobs = jobs
    return _tag(corpus, lambda: tagger.predict(corpus))


def tag_crfsuite(data: Path, model: Path) -> dict[str, Any]:
    """Tag the test set from tokens with python-crfsuite."""
    import pycrfsuite

    corpus = read(data, "test")
    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    return _tag(
        corpus,
        lambda: [tagger.tag(extract(s.tokens, s.columns["pos"])) for s in corpus],
    )


def _tag(corpus: Any, predict: Any) -> dict[str, Any]:
    import trelliswork as tw

    times = []
    for _ in range(5):
        began = time.perf_counter()
        predicted = predict()
        times.append(time.perf_counter() - began)
    times.sort()
    return {
        "tokens_per_second": sum(map(len, corpus)) / times[len(times) // 2],
        "f1": 100 * tw.report(corpus, predicted).f1,
    }


def main() -> None:
    """Run all measurements, or one of them when called as a child."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of the data sets")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each training")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--goal", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    data = data_directory(options.data)
    tasks = {
        "train_ours": lambda: train_ours(data, options.model, options.goal, options.jobs),
        "train_crfsuite": lambda: train_crfsuite(data, options.model),
        "train_sklearn_crfsuite": lambda: train_sklearn_crfsuite(data, options.model),
        "tag_ours": lambda: tag_ours(data, options.model, options.jobs),
        "tag_crfsuite": lambda: tag_crfsuite(data, options.model),
    }
    if options.task:
        print(json.dumps(tasks[options.task]()))
        return
    compare(data, options.repeats)


def compare(data: Path, repeats: int) -> None:
    """Measure everything and write the results."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours.tw", Path(folder) / "theirs.crfsuite"

        def child(task: str, model: Path, *more: str, jobs: int = 1) -> dict[str, Any]:
            print(f"{task}, {jobs} thread(s) …", file=sys.stderr, flush=True)
            common = ("--task", task, "--data", str(data), "--model", str(model))
            return run_child(__file__, *common, "--jobs", str(jobs), *more, threads=jobs)

        # Runs alternate, so that a machine that slows down slows both.
        crfsuite_runs, runs = [], {1: [], 2: []}
        for _ in range(repeats):
            crfsuite_runs.append(child("train_crfsuite", theirs))
            goal = str(crfsuite_runs[0]["loss"] * CLOSE_ENOUGH)
            for jobs, done in runs.items():
                done.append(child("train_ours", ours, "--goal", goal, jobs=jobs))
        crfsuite = median_of(crfsuite_runs)
        train = {jobs: median_of(done) for jobs, done in runs.items()}
        sklearn_crfsuite = child("train_sklearn_crfsuite", Path(folder) / "sklearn.crfsuite")
        tag = {jobs: child("tag_ours", ours, jobs=jobs) for jobs in (1, 2)}
        tag_rival = child("tag_crfsuite", theirs)
    results = {
        "machine": machine("trelliswork", "python-crfsuite", "sklearn-crfsuite", "numpy"),
        "repeats": repeats,
        "train": {"python-crfsuite": crfsuite, "sklearn-crfsuite": sklearn_crfsuite}
        | {f"trelliswork, {jobs} thread(s)": entry for jobs, entry in train.items()},
        "tag": {"python-crfsuite": tag_rival}
        | {f"trelliswork, {jobs} thread(s)": entry for jobs, entry in tag.items()},
        "all_runs": {"python-crfsuite": crfsuite_runs, "trelliswork": runs},
    }
    write_results("chunking", results, as_markdown(results))


def as_markdown(results: dict[str, Any]) -> str:
    """Return the results as two Markdown tables."""
    rival = results["train"]["python-crfsuite"]
    training = markdown_table(
        [
            "training",
            "final loss",
            "to within 0.1%",
            "speed-up",
            "to own stop",
            "speed-up",
            "peak MB",
        ],
        [
            [
                name,
                f"{entry['loss']:,.1f}",
                f"{entry['seconds_to_goal']:.1f} s, {entry['iterations_to_goal']:.0f} iterations",
                f"{rival['seconds_to_goal'] / entry['seconds_to_goal']:.1f}×",
                f"{entry['seconds']:.1f} s, {entry['iterations']:.0f} iterations",
                f"{rival['seconds'] / entry['seconds']:.1f}×",
                f"{entry['peak_mb']:.0f}",
            ]
            for name, entry in results["train"].items()
        ],
    )
    rival_speed = results["tag"]["python-crfsuite"]["tokens_per_second"]
    tagging = markdown_table(
        ["tagging from tokens", "tokens/s", "speed-up", "chunk F1"],
        [
            [
                name,
                f"{entry['tokens_per_second']:,.0f}",
                f"{entry['tokens_per_second'] / rival_speed:.1f}×",
                f"{entry['f1']:.2f}",
            ]
            for name, entry in results["tag"].items()
        ],
    )
    where = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
    return f"""# CoNLL-2000 chunking

{where["processor"]}, {where["cores"]} cores, Python {where["python"]}; {versions}.
Medians of {results["repeats"]} runs (sklearn-crfsuite: one).

{training}

"Within 0.1%" of python-crfsuite's final loss. Feature extraction is included for Trelliswork and
sklearn-crfsuite and left out for python-crfsuite.

{tagging}"""


if __name__ == "__main__":
    main()
