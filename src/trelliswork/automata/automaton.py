"""`Automaton`: the arc list that the kernel runs on, and the operations of regular languages.

An automaton reads one label a segment (a token, in a chain). A path from an initial to a final
state collects the weights of the *patterns* that its arcs fire; a transition ``y' → y`` is a
pattern of length two.

A *language* is an automaton without patterns whose initial and final weights are 0 or ``-inf``: a
set of label sequences. Languages are combined by methods of `Automaton`; the work is done in C++.

Letters: ``S`` states, ``A`` arcs, ``L`` labels, ``P`` patterns.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork import _core
from trelliswork.automata import drawing, enumeration, svg
from trelliswork.automata.algebra import (
    MAX_STATES,
    PAIRS_A_STATE,
    from_core,
    is_unambiguous,
    smallest_unambiguous,
    within_budget,
)
from trelliswork.automata.arrays import Arrays, arc_order, flat_patterns
from trelliswork.errors import LabelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import BoolArray, IntArray


__all__ = ["MAX_STATES", "Automaton"]

SPELLED_OUT = 8  # languages of up to this many states print their arcs


class Automaton:
    """A weighted automaton over labels.

    Without patterns, and with initial and final weights of 0 or ``-inf``, it is a *language*: it
    accepts or rejects label sequences, and combines with other languages by ``& | ~``.

    Parameters
    ----------
    n_states, n_labels, n_patterns
        Numbers of states, labels and patterns; all ids count from 0.
    source, label, target
        One entry an arc, shape ``(A,)``, in any order. Arcs must be distinct.
    patterns
        For each arc, the ids of the patterns it fires; or an integer array with the one pattern of
        each arc, ``-1`` for none. Default: none.
    initial, final
        Weight of starting or ending in each state, shape ``(S,)``; ``-inf`` forbids it.
        Default: start in state 0, end anywhere.
    labels
        The names of the labels, shape ``(L,)``.
    guards, n_classes
        Arcs that read the input: every token has a class of ``0 … n_classes - 1``, and an arc may
        be taken at a token only where bit ``class`` of its guard is set; shape ``(A,)``.
        Default: every arc everywhere.
    contexts
        Context of each state, shape ``(S,)``, in ``0 … S - 1``. States of one context fire the
        same patterns on the same label, so that the kernel keeps one table of weights for them.
        Default: unknown.
    parents
        Parent of each state, or -1; shape ``(S,)``: a state whose arcs mostly have the same
        targets and patterns. The kernel computes arcs that agree only once. In the automaton of
        label patterns the parent is the longest proper suffix. Default: unknown.

    Attributes
    ----------
    source, label, target : numpy.ndarray
        The arcs, sorted by (target, label, source): the order of every array "per arc".
    labels : tuple of str or None
        The names of the labels.

    Examples
    --------
    >>> Automaton.chain(2)
    Automaton(states=3, labels=2, arcs=6, patterns=4)
    >>> bio = Automaton.from_regex("(O | B-PER I-PER*)*", ["O", "B-PER", "I-PER"])
    >>> bio.accepts(["O", "B-PER", "I-PER"]), bio.accepts(["O", "I-PER"])
    (True, False)
    >>> bio
    Automaton(states=2, labels=3, arcs=5)
      -> 0 final  O -> 0; B-PER -> 1
         1 final  O -> 0; B-PER, I-PER -> 1
    """

    def __init__(
        self,
        n_states: int,
        n_labels: int,
        source: ArrayLike,
        label: ArrayLike,
        target: ArrayLike,
        *,
        n_patterns: int = 0,
        patterns: Sequence[Sequence[int]] | NDArray[np.integer[Any]] | None = None,
        initial: ArrayLike | None = None,
        final: ArrayLike | None = None,
        labels: Sequence[str] | None = None,
        guards: ArrayLike | None = None,
        n_classes: int = 1,
        contexts: ArrayLike | None = None,
        parents: ArrayLike | None = None,
    ) -> None:
        arcs = [np.asarray(column, dtype=np.int32) for column in (source, label, target)]
        n_arcs = arcs[0].size
        fired = np.full(n_arcs, -1) if patterns is None else patterns
        if any(column.shape != (n_arcs,) for column in arcs) or len(fired) != n_arcs:
            raise ValueError(
                "Automaton: expected one source, label, target and pattern list an arc, got "
                f"{[column.shape for column in arcs]} and {len(fired)} pattern lists."
            )
        masks = None if guards is None else np.asarray(guards, dtype=np.uint64)
        if masks is not None and masks.shape != (n_arcs,):
            raise ValueError(
                f"Automaton: expected one guard an arc, shape ({n_arcs},), got {masks.shape}."
            )
        order = arc_order(*arcs)
        start_at_zero = np.where(np.arange(n_states) == 0, 0.0, -np.inf)
        self._set(
            Arrays(
                n_states,
                n_labels,
                n_patterns,
                arcs[0][order],
                arcs[1][order],
                arcs[2][order],
                *flat_patterns(fired, order),
                np.array(start_at_zero if initial is None else initial, dtype=np.float64),
                np.array(np.zeros(n_states) if final is None else final, dtype=np.float64),
                None if masks is None else masks[order],
                n_classes,
                None if contexts is None else np.array(contexts, dtype=np.int32),
                None if parents is None else np.array(parents, dtype=np.int32),
            ),
            labels,
        )

    @classmethod
    def _from_arrays(cls, arrays: Arrays, labels: Sequence[str] | None = None) -> Automaton:
        """Return the automaton of arrays that the caller hands over: arcs sorted, all checked."""
        made = cls.__new__(cls)
        made._set(arrays, labels)
        return made

    def _set(self, arrays: Arrays, labels: Sequence[str] | None) -> None:
        self.labels = None if labels is None else checked_names(labels, arrays.n_labels)
        for array in arrays:
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        self._core = arrays.to_core()
        self.n_states, self.n_labels, self.n_patterns = arrays[:3]
        self.source, self.label, self.target = arrays.source, arrays.label, arrays.target
        self.pattern_offsets, self.pattern_ids = arrays.pattern_offsets, arrays.pattern_ids
        self.initial, self.final = arrays.initial, arrays.final
        self.guards, self.n_classes, self.contexts, self.parents = arrays[-4:]

    def _arrays(self) -> Arrays:
        return Arrays(*(getattr(self, name) for name in Arrays._fields))

    @staticmethod
    def from_regex(
        expression: str, labels: Sequence[str], *, max_states: int = MAX_STATES
    ) -> Automaton:
        """Compile a regular expression whose letters are labels.

        Parameters
        ----------
        expression
            The expression; see `trelliswork.automata.regex` for its syntax.
        labels
            The names of all labels, in the order of their ids.
        max_states
            The largest automaton to try.

        Returns
        -------
        Automaton
            A small unambiguous, trimmed automaton of the language.

        Raises
        ------
        RegexError
            If the expression cannot be read or names an unknown label.
        TooLargeError
            If every automaton that was tried passed `max_states`.
        """
        from trelliswork.automata.regex import compile_regex  # which makes automata

        return compile_regex(expression, labels, max_states=max_states)

    @staticmethod
    @lru_cache(maxsize=64)
    def chain(n_labels: int) -> Automaton:
        """Make the complete first-order automaton over `n_labels` labels.

        State 0 is the empty context and state ``1 + y`` follows label ``y``. The arc ``y' → y``
        fires pattern ``y' * L + y``, so a ``(L, L)`` transition matrix, read in rows, is its weight
        vector. This is the automaton of a linear-chain CRF; it takes the dense path of the kernel.
        """
        before, label = (
            axis.ravel() for axis in np.mgrid[0 : n_labels + 1, 0:n_labels]
        )  # (A,), A = (L + 1) L
        return Automaton(
            n_labels + 1,
            n_labels,
            before,
            label,
            label + 1,
            n_patterns=n_labels * n_labels,
            patterns=np.where(before == 0, -1, (before - 1) * n_labels + label),
        )

    @property
    def n_arcs(self) -> int:
        """Number of arcs, ``A``."""
        return int(self.source.size)

    @property
    def states(self) -> range:
        """The states, ``range(S)``."""
        return range(self.n_states)

    @property
    def arcs(self) -> list[tuple[int, str | int, int]]:
        """The arcs as (source, label, target), with label names if the automaton has them."""
        names = range(self.n_labels) if self.labels is None else self.labels
        columns = self.source.tolist(), self.label.tolist(), self.target.tolist()
        return [(s, names[y], t) for s, y, t in zip(*columns, strict=True)]

    @property
    def is_chain(self) -> bool:
        """Whether this is the complete first-order automaton, which has a dense kernel."""
        return self._core.is_chain

    def to_dot(self) -> str:
        """Return the automaton in the language of Graphviz."""
        return drawing.to_dot(self)

    def to_svg(self) -> str:
        """Return a picture as an SVG document; notebooks show it by themselves.

        Arcs between two states are drawn as one, with all their labels. Beyond 40 states the
        picture only states their number.
        """
        return svg.to_svg(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __reduce__(self) -> tuple[Any, ...]:
        # Estimators are cloned and sent to other processes with their automata.
        return Automaton._from_arrays, (self._arrays(), self.labels)

    def __repr__(self) -> str:
        size = f"states={self.n_states}, labels={self.n_labels}, arcs={self.n_arcs}"
        if self.labels is None or self.n_patterns or self.n_states > SPELLED_OUT:
            return f"Automaton({size}, patterns={self.n_patterns})"
        return f"Automaton({size})\n{drawing.describe(self)}"

    # The automaton as a regular language.

    # The automaton as a regular language.

    # The automaton as a regular language.

    @cached_property
    def _language(self) -> _core.Language:
        weights = np.concatenate([self.initial, self.final])
        plain = self.n_patterns == 0 and self.guards is None
        if not plain or not np.all((weights == 0.0) | np.isneginf(weights)):
            raise TypeError(
                "Expected a language: an automaton without patterns and guards, with initial and "
                f"final weights 0 or -inf. Got {self!r}."
            )
        return _core.Language(
            self.n_states,
            self.n_labels,
            self.source,
            self.label,
            self.target,
            (self.initial == 0.0).astype(np.uint8),
            (self.final == 0.0).astype(np.uint8),
        )

    def _made(self, language: _core.Language) -> Automaton:
        return from_core(language, self.labels)

    def _joined(self, other: Automaton) -> tuple[str, ...] | None:
        """Return the labels of both languages; raise a `LabelError` if they differ."""
        if self.n_labels != other.n_labels:
            raise LabelError(
                f"Expected two languages over the same labels, got {self.n_labels} and "
                f"{other.n_labels} of them. Build both with one label list."
            )
        if self.labels is not None and other.labels is not None and self.labels != other.labels:
            pairs = zip(self.labels, other.labels, strict=True)
            at = next(i for i, (mine, theirs) in enumerate(pairs) if mine != theirs)
            raise LabelError(
                "Expected two languages over the same labels in the same order, but label "
                f"{at} is {self.labels[at]!r} in one and {other.labels[at]!r} in the other. "
                "Build both with one label list."
            )
        return other.labels if self.labels is None else self.labels

    @cached_property
    def _known(self) -> dict[str, int]:
        return {name: y for y, name in enumerate(self.labels or ())}

    def _ids(self, labels: Sequence[str | int]) -> IntArray:
        """Return label ids for names or ids."""
        if isinstance(labels, str):
            raise TypeError(f"Expected a sequence of labels, got the string {labels!r}.")
        ids = np.zeros(len(labels), dtype=np.int64)
        for position, label in enumerate(labels):
            where = f"position {position}: "
            if isinstance(label, int | np.integer):
                ids[position] = label
            elif not isinstance(label, str):
                raise LabelError(f"{where}expected a label name or id, got {label!r}.")
            elif label in self._known:
                ids[position] = self._known[label]
            elif self.labels is None:
                raise LabelError(
                    f"{where}expected a label id, got {label!r}: this automaton has no label "
                    "names. Make it with labels=."
                )
            else:
                known = ", ".join(self.labels)
                raise LabelError(f"{where}unknown label {label!r}. Known labels: {known}.")
        return ids

    def accepts(self, labels: Sequence[str | int]) -> bool:
        """Return whether a sequence of label names or ids is in the language."""
        ids = self._ids(labels)
        return bool(self.accepts_batch(ids, np.array([0, ids.size]))[0])

    def accepts_batch(self, label_ids: ArrayLike, offsets: ArrayLike) -> BoolArray:
        """Return which of many sequences are in the language.

        Parameters
        ----------
        label_ids
            The label ids of all sequences, one after the other, shape ``(N,)``.
        offsets
            Start of each sequence, and ``N``; shape ``(B + 1,)``.

        Returns
        -------
        numpy.ndarray
            Shape ``(B,)``.
        """
        ids, bounds = _whole("label_ids", label_ids), _whole("offsets", offsets)
        if ids.ndim != 1 or bounds.ndim != 1 or bounds.size == 0:
            raise ValueError(
                "accepts_batch: expected label_ids (N,) and offsets (B + 1,), got shapes "
                f"{ids.shape} and {bounds.shape}."
            )
        accepted = np.zeros(bounds.size - 1, dtype=np.uint8)
        self._language.accepts(ids, bounds, accepted)
        return accepted.astype(np.bool_)

    @property
    def is_empty(self) -> bool:
        """Whether no sequence at all is accepted."""
        return self._language.is_empty

    @property
    def is_deterministic(self) -> bool:
        """Whether there is one initial state and at most one arc for each state and label."""
        return self._language.is_deterministic

    @property
    def is_unambiguous(self) -> bool:
        """Whether every accepted sequence has exactly one path, so that sums count it once."""
        return is_unambiguous(self._language)

    def is_subset(self, other: Automaton, *, max_states: int = MAX_STATES) -> bool:
        """Return whether `other` accepts every sequence that this language accepts."""
        self._joined(other)
        mine, theirs = self._language, other._language
        rest = theirs.complement(max_states)
        if rest is None:  # the mirror image asks the same and may be smaller
            mine, rest = mine.reverse(), theirs.reverse().complement(max_states)
        rest = within_budget(rest, max_states, "The complement, forwards and backwards,")
        both = mine.intersect(rest, max_states * PAIRS_A_STATE)
        return within_budget(
            both, max_states * PAIRS_A_STATE, "The comparison of two languages"
        ).is_empty

    def equivalent(self, other: Automaton, *, max_states: int = MAX_STATES) -> bool:
        """Return whether both accept exactly the same sequences."""
        self._joined(other)
        mine, theirs = self._language, other._language
        pair = mine.minimise(max_states), theirs.minimise(max_states)
        if None in pair:
            pair = mine.reverse().minimise(max_states), theirs.reverse().minimise(max_states)
        first, second = (
            within_budget(m, max_states, "The comparison of two languages") for m in pair
        )
        # Minimal automata are numbered alike, so that equal languages have equal arrays.
        arrays: Iterator[tuple[NDArray[np.generic], NDArray[np.generic]]]
        arrays = zip(first.arrays(), second.arrays(), strict=True)
        return all(np.array_equal(one, other) for one, other in arrays)

    def count(self, length: int) -> int:
        """Return the number of accepted sequences of a length."""
        return enumeration.count_strings(self.unambiguous(), length)

    def strings(self, length: int, limit: int | None = None) -> Iterator[tuple[str | int, ...]]:
        """Yield the accepted sequences of a length, each once, in the order of the label ids.

        Parameters
        ----------
        length
            Number of labels in a sequence.
        limit
            Maximum number of sequences to yield; ``None``: all.
        """
        return enumeration.iterate_strings(self.trim(), length, limit)

    def __and__(self, other: Automaton) -> Automaton:
        return self.intersect(other) if isinstance(other, Automaton) else NotImplemented

    def __or__(self, other: Automaton) -> Automaton:
        if not isinstance(other, Automaton):
            return NotImplemented
        labels = self._joined(other)
        return from_core(self._language.unite(other._language), labels)

    def __invert__(self) -> Automaton:
        return self.complement()

    def intersect(self, other: Automaton, *, max_states: int = MAX_STATES) -> Automaton:
        """Return the intersection, the sequences that both accept; ``a & b`` for short.

        The states are the pairs that can be reached. Two unambiguous languages have an unambiguous
        intersection, two deterministic ones a deterministic one.
        """
        labels = self._joined(other)
        made = self._language.intersect(other._language, max_states)
        return from_core(within_budget(made, max_states, "The intersection"), labels)

    def complement(self, *, max_states: int = MAX_STATES) -> Automaton:
        """Return the complement, the sequences that are not accepted; ``~a`` for short."""
        made = self._language.complement(max_states)
        return self._made(within_budget(made, max_states, "The complement"))

    def concatenate(self, other: Automaton) -> Automaton:
        """Return the concatenation: a sequence of this language, then one of `other`."""
        labels = self._joined(other)
        return from_core(self._language.concatenate(other._language), labels)

    def star(self) -> Automaton:
        """Return the Kleene star: any number of sequences of this language in a row."""
        return self._made(self._language.star())

    def reverse(self) -> Automaton:
        """Return the reversed language, whose sequences are read backwards."""
        return self._made(self._language.reverse())

    def trim(self) -> Automaton:
        """Return the automaton of the states that lie on an accepting path.

        The empty language keeps one initial state, which is not final.
        """
        return self._made(self._language.trim())

    def complete(self) -> Automaton:
        """Return the automaton with an arc for every state and label; a sink takes missing ones."""
        return self._made(self._language.complete())

    def determinise(self, *, max_states: int = MAX_STATES) -> Automaton:
        """Return a deterministic, trimmed automaton of the same language."""
        made = self._language.determinise(max_states)
        return self._made(within_budget(made, max_states, "Determinisation"))

    def minimise(self, *, max_states: int = MAX_STATES) -> Automaton:
        """Return the smallest deterministic automaton of the same language, trimmed."""
        made = self._language.minimise(max_states)
        return self._made(within_budget(made, max_states, "Determinisation"))

    def unambiguous(self, *, max_states: int = MAX_STATES) -> Automaton:
        """Return a small unambiguous automaton of the same language.

        The smallest, by arcs, then by states, of three: this automaton, if it is unambiguous; the
        minimal deterministic one; the reversed minimal deterministic one of the reversed language.
        """
        what = f"an automaton of {self.n_states:,} states"
        return self._made(smallest_unambiguous(self._language, max_states, what))


def checked_names(labels: Sequence[str], n_labels: int) -> tuple[str, ...]:
    """Return the label names as a tuple, after checking that they are distinct and complete."""
    if isinstance(labels, str):
        raise TypeError(f"labels: expected a sequence of names, got the string {labels!r}.")
    names = tuple(labels)
    if len(names) != n_labels:
        raise LabelError(f"labels: expected {n_labels} names, got {len(names)}.")
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise LabelError(f"labels: expected different names, got {twice!r} twice.")
    return names


def _whole(name: str, numbers: ArrayLike) -> IntArray:
    """Return an array of whole numbers; raise a `TypeError` for any other."""
    array = np.asarray(numbers)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"accepts_batch: expected whole numbers as {name}, got {array.dtype}.")
    return np.ascontiguousarray(array, dtype=np.int64)
