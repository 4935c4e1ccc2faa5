"""Factor graphs: binary variables with scores, and factors that connect them.

    max_z  c·z + Σ_m h_m(z_m)      over z ∈ {0, 1}^N that every factor m accepts

``z_m`` are the *literals* of factor ``m``, variables or their negations; ``h_m`` is 0 for logic
factors, and the score of a table or a chain. ``N`` variables, ``M`` factors, ``K`` links, which are
the literals of all factors in order. `GraphArrays` is the form in which the core reads a graph.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trelliswork.graphs.factor import FREE, Factor, check_scores
from trelliswork.graphs.factors import Or, Xor
from trelliswork.graphs.variables import NOTHING, Categorical, Variables, codes_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from trelliswork._core import Structure
    from trelliswork._typing import BoolArray, ByteArray, FloatArray, IdArray, IntArray


__all__ = ["FactorGraph", "GraphArrays"]


SPELLED_OUT = 4  # literals that are printed


class FactorGraph:
    """Binary and categorical variables with scores, and the factors that connect them.

    Attributes
    ----------
    constant : float
        A constant in the score of every assignment, from scores of negated literals.

    Examples
    --------
    Three tasks for two people, one task each at most; the second person cannot do the last one.

    >>> import trelliswork as tw
    >>> from trelliswork.graphs.factors import AtMostOne, Xor
    >>> graph = tw.FactorGraph()
    >>> z = graph.binary((2, 3), scores=[[3.0, 1.0, 2.0], [4.0, 3.5, 0.0]], name="z")
    >>> graph.add(*map(Xor, z), *map(AtMostOne, z.T))
    >>> graph.fix(z[1, 2], False)
    >>> graph
    FactorGraph(6 variables, 5 factors: 2 Xor, 3 AtMostOne)
    >>> found = tw.solve(graph)
    >>> found[z].astype(int), found.score, found.status
    (array([[1, 0, 0],
           [0, 1, 0]]), 6.5, 'optimal')
    """

    def __init__(self) -> None:
        self._factors: list[Factor] = []
        self.constant = 0.0
        self.n_variables = 0
        self._blocks: list[tuple[int, str, tuple[int, ...]]] = []  # first variable, name, shape
        self._score_parts: list[FloatArray] = []
        self._fixed_parts: list[ByteArray] = []
        self._arrays: GraphArrays | None = None

    def binary(
        self, shape: int | tuple[int, ...] = (), scores: ArrayLike = 0.0, *, name: str | None = None
    ) -> Variables:
        """Add binary variables.

        Parameters
        ----------
        shape
            The shape of the array; ``()`` is a single variable.
        scores
            The scores of variables that are 1, broadcast to `shape`; below 1e150, so that sums stay
            finite. ``-inf`` fixes a variable at 0.
        name
            The name in print.

        Returns
        -------
        Variables
            Their literals, of this shape.
        """
        size = _checked_shape(shape)
        values = _checked_scores(scores, size).ravel()
        first, count = self.n_variables, values.size
        self._blocks.append((first, name or f"v{len(self._blocks)}", size))
        forbidden = values == -np.inf
        self._score_parts.append(np.where(forbidden, 0.0, values))
        self._fixed_parts.append(np.where(forbidden, 0, FREE).astype(np.int8))
        self.n_variables += count
        self._arrays = None
        return Variables(self, 2 * np.arange(first, first + count).reshape(size))

    def categorical(
        self,
        shape: int | tuple[int, ...],
        n_values: int,
        scores: ArrayLike = 0.0,
        *,
        name: str | None = None,
    ) -> Categorical:
        """Add variables with several values each, and a `Xor` of the indicators of each.

        Parameters
        ----------
        shape
            The shape of the array; ``()`` is a single variable.
        n_values
            ``K``, at least 1.
        scores
            The scores of the values, broadcast to ``(*shape, K)``; ``-inf`` forbids a value.
        name
            The name in print.
        """
        if n_values < 1:
            raise ValueError(f"n_values: expected 1 or more, got {n_values}.")
        size = _checked_shape(shape)
        literals = self.binary((*size, n_values), scores, name=name)
        self._factors.extend(Xor(row) for row in literals.reshape(-1, n_values))
        return Categorical(literals)

    def add(self, *factors: Factor) -> None:
        """Add factors of variables of this graph."""
        separate = [self._own(factor) for factor in factors]
        if not separate:
            return
        sizes = [codes.size for codes in separate]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        # One number for each pair of factor and variable: a variable that is twice in a factor
        # gives the same number twice.
        pairs = np.sort(owner * self.n_variables + (np.concatenate(separate) >> 1))
        twice = np.flatnonzero(pairs[1:] == pairs[:-1])
        if twice.size:
            which, variable = divmod(int(pairs[twice[0]]), self.n_variables)
            raise ValueError(
                f"{factors[which]!r}: expected different variables, got "
                f"{self.spell(np.array([2 * variable]))} twice."
            )
        self._factors.extend(factors)
        self._arrays = None

    def add_scores(self, literals: Variables, scores: ArrayLike) -> None:
        """Add to the scores of literals that are true.

        Parameters
        ----------
        literals
            Literals of any shape. For a negated one, ``c (1 − z) = c − c z``.
        scores
            Their scores, broadcast to their shape; ``-inf`` fixes a literal at false.
        """
        codes = self._codes(literals)
        shape = literals.shape if isinstance(literals, Variables) else codes.shape
        values = np.broadcast_to(_checked_scores(scores, shape).ravel(), codes.shape)
        forbidden = values == -np.inf
        if forbidden.any():
            self._fix(codes[forbidden], False)
        finite, negated = np.where(forbidden, 0.0, values), (codes & 1).astype(bool)
        self._arrays = None
        np.add.at(self.scores, codes >> 1, np.where(negated, -finite, finite))
        self.constant += float(finite[negated].sum())

    def fix(self, literals: Variables, value: bool = True) -> None:
        """Fix literals at true, or at false; contradictory fixes make the graph infeasible."""
        if value not in (True, False):
            raise ValueError(f"fix: expected True or False, got {value!r}.")
        self._fix(self._codes(literals), bool(value))

    @property
    def factors(self) -> tuple[Factor, ...]:
        """All factors in the order added, with those of categorical variables."""
        return tuple(self._factors)

    @property
    def scores(self) -> FloatArray:
        """``c``, the scores of variables that are 1, shape ``(N,)``."""
        return _joined(self._score_parts, np.float64)

    @property
    def fixed(self) -> ByteArray:
        """The values of fixed variables, -1 for free ones, shape ``(N,)``."""
        return _joined(self._fixed_parts, np.int8)

    def value(self, values: ArrayLike) -> float:
        """Return the score of an assignment; ``-inf`` if a factor does not accept it.

        Parameters
        ----------
        values
            0 or 1 for every variable in the order of their creation, shape ``(N,)``.
        """
        z = self._assignment(values)
        if ((self.fixed != FREE) & (self.fixed != z)).any():
            return -np.inf
        literals = self._literal_values(z)
        worth = [factor.value(on) for factor, on in zip(self._factors, literals, strict=True)]
        return fsum([self.constant, *self.scores[z].tolist(), *worth])

    def violated(self, values: ArrayLike) -> list[Factor]:
        """Return the factors that do not accept an assignment, shape ``(N,)``."""
        literals = self._literal_values(self._assignment(values))
        return [f for f, on in zip(self._factors, literals, strict=True) if not f.accepts(on)]

    def arrays(self) -> GraphArrays:
        """Return the graph as arrays, cached until it changes."""
        if self._arrays is None:
            self._arrays = GraphArrays.of(self)
        return self._arrays

    def spell(self, codes: IntArray) -> str:
        """Return the names of the first few literals."""
        flat = codes.ravel()
        names = [self._name(int(code)) for code in flat[:SPELLED_OUT]]
        return ", ".join([*names, "…"] if flat.size > SPELLED_OUT else names)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_arrays": None}  # structures of the core cannot be pickled

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for factor in self._factors:
            counts[type(factor).__name__] = counts.get(type(factor).__name__, 0) + 1
        kinds = ", ".join(f"{count} {name}" for name, count in counts.items())
        return (
            f"FactorGraph({self.n_variables} variables, {len(self._factors)} factors"
            f"{': ' if kinds else ''}{kinds})"
        )

    def _literal_values(self, z: BoolArray) -> list[BoolArray]:
        """Return the values of the literals of every factor."""
        return [z[f.codes >> 1] ^ (f.codes & 1).astype(bool) for f in self._factors]

    def _assignment(self, values: ArrayLike) -> BoolArray:
        z = np.asarray(values)
        if z.shape != (self.n_variables,) or not np.isin(z, (0, 1)).all():
            raise ValueError(
                f"values: expected 0 or 1 for each of {self.n_variables} variables, got {z.dtype} "
                f"of shape {z.shape}."
            )
        return z.astype(bool)

    def _own(self, factor: Factor) -> IntArray:
        if not isinstance(factor, Factor):
            raise TypeError(
                f"add: expected factors, got {type(factor).__name__}. They are in "
                "trelliswork.factors: graph.add(Xor(z))."
            )
        if factor.graph not in (None, self):
            raise ValueError(f"{factor!r}: expected variables of this graph, got those of another.")
        return factor.separate

    def _codes(self, literals: Variables) -> IntArray:
        graph, codes = codes_of(literals)
        if graph not in (None, self):
            raise ValueError("literals: expected variables of this graph, got those of another.")
        return codes

    def _fix(self, codes: IntArray, value: bool) -> None:
        self._arrays = None
        variables, wanted = codes >> 1, (codes & 1) ^ value
        fixed = self.fixed
        free = fixed[variables] == FREE
        fixed[variables[free]] = wanted[free]
        for code in codes[fixed[variables] != wanted]:  # infeasible: this factor says why
            self.add(Or(Variables(self, np.array([code if value else code ^ 1]))))

    def _name(self, code: int) -> str:
        variable = code >> 1
        place = bisect_right(self._blocks, variable, key=lambda block: block[0]) - 1
        first, name, shape = self._blocks[place]
        index = ", ".join(str(int(i)) for i in np.unravel_index(variable - first, shape))
        return f"{'~' if code & 1 else ''}{name}{f'[{index}]' if shape else ''}"


def _checked_shape(given: Any) -> tuple[int, ...]:
    """Return a shape as a tuple, after checking that no number is below 0."""
    try:
        shape = tuple(map(operator.index, given if hasattr(given, "__iter__") else (given,)))
    except TypeError as error:
        raise TypeError(f"shape: expected whole numbers, got {given!r}.") from error
    if any(count < 0 for count in shape):
        raise ValueError(f"shape: expected numbers of 0 or more, got {given!r}.")
    return shape


def _checked_scores(given: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return scores broadcast to a shape, after checking them."""
    array = np.asarray(given, dtype=np.float64)
    try:
        array = np.broadcast_to(array, shape)
    except ValueError as error:
        raise ValueError(f"scores: expected shape {shape}, got {array.shape}.") from error
    check_scores("scores", array, " To fix a variable at 1: graph.fix(z).")
    return array


