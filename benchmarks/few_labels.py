"""Decoding under all rules of a reference, and learning from unlabelled ones.

A hidden Markov model is trained on 20 references of Cora, and `examples/citation_rules.txt` applied
to Cora dev with penalties counted (L+wCI): exact decoding, with a proof for every answer, beside
Viterbi without rules and beam search at widths 10 and 100, all on the same scores, in one run.
Then constraint-driven learning on 1,000 unlabelled references, cycle by cycle.

    python benchmarks/few_labels.py [--data DIR] [--labelled 20] [--repeats 15]
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from common import data_directory, machine, markdown_table, peak_megabytes, write_results
from constraints import milliseconds

import trelliswork as tw
from trelliswork.decoding.prefixes import search_batch
from trelliswork.decoding.prices import priced_batch
from trelliswork.inference import viterbi
from trelliswork.proofs.answer import OPTIMAL

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = Path(__file__).parent.parent / "examples" / "citation_rules.txt"
WIDTHS = (10, 100)
TABLE_1 = ("starts_with", "at_most", "changes_only_at", "where")
"""Words of the rules that the table of the paper has; the file has more."""
UNLABELLED = 1000
BASES = {
    "HMM": lambda **options: tw.HMMTagger(**options),
    "CRF": lambda **options: tw.CRFTagger(features="citation", **options),
}


def references(data: Path, name: str, part: str = "train") -> list[tw.Sentence]:
    """Return the references of a data set."""
    (path,) = sorted((data / name).glob(f"{part}.conll*"))
    return list(tw.read_conll(path, ("word", "label")))


def measure_decoding(tagger: tw.HMMTagger, dev: list[tw.Sentence], repeats: int) -> dict[str, Any]:
    """Decode a set of references in every way."""
    plan, free = tagger.plan_, tagger.model_.trellis(dev)
    evidence = plan.evidence(dev, free.offsets)
    calls: dict[str, Callable[[], Any]] = {
        "viterbi": lambda: viterbi(free, n_jobs=1),
        "exact": lambda: priced_batch(plan, free, evidence, n_jobs=1),
    }
    for width in WIDTHS:
        calls[f"beam_{width}"] = lambda width=width: search_batch(
            plan, free, evidence, method="beam", width=width, n_jobs=1
        )
    answers = {name: call() for name, call in calls.items()}
    gold = [y for sentence in dev for y in sentence.labels]
    best = answers["exact"].scores
    return {
        "references": len(dev),
        "tokens": len(gold),
        "rules": len(plan.constraints),
        "certified": float(np.mean(answers["exact"].status == OPTIMAL)),
        "milliseconds": milliseconds(calls, repeats),
        "accuracy": {
            name: float(np.mean(np.array(plan.names(own.tags)) == gold))
            for name, own in answers.items()
        },
        "missed": {
            name: float(np.mean(own.scores < best - 1e-6))
            for name, own in answers.items()
            if name.startswith("beam")
        },
        "from_text_milliseconds": milliseconds(
            {
                "viterbi": lambda: tagger.with_constraints(()).predict(dev),
                "exact": lambda: tagger.predict(dev),
            },
            repeats,
        ),
    }


def measure_cycles(
    labelled: list[tw.Sentence], pool: list[tw.Sentence], rules: list[Any], names: list[str]
) -> dict[str, Any]:
    """Learn from unlabelled references; return what a cycle takes."""
    found = {}
    for name, make in BASES.items():
        base = make(constraints=rules, training="L+wCI", labels=names)
        tagger = tw.CODLTagger(base, cycles=3, tol=0.0).fit(labelled, unlabelled=pool)
        ends = [cycle.seconds for cycle in tagger.curve_]
        found[name] = {"supervised": ends[0], "cycle": float(np.median(np.diff(ends)))}
    return found


def main() -> None:
    """Run everything and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="directory of the data sets")
    parser.add_argument("--labelled", type=int, default=20, help="labelled references")
    parser.add_argument("--repeats", type=int, default=15, help="measurements of each call")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    data = data_directory(options.data)
    train, dev = references(data, "cora"), references(data, "cora", "dev")
    order = np.random.default_rng(0).permutation(len(train))
    labelled = [train[i] for i in order[: options.labelled]]
    names = sorted({y for sentence in train for y in sentence.labels})
    rules = tw.read_rules(RULES)
    pool = [train[i] for i in order[options.labelled :]]
    pool += references(data, "umass_citation")[: UNLABELLED - len(pool)]
    of_table = [rule for rule in rules if repr(rule).startswith(TABLE_1)]
    results: dict[str, Any] = {
        "labelled": options.labelled,
        **{
            name: measure_decoding(
                tw.HMMTagger(constraints=own, training="L+wCI", labels=names).fit(labelled),
                dev,
                options.repeats,
            )
            for name, own in (("table_1", of_table), ("all_rules", rules))
        },
        "unlabelled": len(pool),
        "cycles": measure_cycles(labelled, pool, rules, names),
    }
    parts = []
    for name in ("table_1", "all_rules"):
        decoding = results[name]
        plain = decoding["milliseconds"]["viterbi"]
        rows = [
            [
                title,
                f"{decoding['milliseconds'][key]:.2f} ms",
                f"{decoding['milliseconds'][key] / plain:.1f}×",
                f"{100 * decoding['accuracy'][key]:.2f}%",
                "" if key not in decoding["missed"] else f"{100 * decoding['missed'][key]:.0f}%",
            ]
            for key, title in (
                ("viterbi", "Viterbi, no rules"),
                ("exact", "exact, with proofs"),
                *((f"beam_{width}", f"beam search, width {width}") for width in WIDTHS),
            )
        ]
        whole = decoding["from_text_milliseconds"]
        parts += [
            f"{decoding['rules']} rules"
            + (", those of table 1:" if name == "table_1" else ", all of the file:"),
            markdown_table(["", "time", "ratio", "tokens right", "not the best"], rows),
            f"{100 * decoding['certified']:.0f}% proven optimal. From text to answers on all "
            f"cores: {whole['viterbi']:.1f} ms without rules, {whole['exact']:.1f} ms with.",
        ]
    notes = [
        f"Soft rules with counted penalties on an HMM of {options.labelled} references, decoding "
        f"{decoding['references']} references of Cora dev ({decoding['tokens']:,} tokens) from "
        "scores to answers on one thread.",
        *parts,
        *(
            f"A cycle of constraint-driven learning on {results['unlabelled']:,} unlabelled "
            f"references under all rules, {name}: {spent['cycle']:.2f} s (learning from the "
            f"labelled ones: {spent['supervised']:.2f} s)."
            for name, spent in results["cycles"].items()
        ),
    ]
    results |= {"peak_megabytes": peak_megabytes(), "machine": machine("trelliswork", "numpy")}
    write_results("few_labels", results, "\n\n".join(notes))


if __name__ == "__main__":
    main()
