"""Factors: constraints and scores on binary variables.

| factor | meaning |
| --- | --- |
| ``Xor(l)`` | exactly one literal is true |
| ``AtMostOne(l)`` | none or one is true |
| ``Or(l)`` | at least one is true |
| ``OrOut(l, out)`` | ``out`` is true if and only if any literal is |
| ``XorOut(l, out)`` | ``out`` is true if one literal is, false if none is; two are never true |
| ``Imply(l, then)`` | if all literals are true, so is ``then`` |
| ``Budget(l, k)`` | at most ``k`` are true |
| ``Knapsack(l, w, b)`` | the weights of true literals add up to at most ``b`` |
| ``Pair(x, y, table)`` | ``x = i`` and ``y = j`` score ``table[i, j]`` |
| ``Chain(x, weights)`` | a whole trellis: neighbours score ``weights[i, j]`` |
| ``NoOverlap(l, spans)`` | spans of true literals do not overlap |

Literals are `Variables`, or lists of these; ``~`` negates them.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from trelliswork.graphs.chain import Chain
from trelliswork.graphs.counting import best_counts, count_error, implied_counts
from trelliswork.graphs.factor import FREE, Factor, Rows, one_row
from trelliswork.graphs.knapsack import Knapsack
from trelliswork.graphs.structures import NoOverlap, Pair
from trelliswork.graphs.variables import codes_of

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray, ByteArray, FloatArray, IntArray


__all__ = [
    "AtMostOne",
    "Budget",
    "Chain",
    "Factor",
    "Imply",
    "Knapsack",
    "NoOverlap",
    "Or",
    "OrOut",
    "Pair",
    "Rows",
    "Xor",
    "XorOut",
]


class Counted(Factor):
    """A factor on the number of true literals: ``least ≤ Σ_k l_k ≤ most``."""

    least: int = 0
    most: float = np.inf

    def error(self, scores: FloatArray, best: float) -> float:
        """Return a bound on the rounding error of `best`, whose sums are precise."""
        return float(count_error(scores, np.asarray(best)))

    def accepts(self, values: BoolArray) -> bool:
        """Return whether the number of true literals is within the limits."""
        return bool(self.least <= np.count_nonzero(values) <= self.most)

    def best(self, scores: FloatArray, fixed: ByteArray) -> float:
        """Return the best sum of the scores of a permitted number of literals."""
        return float(best_counts(scores, fixed, self.least, self.most))

    def implied(self, fixed: ByteArray) -> ByteArray | None:
        """Return `fixed` with free literals at 0 if no more fit, at 1 if all are needed."""
        closed, is_possible = implied_counts(fixed, self.least, self.most)
        return closed if is_possible else None

    def rows(self) -> Rows:
        """Return one row."""
        return one_row(np.ones(self.codes.size), self.least, self.most)


class Xor(Counted):
    """Exactly one literal is true, ``Σ_k l_k = 1``; without literals, nothing is accepted."""

    kind, least, most = 0, 1, 1


class AtMostOne(Counted):
    """None or one of the literals is true, ``Σ_k l_k ≤ 1``."""

    kind, most = 1, 1


class Or(Counted):
    """At least one literal is true, ``Σ_k l_k ≥ 1``; without literals, nothing is accepted."""

    kind, least = 2, 1


class Imply(Or):
    """If all premises are true, so is the conclusion: ``¬p_1 ∨ … ∨ ¬p_n ∨ c``.

    Parameters
    ----------
    premises
        Literals; without any, the conclusion is true.
    conclusion
        One literal.
    """

    def __init__(self, premises: Any, conclusion: Any) -> None:
        graph, codes = _with_last(premises, "conclusion", conclusion)
        codes[:-1] ^= 1
        self._set(graph=graph, codes=codes)


class Budget(Counted):
    """At most `limit` literals are true, ``Σ_k l_k ≤ limit``."""

    kind = 5

    def __init__(self, literals: Any, limit: int) -> None:
        if not isinstance(limit, Integral) or isinstance(limit, bool) or limit < 0:
            raise ValueError(f"Budget: expected a whole limit of 0 or more, got {limit!r}.")
        super().__init__(literals)
        self._set(limit=float(limit), most=int(limit))

    def _details(self) -> str:
        return f"; limit {self.most}"


class OrOut(Factor):
    """The output is true if and only if any input is: ``max_k l_k = out``.

    Without inputs, the output is false. ``OrOut(~l, ~out)`` is the conjunction.

    Parameters
    ----------
    inputs
        Literals.
    output
        One literal.
    """

    kind = 3
    most: ClassVar[float] = np.inf  # inputs that may be true

    def __init__(self, inputs: Any, output: Any) -> None:
        graph, codes = _with_last(inputs, "output", output)
        self._set(graph=graph, codes=codes)

    @property
    def _additions(self) -> int:
        return 3

    def accepts(self, values: BoolArray) -> bool:
        """Return whether the output agrees with the inputs."""
        n_true = np.count_nonzero(values[:-1])
        return bool(1 <= n_true <= self.most if values[-1] else n_true == 0)

    def best(self, scores: FloatArray, fixed: ByteArray) -> float:
        """Return the better one of no true input, and one or more with the output."""
        off = float(best_counts(scores[:-1], fixed[:-1], 0, 0))
        on = float(best_counts(scores[:-1], fixed[:-1], 1, self.most)) + float(scores[-1])
        return max(-np.inf if fixed[-1] == 1 else off, -np.inf if fixed[-1] == 0 else on)

    def implied(self, fixed: ByteArray) -> ByteArray | None:
        """Return `fixed` with the output that the inputs force, and the inputs that it forces."""
        output = int(fixed[-1])
        if output == FREE:
            output = 1 if (fixed[:-1] == 1).any() else 0 if (fixed[:-1] == 0).all() else FREE
        least, most = (0, 0) if output == 0 else (1 if output == 1 else 0, self.most)
        inputs, is_possible = implied_counts(fixed[:-1], least, most)
        return np.append(inputs, np.int8(output)) if is_possible else None

    def rows(self) -> Rows:
        """Return ``Σ_k l_k ≥ out``, and ``l_k ≤ out`` for every input."""
        size = self.codes.size
        inputs = np.arange(size - 1)
        return Rows(
            np.concatenate([np.zeros(size, dtype=np.int64), inputs + 1, inputs + 1]),
            np.concatenate([np.arange(size), inputs, np.full(size - 1, size - 1)]),
            np.concatenate([_signs(size), np.ones(size - 1), -np.ones(size - 1)]),
            np.concatenate([[0.0], np.full(size - 1, -np.inf)]),
            np.concatenate([[np.inf], np.zeros(size - 1)]),
            np.zeros(0),
        )


class XorOut(OrOut):
    """The output is true if one input is, and false if none is: ``Σ_k l_k = out``.

    Two inputs are never true together. Without inputs, the output is false. With one input, both
    are equal. The parameters are those of `OrOut`.
    """

    kind, most = 4, 1

    def rows(self) -> Rows:
        """Return ``Σ_k l_k − out = 0``."""
        return one_row(_signs(self.codes.size), 0.0, 0.0)


def _with_last(literals: Any, name: str, last: Any) -> tuple[Any, IntArray]:
    """Return the graph, and the literals with one more at the end."""
    graph, codes = codes_of([literals, last])
    size = codes_of(last)[1].size
    if size != 1:
        raise ValueError(f"{name}: expected one literal, got {size}.")
    return graph, codes


def _signs(size: int) -> FloatArray:
    """Return 1 for every input, -1 for the output."""
    return np.concatenate([np.ones(size - 1), [-1.0]])
