"""Lower bounds on objectives of CRFs: never above the optimum, and close to it at the end."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import objective_cases
import soft_term_cases
import trelliswork as tw
from regularizer_cases import SEEDS, regularizers
from trelliswork.learn.objective.objective import Objective
from trelliswork.learn.optimizers.minimizer import Minimizer
from trelliswork.learn.optimizers.proximal import minimize_proximal
from trelliswork.learn.sparsity.duality import lower_bound
from trelliswork.learn.sparsity.regularizer import Regularizer

TREES = ("none", "groups", "tree")


def bound_at(objective: Objective, regularizer: Regularizer, x: np.ndarray) -> float:
    gradient = np.empty(x.size)
    smooth = objective.value_and_grad(x, gradient)
    l2 = objective.l2
    loss = smooth - float((l2 * x * x).sum())
    return lower_bound(x, loss, gradient - 2.0 * l2 * x, l2, regularizer)


def best(objective: Objective, regularizer: Regularizer, max_iter: int = 1500):
    found = minimize_proximal(
        objective.value_and_grad,
        np.zeros(objective.n_parameters),
        regularizer,
        max_iter=max_iter,
        tol=1e-11,
    )
    return found.x, found.value


def check_bounds(objective, regularizer, seed):
    """Compare the bounds that some points give with the least value that was found.

    Where weights run away for want of a penalty, that takes for ever, and a larger value will do.
    """
    optimum, value = best(objective, regularizer, 150)
    rng = np.random.default_rng(seed)
    slack = 1e-7 * max(1.0, abs(value))
    for scale in (0.0, 0.3, 3.0):
        x = optimum * rng.uniform(0, 2) + scale * rng.normal(size=optimum.size)
        x[regularizer.nonnegative] = np.abs(x[regularizer.nonnegative])
        assert bound_at(objective, regularizer, x) <= value + slack
    assert bound_at(objective, regularizer, np.zeros(optimum.size)) <= value + slack
    return optimum, value


@given(objective_cases.problems(), SEEDS, st.data())
@settings(max_examples=80)
def test_bounds_of_chains(problem, seed, data):
    """With sequence weights, values of features, with and without l2."""
    objective = problem[-2]
    if not objective.is_convex or objective.n_parameters == 0:
        return
    regularizer = data.draw(regularizers(objective.n_parameters, (*TREES, "crossing"), mixed=False))
    check_bounds(objective, regularizer, seed)


@given(soft_term_cases.problems().filter(bool), SEEDS, st.data())
@settings(max_examples=40)
def test_bounds_under_constraints(problem, seed, data):
    """Hard ones, and soft ones with penalties that are given or learned."""
    objective = problem.objective
    if not objective.is_convex:
        return
    drawn = data.draw(regularizers(objective.n_parameters, TREES, mixed=False))
    size = objective.n_parameters
    penalties = np.arange(size - objective.n_penalties, size)
    check_bounds(objective, Regularizer(size, drawn.l1, drawn.levels, penalties), seed)


@given(objective_cases.problems(), st.sampled_from([0.2, 1.0]))
@settings(max_examples=60)
def test_the_gap_closes_at_the_optimum(problem, l1):
    objective = problem[-2]
    if not objective.is_convex or objective.n_parameters == 0:
        return
    regularizer = Regularizer(objective.n_parameters, l1)
    optimum, value = best(objective, regularizer)
    gap = value - bound_at(objective, regularizer, optimum)
    assert -1e-8 <= gap <= 1e-3 * max(1.0, value)


@pytest.mark.parametrize("solver", ["owlqn", "sparsa", "fista"])
def test_solvers_say_how_close_they_are(solver):
    objective = small(known=True)
    regularizer = Regularizer(objective.n_parameters, 0.5)
    _, value = best(objective, regularizer)
    found = Minimizer(solver, tol=0.0, gap_tol=1e-6).run(
        objective, np.zeros(objective.n_parameters), regularizer, lambda it: False
    )
    assert found.reason == "gap"
    assert found.value - value <= found.gap + 1e-9
    assert found.gap <= 1e-6 * found.value


def test_smooth_solvers_take_no_regularizer():
    objective = small(known=True)
    start = np.zeros(objective.n_parameters)
    with pytest.raises(AssertionError, match="'lbfgs' does not minimise under a regularizer"):
        Minimizer("lbfgs").run(objective, start, Regularizer(start.size, 0.5), lambda it: False)


def test_partial_labels_have_no_bound():
    objective = small(known=False)
    assert not objective.is_convex
    regularizer = Regularizer(objective.n_parameters, 0.5)
    found = Minimizer("owlqn", gap_tol=0.5).run(
        objective, np.zeros(objective.n_parameters), regularizer, lambda it: False
    )
    assert found.gap is None
    assert found.reason != "gap"


def test_weights_without_a_penalty_leave_nothing_to_say():
    x = np.array([1.0, 0.0])
    free = Regularizer(2, np.array([0.0, 1.0]))
    assert lower_bound(x, 3.0, np.array([0.5, 0.5]), np.zeros(1), free) == -np.inf
    assert lower_bound(x, 3.0, np.array([0.0, 0.5]), np.zeros(1), free) == 3.0
    assert lower_bound(x, 3.0, np.array([0.5, 0.5]), np.array([0.25]), free) == 2.5 - 0.25


def small(*, known: bool) -> Objective:
    rng = np.random.default_rng(0)
    lengths = [4, 3, 5]
    offsets = np.cumsum([0, *lengths]).astype(np.int64)
    labels = objective_cases.LabelSet(["A", "B"])
    flat = rng.choice(["A", "B"], size=sum(lengths)).tolist()
    if not known:
        flat[2] = None
    sequences = [flat[a:b] for a, b in itertools.pairwise(offsets)]
    rows = rng.integers(4, size=(sum(lengths), 2)).astype(np.int32)
    state = objective_cases.FeatureMatrix(
        np.arange(0, 2 * sum(lengths) + 1, 2, dtype=np.int64), rows.ravel(), None, 4
    )
    return Objective(
        objective_cases.EncodedFeatures(offsets, state, None),
        objective_cases.GoldLabels.encode(labels, sequences),
        objective_cases.Structure.chain(labels),
        pairs="all",
        transitions="all",
    )


def test_the_gap_closes_where_only_some_weights_have_l2():
    rng = np.random.default_rng(3)
    X = [rng.choice(list("abcdef"), size=n).tolist() for n in rng.integers(2, 8, size=50)]
    Y = [["xyz"[(ord(word) + t % 2) % 3] for t, word in enumerate(words)] for words in X]
    tagger = tw.CRFTagger(features="word[-1..1]", l1=0.7, l2={0: 0.0, 1: 0.3}, tol=0.0).fit(X, Y)
    assert tagger.stop_reason_ == "gap"
    assert tagger.gap_ <= 1e-4 * tagger.loss_
