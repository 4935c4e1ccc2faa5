"""Which feature templates earn their keep: a group lasso over templates, along its whole path."""

import trelliswork as tw
from trelliswork.citations import STYLES, load_works, split

TEMPLATES = """
lower(word[-2..2])
lower(word[-1]) | lower(word[0])
short_shape(word[-2..2])
shape(word)
prefix(lower(word), 2..3)
suffix(lower(word), 2..3)
position(8)
segment_start()
bias
"""


def main() -> None:
    # References to train on, to choose on, and to measure on.
    parts = split(load_works(), STYLES, per_work=2, held_out_works=0.5)
    train, held_out = corpus(parts.train[:100]), corpus(parts.new_works)
    dev, test = held_out[:100], held_out[100:300]

    # From a penalty that leaves no template to one that leaves most of them.
    found = tw.select_templates(
        train, dev, TEMPLATES, n=9, least=0.002, rule="one_se", tagger=tw.CRFTagger(max_iter=80)
    )
    print(found)
    print("\nDropped:", ", ".join(found.dropped))

    # What is left can be trained again, on more data or with other settings.
    everything = tw.CRFTagger(features=TEMPLATES, max_iter=80).fit(train)
    chosen = tw.CRFTagger(features=found.templates, max_iter=80).fit(train)
    print()
    for name, tagger in (
        ("all templates", everything),
        ("those kept", chosen),
        ("the model on the path", found.tagger),
    ):
        score = tw.report(test, tagger.predict(test)).f1
        print(f"{name:22} {tagger.model_.state.weights.size:6,} weights  F1 {100 * score:.1f}")


def corpus(references: tuple) -> tw.Corpus:
    return tw.Corpus.from_lists([r.tokens for r in references], [r.labels for r in references])


if __name__ == "__main__":
    main()
