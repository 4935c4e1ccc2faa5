"""The contract of all answers: one base, one gap, one list of statuses."""

from __future__ import annotations

import pickle
from dataclasses import replace
from math import inf

import pytest

import trelliswork as tw
from trelliswork.proofs.answer import (
    FEASIBLE,
    FRACTIONAL,
    INFEASIBLE,
    OPTIMAL,
    STATUSES,
    UNSOLVED,
)
from trelliswork.proofs.certificate import Certificate, Leaf

PROBLEM = tw.Problem(
    [[2.0, 0.0], [0.0, 1.0]], constraints=tw.at_most(1, "a").soft(0.5), labels=["a", "b"]
)
TABLE = tw.SpanTable([(0, 2), (1, 3)], ["A", "B"], [[1.0, 0.5], [0.2, 2.0]])


def graph() -> tw.FactorGraph:
    made = tw.FactorGraph()
    made.add(tw.factors.Xor(made.binary(3, [1.0, 2.0, 3.0])))
    return made


def answers() -> list[tw.Answer]:
    return [tw.solve(PROBLEM), tw.solve(graph()), tw.assign(TABLE, tw.no_overlap())]


def test_every_kind_of_answer_has_one_base():
    for answer in answers():
        assert isinstance(answer, tw.Answer)
        assert isinstance(answer.certificate, Certificate)
        assert all(isinstance(leaf, Leaf) for leaf in answer.certificate.leaves)
        assert (answer.status, answer.gap) == ("optimal", 0.0)


def test_the_gap_follows_from_score_and_bound():
    for answer in answers():
        assert replace(answer, upper_bound=answer.score + 1.5).gap == 1.5
        assert replace(answer, upper_bound=inf).gap == inf
        assert replace(answer, score=-inf, upper_bound=-inf).gap == inf  # not NaN
        with pytest.raises(TypeError, match="gap"):
            replace(answer, gap=1.0)


def test_answers_survive_pickling():
    for answer in answers():
        again = pickle.loads(pickle.dumps(answer))
        assert type(again) is type(answer)
        assert (again.score, again.gap, again.status) == (answer.score, answer.gap, answer.status)
        assert len(again.certificate.leaves) == len(answer.certificate.leaves)
    labelling = tw.solve(PROBLEM)
    assert pickle.loads(pickle.dumps(labelling)) == labelling


def test_codes_of_the_core_have_words():
    codes = (OPTIMAL, FEASIBLE, INFEASIBLE, UNSOLVED, FRACTIONAL)
    words = ["optimal", "feasible", "infeasible", "unsolved", "fractional"]
    assert [STATUSES[code] for code in codes] == words


def test_an_answer_prints_its_claims_and_not_its_proof():
    text = repr(tw.solve(PROBLEM))
    assert text.startswith("Decoding(score=3.0, upper_bound=3.0, status='optimal'")
    assert "labels=['a', 'b']" in text
    assert "certificate" not in text
