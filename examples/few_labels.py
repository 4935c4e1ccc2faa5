"""Twenty labelled references, rules, and references without labels.

A hidden Markov model learns from the labelled ones; the rules of `citation_rules.txt` guide it
while it labels the others; it learns from these; and so on. The references are made here, from
records that ship with the package, and scored on works that were held out.
"""

from pathlib import Path

import trelliswork as tw
from trelliswork.citations import STYLES, load_works, split


def main() -> None:
    parts = split(load_works(), STYLES, per_work=4)
    fields = sorted({label for reference in parts.train for label in reference.labels})
    labelled = parts.train[::45][:20]
    unlabelled = [reference.tokens for reference in parts.train[1::2]]
    test = parts.new_works[:150]
    X, y = [r.tokens for r in labelled], [r.labels for r in labelled]  # noqa: N806
    X_test, y_test = [r.tokens for r in test], [r.labels for r in test]  # noqa: N806

    # Rules may name fields that twenty references do not show: `labels` says that there are more.
    written = tw.read_rules(Path(__file__).parent / "citation_rules.txt")
    rules = [rule for rule in written if all(name in fields for name, _ in rule.names)]
    base = tw.HMMTagger(constraints=rules, training="L+wCI", labels=fields)

    alone = tw.HMMTagger(labels=fields).fit(X, y)
    ruled = base.fit(X, y)
    student = tw.CODLTagger(base, gamma=0.9, cycles=3).fit(X, y, unlabelled=unlabelled)

    print(f"{len(X)} labelled references, {len(unlabelled)} without labels, {len(rules)} rules")
    for name, tagger in (("labels", alone), ("and rules", ruled), ("and unlabelled text", student)):
        print(f"  {name:<20} {tagger.score(X_test, y_test):6.1%} of the tokens right")

    print(f"\nStopped: {student.stop_reason_}. Cycle by cycle:")
    for cycle in student.curve_[1:]:
        print(f"  {cycle.iteration}: {cycle.summary()}")

    print("\nThe rules that labelled references broke, and what a violation costs:")
    for rule, penalty in sorted(ruled.penalties_.items(), key=lambda item: item[1])[:5]:
        print(f"  {penalty:5.2f}  {rule if len(rule) < 90 else rule[:87] + '...'}")


if __name__ == "__main__":
    main()
