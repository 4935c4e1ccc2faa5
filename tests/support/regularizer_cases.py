"""Regularizers to draw: l1, bounds, and groups that do not overlap, hold one another or cross."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from trelliswork.learn.sparsity.group_norms import GroupNorms
from trelliswork.learn.sparsity.regularizer import Regularizer

NORMS = st.sampled_from(["l2", "linf"])
STRENGTHS = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])
KINDS = ("none", "groups", "tree", "tree of three", "partial tree", "crossing")
SEEDS = st.integers(0, 2**16)


def norms(groups: np.ndarray, strengths: np.ndarray, norm: str) -> GroupNorms:
    """Return norms of groups that are numbered in any way, −1 for none."""
    numbered = np.full(groups.size, -1, dtype=np.int32)
    inside = groups >= 0
    numbered[inside] = np.unique(groups[inside], return_inverse=True)[1]
    return GroupNorms(numbered, strengths[: numbered.max(initial=-1) + 1], norm)


def nested(rng: np.random.Generator, outer: np.ndarray, parts: int) -> np.ndarray:
    """Return a partition of every group, and of the indices in none."""
    return (outer + 1) * parts + rng.integers(parts, size=outer.size)


@st.composite
def regularizers(
    draw: Any, size: int, kinds: tuple[str, ...] = KINDS, *, mixed: bool = True
) -> Regularizer:
    """Draw one of some kinds; `mixed`: levels may have different norms, which takes its time."""
    norm = draw(NORMS)
    kind = draw(st.sampled_from(kinds))
    rng = np.random.default_rng(draw(SEEDS))

    def level(groups: np.ndarray) -> GroupNorms:
        strengths = rng.choice([0.0, 0.25, 0.5, 1.0, 2.0], size=size, p=[0.1, 0.3, 0.3, 0.2, 0.1])
        return norms(groups, strengths, draw(NORMS) if mixed else norm)

    first = rng.integers(-1, 3, size=size)
    if kind == "none":
        levels = []
    elif kind == "groups":
        levels = [level(first)]
    elif kind == "tree":
        levels = [level(rng.integers(3, size=size))]
        levels.append(level(nested(rng, levels[0].groups, 2)))
    elif kind == "tree of three":
        coarse = rng.integers(2, size=size)
        middle = nested(rng, coarse, 2)
        levels = [level(coarse), level(middle), level(nested(rng, middle, 2))]
    elif kind == "partial tree":
        middle = nested(rng, first, 2)
        fine = nested(rng, middle, 2)
        # Whole groups are left out.
        levels = [
            level(first),
            level(np.where(np.isin(middle, rng.choice(8, size=3)), -1, middle)),
            level(np.where(np.isin(fine, rng.choice(18, size=6)), -1, fine)),
        ]
    else:
        levels = [level(rng.integers(-1, 3, size=size)) for _ in range(draw(st.integers(2, 3)))]
    rng.shuffle(levels)
    l1 = draw(
        st.one_of(st.sampled_from([0.0, 0.3, 1.0]), st.just(rng.choice([0.0, 0.2, 1.0], size=size)))
    )
    bounded = np.flatnonzero(rng.random(size) < draw(st.sampled_from([0.0, 0.0, 0.4])))
    return Regularizer(size, l1, levels, bounded)


@st.composite
def points(draw: Any, size: int) -> np.ndarray:
    """Draw numbers of all sizes, with ties and zeros."""
    rng = np.random.default_rng(draw(SEEDS))
    found = rng.normal(scale=draw(st.sampled_from([0.5, 2.0, 10.0])), size=size)
    ties = rng.random(size) < draw(st.sampled_from([0.0, 0.5]))
    return np.where(ties, np.round(found), found)
