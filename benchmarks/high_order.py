"""High-order and semi-Markov models: what one iteration costs, and how the cost grows.

Each measurement is a process of its own; seconds are medians of evaluations of the loss and its
gradient over the whole training set, and means of whole L-BFGS iterations.

    python benchmarks/high_order.py [--data DIR] [--only references marks growth chunking naive]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    RESULTS,
    data_directory,
    machine,
    markdown_table,
    run_child,
    write_results,
)

PARTS = ("references", "marks", "growth", "chunking", "naive")
SEGMENTS = {"max_segment": "auto"}
# What others report or were measured at; none of it measured here.
QUOTED = {
    "references": (
        "The paper's figure 6 has more than 500 s an iteration for SC2. Its Java code with two "
        "threads on a like machine did not finish one first-order iteration in 274 s."
    ),
    "marks": "The paper's Java code with two threads on a like machine: 8.7 s and 3.7 GB.",
}
MIN_COUNTS = (1, 2, 5, 20, 100)
SENTENCES = 1000  # of chunking, where orders 4 and 5 have very many patterns; letters have fewer


def child(data: Path, task: str, iterations: int, jobs: int, **parameters: Any) -> dict[str, Any]:
    """Run one measurement in a process of its own."""
    print(f"{task} {parameters} …", file=sys.stderr, flush=True)
    return run_child(
        __file__,
        *("--data", str(data), "--task", task, "--jobs", str(jobs)),
        *("--iterations", str(iterations), "--parameters", json.dumps(parameters)),
        threads=jobs,
    )


def segment_models(data: Path, task: str, iterations: int) -> list[dict[str, Any]]:
    """Measure semi-Markov models of order 1 to 3 with two threads and with one."""
    return [
        child(data, task, iterations, jobs, order=order, edge_order=1, **SEGMENTS)
        | {"model": f"SC{order}", "threads": jobs}
        for order, jobs in ((1, 2), (2, 1), (2, 2), (3, 2))
    ]


def growth(data: Path) -> list[dict[str, Any]]:
    """Measure chains of orders 1 to 5 under several minimum counts of patterns."""
    found = []
    for task, counts in (("letters", (1, 5)), ("chunking", MIN_COUNTS)):
        for order in range(1, 6):
            for count in counts if order > 1 else (1,):
                settings = {"order": order, "min_pattern_count": count, "sequences": SENTENCES}
                values = child(data, task, 3, 2, **settings)
                found.append({"task": task, "order": order, "min_count": count, **values})
    return found


def chunking(data: Path, iterations: int) -> list[dict[str, Any]]:
    """Train chains of order 1 and 3 on CoNLL-2000, with F1 on its test part."""
    settings = [(1, 1), (2, 1), *((3, count) for count in MIN_COUNTS)]
    return [
        child(data, "chunking", iterations, 2, order=order, min_pattern_count=count, test=True)
        | {"order": order, "min_count": count, "iterations": iterations}
        for order, count in settings
    ]


def naive(data: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Compare order 2 with pairs of labels as labels, by us and by python-crfsuite.

    All have the same features of tokens; none has features of transitions, which CRFsuite lacks.
    """
    from high_order_tasks import WINDOW

    found: dict[str, dict[str, dict[str, Any]]] = {}
    for task, settings in (("letters", {"pairs": "observed"}), ("marks", {"features": WINDOW})):
        found[task] = {
            "order 2": child(data, task, 20, 1, order=2, **settings),
            "pairs as labels, ours": child(
                data, task, 20, 1, order=1, pairs_as_labels=True, **settings
            ),
            "pairs as labels, python-crfsuite": child(data, f"crfsuite {task}", 10, 1),
        }
    return found


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the cost of an evaluation against the number of patterns."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, task in zip(figure.subplots(1, 2), ("letters", "chunking"), strict=True):
        mine = [row for row in rows if row["task"] == task]
        for order in range(1, 6):
            some = [row for row in mine if row["order"] == order]
            axes.plot(
                [row["patterns"] for row in some],
                [row["evaluation_s"] for row in some],
                "o",
                label=f"order {order}",
            )
        base = next(row for row in mine if row["order"] == 1)
        ends = [base["patterns"], max(row["patterns"] for row in mine)]
        scale = base["evaluation_s"] / base["patterns"]
        axes.plot(ends, [scale * n for n in ends], "k:", lw=1, label="linear")
        axes.set(xscale="log", yscale="log", xlabel="patterns", ylabel="s an evaluation")
        axes.set_title(task, fontsize="medium")
        axes.legend(fontsize="x-small")
    figure.savefig(path, dpi=120)


