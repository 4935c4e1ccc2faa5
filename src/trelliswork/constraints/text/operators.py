"""Operators in the text of a rule: combinations of rules, arithmetic with counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.constraints import token_tests
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.linear import CountExpression, Linear
from trelliswork.constraints.text.scanner import PlacedError
from trelliswork.constraints.text.values import shown
from trelliswork.constraints.text.vocabulary import ARITHMETIC, COMPARISONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from trelliswork.constraints.text.values import Placed

__all__ = ["compute", "invert", "join"]


def join(sign: str, at: int, left: Placed, right: Placed) -> object:
    """Apply a binary operator to two rules, two tests, or counts and numbers."""
    if sign in COMPARISONS:
        if isinstance(left.value, Linear):
            raise PlacedError(at, "expected one comparison, got a chain. Give two rules.")
        return compute(at, COMPARISONS[sign], left, right)
    if sign in ARITHMETIC:
        return compute(at, ARITHMETIC[sign], left, right)
    for kind in (Constraint, token_tests.TokenTest):
        if isinstance(left.value, kind) and isinstance(right.value, kind):
            try:
                if sign == "&":
                    return left.value & right.value
                return left.value | right.value
            except TypeError as error:
                raise PlacedError(at, str(error)) from None
    counts = any(isinstance(side.value, CountExpression | int) for side in (left, right))
    hint = " Put comparisons in parentheses." if counts else ""
    raise PlacedError(
        right.at,
        f"expected two rules or two token tests around {sign}, got {shown(left.value)} and "
        f"{shown(right.value)}.{hint}",
    )


def compute(at: int, sign: Callable[..., object], *operands: Placed) -> object:
    """Apply an operator to counts and numbers."""
    for operand in operands:
        number = isinstance(operand.value, int | float) and not isinstance(operand.value, bool)
        if not number and not isinstance(operand.value, CountExpression):
            name = shown(operand.value)
            hint = f" Write count({name})." if isinstance(operand.value, str) else ""
            raise PlacedError(operand.at, f"expected counts or numbers, got {name}.{hint}")
    try:
        return sign(*(operand.value for operand in operands))
    except (TypeError, ValueError, OverflowError) as error:
        raise PlacedError(at, str(error)) from None


def invert(found: Placed) -> object:
    """Return the negation of a rule or a test."""
    if not isinstance(found.value, Constraint | token_tests.TokenTest):
        what = shown(found.value)
        raise PlacedError(found.at, f"expected a rule or a token test after ~, got {what}.")
    try:
        return ~found.value
    except TypeError as error:
        raise PlacedError(found.at, str(error)) from None
