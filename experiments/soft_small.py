"""Soft constraints on Cora and on addresses: the recipe of umass.py where there is little data.

A CRF with the features of cora.py and usaddress.py is trained on train. Rules (each label at most
once, counts of two labels, one before the other) are mined and their penalties learned

  halves        on one half of dev, scored on the other, both ways
  held out      on a third of train, by a CRF of the rest; the rules then go to the CRF of all of
                train, scored on all of dev

    python experiments/soft_small.py --data DIR
    python experiments/soft_small.py --data DIR --sets cora --quick
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from common import Findings, ResultTable, options, read_part, settings_of
from cora import RICH
from soft_rules import Settings, Task, apply, error_reduction, halves, learn, signed_rank
from usaddress import TEMPLATES as ADDRESSES

import trelliswork as tw

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from trelliswork.mining.families import Template

FEATURES = {"cora": RICH, "usaddress": ADDRESSES}
L2 = {"cora": 0.1, "usaddress": 0.01}
KINDS: dict[str, tuple[Template, ...]] = {
    "only-one": ("singleton",),
    "pairwise": ("pairwise",),
    "precedence": ("precedence",),
    "all": ("singleton", "pairwise", "precedence"),
}
SIGNIFICANT = 0.05


def train(name: str, sentences: list[tw.Sentence], given: Namespace) -> tw.CRFTagger:
    """Train the CRF of a data set."""
    tagger = tw.CRFTagger(
        features=FEATURES[name], l2=L2[name], max_iter=given.max_iter, scheme="plain"
    )
    return tagger.fit(sentences)


def from_held_out(
    name: str, sentences: list[tw.Sentence], task: Task, how: Settings, given: Namespace
) -> dict[str, tuple[list[list[str]], float, float]]:
    """Learn rules on a third of train: labels, how many rules, and the share of zeros."""
    order = np.random.default_rng(given.seed).permutation(len(sentences))
    held = [sentences[i] for i in np.sort(order[: len(order) // 3])]
    rest = [sentences[i] for i in np.sort(order[len(order) // 3 :])]
    other = Task.make(train(name, rest, given), held)
    found = {}
    for kind, templates in KINDS.items():
        learned = learn(other, np.arange(len(held)), templates, how)
        known = [rule.constraint for rule in learned.rules.active]
        predicted = task.tagger.with_constraints(known).predict(task.sentences)
        penalties = learned.penalties
        found[kind] = predicted, float(penalties.size), float((penalties == 0).mean())
    return found


def compare(name: str, given: Namespace, findings: Findings) -> dict[str, Any]:
    """Score all kinds of rules on one data set."""
    sentences = list(read_part(given.data, name, "train"))
    scored = list(read_part(given.data, name, given.eval))
    if given.quick:
        sentences, scored = sentences[:120], scored[:40]
    begun = time.perf_counter()
    task = Task.make(train(name, sentences, given), scored)
    how = Settings(cutoff=given.cutoff, c=given.c)
    base = task.report(task.predicted)
    rows = [["no rules", f"{100 * base.f1:.2f}", f"{100 * base.token_accuracy:.2f}", *[""] * 4]]
    values: dict[str, Any] = {"no rules": {"f1": base.f1, "tokens": base.token_accuracy}}
    found: dict[str, tuple[list[list[str]], float, float]] = {}
    for kind, templates in KINDS.items():
        outcome = apply(task, halves(len(scored), given.seed), templates, how)
        found[f"halves, {kind}"] = outcome.predicted, outcome.n_rules, outcome.sparsity
    for kind, outcome_of in from_held_out(name, sentences, task, how, given).items():
        found[f"held out, {kind}"] = outcome_of
    for kind, (predicted, n_rules, zeros) in found.items():
        report = task.report(predicted)
        gain, p = error_reduction(base.f1, report.f1), signed_rank(base, report)
        values[kind] = {"f1": report.f1, "tokens": report.token_accuracy, "rules": n_rules}
        values[kind] |= {"error_reduction": gain, "p": p, "sparsity": zeros}
        shown = [f"{100 * report.f1:.2f}", f"{100 * report.token_accuracy:.2f}"]
        shown += [f"{100 * gain:.1f}", f"{p:.2g}", f"{n_rules:.0f}", f"{100 * zeros:.0f}"]
        rows.append([kind, *shown])
    header = ("rules", "F1", "tokens %", "errors gone %", "p", "rules", "zero %")
    title = f"{name}: {len(scored)} sequences of {given.eval}, trained on {len(sentences)}"
    findings.table(ResultTable(title, header, rows))
    values["seconds"] = time.perf_counter() - begun
    clear = [
        kind
        for kind, one in values.items()
        if isinstance(one, dict) and one.get("p", 1.0) < SIGNIFICANT and one["error_reduction"] > 0
    ]
    findings.note(
        f"{name}: significantly better than no rules: {', '.join(clear) or 'nothing'} "
        "(Wilcoxon's signed-rank test on the F1 of each sequence)."
    )
    return values


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; it claims nothing, so it holds whenever it runs."""
    parser = options(__doc__, data=True)
    parser.add_argument("--sets", nargs="*", choices=tuple(FEATURES), default=list(FEATURES))
    parser.add_argument("--cutoff", type=float, default=2.75, help="least importance of a rule")
    parser.add_argument("--c", type=float, default=1.0, help="of the structured SVM")
    parser.add_argument("--max-iter", type=int, default=200, help="most iterations of training")
    parser.add_argument("--seed", type=int, default=0, help="seed of the divisions")
    parser.add_argument("--quick", action="store_true", help="little data, for a check")
    given = parser.parse_args(arguments)
    if given.quick:
        given.max_iter = min(given.max_iter, 40)
    findings = Findings("soft_small", given.output, settings_of(given))
    findings.values["learning"] = asdict(Settings(cutoff=given.cutoff, c=given.c))
    for name in given.sets:
        findings.values[name] = compare(name, given, findings)
    findings.note("The paper has no such experiment: it left Cora out as too small.")
    findings.write()
    return True


if __name__ == "__main__":
    raise SystemExit(not main())
