"""Problems to learn penalties from in which every labelling is listed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import minimize

from trelliswork.inference.verbs import viterbi
from trelliswork.learn.penalties.run import Answers


@dataclass(frozen=True, eq=False)
class ListedProblem:
    """Sentences whose labellings are given by score, violations and loss; the first is gold.

    scores, losses: one array of shape (Y,) a sentence; violations: one of shape (Y, C).
    """

    scores: list[np.ndarray]
    violations: list[np.ndarray]
    losses: list[np.ndarray]

    @property
    def n_sequences(self) -> int:
        return len(self.scores)

    @property
    def n_rules(self) -> int:
        return self.violations[0].shape[1]

    @property
    def gold(self) -> np.ndarray:
        return np.array([v[0] for v in self.violations])

    @property
    def gold_scores(self) -> np.ndarray:
        return np.array([s[0] for s in self.scores])

    def decode(self, penalties, sequences, *, loss=False) -> Answers:
        violations, scores = [], []
        for b in sequences:
            base = self.scores[b] + self.losses[b] if loss else self.scores[b]
            y = int(np.argmax(base - self.violations[b] @ penalties))
            violations.append(self.violations[b][y])
            scores.append(base[y])
        return Answers(np.array(violations), np.array(scores))

    def hinge_objective(self, penalties, c: float, l1: float = 0.0) -> float:
        answers = self.decode(penalties, range(self.n_sequences), loss=True)
        best = answers.scores - answers.violations @ penalties
        gold = self.gold_scores - self.gold @ penalties
        return 0.5 * penalties @ penalties + l1 * penalties.sum() + c * (best - gold).sum()

    def least_hinge_objective(self, c: float, l1: float = 0.0) -> float:
        """The minimum as a quadratic program: a variable a rule, and one for each loss."""
        n_rules, n_sentences = self.n_rules, self.n_sequences
        directions, margins, owner = [], [], []
        for b in range(n_sentences):
            directions.append(self.violations[b] - self.violations[b][0])
            margins.append(self.losses[b] + self.scores[b] - self.scores[b][0])
            owner += [b] * len(self.scores[b])
        matrix, margin = np.concatenate(directions), np.concatenate(margins)
        owner = np.array(owner)
        start = np.concatenate([np.zeros(n_rules), np.full(n_sentences, margin.max())])
        found = minimize(
            lambda x: (
                0.5 * x[:n_rules] @ x[:n_rules] + l1 * x[:n_rules].sum() + c * x[n_rules:].sum()
            ),
            start,
            jac=lambda x: np.concatenate([x[:n_rules] + l1, np.full(n_sentences, c)]),
            bounds=[(0, None)] * start.size,
            constraints={
                "type": "ineq",
                "fun": lambda x: x[n_rules:][owner] + matrix @ x[:n_rules] - margin,
                "jac": lambda x: np.hstack([matrix, np.eye(n_sentences)[owner]]),
            },
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        # It may stop a hair before the end: the definition gives the value of the point reached.
        return self.hinge_objective(np.maximum(found.x[:n_rules], 0.0), c, l1)


@st.composite
def listed_problems(draw, max_rules: int = 3) -> ListedProblem:
    """Up to four sentences of two to five labellings; scores that tie now and then."""
    n_rules = draw(st.integers(1, max_rules))
    sizes = draw(st.lists(st.integers(2, 5), min_size=1, max_size=4))
    ends = np.cumsum([0, *sizes])
    total = int(ends[-1])

    def numbers(elements, *shape: int) -> np.ndarray:
        size = int(np.prod(shape))
        return np.array(draw(st.lists(elements, min_size=size, max_size=size))).reshape(shape)

    scores = numbers(st.integers(-6, 6).map(lambda x: x / 2), total)
    losses = numbers(st.integers(1, 3), total).astype(float)
    violations = numbers(st.integers(0, 2), total, n_rules)
    losses[ends[:-1]] = 0.0  # of the gold labelling
    parts = list(pairwise(ends.tolist()))
    return ListedProblem(
        [scores[a:b] for a, b in parts],
        [violations[a:b] for a, b in parts],
        [losses[a:b] for a, b in parts],
    )


def listed(tagger, sentences, gold) -> ListedProblem:
    """The problem of a tagger with every labelling listed, hard rules and fixed prices included."""
    learned = [rule for rule in tagger.plan_.constraints if rule.is_soft and rule.penalty is None]
    others = [rule for rule in tagger.plan_.constraints if rule not in learned]
    scores, violations, losses = [], [], []
    for sentence, right in zip(sentences, gold, strict=True):
        every = [right, *itertools.product(tagger.labels_.names, repeat=len(sentence))]
        trellis = tagger.model_.trellis([sentence])
        found = []
        for names in every:
            allowed = tagger.plan_.tag_mask(tagger.labels_.allowed(names))
            score = viterbi(trellis, allowed=allowed).scores[0]
            degrees = [r.violations(names, sentence, scheme=tagger.labels_) for r in others]
            for rule, degree in zip(others, degrees, strict=True):
                score -= rule.penalty * degree if rule.is_soft else np.inf if degree else 0.0
            found.append(score)
        scores.append(np.array(found))
        violations.append(
            np.array(
                [
                    [r.violations(names, sentence, scheme=tagger.labels_) for r in learned]
                    for names in every
                ]
            )
        )
        losses.append(np.array([float(sum(map(str.__ne__, names, right))) for names in every]))
    return ListedProblem(scores, violations, losses)
