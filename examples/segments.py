"""Label segments instead of tokens, three in a row, under a rule."""

import trelliswork as tw

X = [
    "Lee , A. 1998 . Cats and dogs . Nature",
    "Roe , B. , Poe , C. 2001 . Birds . Science",
    "Fox , D. 1987 . On the origin of ants . Nature",
    "1999 . A short history of bees . Poe , E. Science",
]
FIELDS = [
    "author 3, date 2, title 4, journal 1",
    "author 7, date 2, title 2, journal 1",
    "author 3, date 2, title 6, journal 1",
    "date 2, title 6, author 3, journal 1",
]
FRESH = "Doe , F. , Roe , G. , Lee , H. 2004 . A history of cats . Science"
FEATURES = """
lower(word)
short_shape(word)
begin: short_shape(word)
end: word
segment: ends
"""


def main() -> None:
    sentences = [reference.split() for reference in X]
    tagger = tw.CRFTagger(
        features=FEATURES,
        order=2,  # patterns of three segments, however long they are
        max_segment={"author": 15, "date": 2, "title": 30, "journal": 8},  # with headroom
        l2={0: 0.01, 2: 0.05},  # a stronger penalty for longer patterns
        constraints=[tw.at_most(1, "title"), tw.ends_with("journal")],  # rules read segments
    )
    tagger.fit(sentences, [labels(fields) for fields in FIELDS])
    print(f"{len(tagger.model_.patterns)} patterns, segments of at most", end=" ")
    print(tagger.model_.segmentation.spell_limits(), "tokens")

    fresh = FRESH.split()
    (spans,) = tagger.predict_segments([fresh])
    (probabilities,) = tagger.span_probability([fresh], [spans])
    for span, probability in zip(spans, probabilities, strict=True):
        print(f"{span.name:8} {probability:.2f}  {' '.join(fresh[span.start : span.end])}")


def labels(fields: str) -> list[str]:
    """Spell ``"author 2, date 1"`` as one label a token."""
    pairs = (field.split() for field in fields.split(", "))
    return [name for name, length in pairs for _ in range(int(length))]


if __name__ == "__main__":
    main()
