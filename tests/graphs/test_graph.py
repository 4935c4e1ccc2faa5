"""Variables that slice, scores, fixed values, and the values of assignments."""

from __future__ import annotations

import numpy as np
import pytest

import trelliswork as tw
from trelliswork.graphs.factors import AtMostOne, Imply, Knapsack, Or, Pair, Xor
from trelliswork.graphs.variables import Variables


def test_variables_slice_like_arrays():
    graph = tw.FactorGraph()
    z = graph.binary((3, 4), name="z")
    numbers = np.arange(12).reshape(3, 4)
    for key in (0, (1, 2), (slice(None), slice(1, None)), (..., -1), [2, 0], numbers % 3 == 0):
        np.testing.assert_array_equal(z[key].codes, 2 * numbers[key])
    np.testing.assert_array_equal(z.T.codes, 2 * numbers.T)
    np.testing.assert_array_equal(z.ravel().codes, 2 * numbers.ravel())
    np.testing.assert_array_equal(z.reshape(2, 6).codes, 2 * numbers.reshape(2, 6))
    np.testing.assert_array_equal((~z).codes, 2 * numbers + 1)
    np.testing.assert_array_equal((~~z).codes, z.codes)
    assert z.shape == (3, 4)
    assert (z.size, z.ndim, len(z)) == (12, 2, 3)
    assert [row.shape for row in z] == [(4,)] * 3
    with pytest.raises(TypeError, match="single literal"):
        len(z[0, 0])
    with pytest.raises(IndexError):
        z[3]


def test_categorical_variables_slice_too():
    graph = tw.FactorGraph()
    x = graph.categorical((2, 3), 4, name="x")
    assert x.shape == (2, 3)
    assert (x.size, x.ndim, x.n_values, len(x)) == (6, 2, 4, 2)
    assert x[1].shape == (3,)
    assert x[:, 1:].shape == (2, 2)
    assert x[1, 2].shape == ()
    assert (x == 3).shape == (2, 3)
    np.testing.assert_array_equal((x[1] == 2).codes, x.literals.codes[1, :, 2])
    np.testing.assert_array_equal((x[1] != 2).codes, x.literals.codes[1, :, 2] ^ 1)
    assert [row.shape for row in x] == [(3,)] * 2
    assert len(graph.factors) == 6
    with pytest.raises(ValueError, match="expected one of 0 … 3"):
        x.is_value(4)
    with pytest.raises(TypeError, match="single variable"):
        len(x[0, 0])


def test_everything_has_a_name():
    graph = tw.FactorGraph()
    z, single = graph.binary((2, 3), name="z"), graph.binary(name="single")
    other, x = graph.binary(7), graph.categorical(2, 3, name="x")
    assert repr(z[1]) == "Variables(z[1, 0], z[1, 1], z[1, 2]; shape (3,))"
    assert repr(~single) == "Variables(~single; shape ())"
    assert repr(other) == "Variables(v2[0], v2[1], v2[2], v2[3], …; shape (7,))"
    assert repr(x[1]) == "Categorical(x[1, 0], x[1, 1], x[1, 2]; shape (), 3 values)"
    assert repr(Imply(z[0, 0], single)) == "Imply(~z[0, 0], single)"
    assert repr(Pair(x[0], x[1], np.zeros((3, 3)))).endswith("…; table (3, 3))")
    assert repr(Xor([])) == "Xor()"
    graph.add(Xor(z[0]))
    assert repr(graph) == "FactorGraph(20 variables, 3 factors: 3 Xor)"
    assert repr(tw.FactorGraph()) == "FactorGraph(0 variables, 0 factors)"


def test_values_of_assignments():
    graph = tw.FactorGraph()
    z = graph.binary(3, [1.0, 2.0, 4.0])
    graph.add(AtMostOne(z[:2]), Pair(z[1], ~z[2], [[0.0, 0.5], [-np.inf, 0.25]]))
    graph.add_scores(~z[0], 8.0)
    graph.add_scores(z[1:], [16.0, 32.0])
    graph.add_scores(z[[1, 1]], 0.5)
    assert graph.value([0, 0, 0]) == 8.0 + 0.5
    assert graph.value([0, 0, 1]) == 8.0 + 36.0
    assert graph.value([1, 0, 1]) == 1.0 + 36.0
    assert graph.value([0, 1, 0]) == 8.0 + 19.0 + 0.25
    assert graph.value([0, 1, 1]) == -np.inf
    assert graph.value([1, 1, 0]) == -np.inf
    assert graph.violated([1, 1, 1]) == list(graph.factors)
    assert graph.violated([1, 1, 0]) == [graph.factors[0]]
    assert graph.violated([0, 0, 0]) == []
    graph.fix(z[2])
    assert graph.value([0, 0, 0]) == -np.inf
    for wrong in ([0, 1], [0, 1, 2], [[0, 1, 1]]):
        with pytest.raises(ValueError, match="expected 0 or 1 for each of 3 variables"):
            graph.value(wrong)


def test_forbidden_and_fixed():
    graph = tw.FactorGraph()
    z = graph.binary(4, [1.0, -np.inf, 1.0, -1.0])
    graph.add_scores(~z[2], -np.inf)
    graph.fix(~z[3], False)
    assert graph.fixed.tolist() == [-1, 0, 1, 1]
    assert graph.value([1, 0, 1, 1]) == 1.0
    found = tw.solve(graph)
    assert found[z].tolist() == [True, False, True, True]
    graph.fix(z[1])  # against its score
    assert tw.solve(graph).status == "infeasible"
    assert graph.violated([1, 0, 1, 1]) == list(graph.factors)
    assert isinstance(graph.factors[0], Or)


