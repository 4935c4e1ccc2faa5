"""Small decoding problems of every kind, and their values by enumeration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from oracle import enumerate_paths
from rule_strategies import TOKENS, combined, leaves, linear_rules, looking
from segment_cases import models
from strategies import arrays, ordinary
from trelliswork import LabelSet, Problem, Trellis
from trelliswork.automata.patterns import Patterns
from trelliswork.errors import RuleError
from trelliswork.labels.segmentation import Segmentation
from trelliswork.planning.plan import Plan

if TYPE_CHECKING:
    from trelliswork.constraints import Constraint

LABEL_SETS = (
    LabelSet(["a", "b"]),
    LabelSet(["a", "b", "c"]),
    LabelSet(["a", "b", "c", "d"]),
    LabelSet(["o", "a", "b"], outside="o"),
    LabelSet(["O", "B-a", "I-a", "B-b"], scheme="bio"),
    LabelSet(["O", "B-a", "I-a/B-b", "B-b"], scheme="path"),
)
SEGMENT_LABELS = (
    LabelSet(["a", "b"]),
    LabelSet(["o", "a", "b"], outside="o"),
    LabelSet(["O", "B-a", "I-a", "B-b", "I-b"], scheme="bio"),
)
MAX_LABELLINGS = 256  # that the judge spells out for each problem

penalties = st.sampled_from([0.0, 0.25, 1.0, 2.5, 40.0]) | st.floats(0, 6)
some_scores = st.one_of(ordinary, ordinary, ordinary, st.sampled_from([0.0, 1.0, -np.inf]))


@dataclass
class ProblemCase:
    """A problem, and the value of each of its labellings."""

    problem: Problem

    @cached_property
    def values(self) -> dict[tuple[str, ...], float]:
        """``P(y)`` of every labelling that is not forbidden, from the definitions alone."""
        problem, plan = self.problem, self.problem.plan
        best: dict[tuple[str, ...], float] = {}
        for path in enumerate_paths(problem.trellis):
            tags = np.where(path.begins, path.labels, np.add(path.labels, plan.model.n_labels))
            names = tuple(plan.names(tags.astype(np.int32)))
            best[names] = max(path.score, best.get(names, -np.inf))
        return {
            names: value
            for names, score in best.items()
            if (value := score - self.cost(names)) > -np.inf
        }

    def cost(self, names: tuple[str, ...]) -> float:
        total = 0.0
        for rule in self.problem.constraints:
            degree = rule.hard.violations(names, self.problem.sentence, scheme=self.problem.labels)
            if degree:
                total += degree * (rule.penalty if rule.is_soft else np.inf)
        return total

    @property
    def best(self) -> float:
        """``max_y P(y)``; ``-inf`` where no labelling satisfies the hard constraints."""
        return max(self.values.values(), default=-np.inf)


def rules(labels: LabelSet) -> st.SearchStrategy[Constraint]:
    """Rows, bits and mixtures of both, hard and soft."""
    names = ["a", "b"]
    one = st.one_of(
        leaves(names, list(labels.names)),
        leaves(names, list(labels.names)),
        linear_rules(names, list(labels.names)),
        looking([*names, *labels.names]),
        combined(st.one_of(leaves(names, list(labels.names)), looking(list(labels.names)))),
    )
    soft = st.builds(lambda rule, penalty: rule.soft(penalty), one, penalties)
    return st.one_of(one, soft, soft)


def sentences(n_tokens: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(TOKENS), min_size=n_tokens, max_size=n_tokens)


@st.composite
def chain_problems(draw: Any, most_rules: int = 6) -> Problem:
    """Chains of first and second order."""
    labels = draw(st.sampled_from(LABEL_SETS))
    n_labels = len(labels)
    longest = max(t for t in range(7) if n_labels**t <= MAX_LABELLINGS)
    n_tokens = draw(st.integers(0, longest))
    scores = draw(arrays((n_tokens, n_labels), some_scores))
    chosen = tuple(draw(st.lists(rules(labels), max_size=most_rules)))
    sentence = draw(sentences(n_tokens))
    if draw(st.integers(0, 2)):
        transitions = draw(st.none() | arrays((n_labels, n_labels), ordinary))
        ends = {key: draw(st.none() | arrays((n_labels,), ordinary)) for key in ("start", "end")}
        return Problem(scores, transitions, chosen, sentence, labels=labels, **ends)
    pattern = st.lists(st.integers(0, n_labels - 1), min_size=1, max_size=3).map(tuple)
    model = Patterns.of(draw(st.lists(pattern, unique=True, max_size=4)), n_labels).automaton()
    trellis = Trellis(scores, model, weights=draw(arrays((model.n_patterns,), ordinary)))
    return Problem(trellis, None, chosen, sentence, labels=labels)


def readable(rule: Constraint, segmentation: Segmentation) -> bool:
    """Return whether a rule can be read off segments, hard or soft."""
    plan = Plan(segmentation.labels, (rule,), segmentation=segmentation)
    try:
        return plan.terms.product(range(len(plan.terms)), 1) is not None
    except RuleError:
        return False


@st.composite
def segment_problems(draw: Any, most_rules: int = 6) -> Problem:
    """Semi-Markov models."""
    labels = draw(st.sampled_from(SEGMENT_LABELS))
    free = Segmentation.choose(labels, [], 2)
    limits = [1 if outside else draw(st.integers(1, 3)) for outside in free.continues]
    segmentation = Segmentation(labels, tuple(limits), draw(st.booleans()))
    model = draw(models(segmentation))
    drawn = draw(st.lists(rules(labels), max_size=most_rules))
    chosen = tuple(rule for rule in drawn if readable(rule, segmentation))
    n_tokens = draw(st.integers(0, 4))
    shape = n_tokens, segmentation.max_duration, segmentation.n_letters
    trellis = Trellis(
        draw(arrays(shape, ordinary)) + segmentation.blank_scores(n_tokens),
        model,
        weights=draw(arrays((model.n_patterns,), ordinary)),
    )
    plan = Plan(labels, chosen, model=model, segmentation=segmentation)
    return Problem(trellis, plan, sentence=draw(sentences(n_tokens)))


def cases(most_rules: int = 6) -> st.SearchStrategy[ProblemCase]:
    """Problems of every kind with their judge."""
    kinds = st.one_of(
        chain_problems(most_rules), chain_problems(most_rules), segment_problems(most_rules)
    )
    return kinds.map(ProblemCase)