def _joined(parts: list[Any], kind: type) -> NDArray[Any]:
    """Return the concatenation of arrays, and replace them by it in the list."""
    if len(parts) != 1:
        parts[:] = [np.concatenate([np.zeros(0, dtype=kind), *parts]).astype(kind, copy=False)]
    whole: NDArray[Any] = parts[0]
    return whole


class GraphArrays(NamedTuple):
    """A graph as the flat arrays that the core reads.

    Attributes
    ----------
    scores, fixed : numpy.ndarray
        Scores and fixed values of variables, ``(N,)``; ``fixed`` is 0 or 1, -1 for free ones.
    kinds, limits : numpy.ndarray
        Kinds and limits of factors, ``(M,)``.
    offsets : numpy.ndarray
        The links of factor ``m`` are ``offsets[m]`` to ``offsets[m + 1]``, ``(M + 1,)``.
    variables, negated, weights : numpy.ndarray
        Variables, signs and weights of links, ``(K,)``.
    structures : list
        The structures of factors that have one, in order.
    """

    scores: FloatArray
    fixed: ByteArray
    kinds: ByteArray
    offsets: IntArray
    variables: IdArray
    negated: NDArray[np.uint8]
    weights: FloatArray
    limits: FloatArray
    structures: list[Structure]

    @classmethod
    def of(cls, graph: FactorGraph) -> GraphArrays:
        """Convert a graph to arrays."""
        factors = graph.factors
        codes = np.concatenate([NOTHING, *(f.codes for f in factors)])
        sizes = np.array([f.codes.size for f in factors], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        weights = np.ones(codes.size)
        for m, factor in enumerate(factors):
            if factor.weights is not None:
                weights[offsets[m] : offsets[m + 1]] = factor.weights
        structures = [f.structure() for f in factors]
        return cls(
            graph.scores,
            graph.fixed,
            np.array([f.kind for f in factors], dtype=np.int8),
            offsets,
            (codes >> 1).astype(np.int32),
            (codes & 1).astype(np.uint8),
            weights,
            np.array([f.limit for f in factors], dtype=np.float64),
            [structure for structure in structures if structure is not None],
        )