@pytest.mark.parametrize("method", ["auto", "ad3", "dual", "milp", "lp"])
def test_fixed_both_ways_at_once(method):
    graph = tw.FactorGraph()
    z = graph.binary(2, 1.0)
    graph.fix([z[0], ~z[0]])
    assert tw.solve(graph, method).status == "infeasible"


def test_scores_that_are_none():
    graph = tw.FactorGraph()
    z = graph.binary(2)
    for wrong, message in ((np.nan, "got nan at"), (np.inf, r"got inf at .* graph.fix")):
        with pytest.raises(ValueError, match=message):
            graph.binary(2, [0.0, wrong])
        with pytest.raises(ValueError, match=message):
            graph.categorical(1, 2, [[0.0, wrong]])
        with pytest.raises(ValueError, match=message):
            graph.add_scores(z, wrong)
    for wrong in (1e150, -1.7e308):  # sums of which overflow
        with pytest.raises(ValueError, match="scores: expected scores below 1e150, got"):
            graph.binary(2, [0.0, wrong])
        with pytest.raises(ValueError, match="table: expected scores below 1e150, got"):
            Pair(z[0], z[1], [[0.0, wrong], [-np.inf, 0.0]])
        with pytest.raises(ValueError, match="below 1e150"):
            Knapsack(z, [1.0, wrong], 2.0)
    with pytest.raises(ValueError, match=r"expected shape \(2,\), got \(3,\)"):
        graph.binary(2, np.zeros(3))
    with pytest.raises(ValueError, match=r"expected shape \(2,\), got \(3,\)"):
        graph.add_scores(z, np.zeros(3))
    with pytest.raises(ValueError, match="n_values: expected 1 or more"):
        graph.categorical(2, 0)
    assert graph.n_variables == 2


def test_a_variable_twice_in_a_factor():
    graph = tw.FactorGraph()
    z, x = graph.binary(3, name="z"), graph.categorical(2, 2, name="x")
    for wrong in (
        Xor([z[0], z[1], ~z[0]]),
        AtMostOne([z, z[0]]),
        Pair(z[0], ~z[0], np.zeros((2, 2))),
        Imply(z[0], z[0]),
    ):
        with pytest.raises(ValueError, match=r"expected different variables, got z\[0\] twice"):
            graph.add(Xor(z[1:]), wrong)
    with pytest.raises(ValueError, match=r"got x\[0, 0\] twice"):
        graph.add(Pair(x[0], x[0], np.zeros((2, 2))))
    assert len(graph.factors) == 2
    graph.add(Pair(z[0], z[1], np.zeros((2, 2))))


def test_variables_of_another_graph():
    graph, other = tw.FactorGraph(), tw.FactorGraph()
    z, alien = graph.binary(3), other.binary(3)
    with pytest.raises(ValueError, match="expected variables of this graph"):
        graph.add(Xor(alien))
    with pytest.raises(ValueError, match="expected variables of this graph"):
        graph.add_scores(alien, 1.0)
    with pytest.raises(ValueError, match="expected variables of this graph"):
        graph.fix(alien)
    for make in (lambda: Xor([z, alien]), lambda: Imply(z, alien[0])):
        with pytest.raises(ValueError, match="variables of one graph, got those of two"):
            make()
    found = tw.solve(graph)
    with pytest.raises(ValueError, match="expected variables of its graph"):
        found[alien]
    with pytest.raises(TypeError, match="expected variables of the graph, got int"):
        found[0]
    with pytest.raises(TypeError, match="expected factors, got Variables"):
        graph.add(z)


def test_arrays_are_made_anew_where_the_graph_changed():
    graph = tw.FactorGraph()
    z = graph.binary(2, 1.0)
    assert graph.arrays() is graph.arrays()
    assert tw.solve(graph).score == 2.0
    graph.add(AtMostOne(z))
    assert tw.solve(graph).score == 1.0
    graph.add_scores(z[0], 1.0)
    assert tw.solve(graph).score == 2.0
    graph.fix(z[1])
    assert tw.solve(graph).score == 1.0
    more = graph.binary(1, 5.0)
    assert tw.solve(graph).score == 6.0
    assert tw.solve(graph)[more].tolist() == [True]


def test_factors_come_in_by_add_alone():
    graph = tw.FactorGraph()
    z = graph.binary(3, 1.0)
    graph.add(AtMostOne(z))
    assert tw.solve(graph).score == 1.0
    assert isinstance(graph.factors, tuple)
    with pytest.raises(AttributeError):
        graph.factors = ()


@pytest.mark.parametrize("whole", [int, np.int64, np.uint8])
def test_shapes_of_any_whole_numbers(whole):
    graph = tw.FactorGraph()
    assert graph.binary(whole(3)).shape == (3,)
    assert graph.binary((whole(2), whole(3))).shape == (2, 3)
    assert graph.binary(np.array([2, 3])).shape == (2, 3)
    assert graph.categorical(whole(2), whole(4)).literals.shape == (2, 4)
    for wrong in (1.5, (2, 1.5), "ab", None):
        with pytest.raises(TypeError, match="shape: expected whole numbers"):
            graph.binary(wrong)
    with pytest.raises(ValueError, match="shape: expected numbers of 0 or more, got -1"):
        graph.binary(-1)


def test_callers_arrays_stay_as_they_are():
    graph = tw.FactorGraph()
    scores = np.array([1.0, -np.inf])
    z = graph.binary(2, scores)
    graph.add_scores(z, 1.0)
    graph.fix(z[0])
    assert scores.tolist() == [1.0, -np.inf]
    assert isinstance(z[0], Variables)
