"""What all factors have in common: literals, and what a factor means for their values.

A factor sees ``K`` *literals*, numbered as it was given them, and knows nothing of the variables
behind them. Everything about it is said three times, each time plainly: which values it accepts,
the best of them under given scores, and rows of a linear program. The core says it a fourth time;
here is what that is tested and verified against.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from trelliswork.graphs.variables import codes_of

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray, ByteArray, FloatArray, IntArray
    from trelliswork.graphs.graph import FactorGraph


__all__ = ["FREE", "LARGEST", "UNIT", "Factor", "Rows", "check_scores", "one_row"]

FREE = -1  # of `fixed`: neither 0 nor 1
LARGEST = 1e150  # of scores and weights: no sum of these overflows
UNIT = 4.0 * float(np.finfo(np.float64).eps)  # eight times what one addition may be off by


class Rows(NamedTuple):
    """``low ≤ A [l, e] ≤ high``: a factor's part of a linear program.

    ``l`` are the ``K`` literals, ``e ∈ [0, 1]`` are ``E`` columns of the factor's own, which add
    ``gains · e``. With integral literals the best ``gains · e`` is ``h(l)``, what they are worth.

    Attributes
    ----------
    row, column, entry : numpy.ndarray
        The entries of ``A``, shape ``(R, K + E)``, that are not 0.
    low, high : numpy.ndarray
        Shape ``(R,)``; ``±inf`` where a side is open.
    gains : numpy.ndarray
        Shape ``(E,)``.
    """

    row: IntArray
    column: IntArray
    entry: FloatArray
    low: FloatArray
    high: FloatArray
    gains: FloatArray


class Factor(ABC):
    """A factor: what it accepts of its literals, and what that is worth.

    Attributes
    ----------
    codes : numpy.ndarray
        The literals, shape ``(K,)``; see `trelliswork.graphs.variables`.
    graph : FactorGraph or None
        Whose literals they are; None: there are none.
    weights : numpy.ndarray or None
        One for each literal, of a knapsack.
    limit : float
        Of budgets and knapsacks.
    """

    kind: ClassVar[int]  # FactorKind in the core
    weights: FloatArray | None = None
    limit: float = 0.0
    codes: IntArray
    graph: FactorGraph | None

    def __init__(self, literals: Any, *more: Any) -> None:
        if more:
            name = type(self).__name__
            raise TypeError(
                f"{name}: expected one sequence of literals, got {1 + len(more)} arguments. Write "
                f"{name}([a, b])."
            )
        graph, codes = codes_of(literals)
        self._set(graph=graph, codes=codes)

    def _set(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}: factors do not change; {name} is as given.")

    @property
    def separate(self) -> IntArray:
        """The literals that have to be of different variables."""
        return self.codes

    @abstractmethod
    def accepts(self, values: BoolArray) -> bool:
        """Return whether the literals may have these values, shape ``(K,)``."""

    def value(self, values: BoolArray) -> float:
        """Return ``h(values)``, what the values are worth: 0, ``-inf`` if they are not accepted."""
        return 0.0 if self.accepts(values) else -np.inf

    @abstractmethod
    def best(self, scores: FloatArray, fixed: ByteArray) -> float:
        """Return ``max_l scores · l + h(l)`` over the values that agree with what is fixed.

        Parameters
        ----------
        scores
            Of the literals, shape ``(K,)``.
        fixed
            0 or 1, -1 for free literals, shape ``(K,)``.

        Returns
        -------
        float
            ``-inf`` where no values are accepted.
        """

    def error(self, scores: FloatArray, best: float) -> float:
        """Return by how much rounding may put `best`, `value` and `lowest` off, all together.

        ``n`` additions in a row are off by ``n ε/2`` times the absolute values of what is added.
        Not finite where a sum may overflow.

        Parameters
        ----------
        scores
            Of the literals, shape ``(K,)``.
        best
            What `best` makes of them.
        """
        return UNIT * self._additions * self._reach(scores)

    def lowest(self, fixed: ByteArray) -> float:
        """Return what no accepted values that agree with `fixed` are worth less than."""
        return 0.0

    def implied(self, fixed: ByteArray) -> ByteArray | None:
        """Return `fixed` with every literal that has only one value left; None: nothing is left."""
        if self.best(np.zeros(fixed.size), fixed) == -np.inf:
            return None
        closed = fixed.copy()
        for k in np.flatnonzero(fixed == FREE):
            for value in (0, 1):
                trial = fixed.copy()
                trial[k] = value
                if self.best(np.zeros(fixed.size), trial) == -np.inf:
                    closed[k] = 1 - value
        return closed

    @abstractmethod
    def rows(self) -> Rows:
        """Return the factor as rows of a linear program."""

    def structure(self) -> Any:
        """Return the core's form of a factor with an inner dynamic program; None: logic."""
        return None

    @property
    def _additions(self) -> int:
        """How many additions in a row `best` makes, at most."""
        return self.codes.size + 2

    def _reach(self, scores: FloatArray) -> float:
        """Return what the absolute values of all that `best` adds up sum to, at most."""
        return float(np.abs(scores).sum())

    def __repr__(self) -> str:
        spelled = "" if self.graph is None else self.graph.spell(self.codes)
        return f"{type(self).__name__}({spelled}{self._details()})"

    def _details(self) -> str:
        return ""


def check_scores(name: str, scores: FloatArray, advice: str = "") -> None:
    """Raise where something is neither a finite number below `LARGEST` nor ``-inf``."""
    wrong = ~(np.abs(scores) < LARGEST) & (scores != -np.inf)
    if wrong.any():
        where = tuple(np.argwhere(wrong)[0].tolist())
        value = scores[where]
        kind = "scores below 1e150" if np.isfinite(value) else "finite numbers or -inf"
        raise ValueError(f"{name}: expected {kind}, got {value} at {list(where)}.{advice}")


def one_row(entries: FloatArray, low: float, high: float) -> Rows:
    """Return the row ``low ≤ entries · l ≤ high``."""
    size = entries.size
    return Rows(
        np.zeros(size, dtype=np.int64),
        np.arange(size),
        entries,
        np.array([low]),
        np.array([high]),
        np.zeros(0),
    )
