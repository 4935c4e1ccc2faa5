"""Instances of span–role assignment, the same for everybody who solves them.

An instance is plain arrays: candidate spans of a sentence, roles, what each span is worth in each
role (an empty role is worth 0), and the rules of the paper beside uniqueness and non-overlap:
pairs of roles that exclude each other, and pairs of which the first requires the second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LONGEST = 8  # tokens of a random span
SHAPES = {  # roles and spans, both ends included: about 60, 300 and 900 variables
    "small": ((3, 6), (10, 17)),
    "medium": ((6, 10), (30, 45)),
    "large": ((10, 15), (64, 80)),
}
SIZES = tuple(SHAPES)


@dataclass(frozen=True)
class Instance:
    """Spans, roles, scores and rules of one sentence.

    Parameters
    ----------
    spans : (S, 2) int array
        First token and the token after the last.
    roles : tuple of str
        Names of the R roles.
    scores : (S, R) float array
        What span s is worth in role r, beyond what the role is worth empty.
    excludes, requires : tuples of pairs of int
        Roles that cannot both be filled; roles of which the first asks for the second.
    """

    spans: np.ndarray
    roles: tuple[str, ...]
    scores: np.ndarray
    excludes: tuple[tuple[int, int], ...]
    requires: tuple[tuple[int, int], ...]

    def value(self, chosen: np.ndarray) -> float:
        """Return what an answer (S, R) is worth; ``-inf`` where it breaks a rule."""
        counts = chosen.sum(axis=0)
        edges = np.zeros(int(self.spans.max(initial=0)) + 1, dtype=np.int64)
        for (start, end), times in zip(self.spans.tolist(), chosen.sum(axis=1), strict=True):
            edges[start] += times
            edges[end] -= times
        allowed = (
            counts.max(initial=0) <= 1
            and edges.cumsum().max(initial=0) <= 1
            and not any(counts[a] and counts[b] for a, b in self.excludes)
            and not any(counts[a] and not counts[b] for a, b in self.requires)
        )
        return float(self.scores[chosen].sum()) if allowed else -np.inf


def random_spans(rng: np.random.Generator, count: int, tokens: int) -> np.ndarray:
    """Return `count` different spans of 1 to 8 tokens, in order."""
    starts, lengths = np.meshgrid(np.arange(tokens), np.arange(1, LONGEST + 1), indexing="ij")
    every = np.stack([starts.ravel(), (starts + lengths).ravel()], axis=1)
    every = every[every[:, 1] <= tokens]
    return every[np.sort(rng.choice(len(every), count, replace=False))]


def random_instance(rng: np.random.Generator, size: str) -> Instance:
    """Return a random instance of one of the `SIZES`.

    A score is the sum of how good the span is as an argument at all, and how well it fits the role.
    Roles thus want the same spans, and good spans overlap: local decisions break rules.
    """
    (fewest, most), (few, many) = SHAPES[size]
    n_roles, n_spans = int(rng.integers(fewest, most + 1)), int(rng.integers(few, many + 1))
    spans = random_spans(rng, n_spans, int(rng.integers(20, 41)))
    scores = rng.normal(-1.0, 1.0, (n_spans, 1)) + rng.normal(0.0, 1.5, (n_spans, n_roles))
    # One to three rules of each kind, at most one a pair of roles.
    pairs = rng.permutation(np.argwhere(np.triu(np.ones((n_roles, n_roles)), 1)))
    n_excludes, n_requires = rng.integers(1, min(4, len(pairs))), rng.integers(1, 4)
    asked = pairs[n_excludes : n_excludes + n_requires]
    asked = np.where(rng.random((len(asked), 1)) < 0.5, asked, asked[:, ::-1])
    return Instance(
        spans,
        tuple(f"role{r}" for r in range(n_roles)),
        scores,
        tuple((int(a), int(b)) for a, b in pairs[:n_excludes]),
        tuple((int(a), int(b)) for a, b in asked),
    )


def random_instances(size: str, count: int, seed: int) -> list[Instance]:
    """Return `count` instances of a size; the same seed gives the same ones."""
    rng = np.random.default_rng([seed, SIZES.index(size)])
    return [random_instance(rng, size) for _ in range(count)]
