"""Bring your own features: dicts as in sklearn-crfsuite, or one matrix a sequence."""

import numpy as np

import trelliswork as tw

SENTENCES = [
    ("the old dog sleeps", "DET ADJ NOUN VERB"),
    ("a cat sees the dog", "DET NOUN VERB DET NOUN"),
    ("the dog barks", "DET NOUN VERB"),
    ("an old cat sleeps", "DET ADJ NOUN VERB"),
    ("a young dog sees a cat", "DET ADJ NOUN VERB DET NOUN"),
]
X = [text.split() for text, _ in SENTENCES]
y = [tags.split() for _, tags in SENTENCES]


def features(sentence: list[str], t: int) -> dict[str, object]:
    """Describe one token: a string, a number, a flag and a list are each read their own way."""
    word = sentence[t]
    return {
        "word": word,
        "length": len(word) / 10,
        "first": t == 0,
        "suffix": [word[-1:], word[-2:]],
        "left": {"word": sentence[t - 1]} if t else {},
    }


def as_matrix(sentence: list[str], vocabulary: list[str]) -> np.ndarray:
    """Return one row a token: which word it is, and how long."""
    rows = [[float(word == known) for known in vocabulary] + [len(word) / 10] for word in sentence]
    return np.array(rows)


def main() -> None:
    dicts = [[features(sentence, t) for t in range(len(sentence))] for sentence in X]
    tagger = tw.CRFTagger(l2=0.1).fit(dicts, y)
    new = ["an", "old", "dog", "barks"]
    print("dicts:   ", *tagger.predict([[features(new, t) for t in range(len(new))]])[0])

    model = tagger.model_
    names = model.encoder.feature_names()
    strongest = np.argsort(-np.abs(model.state.weights))[:5]
    for k in strongest:
        name, label = names[model.state.features[k]], tagger.classes_[model.state.outputs[k]]
        print(f"  {model.state.weights[k]:+.2f}  {name} → {label}")

    vocabulary = sorted({word for sentence in X for word in sentence})
    matrices = [as_matrix(sentence, vocabulary) for sentence in X]
    tagger = tw.CRFTagger(l2=0.1).fit(matrices, y)
    print("matrices:", *tagger.predict([as_matrix(new, vocabulary)])[0])


if __name__ == "__main__":
    main()
