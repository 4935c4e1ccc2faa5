"""Addresses: "each label in one run", the rule whose breach users of address parsers report most.

The rules come from the training data alone: contiguous(label) for every label that at most
--tolerance of the training addresses with that label have in more than one run. A street corner
names two streets, so addresses with an IntersectionSeparator are exempt, as in usaddress itself.
Gold breaks the rules now and then all the same; such addresses count as they are.

  unconstrained         a CRF
  constrained decoding  the same weights, decoded under all rules. Their product with 29 labels is
                        far too large; lazy intersection adds to each address only the rules that
                        its best labelling breaks, which is exact
  constrained training  trained under as many rules as fit a budget of arcs (the plan is printed;
                        training addresses that break one are left out), decoded under all of them

Settings are chosen by cross-validation on the training data (--tune), never on the part reported:
the penalty that is best without rules, and then the tolerance that is best with them.

    python experiments/usaddress.py --data DIR
    python experiments/usaddress.py --data DIR --tune
"""

from __future__ import annotations

import time
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from common import Findings, ResultTable, options, percentages, read_part, settings_of

import trelliswork as tw

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from trelliswork.constraints import Constraint

FREE, DECODED, TRAINED = "unconstrained", "constrained decoding", "constrained training"
PAIR = (FREE, DECODED)
SIGNIFICANT = 0.05
CORNER = "IntersectionSeparator"
TEMPLATES = r"""
pattern digits = /\d+/
pattern has_digit = /\d/
pattern zip_code = /\d{5}(-\d{4})?[.,]?/
pattern ordinal = /(?i)\d+(st|nd|rd|th)[.,]?/
pattern number_letter = /\d+-?[A-Za-z][.,]?/
pattern one_letter = /[A-Za-z][.,]?/
pattern two_letters = /[A-Za-z]{2}[.,]?/
pattern ends_in_comma = /.*,/
pattern hash = /#.*/
pattern separator = /(?i)&|and|at|@/
pattern direction = /(?i)([ns]\.?[ew]?|[ew]|north(east|west)?|south(east|west)?|east|west)[.,]*/
pattern street = /(?i)(st|str|street|ave?|avenue|r(oa)?d|dr(ive)?|blvd|boulevard|l(a)?ne?)[.,]*/
pattern way = /(?i)(ct|court|pl|place|cir(cle)?|way|pkwy|parkway|ter(race)?|trl|trail|loop)[.,]*/
pattern route = /(?i)(hwy|highway|route|rte?|state|county|us|interstate|sr|cr|fm)[.,]*/
pattern unit = /(?i)(apt|apartment|suite|ste|unit|rm|room|fl|flr|floor|lot|bldg|building)[.,]*/
pattern box = /(?i)(p\.?o\.?|box|pobox|rr|hc|psc|cmr|lockbox|drawer)[.,]*/
bias
lower(word[-2..2])
lower(word[-1]) | lower(word[0])
lower(word[0]) | lower(word[1])
shape(word[-1..1])
short_shape(word[-2..2])
ngrams(short_shape(word[-1..1]), 2..3)
prefix(lower(word), 1..3)
suffix(lower(word), 1..3)
position(6)
first()
last()
last() | shape(word)
match(digits, word[-1..1])
search(has_digit, word[-1..1])
match(zip_code, word[0..1])
match(ordinal, word[-1..1])
match(number_letter, word)
match(one_letter, word[-1..1])
match(two_letters, word[-1..1])
match(ends_in_comma, word[-2..0])
match(hash, word[-1..0])
match(separator, word[-1..1])
match(direction, word[-1..1])
match(street, word[-1..1])
match(way, word[-1..1])
match(route, word[-2..1])
match(unit, word[-2..1])
match(box, word[-2..1])
"""


def names_of(sentences: Iterable[tw.Sentence]) -> list[list[str]]:
    """Return the gold labels of sentences."""
    return [[str(label) for label in sentence.labels or ()] for sentence in sentences]


def rules_from(gold: Sequence[Sequence[str]], tolerance: float) -> list[Constraint]:
    """Return the rule of each label that (nearly) never repeats, the most frequent label first."""
    seen: Counter[str] = Counter()
    repeated: Counter[str] = Counter()
    for labels in gold:
        runs = Counter(label for label, _ in groupby(labels))
        if CORNER not in runs:
            seen.update(runs.keys())
            repeated.update(label for label, count in runs.items() if count > 1)
    rules = [
        tw.contiguous(label)
        for label, count in seen.most_common()
        if repeated[label] <= tolerance * count
    ]
    if not any(CORNER in labels for labels in gold):
        return rules  # and no model can predict one
    return [rule | tw.at_least(1, CORNER) for rule in rules]


