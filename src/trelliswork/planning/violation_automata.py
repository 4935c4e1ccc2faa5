"""Violation automata: the change of the violation of one term by each arc.

A *violation automaton* is complete and deterministic: it forbids nothing, and each arc says by how
much the violation changes,

    step(q, y, q') = v(prefix after) − v(prefix before),      Σ steps = v(y) − v(ε),

as if the sequence ended there. For a row ``v = max(0, a·n − b)`` its states count ``a·n`` between
two ends, beyond which the rest of the sequence can no longer lead back across the bound: at the
upper end every unit of ``a·n`` is a unit of ``v``, at the lower end ``v`` stays 0. Where all
coefficients have one sign the two ends do not depend on the length; otherwise they grow with it,
and the automaton is that of sequences up to some length. For a bit the states are those of the
minimal deterministic automaton, and ``v`` is 0 in its final states and 1 elsewhere.

Letters: ``S`` states, ``L`` letters of the model, ``2**k`` token classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.automata.automaton import Automaton
from trelliswork.constraints.monitors import check_size

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray, IntArray


__all__ = ["ViolationAutomaton", "bit_automaton", "round_length", "row_automaton", "row_language"]


@dataclass(frozen=True, eq=False)
class ViolationAutomaton:
    """The violation automaton of one term.

    Attributes
    ----------
    automaton : Automaton
        Complete and deterministic, every state final, over ``L * 2**k`` letters.
    added : numpy.ndarray
        Increment of the violation by each label in each state, shape ``(S, L)``.
    value : numpy.ndarray
        Contribution of each state to it, shape ``(S,)``: an arc from ``q`` to ``r`` by ``y`` adds
        ``added[q, y] + value[r] - value[q]``.
    empty_violation : int
        ``v(ε)``, the violation of the empty labelling.
    """

    automaton: Automaton
    added: IntArray
    value: IntArray
    empty_violation: int

    @classmethod
    def counting(cls, automaton: Automaton, added: IntArray) -> ViolationAutomaton:
        """Return a violation automaton that starts at 0 and to which labels alone add."""
        return cls(automaton, added, np.zeros(automaton.n_states, dtype=np.int64), 0)

    @cached_property
    def for_core(self) -> _core.ViolationAutomaton:
        """The automaton as a search over prefixes runs it, see `trelliswork.decoding.prefixes`."""
        automaton, n_letters = self.automaton, self.added.shape[1]
        after = np.zeros((automaton.n_states, automaton.n_labels), dtype=np.int32)
        after[automaton.source, automaton.label] = automaton.target
        letters = np.arange(automaton.n_labels) % n_letters
        step = self.added[:, letters] + self.value[after] - self.value[:, None]
        start = int(np.argmax(automaton.initial == 0.0))
        return _core.ViolationAutomaton(
            self.empty_violation, start, after, np.ascontiguousarray(step)
        )

    @property
    def reads_tokens(self) -> bool:
        """Whether the class of a token matters for what an arc adds."""
        return bool(self.value.any()) and self.automaton.n_labels > self.added.shape[1]


def bit_automaton(language: Automaton, n_letters: int, max_states: int) -> ViolationAutomaton:
    """Return the violation automaton of a language: 1 outside it, 0 inside.

    Parameters
    ----------
    language
        Over ``L * 2**k`` letters.
    n_letters
        ``L``.
    max_states
        Maximum number of states.

    Raises
    ------
    TooLargeError
        If the deterministic automaton has more states than that.

    Examples
    --------
    >>> ends_in_b = Automaton(2, 2, [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1], final=[-np.inf, 0])
    >>> made = bit_automaton(ends_in_b, 2, 100)
    >>> made.empty_violation, sorted(made.value.tolist())
    (1, [0, 1])
    """
    made = language.minimise(max_states=max_states).complete()
    value = np.where(made.final == 0.0, 0, 1)
    start = int(np.argmax(made.initial == 0.0))
    return ViolationAutomaton(
        _all_final(made),
        np.zeros((made.n_states, n_letters), dtype=np.int64),
        value,
        int(value[start]),
    )


def round_length(length: int) -> int:
    """Return a length that a counter is built for: ``2**k`` or ``3 * 2**k``, at least 8.

    Examples
    --------
    >>> [round_length(length) for length in (0, 9, 13, 40, 100)]
    [8, 12, 16, 48, 128]
    """
    power = 8
    while power < length:
        if length <= power + power // 2:
            return power + power // 2
        power *= 2
    return power


def row_automaton(table: IntArray, bound: int, length: int, max_states: int) -> ViolationAutomaton:
    """Return the violation automaton of a row, for sequences of up to `length` letters.

    Parameters
    ----------
    table
        Increment of the left side by a letter after the letter before it, shape ``(L + 1, L)``;
        entry 0 is for the first letter. See `trelliswork.constraints.rows.Row.table`.
    bound
        ``b``.
    length
        Maximum number of letters; matters where coefficients have both signs.
    max_states
        Maximum number of states.

    Examples
    --------
    >>> at_most_one = row_automaton(np.array([[1, 0]] * 3), 1, 8, 100)  # of two labels
    >>> at_most_one.automaton.n_states, at_most_one.empty_violation
    (2, 0)
    """
    counter = _RowCounter.of(table, bound, bound, length, max_states)
    total, rows = counter.total, counter.rows
    added = np.maximum(0, total + rows - bound) - np.maximum(0, total - bound)
    added = np.where(counter.at_top, rows, np.where(counter.at_bottom, 0, added))
    made = Automaton(len(total), table.shape[1], *counter.arcs)
    return replace(ViolationAutomaton.counting(made, added), empty_violation=max(0, -bound))


def row_language(table: IntArray, bound: int, length: int, max_states: int) -> Automaton:
    """Return the labellings of up to `length` letters that satisfy a row; deterministic.

    The parameters are those of `row_automaton`.
    """
    counter = _RowCounter.of(table, bound, bound + 1, length, max_states)
    source, label, target = counter.arcs
    top = counter.at_top.ravel()  # broken for good
    kept = ~top[source] & ~top[target]
    final = np.where((counter.total.ravel() <= bound) & ~top, 0.0, -np.inf)
    made = Automaton(
        len(final), table.shape[1], source[kept], label[kept], target[kept], final=final
    )
    return made.trim()


@dataclass(frozen=True, eq=False)
class _RowCounter:
    """The left side of a row between two ends, and the class of the letter before.

    Attributes
    ----------
    total : numpy.ndarray
        The left side in each state, shape ``(S, 1)``.
    rows : numpy.ndarray
        Increment by each letter there, shape ``(S, L)``.
    target : numpy.ndarray
        The state that each letter leads to, shape ``(S, L)``. The automaton starts in state 0.
    at_top, at_bottom : numpy.ndarray
        States at an end that nothing leads away from, shape ``(S, 1)``.
    """

    total: IntArray
    rows: IntArray
    target: IntArray
    at_top: BoolArray
    at_bottom: BoolArray

    @classmethod
    def of(
        cls, table: IntArray, bound: int, upper: int, length: int, max_states: int
    ) -> _RowCounter:
        """Return the counter of a row, clipped where no later letter can change the result."""
        up, down = max(0, int(table.max())), max(0, -int(table.min()))
        high, has_top = _end(up, down, upper, length)
        # The lower end, by symmetry: the signs are reversed.
        low, has_bottom = _end(down, up, -bound, length)
        low = -low
        classes, class_of = np.unique(table, axis=0, return_inverse=True)
        class_of = class_of.ravel()  # NumPy 2.0 gave it the shape of the input
        check_size((high - low + 1) * len(classes), max_states)
        # State (total, class), numbered so that the start, total 0 after nothing, comes first.
        start = -low * len(classes) + int(class_of[0])
        total = np.repeat(np.arange(low, high + 1), len(classes))[:, None]
        rows = np.tile(classes, (high - low + 1, 1))
        at_top, at_bottom = has_top & (total == high), has_bottom & (total == low)
        after = np.clip(total + rows, low, high)
        after = np.where(at_top, high, np.where(at_bottom, low, after))
        target = (after - low) * len(classes) + class_of[1:]
        order = np.argsort(np.arange(len(total)) != start, kind="stable")
        target = np.argsort(order)[target]
        return cls(
            total[order],
            rows[order],
            target[order],
            at_top=at_top[order],
            at_bottom=at_bottom[order],
        )

    @property
    def arcs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Source, label and target of an arc for every state and letter, each ``(S * L,)``."""
        source, label = np.indices(self.target.shape)
        return source.ravel(), label.ravel(), self.target.ravel()


def _end(up: int, down: int, bound: int, length: int) -> tuple[int, bool]:
    """Return the sum from which on counting may stop, and whether a sum from 0 can reach it.

    Parameters
    ----------
    up, down
        The most that a letter adds and takes away.
    bound
        Counting may stop if the sum stays at `bound` or above for the rest of the sequence.
    length
        Letters of the sequence; matters if letters both add and take away.
    """
    if up == 0:
        return 0, False if down else bound <= 0
    end = max(bound, 0)
    if down == 0:
        return end, True
    last = length * up + 1  # more than any sum
    while end < last:  # the smallest, by bisection: coefficients may be large
        middle = (end + last) // 2
        if middle - (length - -(-middle // up)) * down < bound:
            end = middle + 1
        else:
            last = middle
    return min(end, length * up), end <= length * up


def _all_final(automaton: Automaton) -> Automaton:
    return Automaton(
        automaton.n_states,
        automaton.n_labels,
        automaton.source,
        automaton.label,
        automaton.target,
        initial=automaton.initial,
    )
