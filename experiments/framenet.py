"""Table 1 of Das, Martins and Smith (2012): arguments of frames under constraints, on FrameNet 1.5.

Given a target and its frame, find the span of each role. Every strategy decodes the same scores:

  local          each role alone
  beam 2, …      SEMAFOR's beam search: no overlaps; blind to rules between roles
  HiGHS, LP      the linear relaxation, a role's span being the one with the largest share
  HiGHS, exact   the integer program
  AD3, LP        the relaxation by alternating directions, on the paper's factor graph
  AD3, exact     with branch and bound around it
  chain, exact   ours, beyond the paper: non-overlap is one chain, the rest are prices ("auto")

The constraints: a role fills once, arguments do not overlap, and the lexicon's pairs of roles that
exclude or require each other, both taken as symmetric. HiGHS stands in for CPLEX.

The scorer is ours (`framenet_scorer.py`), since neither SEMAFOR's features nor the parses that it
reads are available: candidates and features come from tokens and parts of speech. F1 is therefore
not comparable with the paper's; differences between strategies, violations and times are. Penalty
and margin (by how much an empty role is scored down) are chosen on held-out documents of the
training part, see --tune.

The first run trains for some minutes; scores are kept in OUTPUT/framenet_trials.

    python experiments/framenet.py --runs 5
    python experiments/framenet.py --only local auto
    python experiments/framenet.py --tune
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from common import Findings, ResultTable, options, percentages, progress, settings_of
from framenet_cases import Settings, read_cases
from framenet_decoders import decode_by_assign, decode_by_beam, decode_locally, rules_of
from framenet_measures import measure
from framenet_spans import recall

import trelliswork as tw
from trelliswork.evaluation.significance import compare_counts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from framenet_cases import Case
    from framenet_decoders import Decoded
    from framenet_measures import Measures
    from rich.console import Console

    from trelliswork.constraints.base import Constraint

PENALTIES = (1.0, 3.0, 10.0)
MARGINS = (0.0, 0.5, 1.0, 1.5)
NAMES = {
    "local": "local",
    "beam2": "beam 2",
    "beam100": "beam 100",
    "beam10000": "beam 10000",
    "lp": "HiGHS, LP",
    "milp": "HiGHS, exact",
    "ad3": "AD3, LP",
    "branch": "AD3, exact",
    "auto": "chain, exact",
}
EXACT = ("milp", "branch", "auto")
# P, R, F1 in %; violations of overlap, requires, excludes; seconds for 4458 targets.
PAPER: dict[str, tuple[float, float, float, int, int, int, str]] = {
    "local": (67.69, 59.76, 63.48, 441, 45, 15, "1.26 ± 0.01"),
    "beam2": (70.18, 59.54, 64.42, 0, 49, 0, "2.74 ± 0.10"),
    "beam100": (70.43, 59.64, 64.59, 0, 50, 1, "29.00 ± 0.25"),
    "beam10000": (70.43, 59.64, 64.59, 0, 50, 1, "440.67 ± 5.53"),
    "lp": (70.34, 59.43, 64.43, 0, 1, 0, "32.67 ± 1.29"),
    "milp": (70.31, 59.45, 64.43, 0, 0, 0, "43.12 ± 1.26"),
    "ad3": (70.30, 59.45, 64.42, 2, 2, 0, "4.17 ± 0.01"),
    "branch": (70.31, 59.45, 64.43, 0, 0, 0, "4.78 ± 0.04"),
}


@dataclass(frozen=True)
class Outcome:
    """What one strategy did."""

    decoded: Decoded
    measures: Measures
    score: float
    seconds: list[float]


def strategies(cases: Sequence[Case]) -> dict[str, Callable[[], Decoded]]:
    """Return all strategies on some cases, in the order of the table."""
    of_frame = {case.target.frame.name: case.target.frame for case in cases}
    rules = {name: rules_of(frame) for name, frame in of_frame.items()}
    own = [rules[case.target.frame.name] for case in cases]
    found: dict[str, Callable[[], Decoded]] = {"local": partial(decode_locally, cases)}
    for width in (2, 100, 10000):
        found[f"beam{width}"] = partial(decode_by_beam, cases, width)
    found["lp"] = partial(decode_by_assign, cases, own, "lp")
    found["milp"] = partial(decode_by_assign, cases, own, "milp")
    found["ad3"] = partial(decode_by_assign, cases, own, "ad3")
    found["branch"] = partial(decode_by_assign, cases, own, "branch")
    found["auto"] = partial(decode_by_assign, cases, own, "auto")
    return found


def run(
    cases: Sequence[Case], names: Sequence[str], runs: int, console: Console
) -> dict[str, Outcome]:
    """Run strategies several times each, in turn: what else the machine does meets all of them."""
    of_name = strategies(cases)
    decoded: dict[str, Decoded] = {}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    with progress(console) as bar:
        task = bar.add_task("decoding", total=runs * len(names))
        for name in list(names) * runs:
            begun = time.perf_counter()
            decoded[name] = of_name[name]()
            seconds[name].append(time.perf_counter() - begun)
            bar.advance(task)
    return {
        name: Outcome(
            found, measure(cases, found.choices), total_score(cases, found), seconds[name]
        )
        for name, found in decoded.items()
    }


def total_score(cases: Sequence[Case], decoded: Decoded) -> float:
    """Return what the answers are worth, constraints left aside."""
    total = 0.0
    for case, chosen in zip(cases, decoded.choices, strict=True):
        with_empty = np.concatenate([case.scores, case.empty[None, :]])  # −1 is the last row
        total += float(with_empty[chosen, np.arange(len(chosen))].sum())
    return total


def with_margin(cases: Sequence[Case], margin: float) -> list[Case]:
    """Score empty roles down."""
    return [replace(case, empty=case.empty - margin) for case in cases]


def summarise(outcomes: dict[str, Outcome], findings: Findings) -> None:
    """Print the table, the paper's numbers beside ours."""
    quality, costs, summary = [], [], {}
    for name, outcome in outcomes.items():
        measures, paper = outcome.measures, PAPER.get(name)
        ours = percentages(measures.scores)
        theirs = [f"{value:.2f}" for value in paper[:3]] if paper else ["–"] * 3
        pairs = itertools.chain.from_iterable(zip(theirs, ours, strict=True))
        quality.append([NAMES[name], *pairs])
        broken = (measures.overlap, measures.requires, measures.excludes)
        mean = float(np.mean(outcome.seconds))
        spread = float(np.std(outcome.seconds, ddof=len(outcome.seconds) > 1))
        tight = outcome.decoded.tight
        costs.append(
            [
                NAMES[name],
                " / ".join(map(str, paper[3:6])) if paper else "–",
                " / ".join(map(str, broken)),
                paper[6] if paper else "–",
                f"{mean:.2f} ± {spread:.2f}",
                "–" if tight is None else f"{100 * tight:.2f}",
            ]
        )
        summary[name] = {
            "scores": measures.scores,
            "overlap": measures.overlap,
            "requires": measures.requires,
            "excludes": measures.excludes,
            "seconds": outcome.seconds,
            "tight": tight,
            "proven": outcome.decoded.proven,
            "total_score": outcome.score,
        }
    header = ["strategy", "paper P", "P", "paper R", "R", "paper F1", "F1"]
    findings.table(ResultTable("Table 1: exact spans and roles (%)", header, quality))
    header = ["strategy", "paper: o / r / e", "o / r / e", "paper s", "s", "tight %"]
    title = "Violations (overlap / requires / excludes), seconds over the set, tight relaxations"
    findings.table(ResultTable(title, header, costs))
    findings.values |= {"summary": summary, "paper": PAPER}


