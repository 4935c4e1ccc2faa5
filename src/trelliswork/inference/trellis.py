"""`Trellis`: the scores of a ragged batch on one automaton, the input of the verbs of inference.

`derive` makes a trellis from another one: some of its sequences, another automaton, other weights.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork._utils.threads import resolve_jobs
from trelliswork.automata.automaton import Automaton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import FloatArray, IntArray


__all__ = ["Trellis", "derive", "rows_of"]

MEMORY_LIMIT = 64 * 2**20


class Trellis:
    """Scores of a ragged batch of sequences on one automaton.

    Parameters
    ----------
    scores
        ``φ``: shape ``(N, L)``, or ``(N, D, L)`` with the score of label ``y`` on the ``d + 1``
        tokens that end at ``t`` in entry ``[t, d, y]``.
    automaton
        Default: the complete first-order automaton over the labels, a linear chain.
    offsets
        Sequence ``b`` is tokens ``offsets[b]`` to ``offsets[b + 1]``; shape ``(B + 1,)``.
        Default: one sequence.
    weights
        ``ψ``: one weight a pattern, shape ``(P,)``; for a chain also the ``(L, L)`` transition
        matrix, rows = previous label. Default: zeros.
    position_weights
        Added to `weights` for the arcs into a segment that begins at each token: shape ``(N, P)``,
        for a chain also ``(N, L, L)``; otherwise fewer columns stand for the first patterns only.
    start, end
        Scores of the first and of the last label, shape ``(L,)``.
    classes
        Class of each token, shape ``(N,)``, for an automaton with guards.
    memory_limit
        Bytes of forward rows that each thread may keep; a longer sequence keeps checkpoints and
        computes the rows between them again.
    """

    def __init__(
        self,
        scores: ArrayLike,
        automaton: Automaton | None = None,
        *,
        offsets: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        position_weights: ArrayLike | None = None,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        memory_limit: int = MEMORY_LIMIT,
    ) -> None:
        phi = np.ascontiguousarray(scores, dtype=np.float64)
        if phi.ndim not in (2, 3) or phi.shape[-1] == 0 or 0 in phi.shape[1:]:
            raise ValueError(
                "scores: expected shape (tokens, labels) or (tokens, durations, labels) with at "
                f"least one label, got {phi.shape}."
            )
        self.scores: FloatArray = phi[:, None, :] if phi.ndim == 2 else phi
        n_tokens, _, n_labels = self.scores.shape
        self.automaton = Automaton.chain(n_labels) if automaton is None else automaton
        n_patterns = self.automaton.n_patterns
        if n_labels != self.automaton.n_labels:
            raise ValueError(
                f"scores: expected {self.automaton.n_labels} labels, as the automaton has, "
                f"got {n_labels}."
            )
        self.offsets: IntArray = _checked_offsets(
            [0, n_tokens] if offsets is None else offsets, n_tokens
        )
        self.weights = _checked("weights", weights, (n_patterns,))
        self.position_weights = _checked_position_weights(
            position_weights, n_tokens, self.automaton
        )
        self.start = _checked("start", start, (n_labels,))
        self.end = _checked("end", end, (n_labels,))
        self.classes = _checked_classes(classes, n_tokens, self.automaton.n_classes)
        _refuse_nan("scores", phi)
        if memory_limit < 0:
            raise ValueError(f"memory_limit: expected a number of bytes, got {memory_limit}.")
        self.memory_limit = int(memory_limit)

    @classmethod
    def from_sequences(
        cls, scores: Sequence[ArrayLike], automaton: Automaton | None = None, **options: ArrayLike
    ) -> Trellis:
        """Stack one score array a sequence, each ``(T, L)`` or ``(T, D, L)``, into a batch."""
        arrays = [np.asarray(sequence, dtype=np.float64) for sequence in scores]
        if not arrays:
            raise ValueError("Trellis.from_sequences: expected at least one sequence, got none.")
        for index, array in enumerate(arrays):
            if array.ndim not in (2, 3) or array.shape[1:] != arrays[0].shape[1:]:
                raise ValueError(
                    f"Trellis.from_sequences: expected shape (tokens, labels) or (tokens, "
                    f"durations, labels), the same labels for all, got {array.shape} for sequence "
                    f"{index} and {arrays[0].shape} for sequence 0."
                )
        offsets = np.cumsum([0, *(len(array) for array in arrays)])
        return cls(np.concatenate(arrays), automaton, offsets=offsets, **options)  # type: ignore[arg-type]

    @property
    def n_sequences(self) -> int:
        """Number of sequences, ``B``."""
        return int(self.offsets.size - 1)

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all sequences, ``N``."""
        return int(self.scores.shape[0])

    def __repr__(self) -> str:
        return (
            f"Trellis({self.n_sequences} sequences, {self.n_tokens} tokens, "
            f"durations up to {self.scores.shape[1]}, {self.automaton!r})"
        )

    def _batch(self, allowed: ArrayLike | None, n_jobs: int | None) -> _core.Batch:
        mask = None
        if allowed is not None:
            mask = np.ascontiguousarray(allowed, dtype=bool)
            n_tokens, n_labels = self.n_tokens, self.automaton.n_labels
            if mask.shape not in ((n_tokens, n_labels), (n_tokens, 2, n_labels)):
                raise ValueError(
                    f"allowed: expected shape {(n_tokens, n_labels)} or {(n_tokens, 2, n_labels)}, "
                    f"got {mask.shape}."
                )
            mask = mask.view(np.uint8).reshape(n_tokens, mask.ndim - 1, n_labels)
        return _core.Batch(
            self.automaton._core,
            self.offsets,
            self.scores,
            start=self.start,
            end=self.end,
            allowed=mask,
            weights=self.weights,
            position_weights=self.position_weights,
            classes=self.classes,
            memory_limit=self.memory_limit,
            n_jobs=min(resolve_jobs(n_jobs), max(1, self.n_sequences)),
        )


