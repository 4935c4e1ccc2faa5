"""Small corpora for hidden Markov models, and their labellings, listed from the definition."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from oracle import log_sum_exp
from trelliswork.constraints import at_most, only_on, precedes, token
from trelliswork.features.inputs import infer_labels
from trelliswork.features.shapes import word_shape

X = [["a", "b"], ["a", "C"]]
Y = [["P", "Q"], ["P", "Q"]]
WORDS = ["a", "b", "B", "12", "1999", "."]
YEAR = token(regex=r"\d+")
RULES = (
    at_most(1, "Q").soft(0.7),
    precedes("P", "Q"),
    only_on(YEAR, "R").soft(1.5),
    only_on(YEAR, "P").per_token().soft(0.4),
)


@st.composite
def corpora(draw):
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    tokens = [[draw(st.sampled_from(WORDS)) for _ in range(n)] for n in lengths]
    # All labels occur, so that every rule knows them.
    names = [[draw(st.sampled_from("PQR")) for _ in range(n)] for n in lengths]
    return [*tokens, ["a", "B", "7"]], [*names, ["P", "Q", "R"]]


sentences = st.lists(st.sampled_from([*WORDS, "new", "New", "?"]), min_size=1, max_size=4)
smoothings = st.fixed_dictionaries(
    {
        "smoothing": st.sampled_from([0.1, 1.0, 5.0]),
        "shape_smoothing": st.sampled_from([0.1, 1.0]),
        "transition_smoothing": st.sampled_from([0.1, 1.0, 10.0]),
        "shapes": st.booleans(),
        "lowercase": st.booleans(),
        "min_count": st.integers(1, 2),
    }
)


def tables(tagger) -> dict[str, np.ndarray]:
    """The probabilities of a model by the name of their feature, each of shape (L,)."""
    model = tagger.model_
    rows = np.exp(model.state.weights).reshape(-1, len(model.labels))
    return dict(zip(model.encoder.feature_names(), rows, strict=True))


def log_joint(tagger, sentence, ids) -> float:
    """``log P(x, y)``, factor by factor."""
    table, steps = tables(tagger), np.exp(tagger.model_.transitions)
    factors = [table["first"][ids[0]], table["last"][ids[-1]]]
    factors += [steps[a, b] for a, b in itertools.pairwise(ids)]
    for word, y in zip(sentence, ids, strict=True):
        known = f"word={word.lower() if tagger.lowercase else word}"
        shape = f"shape={word_shape(word) if tagger.shapes else 'any'}"
        row = table.get(known, table.get(shape, table["shape unknown"]))
        factors.append(row[y])
    return float(np.log(factors).sum())


def scored_labellings(tagger, sentence, plan=None) -> dict[tuple[str, ...], float]:
    """All labellings with ``log P(x, y) − Σ ρ v``, those that break a hard rule left out."""
    found = {}
    for ids in itertools.product(range(len(tagger.labels_)), repeat=len(sentence)):
        names = tuple(tagger.labels_.decode(ids))
        score = log_joint(tagger, sentence, ids)
        if plan is not None:
            for rule, rho in zip(plan.constraints, plan.penalties, strict=True):
                broken = rule.violations(names, sentence, scheme=tagger.labels_)
                score -= rho * broken if broken else 0.0
        if np.isfinite(score):
            found[names] = score
    return found


def probabilities(scores) -> dict[tuple[str, ...], float]:
    total = log_sum_exp(list(scores.values()))
    return {names: float(np.exp(score - total)) for names, score in scores.items()}


def learner_of(tagger, sequences, names, unlabelled=()):
    return tagger._learner(infer_labels(names, None, None), sequences, names, unlabelled)


def assert_same_model(one, other):
    np.testing.assert_allclose(one.state.weights, other.state.weights, rtol=1e-9)
    np.testing.assert_allclose(one.transitions, other.transitions, rtol=1e-9)


def assert_normalised(model):
    rows = np.exp(model.state.weights).reshape(-1, len(model.labels))
    np.testing.assert_allclose(rows[:-2].sum(axis=0), 1.0)  # words and shapes
    np.testing.assert_allclose(rows[-2].sum(), 1.0)  # first labels
    np.testing.assert_allclose(np.exp(model.transitions).sum(axis=1) + rows[-1], 1.0)
    assert np.isfinite(model.state.weights).all()
    assert np.isfinite(model.transitions).all()


def expected_marginals(tagger, scores) -> np.ndarray:
    posterior = probabilities(scores)
    found = np.zeros((len(next(iter(posterior))), len(tagger.labels_)))
    for names, probability in posterior.items():
        found[np.arange(len(names)), tagger.labels_.encode(names)] += probability
    return found
