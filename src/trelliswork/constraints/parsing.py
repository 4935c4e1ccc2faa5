"""Reading rules: the words, literals and ``& | ~``, and nothing else.

What `repr` prints, `parse` reads. The text is parsed as Python's grammar says but never run: only
the words of this package can be called, so a rule file from anywhere is safe to read.
"""

from __future__ import annotations

import ast
import difflib
import operator
from pathlib import Path
from typing import TYPE_CHECKING

from trelliswork.constraints import (
    counting,
    edges,
    linear,
    looking,
    pairs,
    positions,
    regular,
    tokens,
)
from trelliswork.constraints.base import Constraint
from trelliswork.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

__all__ = ["iter_rules", "parse", "parse_rules", "read_rules"]

WORDS: dict[str, Callable[..., object]] = {
    word.__name__: word
    for word in (
        regular.matches,
        regular.arc_list,
        edges.starts_with,
        edges.ends_with,
        edges.valid_scheme,
        pairs.precedes,
        pairs.requires,
        pairs.excludes,
        counting.contiguous,
        counting.at_most,
        counting.at_least,
        counting.exactly,
        linear.count,
        looking.where,
        looking.only_on,
        positions.at,
        positions.not_at,
        looking.changes_only_at,
        tokens.token,
    )
}

ARITHMETIC: dict[type[ast.operator], Callable[..., object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
COMPARISONS: dict[type[ast.cmpop], Callable[..., object]] = {
    ast.LtE: operator.le,
    ast.Lt: operator.lt,
    ast.GtE: operator.ge,
    ast.Gt: operator.gt,
}


def parse(text: str) -> Constraint:
    """Read one rule.

    Parameters
    ----------
    text
        The rule as it would stand in a program: ``at_most(1, 'title') & ~contiguous('author')``.

    Raises
    ------
    RuleError
        Where the text is no rule, naming the place and what was expected there.

    Examples
    --------
    >>> parse("at_most(1, 'title') | precedes('author', 'title')")
    (at_most(1, 'title') | precedes('author', 'title'))
    """
    return _Reader(text, "").rule()


def parse_rules(text: str, origin: str = "rules") -> tuple[Constraint, ...]:
    """Read the rules of a text: one a line; blank lines and comments (``#``) are left out.

    Parameters
    ----------
    text
        The text.
    origin
        What errors call it, the name of a file for example.
    """
    return tuple(rule for _, rule in iter_rules(text, origin))


def iter_rules(text: str, origin: str) -> Iterator[tuple[str, Constraint]]:
    """Yield the rules of a text, each after its place such as ``rules.txt:3``.

    The parameters are those of `parse_rules`.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            place = f"{origin}:{number}"
            yield place, _Reader(line, f"{place}: ").rule()


def read_rules(path: str | PathLike[str]) -> tuple[Constraint, ...]:
    """Read a file of rules in UTF-8; see `parse_rules`.

    Parameters
    ----------
    path
        The file.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise RuleError(f"{path}: expected rules as text in UTF-8 ({error}).") from error
    return parse_rules(text, str(path))


class _Reader:
    """Reads one line."""

    def __init__(self, line: str, place: str) -> None:
        self._line = line
        self._place = place

    def rule(self) -> Constraint:
        indent = len(self._line) - len(self._line.lstrip())
        try:
            # Only spaces go: what is inside strings stays, and columns count from the text given.
            tree = ast.parse(self._line.strip(), mode="eval")
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            column = getattr(error, "offset", None) or 1
            reason = getattr(error, "msg", None) or str(error) or "nested too deeply"
            raise self._error(column - 1 + indent, f"expected a rule, but {reason}.") from None
        self._indent = indent
        try:
            value = self._value(tree.body)
        except RecursionError:
            raise self._error(indent, "expected a rule, but it is nested too deeply.") from None
        if not isinstance(value, Constraint):
            advice = (
                "Say what it is for: where(test).allow(…), only_on(test, …) or "
                "changes_only_at(test)."
                if isinstance(value, tokens.TokenTest)
                else "Follow it with .allow('label', …)."
                if isinstance(value, looking.Where)
                else "A rule is a word such as at_most(1, 'title')."
            )
            raise self._error(indent, f"expected a rule, got {value!r}. {advice}")
        return value

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=str() | bool() | int() | float() | None):
                return node.value
            case ast.UnaryOp(op=ast.USub()):
                return self._computed(node, operator.neg, node.operand)
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
                sign = ARITHMETIC[type(node.op)]
                return self._computed(node, sign, node.left, node.right)
            case ast.Compare(ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                return self._computed(node, COMPARISONS[type(op)], node.left, right)
            case ast.Compare(ops=[_, _, *_]):
                raise self._error_at(node, "expected one comparison, got a chain. Give two rules.")
            case ast.List() | ast.Tuple() | ast.Set():
                return [self._value(item) for item in node.elts]
            case ast.UnaryOp(op=ast.Invert()):
                return self._inverted(node)
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
                return self._joined(node)
            case ast.Call(func=ast.Name(id=name)):
                return self._called(node, name, self._word(node.func, name))
            case ast.Call(func=ast.Attribute(attr="allow", value=inner)):
                subject = self._value(inner)
                if not isinstance(subject, looking.Where):
                    raise self._error_at(
                        inner, f"expected where(test) before .allow, got {subject!r}."
                    )
                return self._called(node, "allow", subject.allow)
            case ast.Call(func=ast.Attribute(attr="soft", value=inner)):
                subject = self._value(inner)
                if not isinstance(subject, Constraint):
                    raise self._error_at(inner, f"expected a rule before .soft, got {subject!r}.")
                return self._called(node, "soft", subject.soft)
            case ast.Call(func=ast.Attribute(attr="equals", value=inner)):
                subject = self._value(inner)
                if not isinstance(subject, linear.CountExpression):
                    raise self._error_at(inner, f"expected counts before .equals, got {subject!r}.")
                return self._called(node, "equals", subject.equals)
            case ast.Name(id=name):
                raise self._error_at(node, f"expected a rule, got {name}. Quote labels: {name!r}.")
            case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                raise self._error_at(node, "expected &, | or ~ instead of 'and', 'or' or 'not'.")
        kind = ast.unparse(node)
        raise self._error_at(
            node, f"expected a word, a string, a number, or &, | and ~; got {kind}."
        )

    def _word(self, node: ast.expr, name: str) -> Callable[..., object]:
        if name not in WORDS:
            close = difflib.get_close_matches(name, WORDS, n=2)
            known = (
                f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(WORDS)}."
            )
            raise self._error_at(node, f"there is no word {name!r}. {known}")
        return WORDS[name]

    def _called(self, node: ast.Call, name: str, word: Callable[..., object]) -> object:
        arguments = [self._value(argument) for argument in node.args]
        options = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self._error_at(keyword.value, f"{name}: expected name=value, got **.")
            options[keyword.arg] = self._value(keyword.value)
        try:
            return word(*arguments, **options)
        except (TypeError, ValueError) as error:
            raise self._error_at(node, str(error)) from None

    def _computed(self, node: ast.expr, sign: Callable[..., object], *operands: ast.expr) -> object:
        """Compute with counts; numbers alone are computed with too, so that -1 is one."""
        values = [self._value(operand) for operand in operands]
        for operand, value in zip(operands, values, strict=True):
            if isinstance(value, bool) or not isinstance(
                value, int | float | linear.CountExpression
            ):
                raise self._error_at(operand, f"expected counts or numbers, got {value!r}.")
        try:
            return sign(*values)
        except TypeError as error:
            raise self._error_at(node, str(error)) from None

    def _inverted(self, node: ast.UnaryOp) -> object:
        value = self._value(node.operand)
        if isinstance(value, Constraint | tokens.TokenTest):
            try:
                return ~value
            except TypeError as error:
                raise self._error_at(node, str(error)) from None
        raise self._error_at(
            node.operand, f"expected a rule or a token test after ~, got {value!r}."
        )

    def _joined(self, node: ast.BinOp) -> object:
        left, right = self._value(node.left), self._value(node.right)
        for kind in (Constraint, tokens.TokenTest):
            if isinstance(left, kind) and isinstance(right, kind):
                try:
                    return left & right if isinstance(node.op, ast.BitAnd) else left | right
                except TypeError as error:
                    raise self._error_at(node, str(error)) from None
        sign = "&" if isinstance(node.op, ast.BitAnd) else "|"
        raise self._error_at(
            node.right,
            f"expected two rules or two token tests around {sign}, got {left!r} and {right!r}.",
        )

    def _error_at(self, node: ast.expr, message: str) -> RuleError:
        # The parser counts bytes, on the first line of the stripped text.
        lines = self._line.strip().splitlines()
        before = lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="replace")
        indent = self._indent if node.lineno == 1 else 0
        return self._error(sum(map(len, lines[: node.lineno - 1])) + indent + len(before), message)

    def _error(self, column: int, message: str) -> RuleError:
        return RuleError(f"{self._place}column {column + 1}: {message}")
