"""The spans of the core: its problems and its answers."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from trelliswork import _core
from trelliswork.proofs.answer import OPTIMAL

SPANS = np.array([[0, 2], [1, 3]])
SCORES = np.array([[2.0, 1.0], [1.5, 1.8]])
OPTIONS = _core.SpanOptions(max_iterations=200, tolerance=1e-9, seconds=0.0, max_nodes=0)


def once_each() -> _core.SpanRules:
    return _core.SpanRules(2, [1, 1], [0, 1], [1.0, 1.0], [1.0, 1.0], [np.inf, np.inf])


def test_a_problem_keeps_its_rules():
    problems = [
        _core.SpanProblem(SPANS, SCORES, once_each(), apart, 0.5) for apart in (True, False)
    ]
    gc.collect()
    apart, free = _core.solve_spans(problems, OPTIONS)
    assert (apart.status, apart.score, apart.choices) == (OPTIMAL, 2.5, [(0, 0)])
    assert (free.status, free.score, sorted(free.choices)) == (OPTIMAL, 4.3, [(0, 0), (1, 1)])
    for found in apart, free:
        assert found.bound == found.score
        ((decisions, prices),) = found.leaves
        assert decisions == []
        assert prices.shape == (2,)


@pytest.mark.parametrize(
    ("spans", "scores", "message"),
    [
        (SPANS, SCORES[:1], "wrong shape"),
        (SPANS, SCORES[:, :1].copy(), "wrong shape"),
        (SPANS[:, :1].copy(), SCORES, "wrong shape"),
        (SPANS[:, ::-1].copy(), SCORES, "not empty"),
    ],
)
def test_wrong_arrays_are_refused(spans, scores, message):
    with pytest.raises(ValueError, match=message):
        _core.SpanProblem(spans, scores, once_each(), True, 0.0)


def test_none_is_no_problem():
    with pytest.raises(ValueError, match="got None"):
        _core.solve_spans([None], OPTIONS)
