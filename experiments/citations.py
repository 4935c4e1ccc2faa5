"""The parser of references on real ones: as it ships, adapted, and trained on each set itself.

  shipped       the model in the package, which has never seen a reference of these sets
  adapted       the same after `trelliswork cite adapt` on the text of train, without labels
  trained       a CRF with the features of the parser, on the labels of train

Shipped and adapted models are scored in labels in common (citation_sets.py), trained ones in those
of the set. Rates are of tagging on one thread, without reading and writing; the first table has
those from text to BibTeX.

    python experiments/citations.py --data DIR
    python experiments/citations.py --data DIR --sets cora --quick
"""

from __future__ import annotations

import os
import time
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from citation_scores import Scores, runs, score_parser
from citation_sets import SETS
from citation_training import OWN, train_own
from common import Findings, ResultTable, options, read_part, settings_of

import trelliswork as tw
from trelliswork.citations.adaptation import adapt
from trelliswork.citations.fields import to_plain
from trelliswork.citations.parser import Parser, model_path
from trelliswork.citations.readings import Reader
from trelliswork.citations.writing import FORMATS

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from citation_sets import CitationSet

HEADER = ("", "tokens %", "field F1", "whole %", "impossible %", "references/s")
BARS = {"cora": 0.93, "umass_citation": 0.935, "anystyle": 0.80}
"""Field F1 of models trained on the set itself, at least."""

LEAST_SHIPPED = 0.75
MAX_LOST = 0.005
EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


def load_shipped() -> tw.CRFTagger:
    """Return the model that ships with the package."""
    with model_path(None) as path:
        tagger = tw.load(path)
    assert isinstance(tagger, tw.CRFTagger)
    tagger.n_jobs = 1
    return tagger


def compare(
    kind: CitationSet, shipped: tw.CRFTagger, given: Namespace, findings: Findings
) -> dict[str, Scores]:
    """Score all models on one set."""
    train = list(read_part(given.data, kind.name, "train"))
    scored = list(read_part(given.data, kind.name, given.eval))
    if given.quick:
        train, scored = train[:100], scored[:50]
    texts = [tw.Sentence(kind.cut(reference.tokens)[0]) for reference in train]
    found: dict[str, Scores] = {}
    began = time.perf_counter()
    adapted = adapt(shipped, texts)
    seconds = time.perf_counter() - began
    for name, tagger in (("shipped", shipped), ("adapted", adapted)):
        free = tagger.with_constraints(())
        found[f"{name}, no rules"] = score_parser(free, kind, scored)
        found[name] = score_parser(tagger, kind, scored)
    if kind.name in OWN:
        found |= train_own(kind.name, train, scored, quick=given.quick)
    title = f"{kind.name}: {len(scored)} references of {given.eval}, {len(train)} of train"
    rows = [[name, *scores.row()] for name, scores in found.items()]
    findings.table(ResultTable(title, HEADER, rows))
    findings.note(f"{kind.name}: adapted in {seconds:.1f} s.")
    return found


