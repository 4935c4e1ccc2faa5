"""Small data for constraint-driven learning, and base taggers."""

from __future__ import annotations

import trelliswork as tw

# Small enough to work out by hand: see the first test.
X = [["a", "b"], ["b"]]


Y = [["A", "B"], ["B"]]


U = [["c"]]


# Some more, for everything else.
X_MORE = [["a", "b", "b"], ["a", "c"], ["b", "c", "b"], ["a", "a", "c"]]


Y_MORE = [["A", "B", "B"], ["A", "C"], ["B", "C", "B"], ["A", "A", "C"]]


U_MORE = [["d", "b", "c"], ["a", "d"], ["d", "d", "c", "b"], ["b", "e"], ["e"]]


BASES = {
    "hmm": tw.HMMTagger(training="L+CI"),
    "perceptron": tw.PerceptronTagger(training="L+CI", features="word[-1..0]", random_state=3),
    "crf": tw.CRFTagger(training="L+CI", features="word[-1..0]", l2=0.1),
}
