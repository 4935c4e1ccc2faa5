"""Figure 2 of the paper on high-order models: when longer label patterns help.

A random Markov model of order 2 or 3 over five states allows two next states after each history.
Every state emits three Gaussian observations: means uniform over [0, 1], standard deviation σ. The
models see the current, the previous and the next observation, and label patterns up to a maximum
order of 1 to 5. The smaller training sets are the first sequences of the largest, and labels are
drawn before observations, so table 2 (patterns of five labels that occur in one part only) is the
same for every σ. Averaged over several random models; the penalty is the paper's, σ_reg = 1, which
is ``l2=0.5``.

    python experiments/synthetic.py --seeds 5
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from common import (
    Findings,
    ResultTable,
    add_seeds,
    new_figure,
    options,
    progress,
    save_figure,
    settings_of,
)
from markov_sources import LENGTH, Source

import trelliswork as tw

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SOURCE = (
    "Cuong, Ye, Lee and Chieu, Conditional Random Field with High-order Dependencies for "
    "Sequence Labeling and Segmentation (JMLR 2014)"
)
SOURCES = (2, 3)
SIGMAS = (0.01, 0.05, 0.10)
SIZES = (300, 400, 500)
ORDERS = (1, 2, 3, 4, 5)
N_TEST = 500
L2 = 0.5
# Table 2: (source order, training sequences) → exclusive / all patterns of train, of test.
TABLE_2 = {
    (2, 300): ("16/173", "13/170"),
    (2, 400): ("17/175", "12/170"),
    (2, 500): ("17/177", "10/170"),
    (3, 300): ("34/393", "58/417"),
    (3, 400): ("37/406", "48/417"),
    (3, 500): ("42/424", "35/417"),
}
MARGIN = 0.005  # accuracy that orders beyond that of the source may seem to gain


def exclusive(train: NDArray[np.int64], test: NDArray[np.int64]) -> dict[str, list[int]]:
    """Count the patterns of five labels in each part: exclusive to it, and all."""
    train_patterns, test_patterns = (
        {tuple(row[t : t + 5]) for row in states.tolist() for t in range(LENGTH - 4)}
        for states in (train, test)
    )
    return {
        "train": [len(train_patterns - test_patterns), len(train_patterns)],
        "test": [len(test_patterns - train_patterns), len(test_patterns)],
    }


def as_names(states: NDArray[np.int64]) -> list[list[str]]:
    """Return sequences of states as labels."""
    return [[f"s{state}" for state in row] for row in states.tolist()]


def measure(
    features: tuple[NDArray[np.float64], NDArray[np.float64]],
    states: tuple[NDArray[np.int64], NDArray[np.int64]],
    order: int,
    max_iter: int,
) -> dict[str, float]:
    """Train on the first of both parts and score on the second."""
    started = time.perf_counter()
    tagger = tw.CRFTagger(order=order, l2=L2, max_iter=max_iter)
    tagger.fit(list(features[0]), as_names(states[0]))
    seconds = time.perf_counter() - started
    predicted = tagger.predict(list(features[1]))
    gold = as_names(states[1])
    return {
        "accuracy": float((np.array(predicted) == np.array(gold)).mean()),
        "patterns": len(tagger.model_.patterns),
        "iterations": tagger.n_iter_,
        "seconds": seconds,
    }


def run_seed(
    seed: int, given: argparse.Namespace, tick: Callable[[], None]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Run all settings on one random model of each order; returns rows of both results."""
    rows, proportions = [], []
    for source_order in given.sources:
        rng = np.random.default_rng([seed, source_order])
        source = Source.draw(source_order, rng)
        train, test = source.states(max(given.sizes), rng), source.states(given.test, rng)
        for size in given.sizes:
            counts = exclusive(train[:size], test)
            proportions.append({"seed": seed, "source": source_order, "size": size, **counts})
        for sigma in given.sigmas:
            seen = [source.observe(states, sigma, rng) for states in (train, test)]
            for size in given.sizes:
                for order in given.orders:
                    found = measure(
                        (seen[0][:size], seen[1]), (train[:size], test), order, given.max_iter
                    )
                    where = {"seed": seed, "source": source_order, "sigma": sigma}
                    rows.append({**where, "size": size, "order": order, **found})
                    tick()
    return rows, proportions


def averages(rows: list[dict[str, Any]]) -> dict[tuple[int, int, float, int], dict[str, float]]:
    """Average over seeds, by (source, size, sigma, order)."""
    groups: dict[tuple[int, int, float, int], list[dict[str, Any]]] = {}
    for row in rows:
        key = (row["source"], row["size"], row["sigma"], row["order"])
        groups.setdefault(key, []).append(row)
    return {
        key: {
            name: float(np.mean([row[name] for row in group]))
            for name in ("accuracy", "patterns", "iterations", "seconds")
        }
        for key, group in groups.items()
    }


def figure_table(given: argparse.Namespace, mean: dict[Any, dict[str, float]]) -> ResultTable:
    """Return figure 2 as numbers: accuracy by maximum order."""
    rows = [
        [
            f"order {source}, {size} sequences, σ = {sigma:.2f}",
            *(
                f"{100 * mean[source, size, sigma, order]['accuracy']:.2f}"
                for order in given.orders
            ),
        ]
        for source in given.sources
        for size in given.sizes
        for sigma in given.sigmas
    ]
    header = ("source", *(f"max. order {order}" for order in given.orders))
    return ResultTable("Figure 2: accuracy (%) by maximum order of patterns", header, rows)


