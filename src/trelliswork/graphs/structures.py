"""Factors with an inner dynamic program: pairs, and spans that do not overlap.

The links of a categorical variable are its indicators, exactly one of which is 1.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork import _core
from trelliswork.graphs.factor import FREE, Factor, Rows, check_scores
from trelliswork.graphs.variables import Categorical, Variables, codes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, ByteArray, FloatArray, IntArray


__all__ = [
    "NoOverlap",
    "Pair",
    "Structured",
    "checked_scores",
    "largest",
    "open_values",
    "settled",
]


class Structured(Factor):
    """A factor with a structure of the core, which is made on first use."""

    kind = 7

    def accepts(self, values: BoolArray) -> bool:
        """Return whether the score of the values is above ``-inf``."""
        return self.value(values) > -np.inf

    def value(self, values: BoolArray) -> float:
        """Return ``h(values)``: the best score with every literal fixed."""
        return self.best(np.zeros(values.size), values.astype(np.int8))

    def structure(self) -> _core.Structure:
        """Return the core's form of the factor."""
        if "_core" not in self.__dict__:
            self._set(_core=self._make())
        made: _core.Structure = self.__dict__["_core"]
        return made

    @abstractmethod
    def _make(self) -> _core.Structure:
        """Make the core's form."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_core"}


class Pair(Structured):
    """Joint scores of two variables: ``x = i`` and ``y = j`` score ``table[i, j]``.

    Parameters
    ----------
    first, second
        Two categorical variables of ``K_1`` and ``K_2`` values, or two literals, whose values are
        0 and 1.
    table
        Shape ``(K_1, K_2)``; ``-inf`` forbids.

    Attributes
    ----------
    table : numpy.ndarray
        The same.
    """

    table: FloatArray

    def __init__(self, first: Any, second: Any, table: ArrayLike) -> None:
        given = [_indicators(name, one) for name, one in (("first", first), ("second", second))]
        graph, codes = codes_of(given)
        shape = given[0].size, given[1].size
        self._set(
            graph=graph,
            codes=codes,
            table=checked_scores("table", table, shape),
            _separate=codes_of([_plain(first), _plain(second)])[1],
        )

    @property
    def separate(self) -> IntArray:
        """The literals that must belong to different variables: not one and its own negation."""
        codes: IntArray = self.__dict__["_separate"]
        return codes

    def best(self, scores: FloatArray, fixed: ByteArray) -> float:
        """Return the best entry of the table, with the scores of its row and column."""
        return float((self._open(fixed) + self._of_entries(scores)).max())

    def lowest(self, fixed: ByteArray) -> float:
        """Return the smallest open entry of the table."""
        is_open = self._open(fixed)
        return float(is_open[is_open > -np.inf].min(initial=np.inf))

    def implied(self, fixed: ByteArray) -> ByteArray | None:
        """Return `fixed` with the values that open entries force."""
        is_open = self._open(fixed) > -np.inf
        if not is_open.any():
            return None
        return settled(np.concatenate([is_open.any(axis=1), is_open.any(axis=0)]), self.table.shape)

    def rows(self) -> Rows:
        """Return rows for a table of columns ``e`` whose margins are the indicators."""
        n_first, n_second = self.table.shape
        first, second = (axis.ravel() for axis in np.indices(self.table.shape))
        own = np.arange(n_first + n_second)  # Σ_j e_ij − l_i = 0, Σ_i e_ij − l_j = 0, Σ_i l_i = 1
        allowed = np.isfinite(self.table.ravel())
        cells = own.size + np.arange(first.size)
        row = np.concatenate([first[allowed], n_first + second[allowed], own])
        column = np.concatenate([cells[allowed], cells[allowed], own])
        entry = np.concatenate([np.ones(2 * np.count_nonzero(allowed)), -np.ones(own.size)])
        row = np.concatenate([row, np.full(n_first, own.size)])
        column = np.concatenate([column, own[:n_first]])
        entry = np.concatenate([entry, np.ones(n_first)])
        right = np.append(np.zeros(own.size), 1.0)
        return Rows(row, column, entry, right, right, np.where(allowed, self.table.ravel(), 0.0))

    def _open(self, fixed: ByteArray) -> FloatArray:
        """Return the table with ``-inf`` at entries that contradict `fixed`."""
        first, second = np.split(fixed, [self.table.shape[0]])
        open_first, open_second = open_values(first[None])[0], open_values(second[None])[0]
        return np.where(open_first[:, None] & open_second[None, :], self.table, -np.inf)

    def _of_entries(self, scores: FloatArray) -> FloatArray:
        first, second = np.split(scores, [self.table.shape[0]])
        return np.add.outer(first, second)

    def _reach(self, scores: FloatArray) -> float:
        return super()._reach(scores) + largest(self.table)

    def _make(self) -> _core.Structure:
        return _core.pair_structure(self.table)

    def _details(self) -> str:
        return f"; table {self.table.shape}"


class NoOverlap(Structured):
    """Spans that do not overlap: at most one span with a true literal covers a token.

    One factor for the whole sentence, instead of an `AtMostOne` for every token: a semi-Markov
    chain, whose best spans are found in one pass over tokens and spans.

    Parameters
    ----------
    literals
        Literals, ``K`` of them.
    spans
        For each literal its first token and the one after its last, shape ``(K, 2)``.

    Attributes
    ----------
    spans : numpy.ndarray
        The same.
    """

    spans: IntArray

    def __init__(self, literals: Any, spans: ArrayLike) -> None:
        super().__init__(literals)
        size, given = self.codes.size, np.asarray(spans)
        if not given.size:
            given = np.zeros((0, 2), dtype=np.int64)
        if given.shape != (size, 2) or not np.issubdtype(given.dtype, np.integer):
            raise ValueError(
                f"NoOverlap: expected one (start, end) a literal, whole numbers of shape "
                f"({size}, 2), got {given.dtype} of shape {given.shape}."
            )
        if (given[:, 0] >= given[:, 1]).any():
            k = int(np.argmax(given[:, 0] >= given[:, 1]))
            raise ValueError(
                f"NoOverlap: expected start < end, got {tuple(given[k].tolist())} at {k}."
            )
        self._set(spans=given.astype(np.int64))

    def value(self, values: BoolArray) -> float:
        """Return 0 if no token is covered twice, else ``-inf``."""
        start, end = (np.sort(column) for column in self.spans[values.astype(bool)].T)
        return 0.0 if (end[:-1] <= start[1:]).all() else -np.inf

    def best(self, scores: FloatArray, fixed: ByteArray) -> float:
        """Return the best sum of scores, by a pass over the spans in the order of their ends."""
        closed = self.implied(fixed)
        if closed is None:
            return -np.inf
        ends, sums = [-np.inf], [0.0]  # the best sum of spans up to each end
        for k in np.argsort(self.spans[:, 1], kind="stable"):
            if closed[k] == FREE and scores[k] > 0.0:
                start, end = self.spans[k].tolist()
                before = sums[bisect_right(ends, start) - 1]
                ends.append(end)
                sums.append(max(sums[-1], before + float(scores[k])))
        return float(scores[closed == 1].sum()) + sums[-1]

    def implied(self, fixed: ByteArray) -> ByteArray | None:
        """Return `fixed` with spans at 0 that overlap a span fixed at 1."""
        taken = fixed == 1
        if self.value(taken) == -np.inf:
            return None
        start, end = self.spans.T
        hit = (start[:, None] < end[taken]) & (start[taken] < end[:, None])  # (K, those at 1)
        return np.where((fixed == FREE) & hit.any(axis=1), np.int8(0), fixed)

    def rows(self) -> Rows:
        """Return ``Σ l_k ≤ 1`` over the spans on each token where one begins."""
        start, end = self.spans.T
        tokens = np.unique(start)
        row, column = np.nonzero((start <= tokens[:, None]) & (tokens[:, None] < end))
        return Rows(
            row,
            column,
            np.ones(row.size),
            np.full(tokens.size, -np.inf),
            np.ones(tokens.size),
            np.zeros(0),
        )

    def _make(self) -> _core.Structure:
        # Only tokens at which a span begins or ends matter.
        edges, places = np.unique(self.spans, return_inverse=True)
        spans = places.reshape(-1, 2).astype(np.int32)
        return _core.span_structure(edges.size, spans[:, 0].copy(), spans[:, 1].copy())

    def _details(self) -> str:
        return f"; spans {[tuple(span) for span in self.spans[:3].tolist()]}…"


def checked_scores(name: str, given: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return scores as a read-only array, after checking its shape."""
    array = np.array(given, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}.")
    check_scores(name, array)
    array.flags.writeable = False
    return array