def rows_of(offsets: IntArray, sequences: IntArray) -> IntArray:
    """Return the token indices of some sequences of a ragged batch, in order."""
    firsts, lengths = offsets[:-1][sequences], np.diff(offsets)[sequences]
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    rows: IntArray = np.arange(total) + np.repeat(firsts - (ends - lengths), lengths)
    return rows


def derive(
    trellis: Trellis,
    *,
    sequences: IntArray | None = None,
    automaton: Automaton | None = None,
    classes: NDArray[np.uint8] | None = None,
    scores: ArrayLike | None = None,
    weights: FloatArray | None = None,
) -> Trellis:
    """Return a trellis with the scores of another one.

    Parameters
    ----------
    trellis
        The original.
    sequences
        Indices of the sequences to take, in order; one may come twice. Default: all.
    automaton
        Another automaton, with the same labels and patterns, or more patterns that have `weights`.
    classes
        Classes of all tokens of `trellis`, for an automaton with guards. Default: those of
        `trellis`, on its own automaton.
    scores
        Other scores of all tokens of `trellis`.
    weights
        Other weights of patterns. Default: those of `trellis`.
    """
    phi = trellis.scores if scores is None else np.asarray(scores)
    position, offsets = trellis.position_weights, trellis.offsets
    if automaton is None:
        automaton, classes = trellis.automaton, trellis.classes
    if sequences is not None:
        rows = rows_of(offsets, sequences)
        phi = phi[rows]
        position = None if position is None else position[rows]
        classes = None if classes is None else classes[rows]
        offsets = np.concatenate([[0], np.cumsum(np.diff(offsets)[sequences])])
    own_weights = trellis.weights if weights is None else weights
    if scores is None and _fits(automaton, own_weights, classes, trellis):
        made = copy(trellis)  # without the checks of the constructor, which it passed
        made.scores, made.offsets, made.automaton = phi, offsets, automaton
        made.weights, made.position_weights, made.classes = own_weights, position, classes
        return made
    return Trellis(
        phi,
        automaton,
        offsets=offsets,
        weights=own_weights,
        position_weights=position,
        start=trellis.start,
        end=trellis.end,
        classes=classes,
        memory_limit=trellis.memory_limit,
    )


def _fits(
    automaton: Automaton,
    weights: FloatArray | None,
    classes: NDArray[np.uint8] | None,
    trellis: Trellis,
) -> bool:
    """Return whether the parts fit the trellis by their shapes, so that no check is left to do."""
    return (
        automaton.n_labels == trellis.automaton.n_labels
        and (weights is None or weights.shape == (automaton.n_patterns,))
        and (weights is None or weights is trellis.weights or bool(np.isfinite(weights).all()))
        and (classes is not None) == (automaton.n_classes > 1)
        and trellis.position_weights is None
    )


def _checked_offsets(offsets: ArrayLike, n_tokens: int) -> IntArray:
    given = np.asarray(offsets)
    if given.ndim != 1 or given.size < 1 or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            f"offsets: expected a 1-d integer array, got {given.dtype} of shape {given.shape}."
        )
    if given[0] != 0 or given[-1] != n_tokens or (np.diff(given) < 0).any():
        raise ValueError(
            f"offsets: expected to rise from 0 to {n_tokens}, the number of tokens, got {given}."
        )
    return np.ascontiguousarray(given, dtype=np.int64)


def _checked_classes(
    classes: ArrayLike | None, n_tokens: int, n_classes: int
) -> NDArray[np.uint8] | None:
    if classes is None:
        if n_classes > 1:
            raise ValueError(
                "classes: the arcs of this automaton depend on the tokens. Give the class of "
                f"each of the {n_tokens} tokens, 0 to {n_classes - 1}."
            )
        return None
    given = np.asarray(classes)
    if given.shape != (n_tokens,):
        raise ValueError(f"classes: expected shape {(n_tokens,)}, got {given.shape}.")
    if given.size and (given.min() < 0 or given.max() >= n_classes):
        raise ValueError(
            f"classes: expected 0 to {n_classes - 1}, got {given.min()} to {given.max()}."
        )
    return np.ascontiguousarray(given, dtype=np.uint8)


def _checked_position_weights(
    given: ArrayLike | None, n_tokens: int, automaton: Automaton
) -> FloatArray | None:
    """Check the pattern weights of each token; there may be fewer columns than patterns."""
    n_columns = automaton.n_patterns
    if given is not None and not automaton.is_chain:
        shape = np.shape(given)
        n_columns = min(n_columns, shape[1]) if len(shape) == 2 else n_columns
    return _checked("position_weights", given, (n_tokens, n_columns))


def _checked(name: str, values: ArrayLike | None, shape: tuple[int, ...]) -> FloatArray | None:
    """Check an optional score array; a chain's (L, L) matrices are read in rows."""
    if values is None:
        return None
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        if array.size != np.prod(shape) or array.ndim != len(shape) + 1:
            raise ValueError(
                f"{name}: expected shape {shape} (or, for a chain, with a matrix of L × L for the "
                f"last axis), got {array.shape}."
                if name.endswith("weights")
                else f"{name}: expected shape {shape}, got {array.shape}."
            )
        array = array.reshape(shape)
    _refuse_nan(name, array)
    return array


def _refuse_nan(name: str, array: FloatArray) -> None:
    position = _core.find_not_a_score(array.reshape(-1))
    if position >= 0:
        where = tuple(int(i) for i in np.unravel_index(position, array.shape))
        raise ValueError(
            f"{name}: expected finite numbers or -inf, got {array[where]} at {list(where)}."
        )
