"""Decoding under hundreds of soft constraints with a proof for every answer, against plain Viterbi.

UMass citations (126 labels): rules are mined, and their penalties learned, on one half of dev from
the errors of a tagger that was trained on train, and all of dev is decoded under them. Both sides
run on the same scores in the same run: Viterbi on the model with valid paths, and exact decoding
with what proves every answer. Beside it HiGHS on a sample of sentences; and, on Cora, "each of the
13 fields in at most one segment" as hard rules.

    python benchmarks/soft_constraints.py [--data DIR] [--model FILE] [--repeats 15]
"""

from __future__ import annotations

import argparse
import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from common import data_directory, machine, markdown_table, peak_megabytes, write_results
from constraints import milliseconds

import trelliswork as tw
from trelliswork.decoding.prices import priced_batch
from trelliswork.inference import viterbi
from trelliswork.inference.trellis import derive
from trelliswork.proofs.answer import OPTIMAL

if TYPE_CHECKING:
    from trelliswork.decoding.priced_answers import PricedAnswers
    from trelliswork.inference.trellis import Trellis
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan

logger = logging.getLogger("soft_constraints")

CUTOFF = 1.5  # of importance: below the paper's 2.75, which leaves fewer rules
TIME_LIMIT = 1.0  # seconds a sentence


def trained_tagger(data: Path, stored: Path | None) -> tw.CRFTagger:
    """Return the tagger of train, from a file where there is one."""
    if stored is not None and stored.exists():
        return tw.load(stored)
    train = tw.read_conll(data / "umass_citation_hier" / "train.conll", ("word", "label"))
    tagger = tw.CRFTagger(
        features="citation",
        l2=0.1,
        max_iter=120,
        scheme="path",
        constraints=tw.valid_scheme(),
        constrained_training=False,
    ).fit(train)
    if stored is not None:
        tagger.save(stored)
    return tagger


def mined_rules(tagger: tw.CRFTagger, sentences: list[tw.Sentence]) -> list[tw.Constraint]:
    """Return the rules on counts that the tagger breaks too often, with penalties learned."""
    gold = [list(sentence.labels) for sentence in sentences]
    # Rules may repeat what others say: the more, the harder the test.
    mined = tw.mine(
        gold,
        tagger.predict(sentences),
        ("singleton", "pairwise", "hierarchical"),
        labels=tagger.labels_,
        cutoff=CUTOFF,
        min_predicted=1,
        merge=False,
    )
    rules = (tw.valid_scheme(), *mined.constraints)
    learned = tw.learn_penalties(tagger, sentences, gold, constraints=rules, random_state=0)
    return [rule for rule in learned.constraints if rule.is_soft]


def decode(plan: Plan, trellis: Trellis, evidence: Evidence, n_jobs: int) -> PricedAnswers:
    """Decode a batch: the answers, and the prices and rows that prove each."""
    return priced_batch(plan, trellis, evidence, time_limit=TIME_LIMIT, give_up=True, n_jobs=n_jobs)


