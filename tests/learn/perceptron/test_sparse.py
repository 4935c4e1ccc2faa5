"""Sparse perceptrons: proximal steps against a naive loop, exact zeros, surviving weights."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import trelliswork as tw
from trelliswork.features.inputs import infer_labels
from trelliswork.learn.perceptron.shrinkage import Sparsity

TEMPLATES = "word[0]\nword[-1]"


def sentences(n: int, seed: int = 0, n_words: int = 8) -> tuple[list[Any], list[list[str]]]:
    """No word twice in a sentence: then no two labellings have the same weights by chance."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(n_words)]
    X = [rng.permutation(words)[: rng.integers(1, 5)].tolist() for _ in range(n)]
    y = [["ABC"[(int(w[1:]) + (rng.random() < 0.2)) % 3] for w in own] for own in X]
    return X, y


def with_noise(n: int, seed: int = 0) -> tuple[list[Any], list[list[str]]]:
    """Feature dicts with a key that tells the label in most cases and one that tells nothing."""
    X, y = sentences(n, seed)
    rng = np.random.default_rng(seed + 1)
    return [[{"word": w, "noise": f"n{rng.integers(20)}"} for w in own] for own in X], y


def soft(x: np.ndarray, amount: float) -> np.ndarray:
    return np.sign(x) * np.maximum(np.abs(x) - amount, 0.0)


def counted(rows: Any, labels: Any, state: np.ndarray, pairs: np.ndarray) -> Any:
    """How often a labelling fires each feature and each transition."""
    found = np.zeros_like(state), np.zeros_like(pairs)
    for row, label in zip(rows, labels, strict=True):
        found[0][row, label] += 1.0
    for before, after in itertools.pairwise(labels):
        found[1][before, after] += 1.0
    return found