def measure(gold: list[list[str]], predicted: list[list[str]]) -> dict[str, float]:
    """Return accuracy by token and by address."""
    report = tw.report(gold, predicted, scheme="plain")
    return {
        "token_accuracy": report.token_accuracy,
        "address_accuracy": report.sentence_accuracy,
    }


def count_broken(
    rules: Sequence[Constraint], labels: tw.LabelSet, predicted: list[list[str]]
) -> int:
    """Return how many labellings break a rule; the automata of the rules are quick to ask."""
    ids = labels.encode([label for sequence in predicted for label in sequence])
    offsets = np.cumsum([0, *map(len, predicted)])
    broken = np.zeros(len(predicted), dtype=bool)
    for rule in rules:
        broken |= ~rule.compile(labels).accepts_batch(ids, offsets)
    return int(broken.sum())


def fit(train: Sequence[tw.Sentence], given: argparse.Namespace, **more: Any) -> tw.CRFTagger:
    """Train a model."""
    settings = {"l2": given.l2, **more}
    return tw.CRFTagger(features=TEMPLATES, max_iter=given.max_iter, **settings).fit(train)


def decode(
    tagger: tw.CRFTagger,
    evaluated: Sequence[tw.Sentence],
    rules: Sequence[Constraint],
    *,
    under: Sequence[Constraint],
) -> dict[str, Any]:
    """Decode under some rules, and count how often all of them are broken."""
    tagger.plan_ = tw.Plan(tagger.labels_, under)
    begun = time.perf_counter()
    answers = tagger.decode(evaluated)
    seconds = time.perf_counter() - begun
    predicted = [answer.labels for answer in answers]
    return {
        **measure(names_of(evaluated), predicted),
        "violations": count_broken(rules, tagger.labels_, predicted),
        "rounds": dict(sorted(Counter(answer.iterations for answer in answers).items())),
        "decoding_seconds": seconds,
        "predicted": predicted,
    }


def run(
    train: Sequence[tw.Sentence], evaluated: Sequence[tw.Sentence], given: argparse.Namespace
) -> dict[str, Any]:
    """Train and score the three models."""
    rules = rules_from(names_of(train), given.tolerance)
    begun = time.perf_counter()
    tagger = fit(train, given)
    seconds = time.perf_counter() - begun
    models = {
        FREE: decode(tagger, evaluated, rules, under=()),
        DECODED: decode(tagger, evaluated, rules, under=rules),
    }
    plan = tw.plan(tagger.labels_, rules, training_budget=given.training_arcs)
    chosen = [rules[i] for i in plan.training.hard_rules]
    begun = time.perf_counter()
    trained = fit(train, given, constraints=chosen, on_conflict="skip")
    times = (seconds, seconds, time.perf_counter() - begun)
    models[TRAINED] = decode(trained, evaluated, rules, under=rules)
    for values, spent in zip(models.values(), times, strict=True):
        values["training_seconds"] = spent
    return {
        "rules": [repr(rule) for rule in rules],
        "plan": str(plan),
        "skipped": trained.n_skipped_,
        "gold_violations": sum(
            any(rule.violations(labels) for rule in rules) for labels in names_of(evaluated)
        ),
        "models": models,
    }


def cross_validate(
    train: tw.Corpus, given: argparse.Namespace, l2: float, tolerances: Sequence[float]
) -> dict[float, dict[str, Any]]:
    """Compare decoding without and with rules on folds of the training data.

    The rules of a fold come from the other folds, as its model does.

    Returns
    -------
    dict
        For each tolerance and each of the two models the measures over all folds, and the
        predictions in the order of the training data.
    """
    fold = np.random.default_rng(given.seed).permutation(len(train)) % given.folds
    found: dict[float, dict[str, Any]] = {
        tolerance: {name: {"violations": 0, "predicted": [[]] * len(train)} for name in PAIR}
        for tolerance in tolerances
    }
    for k in range(given.folds):
        rest = [train[int(i)] for i in np.flatnonzero(fold != k)]
        inside = np.flatnonzero(fold == k).tolist()
        tagger = fit(rest, given, l2=l2)
        for tolerance in tolerances:
            rules = rules_from(names_of(rest), tolerance)
            for name, under in zip(PAIR, ((), rules), strict=True):
                part = decode(tagger, [train[i] for i in inside], rules, under=under)
                found[tolerance][name]["violations"] += part["violations"]
                for i, labels in zip(inside, part["predicted"], strict=True):
                    found[tolerance][name]["predicted"][i] = labels
    for models in found.values():
        for values in models.values():
            values |= measure(names_of(train), values["predicted"])
    return found


