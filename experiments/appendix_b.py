"""Appendix B: forward and backward variables and marginals of a second-order example, by hand.

The sentence is "Peter goes to Britain and France annually ." with labels P, O and L, eight features
of words and labels, and the pattern LOL at the sixth word; every weight is 1. The forward variable
of a state is the log-partition of a beginning of the sentence that ends there; the backward
variable of what was read is that of the rest, from the state where reading it leads. Both come from
the kernel that trains and decodes, by conditioning on states.

Three cells of table 12 cannot be as printed. P and L weigh nothing at the third and the seventh
word, so α(3, P) = α(3, L) and α(7, P) = α(7, L), printed as 3.10, 3.12 and 9.60, 9.59; and
α(3, O) = e³ + 3e² + 2e = exp 3.865 is printed as 3.87. (With them the third row would add up to
4.66, where the fourth, right again, says 4.65.) All forward variables are therefore also added up
over all labellings, from their definition. Exits with 1 if any other decimal differs.

    python experiments/appendix_b.py
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from common import Findings, ResultTable, options, settings_of

from trelliswork import inference
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.patterns import Patterns
from trelliswork.inference.pattern_posteriors import pattern_marginals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SOURCE = "Cuong, Ye, Lee and Chieu, CRF with High-order Dependencies (JMLR 2014)"
WORDS = ("Peter", "goes", "to", "Britain", "and", "France", "annually", ".")
LABELS = "POL"
LETTER_PATTERNS = ("P", "O", "L", "LOL")
# Which label the feature of each word speaks for: table 10, features 1 to 8.
SPOKEN_FOR = "POOLOLOO"
STATES = ("ε", "P", "O", "L", "LO")
READ = ("P", "O", "L", "PP", "PO", "PL", "OP", "OO", "OL", "LP", "LO", "LL", "LOP", "LOO", "LOL")
LOG_Z = 12.696
TOLERANCE = 1e-12  # of a logarithm, against the sum over all labellings

NEVER = -np.inf
TABLE_12 = [
    [NEVER, 1.00, 0.00, 0.00, NEVER],
    [NEVER, 1.55, 2.31, 1.55, 1.00],
    [NEVER, 3.10, 3.87, 3.12, 2.55],
    [NEVER, 4.65, 4.42, 5.65, 3.10],
    [NEVER, 6.21, 6.35, 6.21, 6.65],
    [NEVER, 7.76, 7.52, 9.21, 6.21],
    [NEVER, 9.60, 9.45, 9.59, 10.21],
    [NEVER, 11.14, 11.91, 11.14, 10.59],
]
# Where table 12 contradicts itself; see above.
MISPRINTED = {(3, "O"), (3, "L"), (7, "P")}
# Table 13 has one value a row, but for what ends in L at the fifth word, and LO at the sixth.
TABLE_13 = [
    [
        6.66 if j == 5 and read[-1] == "L" else 5.34 if j == 6 and read == "LO" else value
        for read in READ
    ]
    for j, value in enumerate((12.70, 11.14, 9.59, 8.04, 6.21, 4.65, 3.10, 1.55), start=1)
]
TABLE_14 = [
    [0.58, 0.21, 0.21, 0.00],
    [0.21, 0.58, 0.21, 0.00],
    [0.21, 0.58, 0.21, 0.03],
    [0.16, 0.16, 0.68, 0.08],
    [0.16, 0.68, 0.16, 0.01],
    [0.16, 0.16, 0.68, 0.39],
    [0.21, 0.58, 0.21, 0.01],
    [0.21, 0.58, 0.21, 0.08],
]

PATTERNS = Patterns.named([tuple(pattern) for pattern in LETTER_PATTERNS], LABELS)
MODEL = PATTERNS.automaton()


def weights_by_word() -> NDArray[np.float64]:
    """Return table 11: what each pattern weighs at each word, shape ``(8, 4)``."""
    weights = np.zeros((len(WORDS), len(PATTERNS)))
    weights[np.arange(len(WORDS)), [LABELS.index(label) for label in SPOKEN_FOR]] = 1.0
    weights[WORDS.index("France"), LETTER_PATTERNS.index("LOL")] = 1.0
    return weights


def trellis(first: int, last: int, start: int, end: int | None) -> inference.Trellis:
    """Return words ``first`` to ``last`` on paths from one state to another, or to any."""
    states = np.arange(MODEL.n_states)
    conditioned = Automaton._from_arrays(
        MODEL._arrays()._replace(
            initial=np.where(states == start, 0.0, -np.inf),
            final=np.where((end is None) | (states == end), 0.0, -np.inf),
        )
    )
    weights = weights_by_word()[first:last]
    return inference.Trellis(
        np.zeros((last - first, len(LABELS))), conditioned, position_weights=weights
    )


def state_after(read: str) -> int:
    """Return the state that reading labels leads to."""
    endings = (read[i:] for i in range(len(read)))
    return next(STATES.index(ending) for ending in endings if ending in STATES)


def forward() -> NDArray[np.float64]:
    """Return ``ln α(j, p)``, shape ``(8, 5)``: beginnings of j words that end in state p."""
    return np.array(
        [
            [_log_partition(0, j, 0, state) for state in range(len(STATES))]
            for j in range(1, len(WORDS) + 1)
        ]
    )


def forward_by_enumeration() -> NDArray[np.float64]:
    """Return the same, with no automaton: over all labellings, by their endings, shape (8, 5)."""
    weights = weights_by_word()
    sums = np.zeros((len(WORDS), len(STATES)))
    for n_words in range(1, len(WORDS) + 1):
        for letters in itertools.product(LABELS, repeat=n_words):
            read = "".join(letters)
            score = sum(
                weights[j, z]
                for j in range(n_words)
                for z, pattern in enumerate(LETTER_PATTERNS)
                if read[: j + 1].endswith(pattern)
            )
            sums[n_words - 1, state_after(read)] += np.exp(score)
    with np.errstate(divide="ignore"):
        return np.log(sums)


def backward() -> NDArray[np.float64]:
    """Return ``ln β(j, s)``, shape ``(8, 15)``: words from the j-th on, after s was read."""
    return np.array(
        [
            [_log_partition(j, len(WORDS), state_after(read), None) for read in READ]
            for j in range(len(WORDS))
        ]
    )


def _log_partition(first: int, last: int, start: int, end: int | None) -> float:
    return float(inference.log_partition(trellis(first, last, start, end), n_jobs=1)[0])


def side_by_side(
    title: str, columns: Sequence[str], paper: list[list[float]], ours: NDArray[np.float64]
) -> ResultTable:
    """Return a table of cells "paper / ours"; where there are many columns, they are the rows."""
    rows = [
        [f"{printed:.2f} / {own:.2f}" for printed, own in zip(*pair, strict=True)]
        for pair in zip(paper, ours.tolist(), strict=True)
    ]
    words = [f"{j} {word}" for j, word in enumerate(WORDS, start=1)]
    corner = "j"
    if len(columns) > len(words):
        rows, corner = [list(column) for column in zip(*rows, strict=True)], "s"
        words, columns = list(columns), [word.split()[0] for word in words]
    named = [[name, *row] for name, row in zip(words, rows, strict=True)]
    return ResultTable(f"{title} (paper / ours)", (corner, *columns), named)


def differences(
    columns: Sequence[str], paper: list[list[float]], ours: NDArray[np.float64]
) -> set[tuple[int, str]]:
    """Return the cells that differ in the printed decimals, as (j, column)."""
    return {
        (j, column)
        for j, pair in enumerate(zip(paper, ours.tolist(), strict=True), start=1)
        for column, printed, own in zip(columns, *pair, strict=True)
        if f"{printed:.2f}" != f"{own:.2f}"
    }


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether every printed decimal agrees."""
    given = options(__doc__).parse_args(arguments)
    findings = Findings("appendix_b", given.output, settings_of(given))
    findings.note(f"Paper: {SOURCE}, appendix B.")
    whole = trellis(0, len(WORDS), 0, None)
    log_z = float(inference.log_partition(whole, n_jobs=1)[0])
    enumerated = forward_by_enumeration()
    tables = {
        "12": ("Table 12: ln α(j, p)", STATES, TABLE_12, forward()),
        "13": ("Table 13: ln β(j, s)", READ, TABLE_13, backward()),
        "14": (
            "Table 14: P(j, j, z | x)",
            LETTER_PATTERNS,
            TABLE_14,
            pattern_marginals(whole, n_jobs=1)[:, 0],
        ),
    }
    wrong = {}
    for name, (title, columns, paper, ours) in tables.items():
        findings.table(side_by_side(title, columns, paper, ours))
        wrong[name] = differences(columns, paper, ours)
        findings.values[f"table {name}"] = {
            "columns": columns,
            "paper": [[_finite(value) for value in row] for row in paper],
            "ours": [[_finite(value) for value in row] for row in ours.tolist()],
            "differences": sorted(wrong[name]),
        }
    findings.note(f"ln Z: {LOG_Z} in the paper, ours {log_z:.6f}.")
    there = np.isfinite(enumerated)
    error = float(np.abs(tables["12"][3][there] - enumerated[there]).max())
    findings.note(f"Table 12 is that of all labellings, added up: largest error {error:.0e}.")
    agrees = f"{log_z:.3f}" == f"{LOG_Z:.3f}" and error < TOLERANCE
    holds = agrees and wrong == {"12": MISPRINTED, "13": set(), "14": set()}
    n_numbers = 1 + sum(len(table[2]) * len(table[1]) for table in tables.values())
    findings.note(
        f"{n_numbers - len(MISPRINTED)} of {n_numbers} numbers agree to the printed decimals. The "
        f"others, {_cells(MISPRINTED)} of table 12, contradict the paper's own definition."
        if holds
        else "NOT the paper's numbers: "
        + "; ".join(f"table {name}: {_cells(cells)}" for name, cells in wrong.items())
    )
    findings.values |= {
        "log_z": {"paper": LOG_Z, "ours": log_z},
        "error_to_enumeration": error,
        "holds": holds,
    }
    findings.write()
    return holds


def _cells(cells: set[tuple[int, str]]) -> str:
    return ", ".join(f"({j}, {column})" for j, column in sorted(cells)) or "none"


def _finite(value: float) -> float | None:
    """Return a number as JSON has it, which knows no infinity."""
    return value if np.isfinite(value) else None


if __name__ == "__main__":
    raise SystemExit(not main())
