"""Constrained semi-Markov models by enumeration, and small cases of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from oracle import EnumeratedPath, enumerate_paths
from rule_strategies import TOKENS, combined, leaves, looking
from strategies import arrays, ordinary
from trelliswork.automata.patterns import Patterns
from trelliswork.constraints import matches
from trelliswork.errors import RuleError
from trelliswork.inference.verbs import Trellis
from trelliswork.labels.label_set import LabelSet
from trelliswork.labels.segmentation import Segmentation
from trelliswork.planning.plan import Plan

if TYPE_CHECKING:
    import numpy as np

    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints import Constraint

LABELS = (
    LabelSet(["a", "b", "c"]),
    LabelSet(["o", "a", "b"], outside="o"),
    LabelSet(["B-a", "I-a", "O", "B-b", "I-b"], scheme="bio"),
)


@dataclass
class SegmentCase:
    """A batch of sentences, their segment scores and constraints."""

    segmentation: Segmentation
    model: Automaton
    constraints: tuple[Constraint, ...]
    sentences: list[list[str]]
    scores: list[np.ndarray]
    weights: np.ndarray

    @property
    def trellis(self) -> Trellis:
        return Trellis.from_sequences(self.scores, self.model, weights=self.weights)

    @property
    def plan(self) -> Plan:
        labels, segmentation = self.segmentation.labels, self.segmentation
        return Plan(labels, self.constraints, model=self.model, segmentation=segmentation)

    def labels_of(self, tags: tuple[int, ...]) -> list[str]:
        return [self.segmentation.tag_names[tag] for tag in tags]

    def all_paths(self, b: int) -> list[EnumeratedPath]:
        """Return every path of one sentence. Automaton and scores define its segments."""
        return enumerate_paths(self.trellis, b)

    def tags(self, path: EnumeratedPath) -> tuple[int, ...]:
        n_letters = self.segmentation.n_letters
        return tuple(
            y if begins else y + n_letters
            for y, begins in zip(path.labels, path.begins, strict=True)
        )

    def paths(self, b: int) -> dict[tuple[int, ...], float]:
        """Return the tags and the score of every segmentation that breaks no constraint.

        The judge reads token labels alone.
        """
        rules = [rule.in_segments() for rule in self.constraints]
        found = {}
        for path in self.all_paths(b):
            tags = self.tags(path)
            judged = (
                rule.violations(
                    self.labels_of(tags), self.sentences[b], scheme=self.segmentation.labels
                )
                for rule in rules
            )
            if not any(judged):
                found[tags] = path.score
        return found


def readable(rule: Constraint, segmentation: Segmentation) -> bool:
    """Return whether a rule can be read off segments."""
    one = Plan(segmentation.labels, (rule,), segmentation=segmentation)
    try:
        return all(one.hard.language(i) is not None for i in one.hard_rules)
    except RuleError:
        return False


@st.composite
def segmentations_of(draw: Any) -> Segmentation:
    labels = draw(st.sampled_from(LABELS))
    free = Segmentation.choose(labels, [], 2)
    limits = [1 if outside else draw(st.integers(1, 3)) for outside in free.continues]
    return Segmentation(labels, tuple(limits), draw(st.booleans()))


@st.composite
def models(draw: Any, segmentation: Segmentation) -> Automaton:
    letter = st.integers(0, segmentation.n_letters - 1)
    pattern = st.lists(letter, min_size=2, max_size=3).map(tuple)
    seen = draw(st.lists(pattern, unique=True, max_size=4))
    patterns = Patterns.of(seen, segmentation.n_letters)
    return patterns.automaton(repeats=segmentation.repeats, continues=segmentation.continues)


@st.composite
def segment_cases(draw: Any, rules: int = 3, longest: int = 4) -> SegmentCase:
    segmentation = draw(segmentations_of())
    model = draw(models(segmentation))
    names = list(segmentation.labels.segment_names)[:2]
    either = st.sampled_from(["a*", "(a | b) .", "~(b .*)", ".* a .*", "a b? a"])
    base = st.one_of(
        leaves(names, list(segmentation.labels.names)),
        looking([*names, *segmentation.labels.names]),
        either.map(matches),
    )
    drawn = draw(st.lists(combined(base), max_size=rules))
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=2))
    shape = segmentation.max_duration, segmentation.n_letters
    return SegmentCase(
        segmentation,
        model,
        tuple(rule for rule in drawn if readable(rule, segmentation)),
        [draw(st.lists(st.sampled_from(TOKENS), min_size=n, max_size=n)) for n in lengths],
        [draw(arrays((n, *shape), ordinary)) + segmentation.blank_scores(n) for n in lengths],
        draw(arrays((model.n_patterns,), ordinary)),
    )