def compare(
    plan: Plan, free: Trellis, plain: Trellis, evidence: Evidence, repeats: int
) -> dict[str, Any]:
    """Measure Viterbi and exact decoding of one batch, at once and sentence by sentence.

    `plain` is what Viterbi runs on: the model, on valid labellings where the plan asks for them.
    """
    found = decode(plan, free, evidence, 2)  # products are built once
    calls = {}
    for jobs in (1, 2):
        calls[f"viterbi_{jobs}"] = lambda jobs=jobs: viterbi(plain, n_jobs=jobs)
        calls[f"decode_{jobs}"] = lambda jobs=jobs: decode(plan, free, evidence, jobs)
    before = viterbi(plain).tags
    violations = plan.terms.violations(before, evidence).any(axis=1)
    times: dict[str, list[float]] = {"viterbi": [], "decode": []}
    for b in range(free.n_sequences):
        alone = np.array([b])
        part, own = derive(free, sequences=alone), evidence.take(alone)
        base = derive(plain, sequences=alone)
        one = milliseconds(
            {
                "viterbi": lambda base=base: viterbi(base, n_jobs=1),
                "decode": lambda part=part, own=own: decode(plan, part, own, 1),
            },
            3,
        )
        for name, spent in one.items():
            times[name].append(spent)
    return {
        "sequences": free.n_sequences,
        "tokens": int(free.n_tokens),
        "constraints": len(plan.constraints),
        "items": len(plan.terms),
        "sequences_that_break_a_rule": float(violations.mean()),
        "certified": (np.sum(found.status == OPTIMAL) - len(found.given_up)) / free.n_sequences,
        "mean_iterations": float(found.iterations.mean()),
        "mean_iterations_where_a_rule_is_broken": float(found.iterations[violations].mean()),
        **milliseconds(calls, repeats),
        "one_by_one": {
            name: {
                "mean": float(np.mean(spent)),
                "p50": float(np.percentile(spent, 50)),
                "p99": float(np.percentile(spent, 99)),
            }
            for name, spent in times.items()
        },
    }


def verified(tagger: tw.CRFTagger, sentences: list[tw.Sentence]) -> dict[str, float]:
    """Prove every answer again."""
    problems = [tagger.problem(sentence) for sentence in sentences]
    answers = tw.solve(problems, time_limit=TIME_LIMIT)
    began = time.perf_counter()
    proofs = [tw.verify(problem, answer) for problem, answer in zip(problems, answers, strict=True)]
    spent = time.perf_counter() - began
    return {
        "proven_again": float(np.mean([bool(proof) for proof in proofs])),
        "verify_milliseconds": 1e3 * spent / len(problems),
    }


def measure_milp(
    tagger: tw.CRFTagger, sentences: list[tw.Sentence], count: int, limit: float
) -> dict[str, float]:
    """Measure HiGHS on the shortest, the longest and evenly chosen sentences between."""
    ranked = sorted(sentences, key=len)
    places = np.linspace(0, len(ranked) - 1, count).round().astype(int)
    times, gaps, finished = [], [], []
    for place in places.tolist():
        problem = tagger.problem(ranked[place])
        exact = tw.solve(problem)
        began = time.perf_counter()
        answer = tw.solve(problem, "milp", time_limit=limit)
        times.append(time.perf_counter() - began)
        gaps.append(exact.score - answer.score)
        finished.append(answer.status == "unverified")
        logger.info("milp: %d tokens, %.1f s", len(problem), times[-1])
    return {
        "sentences": count,
        "limit_seconds": limit,
        "mean_milliseconds": 1e3 * float(np.mean(times)),
        "finished": float(np.mean(finished)),
        "largest_difference_where_finished": float(
            max((abs(gap) for gap, done in zip(gaps, finished, strict=True) if done), default=0.0)
        ),
    }


