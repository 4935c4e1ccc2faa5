"""Linear rules on counts, such as ``count(a) - count(b) <= 0``.

Their violations are ``max(0, a · n(y) − b)``, the excess of the sum over the bound.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias, cast, get_args

import numpy as np

from trelliswork.constraints.arguments import call, check_name, check_unit
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.monitors import Symbols, build
from trelliswork.constraints.rows import Row, Term, count as count_in, merge_terms
from trelliswork.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints.arguments import Unit
    from trelliswork.constraints.reading import Reading
    from trelliswork.labels.label_set import LabelSet

__all__ = ["CountExpression", "Linear", "count"]

Relation: TypeAlias = Literal["<=", ">=", "=="]

LARGEST = 10**9
"""The largest coefficient or bound: sums over any sentence fit 64 bits."""


@dataclass(frozen=True, repr=False)
class Linear(Constraint):
    """A comparison of a sum of counts with a number; made by comparing a `count`.

    Attributes
    ----------
    terms
        Triples (coefficient, name, unit), as in `Row`.
    relation
        ``"<="``, ``">="`` or ``"=="``.
    bound
        The number on the right.
    """

    word = "count"
    terms: tuple[Term, ...]
    relation: Relation
    bound: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", merge_terms(self.terms))
        if self.relation not in get_args(Relation):
            raise ValueError(f"Linear: expected <=, >= or ==, got {self.relation!r}.")
        if not self.terms:
            raise ValueError(
                "count: expected a rule about a count, but all counts cancel out. Leave it out."
            )
        largest = max(abs(self.bound), *(abs(coefficient) for coefficient, _, _ in self.terms))
        if largest > LARGEST:
            raise ValueError(f"count: expected numbers of at most {LARGEST:,}, got {largest:,}.")

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        return tuple((name, cast("Unit", unit)) for _, name, unit in self.terms)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rule as rows ``a · n ≤ b``; an equality is two rows."""
        below = Row(self.terms, self.bound)
        above = Row(tuple((-c, name, unit) for c, name, unit in self.terms), -self.bound)
        return {"<=": (below,), ">=": (above,), "==": (below, above)}[self.relation]

    def _degree(self, reading: Reading) -> int:
        total = sum(c * count_in(reading, name, unit) for c, name, unit in self.terms)
        return 0 if self._holds(total) else abs(total - self.bound)

    def _faults(self, reading: Reading) -> list[str]:
        found = [(c, count_in(reading, name, unit)) for c, name, unit in self.terms]
        total = sum(c * number for c, number in found)
        shown = _signed((c, str(number)) for c, number in found)
        sums = f" = {shown}" if len(found) > 1 or found[0][0] != 1 else ""
        expected = {"<=": "at most ", ">=": "at least ", "==": "exactly "}[self.relation]
        return [f"{_sum(self.terms)}{sums} = {total}; {expected}{self.bound} expected."]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        """Count up to the bound; sums beyond it are equivalent.

        That is finite only where no label takes from the sum what another one adds.
        """
        table = Row(self.terms, self.bound).table(labels)
        if table.min() < 0 < table.max():
            raise RuleError(
                f"{self!r} has no automaton for sequences of every length: some labels add to the "
                "sum and others take from it. Give it as a rule of its own instead of a part of "
                "another."
            )
        sign = -1 if table.min() < 0 else 1  # sign * sum only grows
        top = max(sign * self.bound + 1, 0)

        def step(size: int, more: Hashable, _: int) -> int | None:
            after = min(size + cast("int", more), top)
            return None if after == top and not self._holds(sign * top) else after

        values, index = np.unique(sign * table, return_inverse=True)
        symbols = Symbols(index.reshape(table.shape).astype(np.int32), values.tolist())
        return build(
            labels, symbols, 0, step, lambda size: self._holds(sign * size), max_states=max_states
        )

    def _holds(self, total: int) -> bool:
        if self.relation == "==":
            return total == self.bound
        return total <= self.bound if self.relation == "<=" else total >= self.bound

    def _operand(self) -> str:
        return repr(self) if self.relation == "==" else f"({self!r})"

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} is a rule, neither true nor false. Give two rules instead of a chain such "
            "as 1 <= count(a) <= 2; combine rules with &, | and ~ instead of 'and', 'or' and "
            "'not'; ask c.violations(labels) whether a labelling breaks it."
        )

    def __repr__(self) -> str:
        left = _sum(self.terms)
        if self.relation != "==":
            return f"{left} {self.relation} {self.bound}"
        simple = len(self.terms) == 1 and self.terms[0][0] == 1
        return f"{left if simple else f'({left})'}.equals({self.bound})"


