"""Train a name tagger on a few sentences, measure it, save it, and tag new text."""

import tempfile
from io import StringIO
from pathlib import Path

import trelliswork as tw

TRAIN = """\
Ann B-PER
Lee I-PER
lives O
in O
Berlin B-LOC
. O

Bob B-PER
went O
to O
New B-LOC
York I-LOC
. O

Eve B-PER
Stone I-PER
met O
Tom B-PER
in O
Paris B-LOC
. O

Max B-PER
Lee I-PER
came O
from O
San B-LOC
Remo I-LOC
. O
"""

DEV = """\
Tom B-PER
Stone I-PER
went O
to O
Berlin B-LOC
. O

Ann B-PER
met O
Max B-PER
in O
New B-LOC
York I-LOC
. O
"""


def main() -> None:
    train = tw.read_conll(StringIO(TRAIN))
    dev = tw.read_conll(StringIO(DEV))

    tagger = tw.CRFTagger(features="ner", l2=0.1, dev_every=1).fit(train, dev=dev)
    print(f"stopped: {tagger.stop_reason_}, labels: {', '.join(tagger.classes_)}\n")
    print(tw.report(dev, tagger.predict(dev)), end="\n\n")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "names.tw"
        tagger.save(path)
        loaded = tw.load(path)

    sentence = tw.Tokenizer("words").tokenize("Eve Lee went to San Remo.")
    labels = loaded.predict([sentence])[0]
    for span in loaded.labels_.spans(labels):
        print(f"{span.name}: {sentence.surface(span.start, span.end)}")


if __name__ == "__main__":
    main()
