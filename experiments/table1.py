"""Table 1: constrained training and constrained decoding may disagree about the best labelling.

The language is acd | bcd | bce, with probabilities 0.4, 0.3 and 0.3. An unconstrained CRF predicts
the first and the last label independently, as the middle one is always c: decoded under the
constraint its mode is bcd, the majority prefix with the majority suffix, not acd, the mode of the
data. Training under the constraint finds the data distribution.

The input is constant and every position has emission scores of its own; the loss is the exact
expectation over the three labellings, without regulariser, minimised by L-BFGS.

    python experiments/table1.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from common import Findings, ResultTable, options, settings_of
from explicit import Distribution, fit

from trelliswork import inference
from trelliswork.automata.automaton import Automaton

if TYPE_CHECKING:
    from collections.abc import Sequence

LANGUAGE = Automaton.from_regex("a c d | b c d | b c e", ["a", "b", "c", "d", "e"])
DATA = {"acd": 0.4, "bcd": 0.3, "bce": 0.3}
PAPER = {
    "constrained decoding": {"acd": 0.32, "bcd": 0.48, "bce": 0.20},
    "constrained training": {"acd": 0.40, "bcd": 0.30, "bce": 0.30},
}


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether both columns agree to two decimals."""
    parser = options(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of the starting point")
    given = parser.parse_args(arguments)
    findings = Findings("table1", given.output, settings_of(given))
    data = Distribution.of(LANGUAGE, DATA)
    constrained = data.constrained
    found: dict[str, dict[str, float]] = {}
    modes: dict[str, str] = {}
    for name, automaton in (
        ("constrained decoding", data.free),
        ("constrained training", constrained),
    ):
        parameters = fit(data, automaton, seed=given.seed)
        probabilities = np.exp(parameters.log_probabilities(data.labellings, constrained))
        found[name] = dict(zip(DATA, probabilities.tolist(), strict=True))
        trellis = inference.Trellis(
            parameters.emissions, constrained, weights=parameters.transitions
        )
        best = inference.viterbi(trellis, n_jobs=1).labels
        modes[name] = "".join((LANGUAGE.labels or ())[i] for i in best)
    header = ["y", "data"]
    for name in PAPER:
        header += [f"{name}, paper", "ours"]
    rows = []
    for string, probability in DATA.items():
        row = [string, f"{probability:.2f}"]
        for name, column in PAPER.items():
            row += [f"{column[string]:.2f}", f"{found[name][string]:.4f}"]
        rows.append(row)
    findings.table(ResultTable("Table 1: output distributions", header, rows))
    findings.note(
        f"Best labelling: {', '.join(f'{mode} ({name})' for name, mode in modes.items())}."
    )
    holds = all(
        round(found[name][string], 2) == value
        for name, column in PAPER.items()
        for string, value in column.items()
    )
    findings.note("All six numbers agree to two decimals." if holds else "NOT the paper's numbers.")
    findings.values |= {"data": DATA, "paper": PAPER, "ours": found, "modes": modes, "holds": holds}
    findings.write()
    return holds


if __name__ == "__main__":
    raise SystemExit(not main())
