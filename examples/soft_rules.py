"""Rules that may be broken at a price: given, learned, and an answer that is proven the best."""

import numpy as np

import trelliswork as tw
from trelliswork.citations import STYLES, load_works, split
from trelliswork.constraints import parse_rules

RULES = """
author before title     : soft         # how much it costs is learned
at_most(1, title)       : soft
at_least(1, author)     : soft(2.0)    # or given
"""


def main() -> None:
    # Penalties are learned with the weights of a tagger.
    parts = split(load_works(), STYLES, per_work=1, held_out_works=0.5)
    train, test = parts.train[:100], parts.new_works[:100]
    X, y = [r.tokens for r in train], [r.labels for r in train]  # noqa: N806
    tagger = tw.CRFTagger(features="citation", max_iter=40, constraints=parse_rules(RULES))
    tagger.fit(X, y)
    for rule, penalty in tagger.penalties_.items():
        print(f"{penalty:6.2f}  {rule}")
    answers = tagger.decode([r.tokens for r in test])
    paid = sum(bool(answer.violations) for answer in answers)
    print(f"{paid} of {len(answers)} answers break a rule and pay for it")

    # The same on scores of one's own: one sequence, three labels.
    labels = ["author", "title", "date"]
    scores = np.array([[2.0, 0.0, 0.0], [0.0, 1.5, 0.0], [1.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
    for penalty in (0.5, 1.5):
        rule = tw.at_most(1, "author").soft(penalty)
        problem = tw.Problem(scores, constraints=rule, labels=labels)
        found = tw.solve(problem)
        print(f"\n{rule}: {' '.join(found.labels)}, worth {found.score:.1f}")
        print(f"prices {dict(found.prices)}; {tw.verify(problem, found).reason}")


if __name__ == "__main__":
    main()
