"""Sparse models on CoNLL-2000: l1 against CRFsuite's OWL-QN, and what fewer templates are worth.

Training: the same features and the same objective, ``−log-likelihood + ‖w‖₁``, in one run. CRFsuite
trains until it stops; ours is timed to within 0.1% of the loss that CRFsuite stops at, and to that
very loss, feature extraction included. Tagging: the model with all weights, the l1 model, and one
whose templates the group lasso chose, each loaded from its file, from tokens to labels. Each
measurement is a process of its own.

    python benchmarks/sparsity.py [--data DIR] [--repeats 3]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from chunking import CLOSE_ENOUGH, tag_crfsuite, tag_ours, train_crfsuite, train_ours
from common import data_directory, machine, markdown_table, median_of, run_child, write_results

# Chosen on a fifth of the training set, held out (seed 0), among 250 and 350: 8 of 21 templates
# there, and an F1 of 93.18 where all have 93.29.
GROUP_STRENGTH = 250.0


def settings_of(name: str) -> dict[str, Any]:
    """Return the settings of a tagger by the name of its penalty."""
    import trelliswork as tw

    return {
        "l2": {},
        "l1": {"l1": 1.0, "l2": 0.0, "tol": 3e-6},
        "groups": {
            "l2": 1.0,
            "regularizer": tw.GroupLasso(by="template", strength=GROUP_STRENGTH, adaptive=True),
            "debias": True,
        },
    }[name]


def train(data: Path, model: Path, penalty: str, goals: list[float], jobs: int) -> dict[str, Any]:
    """Train with Trelliswork; `goals` are losses to reach."""
    import trelliswork as tw

    found = train_ours(data, model, goals[0] if goals else None, jobs, **settings_of(penalty))
    tagger = tw.load(model)
    log = tagger.training_log_
    overhead = found["seconds"] - log[-1].seconds
    for name, goal in zip(("close", "end"), goals, strict=False):
        step = next((step for step in log if step.loss <= goal), None)
        found[f"seconds_{name}"] = np.nan if step is None else overhead + step.seconds
        found[f"iterations_{name}"] = np.nan if step is None else step.iteration
    owners = tagger.model_.encoder.feature_templates()["state"][1]
    return found | {
        "nonzero": int((tagger.model_.state.weights != 0).sum())
        + int((tagger.model_.pattern_weights != 0).sum()),
        "templates": len(set(owners.tolist())),
        "bytes": model.stat().st_size,
        "reason": tagger.stop_reason_,
    }


def train_rival(data: Path, model: Path) -> dict[str, Any]:
    """Train with CRFsuite's OWL-QN."""
    found = train_crfsuite(data, model, c1=1.0, c2=0.0)
    return found | {"bytes": model.stat().st_size, "nonzero": count_features(model)}


