"""Inputs that ``fit`` and ``predict`` take, and those that they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import trelliswork as tw

X = [
    ["the", "cat", "sat"],
    ["a", "dog", "ran"],
    ["cats", "run"],
    ["the", "old", "dog", "sat"],
    [],
    ["dogs"],
]
Y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "A", "N", "V"], [], ["N"]]


def test_input_forms_agree():
    corpus = tw.Corpus.from_lists(X, Y)
    rows = [[(w, w[0]) for w in s] for s in X]
    expected = tw.CRFTagger(features="word[0]").fit(X, Y)
    for given_x, given_y in ((corpus, None), (rows, Y), (tuple(X), tuple(map(tuple, Y)))):
        found = tw.CRFTagger(features="word[0]").fit(given_x, given_y)
        assert found.loss_ == pytest.approx(expected.loss_)
        assert found.predict(given_x) == expected.predict(X)


def test_feature_dicts_and_matrices_give_the_same_model():
    dicts = [[{f"word={w}": 1.0} for w in s] for s in X]
    words = sorted({w for s in X for w in s})
    dense = [
        np.array([[float(w == v) for v in words] for w in s]).reshape(-1, len(words)) for s in X
    ]
    sparse = [scipy.sparse.csr_matrix(a) for a in dense]
    losses = [tw.CRFTagger().fit(data, Y).loss_ for data in (dicts, dense, sparse)]
    losses.append(tw.CRFTagger(features="word[0]").fit(X, Y).loss_)
    assert losses == pytest.approx([losses[0]] * 4, rel=1e-6)


def test_sequences_may_be_arrays_of_strings():
    tagger = tw.CRFTagger(features="word", l2=0.01)
    tagger.fit([np.array(s) for s in X if s], [s for s in Y if s])
    assert tagger.predict([np.array(["the", "cat"], dtype=object)]) == [["D", "N"]]


class DataFrame:
    """As much of one of pandas as matters: a loop over it is a loop over its columns."""

    columns = ("word", "pos")
    shape = (3, 2)

    def __iter__(self):
        return iter(self.columns)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([], []), tw.DataError, "at least one labelled token, got none"),
        (([[]], [[]]), tw.DataError, "at least one labelled token, got none"),
        ((X, Y[:-1]), tw.DataError, "expected 6 label sequences, got 5"),
        ((X, [*Y[:-1], ["N", "N"]]), tw.DataError, "sequence 5: expected 1 labels, got 2"),
        ((X, None), tw.DataError, "sequence 0 has no labels"),
        ((["the cat"], [["D", "N"]]), TypeError, "sequence 0 is the string 'the cat'"),
        (("the cat", Y), TypeError, "X: expected a list of sequences"),
        (
            (DataFrame(), Y),
            ValueError,
            r"X: .*, got one DataFrame of shape \(3, 2\)",
        ),
        (
            (X, DataFrame()),
            ValueError,
            r"y: .*, got one DataFrame of shape \(3, 2\)",
        ),
        ((X, [["N"] * 3] * 6), tw.DataError, "sequence 2: expected 2 labels, got 3"),
        (([["a"]], [[3]]), TypeError, "sequence 0, token 0: expected a label name"),
        (([["a"], ["b", 3]], [["A"], ["A", "B"]]), TypeError, "sentence 1"),
        (([[None]], [["A"]]), TypeError, "sentence 0"),
        (([[{"a": float("nan")}]], [["A"]]), ValueError, "'a' is not a finite number"),
        (([np.array([[np.inf]])], [["A"]]), ValueError, "inf"),
    ],
)
def test_bad_data_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        tw.CRFTagger(features=None).fit(*arguments)


def test_templates_do_not_go_with_dicts():
    with pytest.raises(ValueError, match="features: expected None, since X holds feature dicts"):
        tw.CRFTagger(features="ner").fit([[{"a": 1}]], [["A"]])


def test_negative_values_train():
    tagger = tw.CRFTagger(l2=0.01).fit([[{"x": -1.0}, {"x": 2.0}]] * 5, [["A", "B"]] * 5)
    assert tagger.predict([[{"x": -1.0}, {"x": 2.0}]]) == [["A", "B"]]


def test_values_too_large_are_named():
    with pytest.raises(ValueError, match="Are feature values far too large"):
        tw.CRFTagger().fit([[{"x": 1e200}, {"x": 1.0}]], [["A", "B"]])


def test_numpy_strings_do_not_leak():
    tagger = tw.CRFTagger(features="word[0]").fit(np.array([["a", "b"]]), [np.array(["A", "B"])])
    (labels,) = tagger.predict([["a", "b"]])
    assert {type(label) for label in labels} == {str}


def test_a_template_file_is_not_template_text(tmp_path):
    path = tmp_path / "my.templates"
    path.write_text("word[0]\n")
    with pytest.raises(tw.TemplateError, match=r"is a file: read it with Templates\.from_file"):
        tw.CRFTagger(features=str(path)).fit(X, Y)