def naive(
    X: list[Any],  # noqa: N803
    y: list[list[str]],
    amounts: np.ndarray,
    *,
    epochs: int,
    seed: int,
    l1: float,
    strength: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The last and the averaged weights of features and transitions, by listing all labellings."""
    tagger = tw.PerceptronTagger(features=TEMPLATES)
    learner = tagger._learner(infer_labels(y, "plain", None), X, y)
    encoded = learner.encoder.transform(X)
    names = learner.encoder.feature_names()
    is_first = np.array([name.startswith("word[0]") for name in names])
    n_labels = len(learner.structure.labels)
    state, pairs = np.zeros((len(names), n_labels)), np.zeros((n_labels, n_labels))
    sums = [np.zeros_like(state), np.zeros_like(pairs)]
    gold = np.split(learner.structure.encode(y).ids, encoded.offsets[1:-1])
    rng, n_steps = np.random.default_rng(seed), 0
    size = max(1, -(-len(X) // 10))
    for _ in range(epochs):
        order = rng.permutation(len(X)).tolist()
        for start in range(0, len(X), size):
            batch = order[start : start + size]
            for b in batch:
                first, last = encoded.offsets[b : b + 2]
                indptr, indices = encoded.state.indptr, encoded.state.indices
                rows = [indices[indptr[t] : indptr[t + 1]] for t in range(first, last)]

                everything = sorted(
                    itertools.product(range(n_labels), repeat=len(rows)), key=lambda p: p[::-1]
                )
                counts = [counted(rows, labels, state, pairs) for labels in everything]
                scores = np.array([(c[0] * state).sum() + (c[1] * pairs).sum() for c in counts])
                best = counts[int(np.argmax(scores > scores.max() - 1e-9))]
                right = counted(rows, gold[b].tolist(), state, pairs)
                for sign, (of_state, of_pairs) in ((1.0, right), (-1.0, best)):
                    state += sign * amounts[b] * of_state
                    pairs += sign * amounts[b] * of_pairs
                n_steps += 1
                sums[0] += state
                sums[1] += pairs
            share = len(batch) / len(X)
            state, pairs = soft(state, share * l1), soft(pairs, share * l1)
            for own in (is_first, ~is_first):
                norm = np.linalg.norm(state[own])
                radius = share * strength * np.sqrt(own.sum() * n_labels)
                state[own] *= max(0.0, 1.0 - radius / norm) if norm > 0 else 0.0
    return state, pairs, sums[0] / n_steps, sums[1] / n_steps


@pytest.mark.parametrize(("l1", "strength"), [(0.3, 0.0), (0.0, 0.4), (0.1, 0.3)])
@pytest.mark.parametrize("n", [3, 24])
def test_it_is_the_naive_loop(n: int, l1: float, strength: float) -> None:
    X, y = sentences(n)
    amounts = np.random.default_rng(5).uniform(0.5, 1.5, n)
    groups = tw.GroupLasso(by="template", strength=strength, scaled=True) if strength else None
    last, last_pairs, mean, mean_pairs = naive(
        X, y, amounts, epochs=4, seed=7, l1=l1, strength=strength
    )
    for average in (True, False):
        tagger = tw.PerceptronTagger(
            features=TEMPLATES,
            l1=l1,
            regularizer=groups,
            epochs=4,
            random_state=7,
            average=average,
            scheme="plain",
        )
        learner = tagger._learner(infer_labels(y, "plain", None), X, y)
        model = learner.learn(X, y, amounts).model
        found = np.zeros_like(last)
        found[model.state.features, model.state.outputs] = model.state.weights
        expected = mean if average else last
        np.testing.assert_allclose(found, np.where(last != 0, expected, 0.0), atol=1e-9)
        own = np.where(last_pairs != 0, mean_pairs if average else last_pairs, 0.0)
        np.testing.assert_allclose(model.pattern_weights, own.ravel(), atol=1e-9)
        np.testing.assert_array_equal(found != 0, last != 0)


@pytest.mark.parametrize("features", [TEMPLATES, TEMPLATES + "\nedge: word[0]"])
def test_without_strength_it_is_the_old_perceptron(features: str) -> None:
    X, y = sentences(40)
    plain = tw.PerceptronTagger(features=features, epochs=5, random_state=0).fit(X, y)
    groups = tw.GroupLasso(by=("template", "feature"), strength=0.0)
    zero = tw.PerceptronTagger(features=features, epochs=5, random_state=0, regularizer=groups)
    zero.fit(X, y)
    names, own = plain.model_.encoder.feature_names(), zero.model_.encoder.feature_names()
    theirs = {(names[f], o): w for f, o, w in triples(plain.model_.state)}
    assert {(own[f], o): w for f, o, w in triples(zero.model_.state)} == theirs
    np.testing.assert_array_equal(zero.model_.pattern_weights, plain.model_.pattern_weights)
    assert zero.stop_reason_ == plain.stop_reason_


def triples(pairs: Any) -> Any:
    return zip(pairs.features.tolist(), pairs.outputs.tolist(), pairs.weights.tolist(), strict=True)


@pytest.mark.parametrize("training", ["L", "wCIBT"])
@pytest.mark.parametrize("edge", ["", "\nedge: word[0]"])
def test_steps_keep_the_average_exact(
    monkeypatch: pytest.MonkeyPatch, training: str, edge: str
) -> None:
    """In the core and one by one, with features on transitions and with penalties."""
    from trelliswork.learn.perceptron import learner

    X, y = sentences(30)
    sums: dict[int, np.ndarray] = {}
    runs: list[Any] = []

    def spy(run: Any, order: np.ndarray) -> tuple[int, int]:
        """One sentence at a time, with the eager sum of all iterates."""
        runs.append(run)
        mistakes = wrong = 0
        for batch in run._shrinkage.batches(order):
            for b in batch:
                found = run._pass.run(np.array([b]))
                mistakes, wrong = mistakes + found[0], wrong + found[1]
                for i, table in enumerate(run._weights.tables):
                    sums[i] = sums.get(i, 0.0) + table.values
                sums[-1] = sums.get(-1, 0.0) + run._penalties.values
            run._shrinkage.step(batch.size)
        return mistakes, wrong

    settings: dict[str, Any] = {
        "features": TEMPLATES + edge,
        "l1": 0.2,
        "regularizer": tw.GroupLasso(by=("template", "feature"), strength=0.05),
        "epochs": 3,
        "random_state": 0,
        "training": training,
        "constraints": tw.at_most(1, "A", unit="token").soft(),
        "scheme": "plain",
    }
    expected = tw.PerceptronTagger(**settings).fit(X, y)
    monkeypatch.setattr(learner._Run, "_epoch", spy)
    spied = tw.PerceptronTagger(**settings).fit(X, y)
    for name, values in expected.model_.arrays().items():
        np.testing.assert_array_equal(values, spied.model_.arrays()[name])
    weights = runs[-1]._weights
    for i, table in enumerate(weights.tables):
        np.testing.assert_allclose(table.average(weights.step), sums[i] / weights.step, atol=1e-12)
    if training == "wCIBT":
        values = np.where(runs[-1]._penalties.values > 0, sums[-1] / weights.step, 0.0)
        np.testing.assert_allclose(spied.plan_.penalties, values)


def test_a_useless_template_dies_and_is_gone_from_the_file(tmp_path: Any) -> None:
    X, y = with_noise(300)
    plain = tw.PerceptronTagger(epochs=8, random_state=0).fit(X, y)
    assert any(name.startswith("noise") for name in plain.model_.encoder.feature_names())
    tagger = tw.PerceptronTagger(
        regularizer=tw.GroupLasso(by="template", strength=8.0, scaled=True),
        epochs=8,
        random_state=0,
    ).fit(X, y)
    names = tagger.model_.encoder.feature_names()
    assert names
    assert all(name.startswith("word") for name in names)
    assert tagger.score(X, y) > plain.score(X, y) - 0.02
    log = tagger.training_log_
    assert log[-1].nonzero == tagger.model_.state.weights.size + np.count_nonzero(
        tagger.model_.pattern_weights
    )
    assert "weights" in log[-1].summary()
    tagger.save(tmp_path / "model")
    loaded = tw.load(tmp_path / "model")
    assert loaded.regularizer == tagger.regularizer
    assert loaded.model_.encoder.feature_names() == names
    assert loaded.predict(X) == tagger.predict(X)
    assert loaded.training_log_ == log


@pytest.mark.parametrize("edge", ["", "\nedge: word[0]"])
def test_debias_leaves_zeros(edge: str) -> None:
    X, y = sentences(60)
    settings: dict[str, Any] = {"features": TEMPLATES + edge, "epochs": 4, "random_state": 0}
    sparse = tw.PerceptronTagger(l1=1.0, **settings).fit(X, y)
    unbiased = tw.PerceptronTagger(l1=1.0, debias=True, **settings).fit(X, y)

    def alive(tagger: tw.PerceptronTagger) -> set[tuple[str, int]]:
        names = tagger.model_.encoder.feature_names()
        return {(names[f], o) for f, o, _ in triples(tagger.model_.state)}

    assert alive(unbiased) <= alive(sparse)
    lives = sparse.model_.pattern_weights != 0
    assert not unbiased.model_.pattern_weights[~lives].any()
    assert (~lives).any()
    total = np.abs(sparse.model_.state.weights).sum()
    assert np.abs(unbiased.model_.state.weights).sum() > total
    n_first = sparse.n_iter_
    assert [step.iteration for step in unbiased.training_log_] == list(
        range(1, unbiased.n_iter_ + 1)
    )
    assert unbiased.n_iter_ > n_first
    assert unbiased.training_log_[n_first].nonzero is None
    assert unbiased.score(X, y) >= sparse.score(X, y) - 0.02


def test_the_core_learns_survivors_as_one_by_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    from trelliswork.learn.perceptron import learner
    from trelliswork.learn.perceptron.answers import FreeAnswers
    from trelliswork.learn.perceptron.passes import Penalties, SentencePass

    X, y = sentences(60)
    amounts = np.random.default_rng(5).uniform(0.5, 1.5, len(X))  # so that no labellings tie
    tagger = tw.PerceptronTagger(
        features=TEMPLATES, l1=1.0, debias=True, epochs=4, order=2, random_state=0
    ).fit(X, y, sample_weight=amounts)

    def one_by_one(weights: Any, sentences: Any) -> SentencePass:
        return SentencePass(weights, sentences, FreeAnswers(len(X)), Penalties(np.zeros(0)))

    monkeypatch.setattr(learner, "CorePass", one_by_one)
    other = tw.PerceptronTagger(**tagger.get_params()).fit(X, y, sample_weight=amounts)
    theirs = other.model_.arrays()
    assert tagger.model_.arrays().keys() == theirs.keys()
    for name, values in tagger.model_.arrays().items():
        # NumPy and the core add up in orders of their own.
        np.testing.assert_allclose(values, theirs[name], rtol=1e-12, atol=1e-12)


def test_constraints_are_selected() -> None:
    """A rule that answers keep breaking keeps its penalty, one that hardly helps loses it."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(80):  # the first p is a T, and no other; most q's are U's
        own = ["p", *rng.choice(["p", "q"], 3).tolist()]
        X.append(own)
        y.append(["T", *("U" if w == "q" and rng.random() < 0.8 else "O" for w in own[1:])])
    rules = [tw.at_most(1, "T", unit="token").soft(), tw.at_most(1, "U", unit="token").soft()]
    settings: dict[str, Any] = {
        "features": "word[0]",
        "order": 0,
        "epochs": 6,
        "training": "wCIBT",
        "constraints": rules,
        "random_state": 0,
    }
    free = tw.PerceptronTagger(**settings).fit(X, y).plan_.penalties
    assert free[1] > 0
    for debias in (False, True):
        tagger = tw.PerceptronTagger(l1=4.0, debias=debias, **settings).fit(X, y)
        assert tagger.plan_.penalties[0] > 0
        assert tagger.plan_.penalties[1] == 0
    settings["epochs"] = 1
    grouped = tw.PerceptronTagger(regularizer=tw.GroupLasso(strength=0.01), **settings).fit(X, y)
    assert (grouped.plan_.penalties > 0).all()  # groups are of weights


def test_the_best_epoch_has_its_own_support() -> None:
    X, y = sentences(60)
    tagger = tw.PerceptronTagger(
        features=TEMPLATES, l1=1.0, debias=True, epochs=5, patience=1, random_state=0
    ).fit(X, y, dev=(X[:20], y[:20]))
    assert tagger.dev_score_ is not None
    assert tagger.dev_score_ == pytest.approx(
        tw.report(y[:20], tagger.predict(X[:20])).f1, abs=1e-12
    )


def test_sparse_bases_leave_sparse_models() -> None:
    X, y = with_noise(60)
    for base in (
        tw.PerceptronTagger(l1=1.5, epochs=3, random_state=0),
        tw.CRFTagger(l1=1.0, l2=0.0, max_iter=20),
    ):
        tagger = tw.CODLTagger(base, cycles=1).fit(X[:40], y[:40], unlabelled=X[40:])
        assert tagger.model_.state.weights.all()
        assert (np.diff(tagger.model_.state.offsets) > 0).all()


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"l1": -1.0}, ValueError, "l1: expected a finite number"),
        ({"regularizer": "template"}, TypeError, "regularizer: expected a GroupLasso"),
        ({"debias": 1, "l1": 1.0}, ValueError, "debias: expected True or False"),
        ({"debias": True}, ValueError, "without which no weight is 0"),
    ],
)
def test_parameters_are_checked(parameters: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tw.PerceptronTagger(**parameters).fit(*sentences(3))


def test_sparsity_is_off_without_strength() -> None:
    assert not Sparsity(0.0, tw.GroupLasso(strength=0.0)).is_on
    assert Sparsity(0.0, tw.GroupLasso(by=("template", "label"), strength=(0.0, 1.0))).is_on