def main() -> None:
    """Run all measurements, or one of them when called as a child."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="directory of the data sets")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to measure")
    parser.add_argument("--max-iter", type=int, default=100, help="of chunking models with F1")
    for hidden, kind in (("--task", str), ("--parameters", str), ("--iterations", int)):
        parser.add_argument(hidden, type=kind, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    data = data_directory(options.data)
    if options.task:
        from high_order_tasks import measure, measure_crfsuite

        rival, _, name = options.task.rpartition(" ")
        if rival:
            print(json.dumps(measure_crfsuite(data, name, options.iterations)))
        else:
            parameters = json.loads(options.parameters) | {"n_jobs": options.jobs}
            print(json.dumps(measure(data, name, parameters, options.iterations)))
        return
    measured = {
        "references": lambda: segment_models(data, "references", 30),
        "marks": lambda: segment_models(data, "marks", 20),
        "growth": lambda: growth(data),
        "chunking": lambda: chunking(data, options.max_iter),
        "naive": lambda: naive(data),
    }
    # Parts left out this time keep their numbers, with the machine they were measured on.
    path = RESULTS / "high_order.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    for part in options.only:
        results[part] = {"machine": machine("trelliswork"), "rows": measured[part]()}
    if "growth" in options.only:
        plot(results["growth"]["rows"], RESULTS / "high_order.png")
    write_results("high_order", results, as_markdown(results))


def as_markdown(results: dict[str, Any]) -> str:
    """Return the results as Markdown tables."""
    tables = {
        "references": _segment_table,
        "marks": _segment_table,
        "growth": _growth_table,
        "chunking": _chunking_table,
        "naive": _naive_table,
    }
    titles = {
        "references": "Cora: 300 references, 13 fields, segments of up to 40 tokens",
        "marks": "Punctuation: 3,221 texts, the paper's ten labels",
        "growth": "Cost of an evaluation against patterns (1,000 sentences, one fold of letters)",
        "chunking": "CoNLL-2000: order 3 against order 1, two threads",
        "naive": "Order 2, and pairs of labels as labels, one thread",
    }
    parts = ["# High-order and semi-Markov models"]
    for part in PARTS:
        if part in results:
            where = results[part]["machine"]
            parts += [f"## {titles[part]}", tables[part](results[part]["rows"])]
            parts += [QUOTED[part]] if part in QUOTED else []
            parts += ["![cost against patterns](high_order.png)"] if part == "growth" else []
            parts.append(f"{where['processor']}, {where['cores']} cores, Python {where['python']}.")
    return "\n\n".join(parts)


def _size(row: dict[str, Any]) -> list[str]:
    return [f"{row[key]:,}" for key in ("patterns", "states", "arcs")]


def _segment_table(rows: list[dict[str, Any]]) -> str:
    header = ["model", "threads", "patterns", "states", "arcs", "s an evaluation"]
    header += ["s an iteration", "peak MB"]
    cells = [
        [
            row["model"],
            str(row["threads"]),
            *_size(row),
            f"{row['evaluation_s']:.3f}",
            f"{row['iteration_s']:.3f}",
            f"{row['peak_mb']:.0f}",
        ]
        for row in rows
    ]
    return markdown_table(header, cells)


def _growth_table(rows: list[dict[str, Any]]) -> str:
    base = {row["task"]: row for row in rows if row["order"] == 1}
    header = ["data, order", "least count", "patterns", "states", "arcs", "s an evaluation"]
    header += ["µs a pattern", "µs a state", "patterns / order 1", "cost / order 1"]
    cells = []
    for row in rows:
        first = base[row["task"]]
        cells.append(
            [
                f"{row['task']}, {row['order']}",
                str(row["min_count"]),
                *_size(row),
                f"{row['evaluation_s']:.4f}",
                f"{1e6 * row['evaluation_s'] / row['patterns']:.1f}",
                f"{1e6 * row['evaluation_s'] / row['states']:.1f}",
                f"{row['patterns'] / first['patterns']:.1f}×",
                f"{row['evaluation_s'] / first['evaluation_s']:.1f}×",
            ]
        )
    powers = [
        f"{task}: patterns^{_power(rows, task, 'patterns'):.2f}, "
        f"states^{_power(rows, task, 'states'):.2f}"
        for task in base
    ]
    fit = f"Least-squares fit over all rows, cost in proportion to: {'; '.join(powers)}."
    return f"{markdown_table(header, cells)}\n\n{fit}"


def _power(rows: list[dict[str, Any]], task: str, of: str) -> float:
    """Return the power of a size that the cost goes with."""
    mine = [row for row in rows if row["task"] == task]
    sizes, costs = (np.log([row[key] for row in mine]) for key in (of, "evaluation_s"))
    return float(np.polyfit(sizes, costs, 1)[0])


def _chunking_table(rows: list[dict[str, Any]]) -> str:
    base = next(row for row in rows if row["order"] == 1)
    header = ["order", "least count", "patterns", "states", "arcs", "s an evaluation"]
    header += ["s an iteration", "iteration / order 1", "iterations", "F1 after them"]
    cells = [
        [
            str(row["order"]),
            str(row["min_count"]),
            *_size(row),
            f"{row['evaluation_s']:.3f}",
            f"{row['iteration_s']:.3f}",
            f"{row['iteration_s'] / base['iteration_s']:.1f}×",
            str(row["iterations"]),
            f"{row['f1']:.2f}",
        ]
        for row in rows
    ]
    return markdown_table(header, cells)


def _naive_table(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    cells = [
        [
            f"{task}, {name}",
            f"{row.get('labels', row.get('states')):,}",
            f"{row['iteration_s']:.4f}",
            f"{row['iteration_s'] / models['order 2']['iteration_s']:.1f}×",
            f"{row['peak_mb']:.0f}",
        ]
        for task, models in found.items()
        for name, row in models.items()
    ]
    header = ["data, model", "labels or states", "s an iteration", "cost / order 2", "peak MB"]
    return markdown_table(header, cells)


if __name__ == "__main__":
    main()
