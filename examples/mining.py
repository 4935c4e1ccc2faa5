"""Find rules that a tagger breaks and gold labels keep, learn what they cost, and use them."""

import trelliswork as tw
from trelliswork.citations import STYLES, load_works, split


def main() -> None:
    # A tagger that has seen few references, and references of works that it has not seen.
    parts = split(load_works(), STYLES, per_work=2, held_out_works=0.5)
    train, held_out = corpus(parts.train[:100]), corpus(parts.new_works)
    half = len(held_out) // 2
    dev, test = held_out[:half], held_out[half:]
    tagger = tw.CRFTagger(features="citation", max_iter=60).fit(train)

    # Rules that its answers break more often than the gold labels do.
    rules = tw.mine(dev, tagger.predict(dev), labels=tagger.labels_)
    print(rules.table(limit=8))

    # What breaking each of them costs; useless ones cost 0.
    ruled = tw.learn_penalties(tagger, dev, constraints=rules.constraints, random_state=0)
    learned = rules.with_penalties(ruled)
    print(f"\n{len(learned.active)} of {len(learned)} rules have a penalty above 0")

    for name, model in (("without rules", tagger), ("with rules", ruled)):
        print(f"{name:14} F1 {100 * tw.report(test, model.predict(test)).f1:.1f}")
    for before, answer in zip(tagger.predict(test), ruled.decode(test), strict=True):
        if answer.labels != before:
            print("\nbefore:", *fields(before), "\nafter: ", *fields(answer.labels))
            for rule, price in answer.prices.items():
                print(f"price {price:.2f}  {rule}")
            break


def corpus(references: tuple) -> tw.Corpus:
    return tw.Corpus.from_lists([r.tokens for r in references], [r.labels for r in references])


def fields(labels: list[str]) -> list[str]:
    return [span.name for span in tw.LabelSet.infer([labels], "plain").spans(labels)]


if __name__ == "__main__":
    main()
