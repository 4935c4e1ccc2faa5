from __future__ import annotations

import numpy as np
import pytest

from trelliswork import inference
from trelliswork.automata.automaton import Automaton
from trelliswork.inference.trellis import Trellis


def test_empty_batch_and_empty_sequence():
    empty = Trellis(np.zeros((0, 3)))
    assert inference.log_partition(empty) == pytest.approx([0.0])
    assert inference.viterbi(empty).labels.size == 0
    nothing = Trellis(np.zeros((0, 3)), offsets=[0])
    assert inference.log_partition(nothing).shape == (0,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": [[0.0, np.nan]]}, r"scores: expected finite numbers or -inf, got nan"),
        ({"scores": [[np.inf, 0.0]]}, r"scores: .* got inf at \[0, 0\]"),
        ({"scores": [0.0, 1.0]}, r"scores: expected shape"),
        ({"scores": np.zeros((2, 0))}, r"scores: expected shape"),
        ({"scores": np.zeros((2, 2)), "weights": np.zeros(3)}, r"weights: expected shape \(4,\)"),
        ({"scores": np.zeros((2, 2)), "start": [np.nan, 0]}, r"start: .* got nan"),
        ({"scores": np.zeros((2, 2)), "end": [0, 0, 0]}, r"end: expected shape \(2,\)"),
        ({"scores": np.zeros((2, 2)), "offsets": [0, 1]}, r"offsets: expected to rise"),
        ({"scores": np.zeros((2, 2)), "offsets": [0.5, 2]}, r"offsets: expected a 1-d integer"),
        ({"scores": np.zeros((2, 2)), "automaton": Automaton.chain(3)}, r"expected 3 labels"),
    ],
)
def test_bad_input_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        Trellis(**options)


@pytest.mark.parametrize("scores", [[], [[]], [np.zeros((2, 3)), np.zeros((2, 4))]])
def test_sequences_that_do_not_stack_are_refused(scores):
    with pytest.raises(ValueError, match=r"Trellis\.from_sequences: expected"):
        Trellis.from_sequences(scores)
