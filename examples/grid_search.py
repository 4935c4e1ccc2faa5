"""Choose settings by cross-validation, scored by segment F1, with scikit-learn."""

from sklearn.model_selection import GridSearchCV

import trelliswork as tw

PEOPLE = ["Ann Lee", "Bob", "Eve Stone", "Tom", "Max Lee", "Ida Berg"]
PLACES = ["Berlin", "New York", "Rome", "San Remo", "Paris", "Porto"]
PATTERNS = [
    "{p} lives in {q} .",
    "The train to {q} was late .",
    "{p} met Sue in {q} .",
    "It rains .",
]


def label(text: str) -> tuple[list[str], list[str]]:
    """Fill in BIO labels for the people and places of a sentence."""
    tokens = text.split()
    labels = ["O"] * len(tokens)
    for kind, names in (("PER", [*PEOPLE, "Sue"]), ("LOC", PLACES)):
        for name in names:
            words = name.split()
            for t in range(len(tokens) - len(words) + 1):
                if tokens[t : t + len(words)] == words:
                    labels[t : t + len(words)] = [f"B-{kind}"] + [f"I-{kind}"] * (len(words) - 1)
    return tokens, labels


def segment_f1(tagger: tw.CRFTagger, X: list[list[str]], y: list[list[str]]) -> float:  # noqa: N803
    """Score a fitted tagger; `CRFTagger.score` would be the accuracy of tokens."""
    return tw.report(y, tagger.predict(X), scheme="bio").f1


def main() -> None:
    pairs = [
        label(PATTERNS[i % len(PATTERNS)].format(p=person, q=place))
        for i, (person, place) in enumerate((p, q) for p in PEOPLE for q in PLACES)
    ]
    X, y = [tokens for tokens, _ in pairs], [labels for _, labels in pairs]  # noqa: N806

    search = GridSearchCV(
        tw.CRFTagger(max_iter=100),
        {"l2": [0.01, 0.3, 10.0], "features": ["ner", "word[-1..1]"]},
        scoring=segment_f1,
        cv=3,
    )
    search.fit(X, y)
    results = search.cv_results_
    for settings, score in zip(results["params"], results["mean_test_score"], strict=True):
        print(f"{score:.3f}  {settings}")
    print("\nbest:", search.best_params_)
    print(search.best_estimator_.predict([["Ida", "Lee", "lives", "in", "San", "Remo"]])[0])


if __name__ == "__main__":
    main()