@dataclass(frozen=True, eq=False, repr=False)
class CountExpression:
    """A weighted sum of counts, to be compared with a number or another sum; made by `count`.

    Attributes
    ----------
    terms
        Triples (coefficient, name, unit).
    constant
        The constant term.
    """

    terms: tuple[Term, ...]
    constant: int = 0

    def __add__(self, other: object) -> CountExpression:
        more = _as_expression(other, "+")
        return CountExpression(merge_terms(self.terms + more.terms), self.constant + more.constant)

    __radd__ = __add__

    def __neg__(self) -> CountExpression:
        return self * -1

    def __sub__(self, other: object) -> CountExpression:
        return self + -_as_expression(other, "-")

    def __rsub__(self, other: object) -> CountExpression:
        return _as_expression(other, "-") + -self

    def __mul__(self, factor: object) -> CountExpression:
        if isinstance(factor, CountExpression):
            raise TypeError(
                f"count: expected a whole number after *, got {factor!r}. Rules are linear in "
                "counts."
            )
        number = _whole(factor, "*")
        terms = tuple((number * c, name, unit) for c, name, unit in self.terms)
        return CountExpression(merge_terms(terms), number * self.constant)

    __rmul__ = __mul__

    def __le__(self, other: object) -> Linear:
        return self._compare("<=", other, 0)

    def __lt__(self, other: object) -> Linear:
        return self._compare("<=", other, -1, "<")

    def __ge__(self, other: object) -> Linear:
        return self._compare(">=", other, 0)

    def __gt__(self, other: object) -> Linear:
        return self._compare(">=", other, 1, ">")

    def equals(self, other: object) -> Linear:
        """Require that two sides are equal; the violations are the difference.

        Parameters
        ----------
        other
            A whole number, or another sum of counts.
        """
        return self._compare("==", other, 0, "equals")

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError(
            f"count: == compares objects in Python and makes no rule. Write {_dotted(self)}"
            f".equals({other!r})."
        )

    __hash__ = None  # type: ignore[assignment]  # without == there is none

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self!r} is a count of any labelling, neither true nor false.")

    def _compare(
        self, relation: Relation, other: object, more: int, sign: str | None = None
    ) -> Linear:
        difference = self - _as_expression(other, sign or relation)
        return Linear(difference.terms, relation, more - difference.constant)

    def __repr__(self) -> str:
        if not self.terms:
            return str(self.constant)
        constant = f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return _sum(self.terms) + (constant if self.constant else "")


def count(label: str, *, unit: Unit = "segment") -> CountExpression:
    """Return the count of a name's segments, for arithmetic and comparisons.

    Sums and differences of counts, times whole numbers, make a rule when they are compared with
    ``<=``, ``>=``, ``<``, ``>`` or ``.equals``; it is violated by as much as the comparison is off.

    Parameters
    ----------
    label
        A segment name; with paths ``authors/person``, or ``**/person`` at any depth.
    unit
        ``"segment"``, or ``"token"`` to count tokens: those with exactly this label or, where it
        is the name of a segment, those inside such a segment.

    Examples
    --------
    >>> rule = count("person") - count("first") <= 0
    >>> rule.violations(["person", "first", "person", "other", "person"])
    2
    >>> rule.explain(["person", "other"])
    ["count('person') - count('first') = 1 - 0 = 1; at most 0 expected."]
    >>> (2 * count("a") + 1 > count("b")).soft(0.5)
    (2 * count('a') - count('b') >= 0).soft(0.5)
    """
    check_unit("count", unit)
    return CountExpression(((1, check_name("count", label), unit),))


def _as_expression(value: object, sign: str) -> CountExpression:
    return value if isinstance(value, CountExpression) else CountExpression((), _whole(value, sign))


def _whole(value: object, sign: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(
            f"count: expected a whole number or another count with {sign}, got "
            f"{type(value).__name__} {value!r}."
        )
    return operator.index(value)


def _sum(terms: Iterable[Term]) -> str:
    """Return the source of terms: ``count('a') - 2 * count('b')``."""
    shown = ((c, name, None if unit == "segment" else unit) for c, name, unit in terms)
    return _signed((c, call("count", name, unit=unit)) for c, name, unit in shown)


def _signed(terms: Iterable[tuple[int, str]]) -> str:
    """Return the source of a sum of products."""
    text = ""
    for coefficient, factor in terms:
        sign = "-" if coefficient < 0 else "+" if text else ""
        sign = f" {sign} " if text else sign
        size = abs(coefficient)
        text += sign + (factor if size == 1 else f"{size} * {factor}")
    return text


def _dotted(expression: CountExpression) -> str:
    text = repr(expression)
    return text if text == _sum(expression.terms[:1]) and " " not in text else f"({text})"
