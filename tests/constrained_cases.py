"""Constrained models by enumeration, and small cases of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from oracle import log_sum_exp
from strategies import arrays, expressions, ordinary
from trelliswork.constraints import (
    at_least,
    at_most,
    changes_only_at,
    contiguous,
    ends_with,
    excludes,
    matches,
    only_on,
    precedes,
    requires,
    starts_with,
    token,
    where,
)
from trelliswork.inference.verbs import Trellis
from trelliswork.labels.label_set import LabelSet

if TYPE_CHECKING:
    import numpy as np

    from trelliswork.constraints import Constraint

TOKENS = ("x", "y", "1")
TESTS = (token(regex="[xy]"), token(lexicon=["x", "1"]))


@dataclass
class Case:
    """A batch of sentences, their scores and constraints."""

    labels: LabelSet
    constraints: tuple[Constraint, ...]
    sentences: list[list[str]]
    scores: list[np.ndarray]
    transitions: np.ndarray

    @property
    def trellis(self) -> Trellis:
        return Trellis.from_sequences(self.scores, weights=self.transitions)

    def paths(self, b: int, constraints: tuple[Constraint, ...] | None = None) -> dict:
        """Return the score of every labelling of one sentence that breaks no constraint."""
        rules = self.constraints if constraints is None else constraints
        sentence, scores = self.sentences[b], self.scores[b]
        found = {}
        for ids in itertools.product(range(len(self.labels)), repeat=len(sentence)):
            names = [self.labels.names[y] for y in ids]
            if any(rule.violations(names, sentence, scheme=self.labels) for rule in rules):
                continue
            score = sum(scores[t, y] for t, y in enumerate(ids))
            score += sum(self.transitions[a, y] for a, y in itertools.pairwise(ids))
            found[ids] = float(score)
        return found

    def log_z(self, b: int) -> float:
        return log_sum_exp(list(self.paths(b).values()))


def words(names: str) -> st.SearchStrategy[Constraint]:
    """Constraints over one-letter labels, some of which look at the tokens."""
    name = st.sampled_from(names)
    test = st.sampled_from(TESTS)
    two = st.permutations(names).map(lambda order: order[:2])
    number = st.integers(0, 2)
    return st.one_of(
        st.builds(at_most, number, name),
        st.builds(at_least, number, name),
        st.builds(contiguous, name),
        st.builds(starts_with, name),
        st.builds(ends_with, name),
        two.map(lambda names: precedes(*names)),
        two.map(lambda names: requires(*names)),
        two.map(lambda names: excludes(*names)),
        st.builds(only_on, test, name),
        st.builds(lambda t, y: where(t).allow(y), test, name),
        st.builds(changes_only_at, test),
        st.builds(
            lambda a, b: a | b, st.builds(at_most, number, name), st.builds(only_on, test, name)
        ),
        expressions(names).map(matches),
    )


@st.composite
def cases(draw: Any, rules: int = 3, longest: int = 4) -> Case:
    n_labels = draw(st.integers(2, 3))
    labels = LabelSet(list("abc"[:n_labels]))
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=3))
    return Case(
        labels,
        tuple(draw(st.lists(words("abc"[:n_labels]), max_size=rules))),
        [draw(st.lists(st.sampled_from(TOKENS), min_size=n, max_size=n)) for n in lengths],
        [draw(arrays((n, n_labels), ordinary)) for n in lengths],
        draw(arrays((n_labels, n_labels), ordinary)),
    )