def count_features(model: Path) -> int:
    """Return the number of weights in a model file of CRFsuite."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    info = tagger.info()
    return len(info.state_features) + len(info.transitions)


def main() -> None:
    """Run all measurements, or one of them when called as a child."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of the data sets")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each of our trainings")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--penalty", default="l2", help=argparse.SUPPRESS)
    parser.add_argument("--goals", type=json.loads, default=[], help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    data = data_directory(options.data)
    tasks = {
        "train": lambda: train(data, options.model, options.penalty, options.goals, options.jobs),
        "train_rival": lambda: train_rival(data, options.model),
        "tag": lambda: tag_ours(data, options.model, options.jobs),
        "tag_rival": lambda: tag_crfsuite(data, options.model),
    }
    if options.task:
        print(json.dumps(tasks[options.task]()))
        return
    compare(data, options.repeats)


def compare(data: Path, repeats: int) -> None:
    """Measure everything and write the results."""
    with tempfile.TemporaryDirectory() as folder:

        def child(task: str, name: str, *more: str, jobs: int = 1) -> dict[str, Any]:
            print(f"{task} {name}, {jobs} thread(s) …", file=sys.stderr, flush=True)
            common = ("--task", task, "--data", str(data), "--model", str(Path(folder) / name))
            return run_child(__file__, *common, "--jobs", str(jobs), *more, threads=jobs)

        rival = child("train_rival", "crfsuite")
        goals = json.dumps([rival["loss"] * CLOSE_ENOUGH, rival["loss"]])
        l1 = {
            jobs: median_of(
                [
                    child("train", "l1", "--penalty", "l1", "--goals", goals, jobs=jobs)
                    for _ in range(repeats)
                ]
            )
            for jobs in (1, 2)
        }
        others = {
            name: child("train", name, "--penalty", name, jobs=2) for name in ("l2", "groups")
        }
        speeds = {
            name: median_of([child("tag", name) for _ in range(repeats)])
            for name in ("l2", "l1", "groups")
        }
        speeds["crfsuite"] = child("tag_rival", "crfsuite")
    results = {
        "machine": machine("trelliswork", "python-crfsuite", "numpy"),
        "repeats": repeats,
        "group_strength": GROUP_STRENGTH,
        "crfsuite": rival,
        "l1": l1,
        "others": others,
        "tag": speeds,
    }
    write_results("sparsity", results, as_markdown(results))


def as_markdown(results: dict[str, Any]) -> str:
    """Return the results as two Markdown tables."""
    rival = results["crfsuite"]
    rows = [
        [
            "CRFsuite, OWL-QN",
            f"{rival['loss']:,.1f}",
            f"{rival['nonzero']:,}",
            f"{rival['seconds_to_goal']:.1f} s, {rival['iterations_to_goal']:.0f} iterations",
            "1.0×",
            f"{rival['seconds']:.1f} s, {rival['iterations']:.0f} iterations",
            "1.0×",
        ]
    ]
    for jobs, entry in results["l1"].items():
        cells = [f"ours, OWL-QN, {jobs} thread(s)", f"{entry['loss']:,.1f}"]
        cells.append(f"{entry['nonzero']:,.0f}")
        for name, theirs in (("close", rival["seconds_to_goal"]), ("end", rival["seconds"])):
            seconds = entry[f"seconds_{name}"]
            cells.append(f"{seconds:.1f} s, {entry[f'iterations_{name}']:.0f} iterations")
            cells.append(f"{theirs / seconds:.1f}×")
        rows.append(cells)
    header = ["training, l1 = 1", "final loss", "weights", "to within 0.1%", "speed-up"]
    training = markdown_table([*header, "to CRFsuite's end", "speed-up"], rows)
    sizes = results["others"] | {"l1": results["l1"][2], "crfsuite": rival}
    full = results["tag"]["l2"]["tokens_per_second"]
    names = {
        "l2": "l2 = 1, all weights",
        "l1": "l1 = 1",
        "groups": f"adaptive group lasso, {results['group_strength']:g}, by template, then l2 = 1",
        "crfsuite": "CRFsuite, c1 = 1",
    }
    tagging = markdown_table(
        ["model", "weights", "templates", "file", "tokens/s, one thread", "against l2", "chunk F1"],
        [
            [
                title,
                f"{sizes[name]['nonzero']:,.0f}",
                f"{sizes[name]['templates']:.0f}" if "templates" in sizes[name] else "",
                f"{sizes[name]['bytes'] / 1000:,.0f} kB",
                f"{results['tag'][name]['tokens_per_second']:,.0f}",
                f"{results['tag'][name]['tokens_per_second'] / full:.2f}×",
                f"{results['tag'][name]['f1']:.2f}",
            ]
            for name, title in names.items()
        ],
    )
    where = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
    return f"""# Sparse models of CoNLL-2000

{where["processor"]}, {where["cores"]} cores, Python {where["python"]}; {versions}.
CRFsuite trained once, ours medians of {results["repeats"]} runs (l2 and groups: one).

{training}

"Within 0.1%" of the loss that CRFsuite stops at. Feature extraction is included for Trelliswork and
left out for CRFsuite, in training; included for both in tagging.

{tagging}"""


if __name__ == "__main__":
    main()