def measure_umass(data: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Measure hundreds of soft rules on UMass."""
    tagger = trained_tagger(data, options.model)
    dev = list(tw.read_conll(data / "umass_citation_hier" / "dev.conll", ("word", "label")))
    # A few labels of dev never occur in train.
    known = [s for s in dev[: len(dev) // 2] if all(y in tagger.labels_ for y in s.labels)]
    rules = mined_rules(tagger, known)
    ruled = tagger.with_constraints((tw.valid_scheme(), *rules))
    free = tagger.model_.trellis(dev)
    plan = ruled.plan_
    evidence = plan.evidence(dev, free.offsets)
    valid = derive(free, automaton=tagger.plan_.hard.product(tagger.plan_.hard_rules).automaton)
    return {
        "mined_rules": len(rules),
        "soft_rules": sum(rule.penalty > 0 for rule in rules),
        **compare(plan, free, valid, evidence, options.repeats),
        **verified(ruled, dev),
        "milp": measure_milp(ruled, dev, options.milp, options.milp_limit),
    }


def measure_cora(data: Path, repeats: int) -> dict[str, Any]:
    """Measure "at most one segment" for each of the 13 fields of Cora."""
    train = tw.read_conll(data / "cora" / "train.conll", ("word", "label"))
    dev = list(tw.read_conll(data / "cora" / "dev.conll", ("word", "label")))
    tagger = tw.CRFTagger(features="citation", l2=0.1, max_iter=120, scheme="plain").fit(train)
    plan = tagger.with_constraints([tw.at_most(1, field) for field in tagger.labels_]).plan_
    free = tagger.model_.trellis(dev)
    return compare(plan, free, free, plan.evidence(dev, free.offsets), repeats)


def rows_of_table(name: str, found: dict[str, Any]) -> list[list[str]]:
    """Return the lines of the table about one data set."""
    rows = []
    for jobs in (1, 2):
        plain, exact = found[f"viterbi_{jobs}"], found[f"decode_{jobs}"]
        rows.append(
            [
                f"{name}, all at once, {jobs} thread{'s' * (jobs > 1)}",
                f"{plain:.2f} ms",
                f"{exact:.2f} ms",
                f"{exact / plain:.2f}×",
            ]
        )
    plain, exact = found["one_by_one"]["viterbi"], found["one_by_one"]["decode"]
    rows += [
        [
            f"{name}, one by one, {statistic}",
            f"{plain[statistic]:.3f} ms",
            f"{exact[statistic]:.3f} ms",
            f"{exact[statistic] / plain[statistic]:.2f}×",
        ]
        for statistic in ("mean", "p50", "p99")
    ]
    return rows


def notes(name: str, found: dict[str, Any]) -> str:
    """Return what the table leaves out."""
    return (
        f"{name}: {found['sequences']} sentences, {found['tokens']:,} tokens, "
        f"{found['constraints']} constraints; the best labelling of the model alone breaks one in "
        f"{100 * found['sequences_that_break_a_rule']:.1f}% of the sentences. Certified: "
        f"{100 * found['certified']:.1f}%, after {found['mean_iterations']:.2f} passes on average "
        f"({found['mean_iterations_where_a_rule_is_broken']:.2f} where a rule is broken)."
    )


def main() -> None:
    """Run everything and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="directory of the data sets")
    parser.add_argument("--model", type=Path, help="where the tagger of UMass is kept")
    parser.add_argument("--repeats", type=int, default=15, help="measurements of each call")
    parser.add_argument("--milp", type=int, default=4, help="sentences for HiGHS")
    parser.add_argument("--milp-limit", type=float, default=20.0, help="seconds for each of them")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    data = data_directory(options.data)
    results: dict[str, Any] = {
        "umass": measure_umass(data, options),
        "cora": measure_cora(data, options.repeats),
    }
    umass, cora, milp = results["umass"], results["cora"], results["umass"]["milp"]
    mean = umass["one_by_one"]["viterbi"]["mean"]
    table = markdown_table(
        ["", "Viterbi", "exact, certified", "ratio"],
        [
            *rows_of_table(f"UMass, {umass['soft_rules']} soft rules", umass),
            [
                f"UMass, HiGHS, {milp['sentences']} sentences, mean",
                "",
                f"{milp['mean_milliseconds']:,.0f} ms",
                f"{milp['mean_milliseconds'] / mean:,.0f}×",
            ],
            *rows_of_table("Cora, 13 hard rules", cora),
        ],
    )
    more = (
        f"UMass: {umass['mined_rules']} rules were mined, {umass['soft_rules']} of them have a "
        f"penalty above 0. {100 * umass['proven_again']:.1f}% of the answers were proven again, in "
        f"{umass['verify_milliseconds']:.1f} ms each. HiGHS finished "
        f"{100 * milp['finished']:.0f}% of its sentences in {milp['limit_seconds']:.0f} s."
    )
    results |= {"peak_megabytes": peak_megabytes(), "machine": machine("trelliswork", "numpy")}
    text = "\n\n".join([table, notes("UMass", umass), notes("Cora", cora), more])
    write_results("soft_constraints", results, text)


if __name__ == "__main__":
    main()
