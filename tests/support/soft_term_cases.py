"""Objectives with soft rules on small random chains."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from constrained_cases import TOKENS, words
from objective_cases import NoEncoder, matrices
from oracle import log_sum_exp
from rule_strategies import linear_rules
from trelliswork.errors import NotInLanguageError
from trelliswork.features import EncodedFeatures
from trelliswork.labels.gold import GoldLabels
from trelliswork.labels.label_set import LabelSet
from trelliswork.learn.denominator import Denominator
from trelliswork.learn.objective.objective import Objective
from trelliswork.models.structure import Structure
from trelliswork.planning.plan import Plan

LABELS = LabelSet(["a", "b"])


class Problem:
    """A training set under constraints, some of them soft, and parameters to look at it with."""

    def __init__(self, draw: Any) -> None:
        names = list(LABELS.names)
        rule = st.one_of(words("ab"), linear_rules(names, names))
        # The first has a penalty to be learned, others may have.
        self.rules = [draw(rule).soft()]
        for other in draw(st.lists(rule, max_size=2)):
            kind = draw(st.sampled_from([lambda r: r, lambda r: r.soft(), lambda r: r.soft(0.75)]))
            self.rules.append(kind(other))
        lengths = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
        self.sentences = [
            draw(st.lists(st.sampled_from(TOKENS), min_size=n, max_size=n)) for n in lengths
        ]
        label = st.one_of(st.sampled_from(names), st.none())
        kind = draw(st.sampled_from([st.sampled_from(names), label]))
        self.labels = [draw(st.lists(kind, min_size=n, max_size=n)) for n in lengths]
        self.weights = np.array([draw(st.sampled_from([1.0, 0.5])) for _ in lengths])
        offsets = np.cumsum([0, *lengths]).astype(np.int64)
        edge = matrices(draw, sum(lengths), 2, False) if draw(st.booleans()) else None
        self.features = EncodedFeatures(offsets, matrices(draw, sum(lengths), 3, True), edge)
        self.plan = Plan(LABELS, self.rules)
        under = Denominator.choose(
            self.plan, self.sentences, self.labels, trained=True, on_conflict="error"
        )
        self.objective = Objective(
            self.features,
            GoldLabels.encode(LABELS, self.labels),
            Structure.chain(LABELS),
            weights=self.weights,
            l2=draw(st.sampled_from([0.0, 0.5, {0: 0.5, 1: 0.25}])),
            transitions="all",
            automaton=under.automaton,
            classes=under.classes,
            open_labels=under.open_labels,
            soft=under.soft,
        )
        size = self.objective.n_parameters
        values = draw(st.lists(st.floats(-2, 2), min_size=size, max_size=size))
        self.parameters = np.array(values, dtype=float)

    def loss(self) -> float:
        model = self.objective.model(self.parameters, NoEncoder(self.features))
        trellis = model.trellis([])
        penalties = self.objective.penalties(self.parameters)
        assert penalties is not None
        total = float(np.sum(self.objective.l2 * self.parameters**2))
        for b, (sentence, gold) in enumerate(zip(self.sentences, self.labels, strict=True)):
            first = trellis.offsets[b]
            every, inside = [], []
            for ids in itertools.product(range(2), repeat=len(sentence)):
                score = sum(trellis.scores[first + t, 0, y] for t, y in enumerate(ids))
                for t, (before, y) in enumerate(itertools.pairwise(ids), start=1):
                    score += trellis.weights[2 * before + y]
                    if trellis.position_weights is not None:
                        score += trellis.position_weights[first + t, 2 * before + y]
                names = [LABELS.names[y] for y in ids]
                for rule, penalty in zip(self.rules, penalties, strict=True):
                    degree = rule.violations(names, sentence, scheme=LABELS)
                    score -= penalty * degree if degree else 0.0
                every.append(float(score))
                if all(y in (None, name) for y, name in zip(gold, names, strict=True)):
                    inside.append(float(score))
            total += self.weights[b] * (log_sum_exp(every) - log_sum_exp(inside))
        return total


@st.composite
def problems(draw: Any) -> Problem | None:
    try:
        return Problem(draw)
    except NotInLanguageError:  # a hard rule, which gold labels break
        return None