def largest(weights: FloatArray) -> float:
    """Return the largest absolute value of the finite weights."""
    return float(np.abs(weights[np.isfinite(weights)]).max(initial=0.0))


def open_values(fixed: ByteArray) -> BoolArray:
    """Return the values that each variable may have, ``(T, L)``, from its fixed indicators."""
    n_on = np.count_nonzero(fixed == 1, axis=1)[:, None]
    is_open: BoolArray = (fixed != 0) & ((n_on == 0) | ((n_on == 1) & (fixed == 1)))
    return is_open


def settled(used: BoolArray, sizes: Sequence[int]) -> ByteArray:
    """Return fixed indicators: 0 if unused, 1 if the only one used of its variable."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    alone = np.bincount(owner, used, len(sizes)) == 1
    return np.where(used, np.where(alone[owner], 1, FREE), 0).astype(np.int8)


def _indicators(name: str, given: Any) -> Variables:
    """Return the literals "the value is 0, 1, …" of a categorical variable or a literal."""
    if isinstance(given, Categorical) and not given.ndim:
        return given.literals
    if isinstance(given, Variables) and given.size == 1:
        code = given.codes.ravel()
        return Variables(given.graph, np.concatenate([code ^ 1, code]))
    raise ValueError(f"Pair: {name}: expected one categorical variable or literal, got {given!r}.")


def _plain(given: Categorical | Variables) -> Variables:
    return given.literals if isinstance(given, Categorical) else given
