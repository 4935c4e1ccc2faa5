"""Exact inference on scores from anywhere: a network, an HMM, a table."""

import numpy as np

import trelliswork as tw
from trelliswork import inference

LABELS = tw.LabelSet(["B-PER", "I-PER", "O"], scheme="bio")
TOKENS = ["Ann", "Lee", "sings"]
# φ[t, y]: how well label y fits token t; and a transition matrix, rows = previous label.
SCORES = np.array([[1.0, 1.8, 0.5], [0.4, 1.5, 0.2], [-1.0, -0.5, 2.0]])
TRANSITIONS = np.array([[-1.0, 1.0, 0.0], [-1.0, 0.5, 0.0], [0.5, 0.0, 0.5]])


def show(title: str, trellis: tw.Trellis) -> None:
    best = inference.viterbi(trellis)
    log_z = inference.log_partition(trellis)
    probability = np.exp(best.scores - log_z)[0]
    print(f"{title}: {' '.join(LABELS.decode(best.labels))}  (p = {probability:.3f})")


def main() -> None:
    print(*TOKENS)
    free = tw.Trellis(SCORES, weights=TRANSITIONS)
    show("anything goes", free)

    # -inf forbids, exactly: only labellings that are valid BIO are left.
    rules = LABELS.transitions
    valid = tw.Trellis(
        SCORES,
        weights=np.where(rules.step, TRANSITIONS, -np.inf),
        start=np.where(rules.start, 0.0, -np.inf),
        end=np.where(rules.end, 0.0, -np.inf),
    )
    show("valid BIO", valid)
    print("\nP(label), valid BIO only")
    print(inference.marginals(valid).labels.round(3))

    # Two sentences in one batch: one call, no padding.
    batch = tw.Trellis.from_sequences([SCORES, SCORES[:2]], weights=TRANSITIONS)
    print("\nlog Z of two sequences:", inference.log_partition(batch).round(3))

    # Any automaton will do: state 1 = "a person has begun", and no second one may begin.
    b_per, i_per, o = range(3)
    once = tw.Automaton(
        n_states=3,
        n_labels=3,
        source=[0, 0, 1, 1, 2],
        label=[o, b_per, i_per, o, o],
        target=[0, 1, 1, 2, 2],
    )
    show("\nat most one person", tw.Trellis(SCORES, once))

    # Segments: φ[t, d, y] is the score of label y on the d + 1 tokens that end at t.
    segments = np.zeros((3, 2, 2))  # labels: name, other
    segments[1, 1, 0] = 3.0  # "Ann Lee" as one name
    segments[2, 0, 1] = 1.0  # "sings" as something else
    best = inference.viterbi(tw.Trellis(segments))
    print("segments begin at", np.flatnonzero(best.begins), "labels", best.labels)


if __name__ == "__main__":
    main()