def take_rules_away(cases: Sequence[Case], findings: Findings) -> None:
    """Show what each kind of rule does to exact answers."""
    rows = []
    none: list[Constraint] = [tw.no_overlap()]
    for title, excludes, requires in (
        ("no overlap", False, False),
        ("no overlap, excludes", True, False),
        ("no overlap, requires", False, True),
        ("all", True, True),
    ):
        rules = []
        for case in cases:
            frame = case.target.frame
            kept = replace(
                frame,
                excludes=frame.excludes if excludes else (),
                requires=frame.requires if requires else (),
            )
            rules.append(rules_of(kept) if excludes or requires else none)
        found = measure(cases, decode_by_assign(cases, rules, "auto").choices)
        broken = (found.overlap, found.requires, found.excludes)
        rows.append([title, *percentages(found.scores), " / ".join(map(str, broken))])
    header = ["rules", "P", "R", "F1", "o / r / e"]
    findings.table(ResultTable("What each rule does (chain, exact)", header, rows))
    findings.values["rules"] = rows


def test_difference(outcomes: dict[str, Outcome], findings: Findings) -> None:
    """Test the difference between local and exact answers."""
    if not {"local", "auto"} <= outcomes.keys():
        return
    first, second = (
        outcomes[name].measures.counts.astype(np.float64) for name in ("local", "auto")
    )
    test = compare_counts(first, second, random_state=0)
    findings.note(
        f"local → chain, exact: F1 {100 * test.difference:+.2f}, p = {test.p_value:.4f} "
        "(approximate randomisation over targets)."
    )
    findings.values["test"] = test.to_dict()


