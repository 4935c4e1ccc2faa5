"""Online proximal gradient: lazy steps against dense ones, and where they lead."""

from __future__ import annotations

from _thread import interrupt_main
from functools import partial
from operator import call

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import objective_cases
import segment_objective_cases
from ruled_tagger import RULES, X, Y
from trelliswork.constraints import at_most
from trelliswork.features import EncodedFeatures, FeatureMatrix, TemplateEncoder
from trelliswork.labels.gold import GoldLabels
from trelliswork.labels.label_set import LabelSet
from trelliswork.learn.denominator import Denominator
from trelliswork.learn.objective.objective import Objective
from trelliswork.learn.optimizers.lbfgs import minimize_lbfgs
from trelliswork.learn.optimizers.online import minimize_online
from trelliswork.learn.sparsity.group_norms import GroupNorms
from trelliswork.learn.sparsity.group_penalty import GroupPenalty
from trelliswork.models.structure import Structure
from trelliswork.planning.plan import plan

PARTIAL = [["A", None, "Y"], [frozenset({"T", "A"}), "A", None], Y[2], [None, None]]


def shorten(x: np.ndarray, penalty: GroupPenalty, amount: float) -> np.ndarray:
    """The proximal map of `amount` times the penalty, group by group from its definition."""
    found = x.copy()
    for g, strength in enumerate(penalty.level.strengths):
        own = penalty.level.groups == g
        norm = np.sqrt(np.sum(x[own] ** 2))
        if own.any():
            found[own] *= max(norm - amount * strength, 0.0) / norm if norm > 0.0 else 0.0
    return found / (1.0 + 2.0 * amount * penalty.l2)


def dense_pass(objective, penalty, x, order, rates) -> tuple[np.ndarray, float]:
    """Step over sequences with the gradient and the penalty of all parameters every time."""
    gradient = np.empty_like(x)
    total = 0.0
    for b, rate in zip(order.tolist(), rates, strict=True):
        total += objective.value_and_grad(x, gradient, sequences=range(b, b + 1))
        x = shorten(x - rate * gradient, penalty, rate / objective.n_sequences)
    return x, total


def lazy_pass(objective, penalty, x, order, rates) -> tuple[np.ndarray, float]:
    run = objective.online_pass(penalty.level.groups, penalty.level.strengths, penalty.l2)
    found = np.empty_like(x)
    run.begin(x)
    loss = run.run(order, rates)
    run.end(found)
    return found, loss


def constrained(names) -> Objective:
    labels = LabelSet(["A", "T", "Y"])
    under = Denominator.choose(plan(labels, RULES), X, names, trained=True, on_conflict="error")
    return Objective(
        TemplateEncoder("word[0]\nedge: word").fit(X, min_count=1, n_jobs=1),
        GoldLabels.encode(labels, names),
        Structure.chain(labels),
        automaton=under.automaton,
        classes=under.classes,
        open_labels=under.open_labels,
    )


@st.composite
def penalties(draw, n_parameters: int) -> GroupPenalty:
    kind = draw(st.sampled_from(["l1", "few", "features", "mixed"]))
    numbers = np.arange(n_parameters)
    if kind == "few":
        numbers %= 2
    elif kind == "features":  # neighbours are weights of the same feature
        numbers //= 3
    elif kind == "mixed":  # a large group, groups of one, groups of two, none
        seed = draw(st.integers(0, 2**16))
        drawn = np.random.default_rng(seed).integers(0, n_parameters + 4, n_parameters)
        numbers = np.where(drawn % 3 == 0, 0, np.where(drawn % 5 == 0, -1, drawn))
    n_groups = int(numbers.max(initial=-1)) + 1
    # None that a gradient at 0, a fraction, could equal: rounding would decide on zeros.
    amounts = st.sampled_from([0.0, 0.13, 0.53, 2.1, 8.3])
    one = draw(st.lists(amounts, min_size=1, max_size=3))
    strengths = np.resize(np.array(one), n_groups)
    l2 = draw(st.sampled_from([0.0, 0.5, 30.0]))
    return GroupPenalty(GroupNorms(numbers.astype(np.int32), strengths), l2)


