"""Learning penalties: the perceptron, the support vector machine, and taggers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from penalty_cases import ListedProblem, listed_problems
from trelliswork.learn.penalties.perceptron import learn_by_perceptron
from trelliswork.learn.penalties.svm import learn_by_svm


def perceptron(problem, seed: int = 0, **options):
    options = {"n_epochs": 20, "learning_rate": 0.1, "average": True, "batch_size": 1} | options
    return learn_by_perceptron(problem, rng=np.random.default_rng(seed), **options)


def toy() -> ListedProblem:
    """Rule 0 is worth a penalty above 1; rule 1 is broken by gold; nothing ever breaks rule 2."""
    return ListedProblem(
        scores=[np.array([0.0, 1.0]), np.array([2.0, 1.0])],
        violations=[np.array([[0, 0, 0], [1, 0, 0]]), np.array([[0, 1, 0], [0, 0, 0]])],
        losses=[np.array([0.0, 1.0]), np.array([0.0, 1.0])],
    )


def test_perceptron_separates():
    run = perceptron(toy(), learning_rate=0.3)
    assert run.penalties == pytest.approx([1.2, 0.0, 0.0])
    assert run.reason == "converged"
    assert [epoch.updates for epoch in run.log] == [1, 1, 1, 1, 0]
    assert run.log[-1].active == 1


def test_perceptron_counts_degrees():
    problem = ListedProblem([np.array([0.0, 1.0])], [np.array([[0], [3]])], [np.array([0.0, 1.0])])
    assert perceptron(problem, learning_rate=0.2).penalties == pytest.approx([0.6])


@given(listed_problems(), st.booleans(), st.integers(1, 3))
def test_perceptron_result(problem, average, batch_size):
    options = {"n_epochs": 6, "average": average, "batch_size": batch_size}
    run = perceptron(problem, **options)
    again = perceptron(problem, **options)
    assert run.penalties.tolist() == again.penalties.tolist()
    assert (run.penalties >= 0).all()
    # No labelling breaks such a rule worse than gold does: it is never raised.
    useless = np.all([(v <= v[0]).all(axis=0) for v in problem.violations], axis=0)
    assert not run.penalties[useless].any()
    if run.reason == "converged":
        everyone = np.arange(problem.n_sequences)
        change = problem.decode(run.penalties, everyone).violations - problem.gold
        if batch_size == 1:
            moved = np.maximum(0, run.penalties + 0.1 * change)
            assert (moved == run.penalties).all()


def weak_and_strong() -> ListedProblem:
    """Ten sentences: without penalties, rule 0 is broken by nine of them and rule 1 by one."""
    wrong = [[1, 0]] * 9 + [[0, 1]]
    return ListedProblem(
        scores=[np.array([0.0, 1.0])] * 10,
        violations=[np.array([[0, 0], own]) for own in wrong],
        losses=[np.array([0.0, 1.0])] * 10,
    )


# Without averages, the last sentence may have raised a penalty that is 0 most of the time.
@pytest.mark.parametrize("options", [{}, {"average": False, "batch_size": 10}], ids=str)
def test_perceptron_drives_rules_that_hardly_help_to_0(options):
    free = perceptron(weak_and_strong(), **options)
    assert (free.penalties > 0).all()
    run = perceptron(weak_and_strong(), l1=3.0, n_epochs=40, **options)
    assert run.penalties[0] > 0.8
    assert run.penalties[1] == 0.0
    assert run.reason == "max_epochs"
    none = perceptron(weak_and_strong(), l1=20.0, n_epochs=40, **options)
    assert none.penalties.tolist() == [0.0, 0.0]


@given(listed_problems(), st.sampled_from([0.5, 2.0]), st.integers(1, 3))
def test_perceptron_with_l1_by_hand(problem, l1, batch_size):
    run = perceptron(problem, l1=l1, batch_size=batch_size, n_epochs=3, average=False, seed=4)
    rng, penalties = np.random.default_rng(4), np.zeros(problem.n_rules)
    for _ in run.log:
        order = rng.permutation(problem.n_sequences)
        for first in range(0, order.size, batch_size):
            batch = order[first : first + batch_size]
            change = (problem.decode(penalties, batch).violations - problem.gold[batch]).sum(axis=0)
            penalties = np.maximum(0.0, penalties + 0.1 * change)
            # In the order of the code: at a tie, the last bit of a penalty decides an answer.
            share = len(batch) / problem.n_sequences
            penalties = np.maximum(0.0, penalties - 0.1 * l1 * share)
    assert run.penalties.tolist() == penalties.tolist()
    if run.reason == "converged":
        # A penalty above 0 shrinks, unless answers break its rule just l1 times more than gold.
        everything = np.arange(problem.n_sequences)
        change = (problem.decode(penalties, everything).violations - problem.gold).sum(axis=0)
        assert (change[penalties > 0] == l1).all()


def test_majority_decides_what_is_0_in_an_average():
    """Rule 0 is raised and lowered in turn; it is 0 most of the time, and so it is 0."""
    seen = []

    class Alternating(ListedProblem):
        def decode(self, penalties, sequences, *, loss=False):
            seen.append(penalties.copy())
            return super().decode(penalties, sequences, loss=loss)

    # At 0 the wrong answer wins; above 0 the second sentence lowers the penalty twice as fast.
    problem = Alternating(
        scores=[np.array([0.0, 0.05]), np.array([0.0, 0.01])],
        violations=[np.array([[0], [1]]), np.array([[2], [0]])],
        losses=[np.array([0.0, 1.0])] * 2,
    )
    run = perceptron(problem, n_epochs=8)
    assert max(p[0] for p in seen) > 0
    assert run.penalties.tolist() == [0.0]
    assert run.reason == "max_epochs"


def test_development_set_keeps_the_best_and_stops():
    scores = iter([0.1, 0.5, 0.4, 0.3, 0.9])
    seen = []

    def dev_score(penalties):
        seen.append(penalties.copy())
        return next(scores)

    run = perceptron(toy(), learning_rate=0.1, dev_score=dev_score, patience=2)
    assert run.reason == "early_stopping"
    assert [epoch.dev_score for epoch in run.log] == [0.1, 0.5, 0.4, 0.3]
    assert run.penalties.tolist() == seen[1].tolist()


def test_epochs_are_reported():
    log = []
    run = perceptron(toy(), n_epochs=3, on_epoch=log.append)
    assert tuple(log) == run.log
    assert [epoch.number for epoch in log] == [1, 2, 3]


@given(listed_problems(), st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from([0.0, 0.3, 2.0]))
def test_svm_finds_the_minimum(problem, c, l1):
    run = learn_by_svm(problem, c=c, l1=l1, tol=1e-6)
    least = problem.least_hinge_objective(c, l1)
    found = problem.hinge_objective(run.penalties, c, l1)
    rounding = 1e-9 * problem.hinge_objective(np.zeros(problem.n_rules), c, l1)
    assert found == pytest.approx(run.log[-1].objective, abs=rounding)
    assert found <= least * (1 + 1e-5) + rounding
    assert run.log[-1].bound <= least + rounding
    if run.reason == "converged":
        assert run.log[-1].objective - run.log[-1].bound <= 1e-6 * found + rounding
    assert (run.penalties >= 0).all()
    for before, after in zip(run.log, run.log[1:], strict=False):
        assert after.objective <= before.objective


def test_svm_of_one_rule_is_a_parabola():
    """max(0, 1 + 1 − ρ) + ½ρ² has its minimum at ρ = 1 for c = 1, and at 2 for c = 4."""
    problem = ListedProblem(
        [np.array([0.0, 1.0])], [np.array([[0, 0], [1, 0]])], [np.array([0.0, 1.0])]
    )
    assert learn_by_svm(problem, c=1.0, tol=1e-9).penalties == pytest.approx([1.0, 0.0])
    assert learn_by_svm(problem, c=4.0, tol=1e-9).penalties == pytest.approx([2.0, 0.0])
    # With l1 at c − l1; and from l1 = c on at 0, exactly.
    run = learn_by_svm(problem, c=1.0, l1=0.25, tol=1e-9)
    assert run.penalties == pytest.approx([0.75, 0.0])
    assert learn_by_svm(problem, c=1.0, l1=1.0, tol=1e-9).penalties.tolist() == [0.0, 0.0]


def test_svm_truncates_at_exactly_0():
    run = learn_by_svm(toy(), c=10.0)
    assert run.penalties[0] > 1.0
    assert run.penalties[1:].tolist() == [0.0, 0.0]


def test_svm_leaves_out_gold_that_cannot_be(caplog):
    problem = toy()
    problem.scores.append(np.array([-np.inf, 0.0]))
    problem.violations.append(np.array([[0, 0, 0], [0, 0, 1]]))
    problem.losses.append(np.array([0.0, 1.0]))
    run = learn_by_svm(problem, c=10.0)
    assert run.penalties == pytest.approx(learn_by_svm(toy(), c=10.0).penalties)
    assert "1 of 3 sentences" in caplog.text


def test_svm_without_time():
    run = learn_by_svm(toy(), c=10.0, n_epochs=1)
    assert run.reason == "max_epochs"
    assert run.penalties.tolist() == [0.0, 0.0, 0.0]