def cost_table(given: argparse.Namespace, mean: dict[Any, dict[str, float]]) -> ResultTable:
    """Return the number of patterns and the time of training by maximum order."""
    size = max(given.sizes)
    rows = []
    for source in given.sources:
        for name, digits in (("patterns", 0), ("seconds", 2)):
            cells = [
                np.mean([mean[source, size, sigma, order][name] for sigma in given.sigmas])
                for order in given.orders
            ]
            what = f"order {source}, {size} sequences: {name}"
            rows.append([what, *(f"{cell:.{digits}f}" for cell in cells)])
    header = ("source", *(f"max. order {order}" for order in given.orders))
    return ResultTable("Patterns, and seconds of training", header, rows)


def exclusive_table(given: argparse.Namespace, proportions: list[dict[str, Any]]) -> ResultTable:
    """Return table 2: the paper's proportions, and our means over random models."""
    rows = []
    for source in given.sources:
        for size in given.sizes:
            own = [row for row in proportions if (row["source"], row["size"]) == (source, size)]
            paper = TABLE_2.get((source, size), ("", ""))
            cells = []
            for part, printed in zip(("train", "test"), paper, strict=True):
                few, every = np.mean([row[part] for row in own], axis=0)
                cells += [printed, f"{few:.1f}/{every:.1f}"]
            rows.append([f"order {source}, {size} sequences", *cells])
    header = ("source", "train, paper", "ours", "test, paper", "ours")
    return ResultTable("Table 2: patterns of five labels that occur in one part only", header, rows)


def draw(given: argparse.Namespace, mean: dict[Any, dict[str, float]], path: Path) -> None:
    """Draw one panel a source and size, as the paper does."""
    figure = new_figure(4 * len(given.sources), 2.6 * len(given.sizes))
    axes = figure.subplots(len(given.sizes), len(given.sources), squeeze=False, sharex=True)
    for column, source in enumerate(given.sources):
        for row, size in enumerate(given.sizes):
            axis = axes[row][column]
            for sigma, marker in zip(given.sigmas, "os^Dv", strict=False):
                found = [100 * mean[source, size, sigma, k]["accuracy"] for k in given.orders]
                axis.plot(given.orders, found, f"{marker}-", label=f"σ = {sigma:.2f}")
            axis.set(title=f"source of order {source}, {size} sequences", xticks=given.orders)
            axis.set(ylabel="accuracy (%)" if column == 0 else "")
            axis.set(xlabel="maximum order" if row == len(given.sizes) - 1 else "")
            axis.grid(alpha=0.3)
    axes[0][0].legend(frameon=False)
    save_figure(figure, path)


def judge(given: argparse.Namespace, mean: dict[Any, dict[str, float]]) -> dict[str, float]:
    """Return what the paper claims: the gain up to the order of the source, and beyond it."""
    up_to, beyond = [], []
    for source in given.sources:
        for size in given.sizes:
            for sigma in given.sigmas:
                found = {k: mean[source, size, sigma, k]["accuracy"] for k in given.orders}
                at = found[min(source, max(given.orders))]
                up_to.append(at - found[min(given.orders)])
                beyond.append(max(found.values()) - at)
    return {"smallest_gain": min(up_to), "largest_gain": max(up_to), "beyond": max(beyond)}


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether patterns help up to the order of the source only."""
    parser = options(__doc__)
    add_seeds(parser, 5, "how many random models of each order (default: 5)")
    parser.add_argument("--sources", type=int, nargs="+", default=SOURCES, metavar="K")
    parser.add_argument("--sigmas", type=float, nargs="+", default=SIGMAS, metavar="S")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--orders", type=int, nargs="+", default=ORDERS, metavar="K")
    parser.add_argument("--test", type=int, default=N_TEST, metavar="N", help="test sequences")
    parser.add_argument("--max-iter", type=int, default=200, metavar="N", help="of L-BFGS")
    given = parser.parse_args(arguments)
    findings = Findings("synthetic", given.output, settings_of(given))
    findings.note(f"Paper: {SOURCE}, §3.1.1.")
    rows: list[dict[str, Any]] = []
    proportions: list[dict[str, Any]] = []
    lists = (given.sources, given.sigmas, given.sizes, given.orders)
    with progress(findings.console) as bar:
        task = bar.add_task("training", total=given.seeds * int(np.prod([len(x) for x in lists])))
        for seed in range(given.seed, given.seed + given.seeds):
            found = run_seed(seed, given, lambda: bar.advance(task))
            rows += found[0]
            proportions += found[1]
    mean = averages(rows)
    for table in (
        figure_table(given, mean),
        cost_table(given, mean),
        exclusive_table(given, proportions),
    ):
        findings.table(table)
    claims = judge(given, mean)
    holds = claims["smallest_gain"] >= 0 and claims["beyond"] <= MARGIN
    findings.note(
        "From the lowest order to that of the source accuracy gains "
        f"{100 * claims['smallest_gain']:.2f} to {100 * claims['largest_gain']:.2f} points; orders "
        f"beyond it gain at most {100 * claims['beyond']:.2f}."
    )
    findings.values |= {"rows": rows, "exclusive": proportions, "claims": claims, "holds": holds}
    picture = given.output / "synthetic.png"
    draw(given, mean, picture)
    findings.picture(picture)
    findings.write()
    return bool(holds)


if __name__ == "__main__":
    main()  # a claim that does not hold is a finding, written down with the others