def holds(outcomes: dict[str, Outcome]) -> bool:
    """Say whether exact answers break no rule, agree, and are not worse than local ones."""
    exact = [outcomes[name] for name in EXACT if name in outcomes]
    scores = [outcome.score for outcome in exact]
    agree = not scores or max(scores) - min(scores) < 1e-6 * (1.0 + abs(scores[0]))
    lawful = all(outcome.measures.violations == 0 for outcome in exact)
    if "local" not in outcomes:
        return agree and lawful
    local = outcomes["local"].measures.scores[2]
    return agree and lawful and all(o.measures.scores[2] >= local for o in exact)


def tune(given: argparse.Namespace, cache: Path, findings: Findings) -> None:
    """Compare penalties and margins on held-out documents of the training part."""
    rows = []
    for l2 in PENALTIES:
        settings = replace(settings_from(given, "tune"), l2=l2)
        cases = read_cases(given.data, settings, cache, findings.console)
        for margin in MARGINS:
            outcomes = run(with_margin(cases, margin), ("local", "auto"), 1, findings.console)
            scores = [outcome.measures.scores[2] for outcome in outcomes.values()]
            rows.append([f"{l2:g}", f"{margin:g}", *percentages(scores)])
    header = ["l2", "margin", "local F1", "exact F1"]
    findings.table(ResultTable(f"{len(cases)} held-out training targets", header, rows))
    findings.values["rows"] = rows


def settings_from(given: argparse.Namespace, part: str) -> Settings:
    """Return what scores depend on, from the options."""
    return Settings(
        part, given.candidates, given.l2, given.bits, max_iter=given.max_iter, limit=given.limit
    )


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether what it must show holds."""
    parser = options(__doc__, data=True)
    parser.add_argument("--runs", type=int, default=5, help="times each strategy decodes")
    parser.add_argument("--limit", type=int, metavar="N", help="first N targets of each part only")
    parser.add_argument("--only", nargs="+", choices=NAMES, help="these strategies")
    parser.add_argument("--candidates", type=int, default=60, help="spans a target")
    parser.add_argument("--bits", type=int, default=22, help="the scorer has 2^BITS weights")
    parser.add_argument("--l2", type=float, default=3.0, help="penalty of the scorer")
    parser.add_argument("--margin", type=float, default=1.0, help="what an empty role loses")
    parser.add_argument("--max-iter", type=int, default=80, help="most iterations of training")
    parser.add_argument("--tune", action="store_true", help="compare penalties and margins")
    given = parser.parse_args(arguments)
    name = "framenet_tuning" if given.tune else "framenet"
    findings = Findings(name, given.output, settings_of(given))
    cache = given.output / "framenet_trials"
    if given.tune:
        tune(given, cache, findings)
        findings.write()
        return True
    cases = read_cases(given.data, settings_from(given, given.eval), cache, findings.console)
    cases = with_margin(cases, given.margin)
    targets, spans = [case.target for case in cases], [case.spans for case in cases]
    found, mean = recall(targets, spans), float(np.mean([len(own) for own in spans]))
    findings.note(
        f"{len(cases)} targets of {given.eval}, {mean:.1f} candidates and "
        f"{np.mean([len(t.frame.roles) for t in targets]):.1f} roles each; "
        f"{100 * found:.2f}% of gold spans are candidates. One thread. The scorer is ours "
        "(SEMAFOR's features and parses are not available): F1 is not comparable with the paper's."
    )
    outcomes = run(cases, given.only or list(NAMES), given.runs, findings.console)
    summarise(outcomes, findings)
    take_rules_away(cases, findings)
    test_difference(outcomes, findings)
    fine = holds(outcomes)
    findings.values |= {"candidate_recall": found, "candidates": mean, "holds": fine}
    findings.write()
    return fine


if __name__ == "__main__":
    raise SystemExit(not main())
