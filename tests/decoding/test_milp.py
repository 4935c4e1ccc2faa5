"""Decoding as a mixed-integer program, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import trelliswork as tw
from problem_cases import cases

TIGHT = {"rel": 1e-6, "abs": 1e-6}  # the tolerance of HiGHS


@settings(max_examples=60)
@given(cases(most_rules=4))
def test_best_labelling(case):
    if case.best == -np.inf:
        with pytest.raises(tw.InfeasibleError):
            tw.solve(case.problem, "milp")
        return
    found = tw.solve(case.problem, "milp")
    assert found.score == pytest.approx(case.best, **TIGHT)
    assert found.score == pytest.approx(case.values[tuple(found.labels)], rel=1e-12, abs=1e-12)
    assert found.upper_bound >= found.score
    assert found.upper_bound == pytest.approx(found.score, **TIGHT)
    assert found.status == "unverified"
    assert tw.verify(case.problem, found).status == "unverified"
