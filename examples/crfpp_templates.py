"""Use a template file of CRF++ (or Wapiti) as it is, transition features included."""

import tempfile
from io import StringIO
from pathlib import Path

import trelliswork as tw

TEMPLATE = """\
# Unigrams: the word, its neighbours, its tag
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[1,0]
U03:%x[0,1]
U04:%x[-1,1]/%x[0,1]
# Wapiti's extension: does the word end in s?
U05:%t[0,0,"s$"]

# Plain transitions, and transitions that depend on the tag of the token
B
B01:%x[0,1]
"""

DATA = """\
The DT B-NP
dog NN I-NP
chased VBD B-VP
a DT B-NP
cat NN I-NP

Cats NNS B-NP
like VBP B-VP
warm JJ B-NP
places NNS I-NP

Old JJ B-NP
dogs NNS I-NP
chased VBD B-VP
cats NNS B-NP
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "template"
        path.write_text(TEMPLATE, encoding="utf-8")
        templates = tw.Templates.from_file(path)
    print(f"{len(templates.templates)} templates, some on transitions: {templates.has_edges}")

    # Column 0 of the file is the token, column 1 the first column after it.
    corpus = tw.read_conll(StringIO(DATA), columns=("word", "pos", "label"))
    tagger = tw.CRFTagger(features=templates, l2=0.1).fit(corpus)
    print("feature names:", *tagger.model_.encoder.feature_names()[:6])
    print("on transitions:", *tagger.model_.encoder.edge_feature_names())

    new = [("Warm", "JJ"), ("cats", "NNS"), ("chased", "VBD"), ("dogs", "NNS")]
    for (word, tag), chunk in zip(new, tagger.predict([new])[0], strict=True):
        print(f"{word:8} {tag:4} {chunk}")


if __name__ == "__main__":
    main()