def calibration(shipped: tw.CRFTagger, given: Namespace, findings: Findings) -> list[Any]:
    """Compare how sure the shipped model is of fields with how often they are right."""
    reader = Reader(shipped)
    sure: list[float] = []
    right: list[bool] = []
    for kind in SETS:
        scored = list(read_part(given.data, kind.name, given.eval))[: 50 if given.quick else None]
        for reference in scored:
            tokens, starts = kind.cut(reference.tokens)
            (reading,) = reader.read([tw.Sentence(tokens)])
            gold = runs(kind.gold([str(label) for label in reference.labels or ()]))
            labels = to_plain(reading.labels, shipped.labels_.scheme)
            said = kind.predicted(reference.tokens, [labels[i] for i in starts])
            place = {first: i for i, first in enumerate(starts)}
            chance = {
                i: confidence
                for (first, last, _), confidence in zip(
                    reading.spans, reading.confidences, strict=True
                )
                for i in (place.get(t) for t in range(first, last))
                if i is not None
            }
            for span in runs(said):
                sure.append(min(chance[i] for i in range(span[0], span[1])))
                right.append(span in gold)
    chances, hits = np.array(sure), np.array(right)
    rows, values = [], []
    for low, high in pairwise(EDGES):
        own = (chances >= low) & ((chances < high) | (high == 1.0))
        if not own.any():
            continue
        values.append(
            [low, high, int(own.sum()), float(chances[own].mean()), float(hits[own].mean())]
        )
        shown = [f"{100 * share:.1f}" for share in values[-1][3:]]
        rows.append([f"{low:.2f} to {high:.2f}", f"{own.sum():,}", *shown])
    header = ("confidence", "fields", "mean confidence %", "right %")
    title = f"Calibration of the shipped model: fields of all sets, {given.eval}"
    findings.table(ResultTable(title, header, rows))
    return values


def rates(given: Namespace, findings: Findings) -> dict[str, float]:
    """Time the way from text to BibTeX, on one core: the median of three times."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    parser = Parser.load()
    parser.tagger.n_jobs = 1
    values: dict[str, float] = {}
    rows = []
    for kind in SETS:
        scored = list(read_part(given.data, kind.name, given.eval))
        text = "\n".join(" ".join(reference.tokens) for reference in scored)
        seconds = []
        for _ in range(4):
            began = time.perf_counter()
            FORMATS["bibtex"](parser.parse(text, by_field=False))
            seconds.append(time.perf_counter() - began)
        values[kind.name] = len(scored) / median(seconds[1:])  # the first one compiles rules
        rows.append([kind.name, f"{len(scored)}", f"{values[kind.name]:,.0f}"])
    os.sched_setaffinity(0, cores)
    header = ("", "references", "references/s")
    findings.table(ResultTable("From text to BibTeX, on one core", header, rows))
    return values


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; return whether it shows what it is to show."""
    parser = options(__doc__, data=True)
    names = tuple(kind.name for kind in SETS)
    parser.add_argument("--sets", nargs="*", choices=names, default=list(names))
    parser.add_argument("--quick", action="store_true", help="a few references of each set")
    given = parser.parse_args(arguments)
    findings = Findings("citations", given.output, settings_of(given))
    # First, while there is nothing else for Python's collector of garbage to look at.
    findings.values["text_to_bibtex"] = rates(given, findings)
    shipped = load_shipped()
    found = {
        kind.name: compare(kind, shipped, given, findings)
        for kind in SETS
        if kind.name in given.sets
    }
    findings.values["scores"] = {
        name: {model: scores.values() for model, scores in own.items()}
        for name, own in found.items()
    }
    findings.values["calibration"] = calibration(shipped, given, findings)
    claims = {
        "shipped model: at least 75% of tokens on each set": all(
            own["shipped"].tokens >= LEAST_SHIPPED for own in found.values()
        ),
        "adaptation: better on average": sum(
            own["adapted"].tokens - own["shipped"].tokens for own in found.values()
        )
        > 0,
        "adaptation: no set loses more than half a point": all(
            own["adapted"].tokens >= own["shipped"].tokens - MAX_LOST for own in found.values()
        ),
        "no impossible records with rules": all(
            own[name].impossible == 0 for own in found.values() for name in ("shipped", "adapted")
        ),
        **{
            f"{name}: field F1 of {100 * bar:g} or more, trained on its own": (
                found[name]["trained"].fields >= bar
            )
            for name, bar in BARS.items()
            if name in found
        },
    }
    for claim, holds in claims.items():
        findings.note(f"{'holds' if holds else 'MISSED'}: {claim}")
    findings.values["claims"] = claims
    findings.write()
    return all(claims.values()) or given.quick


if __name__ == "__main__":
    raise SystemExit(0 if main() else 1)
