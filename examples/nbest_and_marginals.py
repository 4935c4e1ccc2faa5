"""How sure is the model? Marginals, the n best labellings, samples and entropy."""

import numpy as np

import trelliswork as tw
from trelliswork import inference

X = [
    ["they", "can", "fish"],
    ["they", "fish"],
    ["the", "can", "leaks"],
    ["the", "fish", "can", "swim"],
    ["they", "can", "swim"],
]
y = [
    ["PRON", "AUX", "VERB"],
    ["PRON", "VERB"],
    ["DET", "NOUN", "VERB"],
    ["DET", "NOUN", "AUX", "VERB"],
    ["PRON", "AUX", "VERB"],
]


def main() -> None:
    tagger = tw.CRFTagger(features="word[-1..0]", l2=0.05, transitions="all").fit(X, y)
    sentence = ["the", "can", "can", "fish"]

    print("P(label) of each token")
    print("        ", *(f"{name:>6}" for name in tagger.classes_))
    for word, row in zip(sentence, tagger.predict_marginals([sentence])[0], strict=True):
        print(f"{word:8}", *(f"{p:6.3f}" for p in row))

    print("\nthe three best labellings")
    for labels, probability in tagger.predict_nbest([sentence], 3)[0]:
        print(f"{probability:6.3f}", *labels)

    # The scores of a batch; every verb of trelliswork.inference takes them.
    trellis = tagger.trellis([sentence])
    print("\nfive samples")
    for ids in inference.sample(trellis, 5, random_state=0)[0]:
        print("      ", *tagger.classes_[ids])
    bits = inference.entropy(trellis)[0] / np.log(2)
    print(f"\nentropy {bits:.2f} bits: as uncertain as {2**bits:.1f} equally likely labellings")


if __name__ == "__main__":
    main()
