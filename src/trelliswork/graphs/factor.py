"""The base class of factors: literals, and the meaning of a factor for their values.

A factor has ``K`` *literals*, in the order given; it does not refer to their variables.
It is defined three times: by the values that it accepts, by the best of them under given scores,
and by rows of a linear program. The core has a fourth definition, which is tested and verified
against these.
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

FREE = -1  # in `fixed`: neither 0 nor 1
LARGEST = 1e150  # the limit of scores and weights: no sum of these overflows
UNIT = 4.0 * float(np.finfo(np.float64).eps)  # eight times the error of one addition


class Rows(NamedTuple):
    """``low ≤ A [l, e] ≤ high``: the rows of a factor in a linear program.

    ``l`` are the ``K`` literals, ``e ∈ [0, 1]`` are ``E`` columns of the factor itself, which add
    ``gains · e``. For integral literals the best ``gains · e`` is the score ``h(l)``.

    Attributes
    ----------
    row, column, entry : numpy.ndarray
        The nonzero entries of ``A``, shape ``(R, K + E)``.
    low, high : numpy.ndarray
        Shape ``(R,)``; ``±inf`` for an open side.
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
    """A factor: the values of its literals that it accepts, and their scores.

    Attributes
    ----------
    codes : numpy.ndarray
        The literals, shape ``(K,)``; see `trelliswork.graphs.variables`.
    graph : FactorGraph or None
        The graph of the literals; None without literals.
    weights : numpy.ndarray or None
        The weights of the literals of a knapsack.
    limit : float
        The limit of a budget or knapsack.
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
        """The literals that must belong to different variables."""
        return self.codes

    @abstractmethod
    def accepts(self, values: BoolArray) -> bool:
        """Return whether the literals may have these values, shape ``(K,)``."""

    def value(self, values: BoolArray) -> float:
        """Return the score ``h(values)``: 0, or ``-inf`` if the values are not accepted."""
        return 0.0 if self.accepts(values) else -np.inf

    @abstractmethod
    def best(self, scores: FloatArray, fixed: ByteArray) -> float:
        """Return ``max_l scores · l + h(l)`` over the values that agree with `fixed`.

        Parameters
        ----------
        scores
            The scores of the literals, shape ``(K,)``.
        fixed
            0 or 1, -1 for free literals, shape ``(K,)``.

        Returns
        -------
        float
            ``-inf`` if no values are accepted.
        """

    def error(self, scores: FloatArray, best: float) -> float:
        """Return a bound on the rounding error of `best`, `value` and `lowest` together.

        The error of ``n`` additions in a row is at most ``n ε/2`` times the sum of the absolute
        values. Not finite if a sum may overflow.

        Parameters
        ----------
        scores
            The scores of the literals, shape ``(K,)``.
        best
            The result of `best` for them.
        """
        return UNIT * self._additions * self._reach(scores)

    def lowest(self, fixed: ByteArray) -> float:
        """Return a lower bound on the scores of accepted values that agree with `fixed`."""
        return 0.0

    def implied(self, fixed: ByteArray) -> ByteArray | None:
        """Return `fixed` with the values that it forces; None if no values are accepted."""
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
        """The most additions in a row in `best`."""
        return self.codes.size + 2

    def _reach(self, scores: FloatArray) -> float:
        """Return a bound on the sum of the absolute values of the terms of `best`."""
        return float(np.abs(scores).sum())

    def __repr__(self) -> str:
        spelled = "" if self.graph is None else self.graph.spell(self.codes)
        return f"{type(self).__name__}({spelled}{self._details()})"

    def _details(self) -> str:
        return ""


def check_scores(name: str, scores: FloatArray, advice: str = "") -> None:
    """Raise unless all scores are finite numbers below `LARGEST`, or ``-inf``."""
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