@st.composite
def cases(draw):
    """An objective of any kind, a penalty, and where to begin."""
    kind = draw(st.sampled_from(["chain", "segments", "constrained"]))
    if kind == "chain":
        objective = draw(objective_cases.problems())[4]
    elif kind == "segments":
        objective = draw(segment_objective_cases.problems())[3]
    else:
        objective = constrained(draw(st.sampled_from([Y, PARTIAL])))
    x = np.zeros(objective.n_parameters)
    if draw(st.booleans()):
        x = np.random.default_rng(draw(st.integers(0, 2**16))).normal(size=x.size)
    return objective, draw(penalties(x.size)), x


@settings(max_examples=150)
@given(case=cases(), seed=st.integers(0, 2**16), largest=st.sampled_from([0.01, 0.3, 1.0]))
def test_lazy_steps_are_dense_steps(case, seed, largest):
    objective, penalty, x = case
    rng = np.random.default_rng(seed)
    expected = x
    for _ in range(3):
        order = rng.integers(objective.n_sequences, size=3 * objective.n_sequences)
        rates = rng.uniform(0.0, largest, size=order.size)
        expected, expected_loss = dense_pass(objective, penalty, expected, order, rates)
        x, loss = lazy_pass(objective, penalty, x, order, rates)
        np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-9)
        assert loss == pytest.approx(expected_loss, rel=1e-9, abs=1e-9)
    penalised = np.append(penalty.level.strengths, 0.0)[penalty.level.groups] > 0.0
    assert not x[penalised & (expected == 0.0)].any()


@given(data=st.data(), n=st.integers(0, 12))
def test_a_penalty_by_its_definition(data, n):
    penalty = data.draw(penalties(n))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    x = rng.normal(size=n) * rng.integers(0, 2, n)
    own = [x[penalty.level.groups == g] for g in range(penalty.level.strengths.size)]
    norms = np.array([np.linalg.norm(part) for part in own])
    expected = penalty.l2 * np.sum(x**2) + np.sum(penalty.level.strengths * norms)
    assert penalty.value(x) == pytest.approx(expected)
    amount = data.draw(st.sampled_from([0.1, 1.0]))
    nearest = penalty.shorten(x, np.full(n, amount))
    np.testing.assert_allclose(nearest, shorten(x, penalty, amount), atol=1e-12)
    # The proximal map is where the slope of its square and that of the penalty cancel.
    assert penalty.residual(nearest, (nearest - x) / amount) == pytest.approx(0.0, abs=1e-9)
    steps = penalty.least_in_groups(np.arange(n, 0.0, -1.0))
    for g in set(penalty.level.groups.tolist()) - {-1}:
        assert set(steps[penalty.level.groups == g]) == {
            n - np.flatnonzero(penalty.level.groups == g).max()
        }


def random_objective(n_sequences=60, n_features=30, length=5, weights=None) -> Objective:
    rng = np.random.default_rng(0)
    n_tokens = n_sequences * length
    indices = rng.integers(n_features, size=(n_tokens, 4)).astype(np.int32)
    matrix = FeatureMatrix(
        np.arange(0, 4 * n_tokens + 1, 4, dtype=np.int64), indices.ravel(), None, n_features
    )
    features = EncodedFeatures(np.arange(0, n_tokens + 1, length, dtype=np.int64), matrix, None)
    gold = (indices[:, 0] + (rng.random(n_tokens) < 0.3)) % 3
    return Objective(
        features,
        GoldLabels(gold.astype(np.int32), None),
        Structure.chain(LabelSet(list("ABC"))),
        weights=weights,
    )


def test_numbers_stay_in_range():
    """Penalties so strong that products over a pass would leave the range of a double."""
    objective = random_objective(20)
    groups = (np.arange(objective.n_parameters) // 7).astype(np.int32)
    strengths = np.where(np.arange(groups.max() + 1) % 2, 0.0, 1e-6)
    penalty = GroupPenalty(GroupNorms(groups, strengths), 1e6)
    rng = np.random.default_rng(0)
    order, rates = rng.integers(20, size=200), rng.uniform(0.1, 1.0, 200)
    start = rng.normal(size=objective.n_parameters)
    expected, expected_loss = dense_pass(objective, penalty, start, order, rates)
    found, loss = lazy_pass(objective, penalty, start, order, rates)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)
    assert loss == pytest.approx(expected_loss)


