"""Tables of spans and roles: the problems of `trelliswork.assign`.

    score(y) = Σ_{(s, r) ∈ y} c_sr + Σ_{r not filled} null_r,      y ⊆ spans × roles

A role without a span has the *null span*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.graphs.factor import LARGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import FloatArray, IntArray


__all__ = ["SpanTable"]


class SpanTable:
    """Candidate spans of one sentence, with a score for each span and role.

    Parameters
    ----------
    spans
        ``S`` pairs ``(start, end)`` of tokens, `end` exclusive.
    roles
        ``R`` names.
    scores
        ``c``, shape ``(S, R)``, copied; ``-inf`` if a span cannot fill a role.
    null
        The score of the null span of each role, shape ``(R,)``; 0 by default.

    Raises
    ------
    ValueError
        For other shapes, empty spans, duplicate roles, NaN, ``+inf`` and scores so large that sums
        overflow.

    Examples
    --------
    >>> SpanTable([(0, 2), (3, 5)], ["Agent", "Theme"], [[1.5, 0.0], [0.2, 2.0]])
    SpanTable(2 spans, 2 roles)
    """

    __slots__ = ("null", "roles", "scores", "spans")

    def __init__(
        self,
        spans: ArrayLike,
        roles: Sequence[str],
        scores: ArrayLike,
        null: ArrayLike | None = None,
    ) -> None:
        self.roles = _checked_roles(roles)
        self.spans = _checked_spans(spans)
        self.scores = _checked_scores(scores, self.spans, self.roles)
        self.null: FloatArray | None = None if null is None else _checked_null(null, self.roles)

    def value(self, choices: Sequence[tuple[int, int]]) -> float:
        """Return the score of pairs (index of a span, index of a role), without rules."""
        total = sum(float(self.scores[s, r]) for s, r in choices)
        if self.null is None:
            return total
        filled = {r for _, r in choices}
        return total + sum(float(self.null[r]) for r in range(len(self.roles)) if r not in filled)

    def __repr__(self) -> str:
        return f"SpanTable({len(self.spans)} spans, {len(self.roles)} roles)"


def _checked_roles(roles: Sequence[str]) -> tuple[str, ...]:
    if isinstance(roles, str):
        raise TypeError(f"roles: expected a list of names, got the string {roles!r}.")
    for name in roles:
        if not isinstance(name, str) or not name:
            raise TypeError(f"roles: expected names, got {type(name).__name__} {name!r}.")
    names = tuple(map(str, roles))  # NumPy's strings print as calls
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"roles: expected different names, got {twice!r} twice.")
    return names


def _checked_spans(given: ArrayLike) -> IntArray:
    array: NDArray[Any] = np.asarray(given)
    if array.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            "spans: expected pairs (start, end) of whole numbers, shape (S, 2), got shape "
            f"{array.shape} of {array.dtype}."
        )
    spans = np.array(array, dtype=np.int64, order="C")
    if spans[:, 0].min() < 0 or (spans[:, 0] >= spans[:, 1]).any():
        bad = int(np.flatnonzero((spans[:, 0] < 0) | (spans[:, 0] >= spans[:, 1]))[0])
        raise ValueError(
            f"spans[{bad}]: expected 0 <= start < end, got {tuple(spans[bad].tolist())}. The null "
            "span is built in: leave it out, and give its scores as null=."
        )
    spans.flags.writeable = False
    return spans


def _checked_scores(given: ArrayLike, spans: IntArray, roles: tuple[str, ...]) -> FloatArray:
    scores = np.array(given, dtype=np.float64, order="C")
    shape = (len(spans), len(roles))
    if scores.size == 0 and 0 in shape:
        return np.zeros(shape)
    if scores.shape != shape:
        hint = " Transpose it: a row a span." if scores.shape == shape[::-1] else ""
        raise ValueError(
            f"scores: expected shape (spans, roles), here {shape}, got {scores.shape}.{hint}"
        )
    if not scores.max() <= LARGEST or scores.min() < -LARGEST:  # the first is true for NaN too
        wrong = ~(np.abs(scores) <= LARGEST) & (scores != -np.inf)
        for s, r in np.argwhere(wrong).tolist():
            raise ValueError(
                f"scores[{s}, {r}]: expected a number up to {LARGEST:g}, got {scores[s, r]} for "
                f"span {tuple(spans[s].tolist())} and role {roles[r]!r}. Use -inf for what is "
                "impossible, and at_least(1, role) for what is certain."
            )
    scores.flags.writeable = False
    return scores


def _checked_null(given: ArrayLike, roles: tuple[str, ...]) -> FloatArray:
    null = np.array(given, dtype=np.float64)
    if null.shape != (len(roles),):
        raise ValueError(
            f"null: expected a score for each of the {len(roles)} roles, got shape {null.shape}."
        )
    if not (np.abs(null) <= LARGEST).all():
        bad = int(np.flatnonzero(~(np.abs(null) <= LARGEST))[0])
        raise ValueError(
            f"null[{bad}]: expected a number up to {LARGEST:g}, got {null[bad]} for role "
            f"{roles[bad]!r}. Use at_least(1, {roles[bad]!r}) for a role that must be filled."
        )
    null.flags.writeable = False
    return null
