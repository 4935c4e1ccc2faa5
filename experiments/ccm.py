"""Few labels, rules and unlabelled text (Chang, Ratinov and Roth 2008): tables 2 and 3.

References of Cora, 5, 10, 20 or 300 of them labelled, mean token accuracy over draws of these. The
rules are those of examples/citation_rules.txt. The unlabelled text is what is left of Cora's
training set, filled up with references of umass_citation and grobid_citation (their labels are
dropped), never of the part reported on.

  table 2       hidden Markov models: without rules, and with penalties counted (L+wCI);
                supervised, and semi-supervised (CODL; without rules this is self-training)
  table 3       perceptrons on the same words and shapes: L, L+CI, L+wCI, CIBT, wCIBT
  CRF           the same with a CRF over all features there are for references, and CODL. Its CIBT
                leaves out references that break a rule; under wCIBT penalties are learned by a
                perceptron after the weights, as the likelihood knows no rules that count tokens
  ablation      HMM, L+wCI, 20 labels: each group of rules left out, and alone
  usaddress     a second domain, for the advertisements of the paper: addresses

Rules and settings were chosen by the accuracy on what was not drawn of Cora's training set.

    python experiments/ccm.py --data DIR
    python experiments/ccm.py --data DIR --parts table2 ablation --seeds 10
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccm_tables import (
    ABLATION_SIZE,
    ADDRESS_SIZES,
    ALL_ADDRESSES,
    PROTOCOLS_OF,
    SIZES,
    ablation_settings,
    address_table,
    claims,
    compared_table,
    draw_curves,
    protocol_table,
    protocols,
    show_ablation,
)
from ccm_trials import Setting, Source, means, run_all
from common import Findings, add_seeds, options, settings_of

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

PARTS = ("table2", "table2_ws", "table3", "crf", "ablation", "usaddress")
QUICK_SIZES = {"cora": (5, 20), "cora_ws": (5,), "usaddress": (5,)}


def parse(arguments: Sequence[str] | None) -> Namespace:
    """Read the options."""
    parser = options(__doc__, data=True)
    add_seeds(parser, 5, "draws of the labelled set (default: 5)")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS, help="what to run")
    parser.add_argument(
        "--unlabelled", type=int, default=1000, metavar="N", help="sentences (default: 1000)"
    )
    parser.add_argument("--parallel", type=int, default=2, metavar="N", help="processes")
    parser.add_argument("--quick", action="store_true", help="little of everything, for a check")
    given = parser.parse_args(arguments)
    if given.quick:
        given.seeds, given.unlabelled = min(given.seeds, 2), min(given.unlabelled, 60)
    return given


def settings_to_run(given: Namespace) -> list[Setting]:
    """Return everything that the parts chosen need."""
    found: list[Setting] = []

    def add(task: str, base: str, sizes: Sequence[int]) -> None:
        sizes = QUICK_SIZES[task] if given.quick else sizes
        for size in sizes:
            found.extend(
                Setting(task, base, how, size, semi)
                for how, semi in protocols(task, base)
                if not (semi and size == ALL_ADDRESSES)  # nothing would be unlabelled
            )

    if "table2" in given.parts:
        add("cora", "HMM", SIZES)
    if "table2_ws" in given.parts:
        add("cora_ws", "HMM", SIZES)
    if "table3" in given.parts:
        add("cora", "perceptron", SIZES)
    if "crf" in given.parts:
        add("cora", "CRF", SIZES)
    if "usaddress" in given.parts:
        for base in PROTOCOLS_OF:
            add("usaddress", base, ADDRESS_SIZES)
    if "ablation" in given.parts:
        found.extend(ablation_settings(ABLATION_SIZE, quick=given.quick))
    return found


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether it shows what it must."""
    given = parse(arguments)
    findings = Findings("ccm", given.output, settings_of(given, "parallel"))
    source = Source(given.data, given.eval, given.unlabelled, given.output / "ccm_trials")
    seeds = range(given.seed, given.seed + given.seeds)
    trials = run_all(
        settings_to_run(given), seeds, source, findings.console, parallel=given.parallel
    )
    found = means(trials)
    for name, task in (("table2", "cora"), ("table2_ws", "cora_ws")):
        if name in given.parts:
            findings.table(compared_table(found, task, given.eval))
    for name, base in (("table3", "perceptron"), ("crf", "CRF")):
        if name in given.parts:
            findings.table(protocol_table(found, base, given.eval))
    if "ablation" in given.parts:
        show_ablation(found, findings)
    if "usaddress" in given.parts:
        findings.table(address_table(found, given.eval))
    path = given.output / "ccm.png"
    if draw_curves(found, path):
        findings.picture(path)
    findings.values["trials"] = [
        {**_described(setting), "trials": [vars(trial) for trial in own]}
        for setting, own in trials.items()
    ]
    holds = claims(found)
    findings.note(
        "; ".join(f"{claim}: {'yes' if is_so else 'NO'}" for claim, is_so in holds.items())
    )
    findings.values["holds"] = holds
    findings.write()
    return all(holds.values())


def _described(setting: Setting) -> dict[str, Any]:
    """Return a setting as JSON has it."""
    return {name: value for name, value in vars(setting).items() if value is not None}


if __name__ == "__main__":
    raise SystemExit(not main())
