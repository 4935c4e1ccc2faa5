"""Weights that are 0 at every optimum: bounds on gradients, and the weights that they rule out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings, strategies as st

import objective_cases
import segment_objective_cases
import soft_term_cases
from regularizer_cases import SEEDS, regularizers
from trelliswork.learn.optimizers.proximal import minimize_proximal
from trelliswork.learn.sparsity.group_norms import GroupNorms
from trelliswork.learn.sparsity.regularizer import Regularizer
from trelliswork.learn.sparsity.task import may_be_nonzero

if TYPE_CHECKING:
    from trelliswork.learn.objective.objective import Objective


@st.composite
def objectives(draw) -> Objective:
    """Chains with values and weights, models of segments, soft constraints; labels in part."""
    kind = draw(st.sampled_from(["chain", "segments", "soft"]))
    if kind == "chain":
        return draw(objective_cases.problems())[-2]
    if kind == "segments":
        return draw(segment_objective_cases.problems())[3]
    return draw(soft_term_cases.problems().filter(bool)).objective


@given(objectives(), SEEDS, st.sampled_from([0.1, 1.0, 10.0, 1000.0]))
@settings(max_examples=100)
def test_no_gradient_is_steeper(objective, seed, scale):
    bounds = objective.gradient_bounds()
    rng = np.random.default_rng(seed)
    size = objective.n_parameters
    assert bounds.shape == (size,)
    assert (bounds >= 0.0).all()
    x = scale * rng.normal(size=size)
    first = size - objective.n_penalties
    x[first:] = np.abs(x[first:])
    gradient = np.empty(size)
    objective.value_and_grad(x, gradient)
    loss = np.abs(gradient - 2.0 * objective.l2 * x)
    assert (loss <= bounds + 1e-9 * (1.0 + scale)).all()


@given(objectives(), st.data())
@settings(max_examples=60)
def test_screened_weights_are_zero_at_the_optimum(objective, data):
    size = objective.n_parameters
    drawn = data.draw(regularizers(size, ("none", "groups", "tree"), mixed=False))
    penalties = np.arange(size - objective.n_penalties, size)
    regularizer = Regularizer(size, drawn.l1, drawn.levels, penalties)
    bounds = objective.gradient_bounds()
    alive = may_be_nonzero(regularizer, bounds)
    if alive.all() or size == 0:
        return
    # From a point where all live, so that nothing is 0 for want of a push.
    rng = np.random.default_rng(0)
    found = minimize_proximal(
        objective.value_and_grad,
        np.abs(rng.normal(size=size)),
        regularizer,
        max_iter=500,
        tol=1e-9,
    )
    # What makes no difference, and costs nothing, is wherever it was; the rest is almost there.
    assert np.abs(found.x[~alive & (bounds > 0.0)]).max(initial=0.0) < 1e-3
    # To leave them out from the first costs nothing.
    kept = np.flatnonzero(alive)
    part = regularizer.take(kept)

    def restricted(x, gradient):
        whole, of_whole = np.zeros(size), np.empty(size)
        whole[kept] = x
        value = objective.value_and_grad(whole, of_whole)
        gradient[:] = of_whole[kept]
        return value

    start = np.where(found.x[kept] == 0.0, 0.0, found.x[kept])
    screened = minimize_proximal(restricted, start, part, max_iter=500, tol=1e-9)
    assert screened.value <= found.value * (1.0 + 1e-6) + 1e-6


def test_infinite_bounds_keep_their_groups():
    regularizer = Regularizer(3, 1.0)
    assert may_be_nonzero(regularizer, np.array([np.inf, 0.5, 2.0])).tolist() == [True, False, True]
    groups = Regularizer(3, 0.0, [GroupNorms(np.array([0, 0, 1], np.int32), np.full(2, 3.0))])
    assert may_be_nonzero(groups, np.array([np.inf, 0.5, 2.0])).tolist() == [True, True, False]
    assert may_be_nonzero(groups, np.array([2.0, 2.0, 3.5])).tolist() == [False, False, True]