def test_groups_go_to_zero_and_come_back():
    # Steps on the first 40 are shorter than the shrinkage by the penalty, those on others longer.
    objective = random_objective(weights=np.where(np.arange(60) < 40, 0.01, 10.0))
    groups = np.arange(objective.n_parameters, dtype=np.int32) % 2
    penalty = GroupPenalty(GroupNorms(groups, np.array([150.0, 180.0])), 0.0)
    start = np.random.default_rng(0).normal(size=groups.size)
    order, rates = np.arange(60), np.full(60, 0.1)
    assert not lazy_pass(objective, penalty, start, order[:40], rates[:40])[0].any()
    found, loss = lazy_pass(objective, penalty, start, order, rates)
    expected, expected_loss = dense_pass(objective, penalty, start, order, rates)
    assert np.count_nonzero(found) > 50
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert loss == pytest.approx(expected_loss)


def test_calls_in_pieces_make_one_pass():
    objective = random_objective()
    groups = np.arange(objective.n_parameters, dtype=np.int32) // 2
    penalty = GroupPenalty(GroupNorms(groups, np.ones(200)), 0.1)
    order, rates = np.arange(60), np.linspace(0.5, 0.1, 60)
    start = np.zeros(objective.n_parameters)
    whole, loss = lazy_pass(objective, penalty, start, order, rates)
    run = objective.online_pass(penalty.level.groups, penalty.level.strengths, penalty.l2)
    run.begin(start)
    losses = [run.run(order[i : i + 7], rates[i : i + 7]) for i in range(0, 60, 7)]
    pieces = np.empty_like(whole)
    run.end(pieces)
    assert np.array_equal(pieces, whole)
    assert sum(losses) == pytest.approx(loss)


def test_a_smooth_problem_is_solved():
    objective = random_objective()
    objective.l2[:] = 1.0
    best = minimize_lbfgs(objective.value_and_grad, np.zeros(objective.n_parameters), tol=1e-10)
    none = np.full(objective.n_parameters, -1, dtype=np.int32)
    found = minimize_online(objective, none, np.zeros(0), l2=1.0, epochs=60, tol=0.0)
    assert best.value * (1 - 1e-9) <= found.value < best.value * (1 + 1e-4)
    np.testing.assert_allclose(found.x, best.x, atol=0.02)


@pytest.mark.parametrize("kind", ["l1", "groups"])
def test_an_optimum_is_approached(kind):
    objective = random_objective()
    n = objective.n_parameters
    groups = np.arange(n, dtype=np.int32) // (1 if kind == "l1" else 3)
    strengths = np.full(groups.max() + 1, 3.0)
    penalty = GroupPenalty(GroupNorms(groups, strengths), 0.0)
    # Proximal gradient over all sequences, until nothing changes.
    best, gradient = np.zeros(n), np.empty(n)
    for _ in range(2000):
        objective.value_and_grad(best, gradient)
        best = penalty.shorten(best - 0.02 * gradient, np.full(n, 0.02))
    least = objective.value_and_grad(best, gradient) + penalty.value(best)
    assert penalty.residual(best, gradient) < 1e-6
    found = minimize_online(objective, groups, strengths, epochs=80, decay=0.93, tol=0.0)
    assert least <= found.value + 1e-9 < least * (1 + 1e-4)
    assert 0 < np.count_nonzero(found.x) < n
    assert found.reason == "max_iter"
    assert found.n_iterations == 80


