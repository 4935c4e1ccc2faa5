"""Small decoding problems with random Python functions among their constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

import trelliswork as tw
from problem_cases import ProblemCase, chain_problems, penalties, segment_problems
from trelliswork.planning.plan import Plan


@dataclass(frozen=True)
class Random:
    """Violations from a table, by label, the label before, the first label and the token."""

    table: tuple[int, ...]

    def newly(self, labels: list[str], sentence: Any) -> int:
        """Return the violations that the last label of a prefix adds."""
        seen = "".join((labels[0], *labels[-2:], sentence[len(labels) - 1]))
        return self.table[sum(map(ord, seen)) % len(self.table)]

    def __call__(self, labels: list[str], sentence: Any) -> int:
        return sum(self.newly(labels[:end], sentence) for end in range(1, len(labels) + 1))


@st.composite
def predicates(draw: Any) -> tw.Constraint:
    """Functions of all forms, hard and soft, some of which count more than one at a token."""
    counts = st.sampled_from([0, 0, 0, 1, 2])
    function = Random(tuple(draw(st.lists(counts, min_size=1, max_size=7))))
    whole, newly = draw(
        st.sampled_from(
            [(function, None), (function, function.newly), (None, function.newly)],
        )
    )
    made = tw.predicate(whole, f"p{draw(st.integers(0, 9))}", newly)
    return made.soft(draw(penalties)) if draw(st.integers(0, 3)) else made


@st.composite
def predicate_cases(draw: Any, most_rules: int = 2) -> ProblemCase:
    """Problems of every kind with one to three predicates, and their judge."""
    kinds = st.one_of(
        chain_problems(most_rules), chain_problems(most_rules), segment_problems(most_rules)
    )
    problem = draw(kinds)
    functions = draw(
        st.lists(predicates(), min_size=1, max_size=3, unique_by=lambda rule: rule.hard.name)
    )
    plan = Plan(
        problem.labels,
        draw(st.permutations([*problem.constraints, *functions])),
        model=problem.plan.model,
        segmentation=problem.plan.segmentation,
        training_budget=0,
    )
    return ProblemCase(tw.Problem(problem.trellis, plan, sentence=problem.sentence))
