from __future__ import annotations

import pytest

import trelliswork as tw
from trelliswork.graphs.factors import Xor


@pytest.fixture
def z():
    return tw.FactorGraph().binary((2, 3), name="z")


def test_literals_are_equal_to_themselves(z):
    assert z[0, 1] == z[0, 1]
    assert z[0, 1] != ~z[0, 1]
    assert z[0] != z[1]
    assert z[1, 2] in list(z[1])
    assert {z[0, 0]: 1}[z[0, 0]] == 1
    assert z[0, 0] != tw.FactorGraph().binary((2, 3))[0, 0]


def test_literals_have_no_value(z):
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(z[0, 0])
    with pytest.raises(TypeError, match=r"graph\.fix"):
        _ = z == 1


def test_invalid_literals_are_refused(z):
    with pytest.raises(TypeError, match=r"Xor: expected one sequence .* Write Xor\(\[a, b\]\)"):
        Xor(z[0, 0], z[0, 1])
    for wrong in ("abc", ["z"], 3):
        with pytest.raises(TypeError, match="expected Variables"):
            Xor(wrong)
    with pytest.raises(ValueError, match="True or False"):
        z.graph.fix(z, 2)


def test_categorical_variables_are_compared_with_values():
    x = tw.FactorGraph().categorical(2, 3, name="x")
    for wrong in (x[1], "a", [0, 1]):
        with pytest.raises(TypeError, match="XorOut"):
            _ = x[0] == wrong


def test_scores_are_added_to_lists_too(z):
    z.graph.add_scores([z[0, 0], ~z[1, 1]], [1.0, 2.0])
    assert tw.solve(z.graph).score == 3.0
