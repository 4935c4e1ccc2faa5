"""Span–role assignment as the rivals get it: sets of binary variables, and an integer programme.

A variable says that span s fills role r. The rules are the paper's equations 3 (one span a role),
5 (no token in two spans), 8 (excludes) and 10 (requires, here one way).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from span_instances import Instance


@dataclass(frozen=True)
class Outline:
    """The variables of an instance, and which of them meet in a rule."""

    shape: tuple[int, int]  # spans, roles
    places: np.ndarray  # (V,) of each variable in the (S, R) scores
    costs: np.ndarray  # (V,)
    roles: list[np.ndarray]  # the variables of each role
    tokens: list[np.ndarray]  # the variables that share a token
    excludes: tuple[tuple[int, int], ...]
    requires: tuple[tuple[int, int], ...]

    def chosen(self, on: np.ndarray) -> np.ndarray:
        """Return the answer (S, R) in which the variables `on` (V,), rounded, are true."""
        answer = np.zeros(self.shape[0] * self.shape[1], dtype=bool)
        answer[self.places] = np.asarray(on)[: len(self.places)] > 0.5
        return answer.reshape(self.shape)


def crowded_tokens(spans: np.ndarray) -> list[np.ndarray]:
    """Return the sets of spans that share a token: the maximal ones.

    A set is maximal only where a span starts and the next thing to happen is that one ends. A span
    that meets no other is a set too: it must not fill two roles.
    """
    starts, ends = set(spans[:, 0].tolist()), set(spans[:, 1].tolist())
    sets, waiting = [], None
    for token in range(int(spans[:, 1].max(initial=0))):
        waiting = token if token in starts else waiting
        if waiting is not None and token + 1 in ends:
            sets.append(np.flatnonzero((spans[:, 0] <= waiting) & (waiting < spans[:, 1])))
            waiting = None
    return sets


def outline(instance: Instance, *, trim: bool = False) -> Outline:
    """Return the variables and sets of an instance.

    Parameters
    ----------
    trim
        Leave out spans that some optimum does without: those worth nothing in a role that no other
        role requires.
    """
    scores = instance.scores
    kept = np.isfinite(scores)
    if trim:
        required = np.zeros(len(instance.roles), dtype=bool)
        required[[b for _, b in instance.requires]] = True
        kept &= (scores > 0) | required
    places = np.flatnonzero(kept)
    numbers = np.cumsum(kept).reshape(kept.shape) - 1  # of the variable, where it is kept
    useful = np.flatnonzero(kept.any(axis=1))
    sets = [useful[members] for members in crowded_tokens(instance.spans[useful])]
    together = [numbers[members][kept[members]] for members in sets]
    return Outline(
        scores.shape,
        places,
        scores.ravel()[places],
        [numbers[kept[:, r], r] for r in range(scores.shape[1])],
        [members for members in together if len(members) > 1],
        instance.excludes,
        instance.requires,
    )


@dataclass(frozen=True)
class Program:
    """Maximise costs·z subject to lower ≤ A z ≤ upper, z binary; A by rows."""

    costs: np.ndarray  # (V,)
    starts: np.ndarray  # (M + 1,) int32
    columns: np.ndarray  # (K,) int32
    values: np.ndarray  # (K,)
    lower: np.ndarray  # (M,)
    upper: np.ndarray  # (M,)


def program(model: Outline, *, empty: bool) -> Program:
    """Return the integer programme; with variables for empty roles, or without.

    With them, as in the paper, excludes and requires are rows of two entries. Without them, such a
    rule is a row over all spans of both roles. Neither is better for every solver and size.
    """
    first = len(model.costs)  # the variable of an empty role 0
    rows: list[tuple[np.ndarray, np.ndarray | float, float, float]] = []
    if empty:
        for r, members in enumerate(model.roles):
            rows.append((np.append(members, first + r), 1.0, 1.0, 1.0))
        for a, b in model.excludes:
            rows.append((np.array([first + a, first + b]), 1.0, 1.0, np.inf))
        for a, b in model.requires:
            rows.append((np.array([first + a, first + b]), np.array([1.0, -1.0]), 0.0, np.inf))
    else:
        for members in model.roles:
            rows.append((members, 1.0, -np.inf, 1.0))
        for a, b in model.excludes:
            both = np.concatenate([model.roles[a], model.roles[b]])
            rows.append((both, 1.0, -np.inf, 1.0))
        for a, b in model.requires:
            both = np.concatenate([model.roles[a], model.roles[b]])
            signs = np.repeat([1.0, -1.0], [len(model.roles[a]), len(model.roles[b])])
            rows.append((both, signs, -np.inf, 0.0))
    for members in model.tokens:
        rows.append((members, 1.0, -np.inf, 1.0))
    lengths = [len(columns) for columns, *_ in rows]
    return Program(
        np.append(model.costs, np.zeros(len(model.roles) * empty)),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        np.concatenate([columns for columns, *_ in rows]).astype(np.int32),
        np.concatenate([np.broadcast_to(row[1], len(row[0])) for row in rows]).astype(float),
        np.array([row[2] for row in rows]),
        np.array([row[3] for row in rows]),
    )
