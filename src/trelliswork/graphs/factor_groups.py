"""Factors of one kind and size as arrays: bounds of many leaves in a few operations.

``B`` leaves, ``F`` factors of a group, ``K`` literals of each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.graphs.counting import best_counts, count_error, implied_counts
from trelliswork.graphs.factor import FREE, UNIT
from trelliswork.graphs.factors import Counted, OrOut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray, ByteArray, FloatArray, IntArray
    from trelliswork.graphs.factor import Factor

__all__ = ["FactorGroup", "group_factors"]


class FactorGroup(ABC):
    """Factors that are evaluated together.

    Parameters
    ----------
    factors
        The factors, with ``K`` literals each.
    links
        The literals among those of all factors of the graph, shape ``(F, K)``.

    Attributes
    ----------
    variables, negated : numpy.ndarray
        The variables of the literals, and whether they are negated, shape ``(F, K)``.
    """

    def __init__(self, factors: Sequence[Factor], links: IntArray) -> None:
        self.factors = factors
        self.links = links
        codes = np.stack([factor.codes for factor in factors])
        self.variables: IntArray = codes >> 1
        self.negated: BoolArray = codes & 1 == 1

    def literals(self, fixed: ByteArray) -> ByteArray:
        """Return the values of literals, ``(B, F, K)``, from those of variables, ``(B, N)``."""
        values = fixed[:, self.variables]
        return np.where(self.negated & (values != FREE), 1 - values, values).astype(np.int8)

    @abstractmethod
    def best(self, scores: FloatArray, fixed: ByteArray) -> FloatArray:
        """Return `Factor.best` of each, shape ``(B, F)``."""

    @abstractmethod
    def error(self, scores: FloatArray, best: FloatArray) -> FloatArray:
        """Return `Factor.error` of each, shape ``(B, F)``."""

    @abstractmethod
    def implied(self, fixed: ByteArray, touched: BoolArray) -> tuple[ByteArray, BoolArray]:
        """Return `Factor.implied` of each, and whether it accepts any values.

        Factors that are not `touched`, shape ``(B, F)``, may be left as they are.
        """

    def lowest(self, fixed: ByteArray) -> FloatArray:
        """Return `Factor.lowest` of each, shape ``(B, F)``."""
        return np.zeros(fixed.shape[:2])


class CountedGroup(FactorGroup):
    """Factors on the number of true literals."""

    def __init__(self, factors: Sequence[Counted], links: IntArray) -> None:
        super().__init__(factors, links)
        self._least = np.array([factor.least for factor in factors])
        self._most = np.array([factor.most for factor in factors])

    def best(self, scores: FloatArray, fixed: ByteArray) -> FloatArray:
        """Return the best sums of a permitted number of literals."""
        return best_counts(scores, fixed, self._least, self._most)

    def error(self, scores: FloatArray, best: FloatArray) -> FloatArray:
        """Return bounds on the rounding errors."""
        return count_error(scores, best)

    def implied(self, fixed: ByteArray, touched: BoolArray) -> tuple[ByteArray, BoolArray]:
        """Return the values that the limits force."""
        return implied_counts(fixed, self._least, self._most)


class OutputGroup(FactorGroup):
    """Factors whose last literal is an output."""

    def __init__(self, factors: Sequence[OrOut], links: IntArray) -> None:
        super().__init__(factors, links)
        self._most = np.array([factor.most for factor in factors])

    def best(self, scores: FloatArray, fixed: ByteArray) -> FloatArray:
        """Return the better one of no true input, and one or more with the output."""
        inputs, output = fixed[..., :-1], fixed[..., -1]
        off = best_counts(scores[..., :-1], inputs, 0, 0)
        on = best_counts(scores[..., :-1], inputs, 1, self._most) + scores[..., -1]
        return np.maximum(np.where(output == 1, -np.inf, off), np.where(output == 0, -np.inf, on))

    def error(self, scores: FloatArray, best: FloatArray) -> FloatArray:
        """Return bounds on the rounding errors."""
        with np.errstate(over="ignore"):
            return np.asarray(3.0 * UNIT * np.abs(scores).sum(axis=-1))

    def implied(self, fixed: ByteArray, touched: BoolArray) -> tuple[ByteArray, BoolArray]:
        """Return the output that the inputs force, and the inputs that it forces."""
        inputs, output = fixed[..., :-1], fixed[..., -1]
        by_inputs = np.where((inputs == 0).all(axis=-1), 0, FREE)
        by_inputs = np.where((inputs == 1).any(axis=-1), 1, by_inputs)
        output = np.where(output == FREE, by_inputs, output).astype(np.int8)
        least, most = output == 1, np.where(output == 0, 0, self._most)
        closed, is_possible = implied_counts(inputs, least, most)
        return np.concatenate([closed, output[..., None]], axis=-1), is_possible


class SingleFactor(FactorGroup):
    """One factor of any kind, leaf by leaf."""

    def best(self, scores: FloatArray, fixed: ByteArray) -> FloatArray:
        """Return its best value on each leaf."""
        (factor,) = self.factors
        pairs = zip(scores[:, 0], fixed[:, 0], strict=True)
        return np.array([[factor.best(*pair)] for pair in pairs]).reshape(-1, 1)

    def error(self, scores: FloatArray, best: FloatArray) -> FloatArray:
        """Return bounds on the rounding errors."""
        (factor,) = self.factors
        pairs = zip(scores[:, 0], best[:, 0].tolist(), strict=True)
        return np.array([[factor.error(*pair)] for pair in pairs]).reshape(-1, 1)

    def implied(self, fixed: ByteArray, touched: BoolArray) -> tuple[ByteArray, BoolArray]:
        """Return the values that it forces on each leaf that is touched."""
        (factor,) = self.factors
        closed, is_possible = fixed.copy(), np.ones(touched.shape, dtype=bool)
        for b in np.flatnonzero(touched[:, 0]):
            found = factor.implied(fixed[b, 0])
            if found is None:
                is_possible[b] = False
            else:
                closed[b, 0] = found
        return closed, is_possible

    def lowest(self, fixed: ByteArray) -> FloatArray:
        """Return its lowest value on each leaf."""
        (factor,) = self.factors
        return np.array([[factor.lowest(own)] for own in fixed[:, 0]]).reshape(-1, 1)


def group_factors(factors: Sequence[Factor], offsets: IntArray) -> list[FactorGroup]:
    """Return factors as groups; the literals of factor ``m`` begin at ``offsets[m]``."""
    counted: dict[int, list[int]] = {}
    outputs: dict[int, list[int]] = {}
    groups: list[FactorGroup] = []
    for m, factor in enumerate(factors):
        if isinstance(factor, Counted):
            counted.setdefault(factor.codes.size, []).append(m)
        elif isinstance(factor, OrOut):
            outputs.setdefault(factor.codes.size, []).append(m)
        else:
            groups.append(SingleFactor([factor], _links([m], factor.codes.size, offsets)))
    for kind, by_size in ((CountedGroup, counted), (OutputGroup, outputs)):
        for size, members in by_size.items():
            own = [factors[m] for m in members]
            groups.append(kind(own, _links(members, size, offsets)))  # type: ignore[arg-type]
    return groups


def _links(members: Sequence[int], size: int, offsets: IntArray) -> IntArray:
    return offsets[list(members)][:, None] + np.arange(size)