def tune(train: tw.Corpus, given: argparse.Namespace, findings: Findings) -> None:
    """Compare settings by cross-validation on the training data."""
    rows = []
    for l2 in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3):
        for tolerance, models in cross_validate(train, given, l2, (0, 0.005, 0.01, 0.02)).items():
            row = [f"l2 {l2:g}, tolerance {tolerance:g}"]
            for values in models.values():
                row += percentages([values["token_accuracy"], values["address_accuracy"]])
                row.append(str(values["violations"]))
            rows.append(row)
    header = ("setting", "tokens %", "addresses %", "broken")
    title = f"{given.folds} folds of the training data, without rules and decoded under them"
    findings.table(ResultTable(title, (*header, *header[1:]), rows))
    findings.values["rows"] = rows


def show(found: dict[str, Any], title: str, findings: Findings) -> None:
    """Print the scores of some models."""
    rows = []
    for name, values in found.items():
        shares = percentages([values["token_accuracy"], values["address_accuracy"]])
        rounds = ", ".join(f"{r}: {count}" for r, count in values.get("rounds", {}).items())
        times = [
            f"{values[key]:.2f}" if key in values else "-"
            for key in ("training_seconds", "decoding_seconds")
        ]
        rows.append([name, *shares, str(values["violations"]), rounds or "-", *times])
    header = ("model", "tokens %", "addresses %", "break a rule", "rounds: addresses")
    findings.table(ResultTable(title, (*header, "train s", "decode s"), rows))


def compare(gold: tw.Corpus, models: dict[str, Any], findings: Findings) -> bool:
    """Test constrained decoding against none; returns whether it is not worse."""
    test = tw.randomization_test(
        gold,
        models[FREE]["predicted"],
        models[DECODED]["predicted"],
        metric="accuracy",
        random_state=0,
    )
    findings.note(f"Constrained decoding against none, tokens: {test}.")
    models["test"] = test.to_dict()
    return test.difference >= 0 or test.p_value > SIGNIFICANT


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether no rule is broken and accuracy is not worse."""
    parser = options(__doc__, data=True)
    parser.add_argument("--l2", type=float, default=0.01, help="penalty")
    parser.add_argument("--tolerance", type=float, default=0.02, help="share that may repeat")
    parser.add_argument("--max-iter", type=int, default=200, help="most iterations of training")
    parser.add_argument(
        "--training-arcs", type=int, default=30_000, help="largest product to train on"
    )
    parser.add_argument("--tune", action="store_true", help="compare settings by cross-validation")
    parser.add_argument("--folds", type=int, default=5, help="of the training data")
    parser.add_argument("--seed", type=int, default=0, help="seed of the folds")
    given = parser.parse_args(arguments)
    train = read_part(given.data, "usaddress", "train")
    name = "usaddress_tuning" if given.tune else "usaddress"
    findings = Findings(name, given.output, settings_of(given))
    if given.tune:
        tune(train, given, findings)
        findings.write()
        return True
    evaluated = read_part(given.data, "usaddress", given.eval)
    found = run(train, evaluated, given)
    findings.note(f"```\n{found['plan']}\n```")
    models = found["models"]
    title = f"usaddress, {len(evaluated)} addresses of {given.eval}, {len(found['rules'])} rules"
    show(models, title, findings)
    findings.note(
        f"Gold of {given.eval} breaks a rule in {found['gold_violations']} addresses; constrained "
        f"training left out {found['skipped']} training addresses that break one."
    )
    not_worse = compare(evaluated, models, findings)
    folds = cross_validate(train, given, given.l2, [given.tolerance])[given.tolerance]
    show(folds, f"usaddress, {len(train)} addresses of train in {given.folds} folds", findings)
    not_worse &= compare(train, folds, findings)
    findings.note("The paper has no such experiment.")
    for values in (*models.values(), *folds.values()):
        values.pop("predicted", None)
    broken = [models[name]["violations"] for name in (DECODED, TRAINED)]
    holds = not any([*broken, folds[DECODED]["violations"]]) and not_worse
    findings.values |= {**found, "folds": folds, "holds": holds}
    findings.write()
    return holds


if __name__ == "__main__":
    raise SystemExit(not main())
