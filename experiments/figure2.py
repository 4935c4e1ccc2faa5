"""Figure 2: constrained training can beat constrained decoding by any margin.

The language is (ac)* | (bc)*, and P((ac)^k) = 3/4, P((bc)^k) = 1/4 for one constant input of 2k
tokens. An unconstrained CRF models the odd labels independently of each other, so that, decoded
under the constraint, it puts 1 / (1 + 3^-k) on (ac)^k: ever more lop-sided as k grows. Trained
under the constraint, the same parameters match the data distribution for every k.

Every position has emission scores of its own; there are no start or end transitions. The loss is
the exact expectation over the two labellings, without regulariser, minimised by L-BFGS.

    python experiments/figure2.py --max-k 20
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from common import (
    Findings,
    ResultTable,
    new_figure,
    options,
    progress,
    save_figure,
    settings_of,
)
from explicit import Distribution, fit

from trelliswork.automata.automaton import Automaton

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LANGUAGE = Automaton.from_regex("(a c)* | (b c)*", ["a", "b", "c"])
TOLERANCE = 0.01  # nats


def measure(k: int, seed: int) -> dict[str, float]:
    """Train both ways on sequences of length 2k and return what the figure shows."""
    data = Distribution.of(LANGUAGE, {"ac" * k: 0.75, "bc" * k: 0.25})
    constrained = data.constrained
    row = {
        "k": k,
        "entropy": data.entropy,
        "decoding_expected": 1.0 / (1.0 + 3.0**-k),
    }
    for name, automaton in (("decoding", data.free), ("training", constrained)):
        parameters = fit(data, automaton, seed=seed)
        log_p = parameters.log_probabilities(data.labellings, constrained)
        row[f"{name}_probability"] = math.exp(log_p[0])
        row[f"{name}_nll"] = parameters.loss(data, constrained)
    return row


def draw(rows: list[dict[str, float]], path: Path) -> None:
    """Draw both panels."""
    figure = new_figure(9, 3.2)
    axes = figure.subplots(1, 2)
    k = [row["k"] for row in rows]
    panels = (
        ("probability", "P((ac)$^k$)", [0.75] * len(k), "data distribution"),
        ("nll", "negative log-likelihood", [row["entropy"] for row in rows], "data entropy"),
    )
    for axis, (what, title, truth, name) in zip(axes, panels, strict=True):
        axis.plot(k, [row[f"decoding_{what}"] for row in rows], "s-", label="constrained decoding")
        axis.plot(k, [row[f"training_{what}"] for row in rows], "o-", label="constrained training")
        axis.plot(k, truth, "k:", label=name)
        axis.set(xlabel="k", title=title)
        axis.legend(frameon=False)
    save_figure(figure, path)


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether it shows what it must."""
    parser = options(__doc__)
    parser.add_argument("--max-k", type=int, default=20, metavar="K", help="longest: 2K tokens")
    parser.add_argument("--seed", type=int, default=0, help="seed of the starting point")
    given = parser.parse_args(arguments)
    findings = Findings("figure2", given.output, settings_of(given))
    lengths = range(1, given.max_k + 1)
    with progress(findings.console) as bar:
        rows = [measure(k, given.seed) for k in bar.track(lengths, description="training")]
    cells = [
        [
            str(row["k"]),
            f"{row['decoding_expected']:.6f}",
            f"{row['decoding_probability']:.6f}",
            "0.75",
            f"{row['training_probability']:.6f}",
            f"{row['entropy']:.4f}",
            f"{row['training_nll']:.4f}",
            f"{row['decoding_nll']:.4f}",
        ]
        for row in rows
    ]
    probabilities = ("1/(1+3^-k)", "P decoding", "P data", "P training")
    losses = ("entropy", "NLL training", "NLL decoding")
    title = "Figure 2: P((ac)^k) and negative log-likelihood (nats)"
    findings.table(ResultTable(title, ("k", *probabilities, *losses), cells))
    gap = max(row["training_nll"] - row["entropy"] for row in rows)
    error = max(abs(row["decoding_probability"] - row["decoding_expected"]) for row in rows)
    holds = gap <= TOLERANCE and error <= TOLERANCE
    findings.note(
        f"Constrained training: at most {gap:.1e} nats above the entropy of the data (allowed: "
        f"{TOLERANCE}). Constrained decoding: at most {error:.1e} away from 1/(1+3^-k)."
    )
    findings.values |= {"rows": rows, "largest_gap": gap, "largest_error": error, "holds": holds}
    picture = given.output / "figure2.svg"
    draw(rows, picture)
    findings.picture(picture)
    findings.write()
    return holds


if __name__ == "__main__":
    raise SystemExit(not main())