def test_epochs_are_reported_and_may_be_stopped():
    objective = random_objective()
    groups = np.arange(objective.n_parameters, dtype=np.int32)
    penalty = GroupPenalty(GroupNorms(groups, np.ones(groups.size)), 0.25)
    seen = []

    def callback(iteration):
        gradient = np.empty(groups.size)
        loss = objective.value_and_grad(iteration.x, gradient)
        assert iteration.value == pytest.approx(loss + penalty.value(iteration.x))
        seen.append((iteration.number, iteration.value))
        return len(seen) == 3

    found = minimize_online(objective, groups, penalty.level.strengths, l2=0.25, callback=callback)
    assert found.reason == "stopped"
    assert [number for number, _ in seen] == [1, 2, 3]
    assert found.value == seen[-1][1]
    again = minimize_online(objective, groups, penalty.level.strengths, l2=0.25, epochs=3, tol=0.0)
    assert np.array_equal(again.x, found.x)
    quick = minimize_online(objective, groups, penalty.level.strengths, l2=0.25, tol=0.01)
    assert quick.reason == "converged"


class PressedDuring:
    """A pass on sequences during which Ctrl-C is pressed, in one of its runs.

    Python handles it between two steps of its own, of which a chain of calls in C has none: only
    the core can notice it before the run is over.
    """

    def __init__(self, own, last):
        self._own, self._last = own, last
        self.begin, self.end = own.begin, own.end
        self.finished = []

    def run(self, order, rates):
        calls = [partial(self._own.run, order, rates)]
        if len(self.finished) == self._last:
            calls.insert(0, interrupt_main)
        found = []
        try:
            found.extend(map(call, calls))
        finally:
            self.finished.append(len(found) == len(calls))
        return found[-1]


@pytest.mark.usefixtures("control_c")
def test_ctrl_c_is_noticed_and_keeps_the_last_epoch(monkeypatch):
    objective = random_objective()
    groups = np.arange(objective.n_parameters, dtype=np.int32)
    passes: list[PressedDuring] = []

    def online_pass(*args):
        passes.append(PressedDuring(Objective.online_pass(objective, *args), last=3))
        return passes[-1]

    monkeypatch.setattr(objective, "online_pass", online_pass)
    values: list[float] = []
    found = minimize_online(
        objective,
        groups,
        np.ones(groups.size),
        rate=0.1,
        tol=0.0,
        callback=lambda iteration: values.append(iteration.value) is not None,
    )
    assert [own.finished for own in passes] == [[True, True, True, False]]
    assert found.reason == "interrupted"
    assert found.n_iterations == len(values) == 3
    assert found.value == values[-1]
    # The objective is as good as new.
    gradient = np.empty(groups.size)
    loss = objective.value_and_grad(found.x, gradient)
    assert found.value == pytest.approx(loss + np.abs(found.x).sum())


def test_invalid_arguments_are_refused():
    objective = random_objective()
    n = objective.n_parameters
    groups, strengths = np.zeros(n, dtype=np.int32), np.ones(1)
    with pytest.raises(ValueError, match="one number for all"):
        minimize_online(objective, groups, strengths, l2={0: 1.0})
    with pytest.raises(ValueError, match="expected shape"):
        minimize_online(objective, groups[1:], strengths)
    with pytest.raises(ValueError, match="from −1 to 0"):
        minimize_online(objective, groups + 1, strengths)
    with pytest.raises(ValueError, match="from 0 up"):
        minimize_online(objective, groups, -strengths)
    with pytest.raises(ValueError, match="rate: expected"):
        minimize_online(objective, groups, strengths, rate=0.0)
    with pytest.raises(ValueError, match="decay: expected"):
        minimize_online(objective, groups, strengths, decay=1.5)
    with pytest.raises(ValueError, match="begin has to come first"):
        objective.online_pass(groups, strengths, 0.0).run(np.zeros(1, np.int64), np.ones(1))


def test_soft_constraints_are_refused():
    labels = LabelSet(["A", "T", "Y"])
    rules = plan(labels, at_most(1, "A").soft())
    under = Denominator.choose(rules, X, Y, trained=True, on_conflict="error")
    objective = Objective(
        TemplateEncoder("word[0]").fit(X, min_count=1, n_jobs=1),
        GoldLabels.encode(labels, Y),
        Structure.chain(labels),
        automaton=under.automaton,
        classes=under.classes,
        open_labels=under.open_labels,
        soft=under.soft,
    )
    assert objective.n_penalties == 1
    groups = np.zeros(objective.n_parameters, dtype=np.int32)
    with pytest.raises(ValueError, match="Use another solver"):
        minimize_online(objective, groups, np.ones(1))
