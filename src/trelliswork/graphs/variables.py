"""Variables of a factor graph: arrays of literals that slice like NumPy's.

A *literal* is a binary variable or its negation. Its code is one number, ``2 v + n`` for variable
``v``, with ``n = 1`` for its negation. So negation is ``^ 1``, and slicing is that of the codes.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trelliswork._typing import IntArray
    from trelliswork.graphs.graph import FactorGraph


__all__ = ["Categorical", "Variables", "codes_of"]

NOTHING: IntArray = np.zeros(0, dtype=np.int64)


class Variables:
    """An array of literals, made by `FactorGraph.binary`.

    Indexing, slicing, ``T``, `ravel` and `reshape` are NumPy's; ``~z`` negates every literal;
    iteration is along the first axis.

    Attributes
    ----------
    graph : FactorGraph
        The graph they belong to.
    codes : numpy.ndarray
        ``2 v + n`` for variable ``v``, ``n = 1`` for its negation; any shape.

    Examples
    --------
    >>> from trelliswork import FactorGraph
    >>> z = FactorGraph().binary((2, 3), name="z")
    >>> z[:, 1:]
    Variables(z[0, 1], z[0, 2], z[1, 1], z[1, 2]; shape (2, 2))
    >>> ~z[1, 0]
    Variables(~z[1, 0]; shape ())
    """

    __slots__ = ("codes", "graph")

    def __init__(self, graph: FactorGraph, codes: IntArray) -> None:
        self.graph = graph
        self.codes = codes

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.codes.shape

    @property
    def size(self) -> int:
        """The number of literals."""
        return self.codes.size

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.codes.ndim

    @property
    def T(self) -> Variables:  # noqa: N802
        """The literals with the axes in reverse order."""
        return Variables(self.graph, self.codes.T)

    def ravel(self) -> Variables:
        """Return the literals in one row."""
        return Variables(self.graph, self.codes.ravel())

    def reshape(self, *shape: int) -> Variables:
        """Return the literals in another shape."""
        return Variables(self.graph, self.codes.reshape(*shape))

    def __getitem__(self, key: Any) -> Variables:
        return Variables(self.graph, np.asarray(self.codes[key]))

    def __invert__(self) -> Variables:
        return Variables(self.graph, self.codes ^ 1)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Variables):
            return self.graph is other.graph and np.array_equal(self.codes, other.codes)
        if isinstance(other, Real):
            raise TypeError(
                "Variables: a literal is a statement on its variable: z is 'z is 1', ~z is 'z is "
                "0'. Fix values with graph.fix(z, True)."
            )
        return NotImplemented

    def __hash__(self) -> int:
        return hash((id(self.graph), self.shape, self.codes.tobytes()))

    def __bool__(self) -> bool:
        raise TypeError(
            "Variables: literals are neither true nor false before the graph is solved. Negate "
            "them with ~, and tie them with factors: Or([a, b])."
        )

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len: this is a single literal, not an array of them.")
        return len(self.codes)

    def __iter__(self) -> Iterator[Variables]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Variables({self.graph.spell(self.codes)}; shape {self.shape})"


class Categorical:
    """An array of variables with one of ``K`` values each, made by `FactorGraph.categorical`.

    Each is ``K`` binary indicators, exactly one of which is 1. Indexing is that of `Variables`;
    ``x == k``, or ``x.is_value(k)``, are the literals "the value is ``k``".

    Attributes
    ----------
    literals : Variables
        The indicators, shape ``(*shape, K)``.

    Examples
    --------
    >>> from trelliswork import FactorGraph
    >>> x = FactorGraph().categorical(4, 3, name="x")
    >>> x[1:].shape, x.n_values
    ((3,), 3)
    >>> x[2] == 1
    Variables(x[2, 1]; shape ())
    """

    __slots__ = ("literals",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, literals: Variables) -> None:
        self.literals = literals

    @property
    def graph(self) -> FactorGraph:
        """The graph they belong to."""
        return self.literals.graph

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.literals.shape[:-1]

    @property
    def size(self) -> int:
        """The number of variables."""
        return int(np.prod(self.shape))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.literals.ndim - 1

    @property
    def n_values(self) -> int:
        """The number of values, ``K``."""
        return self.literals.shape[-1]

    def is_value(self, value: int) -> Variables:
        """Return the literals "the value is `value`", of the shape of the variables."""
        if not isinstance(value, Integral):
            raise TypeError(
                f"value: expected a whole number, got {type(value).__name__}. Two variables are "
                "equal if XorOut([x == k], y == k) holds for every value k; Pair scores both."
            )
        if not 0 <= value < self.n_values:
            raise ValueError(f"value: expected one of 0 … {self.n_values - 1}, got {value}.")
        return self.literals[..., value]

    def __eq__(self, value: int) -> Variables:  # type: ignore[override]
        return self.is_value(value)

    def __ne__(self, value: int) -> Variables:  # type: ignore[override]
        return ~self.is_value(value)

    def __getitem__(self, key: Any) -> Categorical:
        rows = np.arange(self.size).reshape(self.shape)[key]  # the last axis is not the user's
        flat = self.literals.codes.reshape(self.size, self.n_values)
        return Categorical(Variables(self.graph, flat[rows]))

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len: this is a single variable, not an array of them.")
        return self.shape[0]

    def __iter__(self) -> Iterator[Categorical]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        spelled = self.graph.spell(self.literals.codes)
        return f"Categorical({spelled}; shape {self.shape}, {self.n_values} values)"


def codes_of(given: Any) -> tuple[FactorGraph | None, IntArray]:
    """Return the graph and the literals of `Variables`, or of a sequence of these, in one row.

    The graph of an empty sequence is None.
    """
    if isinstance(given, Variables):
        return given.graph, given.codes.ravel()
    if isinstance(given, Categorical | str) or not hasattr(given, "__iter__"):
        raise TypeError(
            f"literals: expected Variables or a sequence of these, got {type(given).__name__}. "
            "Literals of a categorical variable are x == value, or x.literals."
        )
    parts = [codes_of(one) for one in given]
    graphs = [graph for graph, _ in parts if graph is not None]
    if not graphs:
        return None, NOTHING
    if any(graph is not graphs[0] for graph in graphs):
        raise ValueError("literals: expected variables of one graph, got those of two.")
    return graphs[0], np.concatenate([codes for _, codes in parts])
