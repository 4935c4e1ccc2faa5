"""Learn from sentences of which only some tokens are labelled."""

import trelliswork as tw

X = [
    ["Ann", "lives", "in", "Berlin"],
    ["Bob", "lives", "in", "Rome"],
    ["the", "train", "to", "Berlin"],
    ["Eve", "went", "to", "Paris"],
    ["Tom", "met", "Eve", "in", "Rome"],
]
# None: nobody has looked at this token. A set: one of these, the annotator was not sure.
y = [
    ["PER", "O", "O", "LOC"],
    ["PER", None, None, "LOC"],
    [None, None, "O", {"LOC", "PER"}],
    ["PER", None, "O", "LOC"],
    [None, "O", "PER", None, "LOC"],
]
FEATURES = """
word[0]
word[-1]
short_shape(word)
first()
"""


def main() -> None:
    # Pairs and transitions that only unlabelled tokens could show are worth a weight here.
    tagger = tw.CRFTagger(features=FEATURES, l2=0.1, pairs="all", transitions="all")
    tagger.fit(X, y)

    print("best labelling, and the best one in which Paris is a person:")
    sentence = ["Ann", "met", "Paris"]
    for known in (None, [[None, None, "PER"]]):
        labels = tagger.predict([sentence], known=known)[0]
        log_p = tagger.log_probability([sentence], [labels])[0]
        print(f"  {' '.join(labels):12} log p = {log_p:.2f}")

    print("\nprobability of what the annotators did say:")
    for tokens, labels, log_p in zip(X, y, tagger.log_probability(X, y), strict=True):
        shown = " ".join(_text(label) for label in labels)
        print(f"  {' '.join(tokens):24} {shown:24} {log_p:7.3f}")


def _text(label: str | set[str] | None) -> str:
    if label is None:
        return "?"
    return label if isinstance(label, str) else "|".join(sorted(label))


if __name__ == "__main__":
    main()
