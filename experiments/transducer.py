"""Appendix C: the weighted-transducer construction gives the same distribution.

A labelling s₁ s₂ … s_n is written as its bigrams (s₁, s₂), (s₂, s₃), …, (s_n, $). From an
unambiguous automaton M of the language L, the automaton of these bigram strings has the states
(q, a): M is in q and the next label is a. An edge that emits (a, b) at position i weighs (eq. 13)

    g(a, b) + h(x, a, i)   if b is a label,      h(x, a, i)   if b = $

and nothing else, whatever its states. Here that transducer is built and summed over edge by edge in
plain Python, without our product or kernel, for random languages and scores; the log-probability of
every labelling is compared with ours, and with that of enumeration, where Python's `re` decides
which labellings are in the language.

    python experiments/transducer.py --cases 200
"""

from __future__ import annotations

import itertools
import math
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from common import Findings, ResultTable, options, progress, settings_of
from explicit import Parameters
from languages import random_expression, random_letters

from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import product

if TYPE_CHECKING:
    from collections.abc import Sequence

State: TypeAlias = tuple[int, int] | str
START: State = "start"
STOP: State = "stop"
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Edge:
    """An edge of the transducer: it emits the bigram (first, second); second -1 is the end."""

    source: State
    first: int
    second: int
    target: State


def bigram_edges(language: Automaton) -> list[Edge]:
    """Return the transducer of the bigram strings of a language."""
    arcs = list(
        zip(
            language.source.tolist(), language.label.tolist(), language.target.tolist(), strict=True
        )
    )
    follows: dict[int, set[int]] = {}
    for source, label, _ in arcs:
        follows.setdefault(source, set()).add(label)
    initial = set(np.flatnonzero(np.isfinite(language.initial)).tolist())
    final = set(np.flatnonzero(np.isfinite(language.final)).tolist())
    edges = []
    for source, label, target in arcs:
        # Reading starts at once with the first bigram, from all initial states.
        sources: list[State] = [(source, label)]
        if source in initial:
            sources.append(START)
        for state in sources:
            edges += [
                Edge(state, label, after, (target, after)) for after in follows.get(target, ())
            ]
            if target in final:
                edges.append(Edge(state, label, -1, STOP))
    return edges


def weight(edge: Edge, parameters: Parameters, position: int) -> float:
    """Return the weight of an edge at a position, equation 13."""
    emission = float(parameters.emissions[position, edge.first])
    if edge.second < 0:
        return emission
    return float(parameters.transitions[edge.first, edge.second]) + emission


def log_sum(values: list[float]) -> float:
    """Return ``log Σ exp``."""
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))


def total(
    edges: list[Edge], parameters: Parameters, labelling: Sequence[int] | None = None
) -> float:
    """Sum over the paths of ``T`` edges in the log semiring; those of one labelling if given."""
    n = len(parameters.emissions)
    reached: dict[State, list[float]] = {START: [0.0]}
    for position in range(n):
        following: dict[State, list[float]] = {}
        for edge in edges:
            last = position == n - 1
            if edge.source not in reached or (edge.second < 0) is not last:
                continue
            if labelling is not None:
                bigram = (labelling[position], -1 if last else labelling[position + 1])
                if bigram != (edge.first, edge.second):
                    continue
            value = log_sum(reached[edge.source]) + weight(edge, parameters, position)
            following.setdefault(edge.target, []).append(value)
        reached = following
    return log_sum(reached[STOP]) if STOP in reached else -math.inf


def compare(seed: int) -> tuple[int, float, float] | None:
    """Compare the three distributions on one random case.

    Returns
    -------
    tuple or None
        How many labellings there are, and the largest difference of a log-probability between ours
        and the transducer's, and between ours and enumeration; None where the language has no
        labelling of the length drawn.
    """
    generator = random.Random(seed)
    letters = random_letters(generator)
    expression = random_expression(generator, letters)
    n = generator.randint(1, 5)
    pattern = re.compile(expression.replace(" ", ""))
    ids = range(len(letters))
    inside = [
        labelling
        for labelling in itertools.product(ids, repeat=n)
        if pattern.fullmatch("".join(letters[i] for i in labelling))
    ]
    if not inside:
        return None
    draw = np.random.default_rng(seed)
    scale = 10.0 ** draw.integers(0, 3)
    parameters = Parameters(
        draw.normal(0.0, scale, (n, len(letters))),
        draw.normal(0.0, scale, (len(letters), len(letters))),
    )
    language = Automaton.from_regex(expression, list(letters))
    labellings = np.array(inside, dtype=np.int32)
    model = product(Automaton.chain(len(letters)), language).automaton
    ours = parameters.log_probabilities(labellings, model)
    edges = bigram_edges(language)
    log_z = total(edges, parameters)
    transducer = np.array([total(edges, parameters, y) for y in inside]) - log_z
    scores = parameters.scores(labellings)
    enumerated = scores - log_sum(scores.tolist())
    # Sums of scores round in proportion to their size.
    size = max(1.0, float(np.abs(scores).max()))
    return (
        len(inside),
        float(np.abs(ours - transducer).max() / size),
        float(np.abs(ours - enumerated).max() / size),
    )


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether the distributions agree."""
    parser = options(__doc__)
    parser.add_argument("--cases", type=int, default=200, help="random languages to try")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    given = parser.parse_args(arguments)
    findings = Findings("transducer", given.output, settings_of(given))
    found = []
    with progress(findings.console) as bar:
        for seed in bar.track(range(given.seed, given.seed + given.cases), description="comparing"):
            case = compare(seed)
            if case is not None:
                found.append(case)
    labellings = sum(n for n, _, _ in found)
    to_transducer = max(difference for _, difference, _ in found)
    to_enumeration = max(difference for _, _, difference in found)
    rows = [
        ["weighted transducer (appendix C)", "identical", f"{to_transducer:.1e}"],
        ["enumeration", "-", f"{to_enumeration:.1e}"],
    ]
    title = f"Largest difference of log p(y), {len(found)} languages, {labellings} labellings"
    findings.table(ResultTable(title, ("ours against", "paper", "difference"), rows))
    findings.note("Differences are relative to the largest score where that is above 1.")
    holds = max(to_transducer, to_enumeration) <= TOLERANCE
    findings.values |= {
        "languages": len(found),
        "labellings": labellings,
        "difference_to_transducer": to_transducer,
        "difference_to_enumeration": to_enumeration,
        "holds": holds,
    }
    findings.write()
    return holds


if __name__ == "__main__":
    raise SystemExit(not main())
