"""Syntax trees of regular expressions over labels, and their printing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Both", "Concat", "Either", "Empty", "Labels", "Node", "Not", "Repeat", "simplify"]

SPECIAL = r"""()\[\]{}|&~*+?^'"\\\s"""
"""The characters that no bare label has, for a class of `re`."""
BARE = re.compile(rf"(?!\.+\Z)[^{SPECIAL}]+\Z")


@dataclass(frozen=True)
class Node:
    """A regular expression over labels; ``str(node)`` is an expression that parses to it."""

    def __str__(self) -> str:
        return write_node(self, 0)


@dataclass(frozen=True)
class Empty(Node):
    """The empty sequence: ``()``."""


@dataclass(frozen=True)
class Labels(Node):
    """One label of a set or, negated, one label outside it.

    A single label is ``Labels(("O",))``, any label is ``Labels((), negated=True)``. `columns` says
    where in the expression the names stand.
    """

    names: tuple[str, ...]
    negated: bool = False
    columns: tuple[int, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class Concat(Node):
    """Concatenation: ``a b``."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Both(Node):
    """Intersection: ``a & b``."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Either(Node):
    """Alternation: ``a | b``."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Not(Node):
    """Complement: ``~a``, every sequence that the inner expression does not match."""

    inner: Node


@dataclass(frozen=True)
class Repeat(Node):
    """Repetition, from `low` to `high` times; without an upper bound if `high` is ``None``."""

    inner: Node
    low: int
    high: int | None


def nullable(node: Node) -> bool:
    """Return whether an expression matches the empty sequence."""
    match node:
        case Labels():
            return False
        case Concat(parts) | Both(parts):
            return all(map(nullable, parts))
        case Either(parts):
            return any(map(nullable, parts))
        case Not(inner):
            return not nullable(inner)
        case Repeat(inner, low):
            return low == 0 or nullable(inner)
        case _:
            return True


def simplify(node: Node) -> Node:
    """Return an expression of the same language without redundant repetitions.

    ``(a?){9}`` is ``a{,9}``, ``(a*){9}`` is ``a*`` and ``(){9}`` is ``()``: what is written with
    large numbers is not always large.
    """
    match node:
        case Concat(parts):
            kept = [part for part in map(simplify, parts) if part != Empty()]
            return Concat(tuple(kept)) if kept else Empty()
        case Both(parts) | Either(parts):
            return type(node)(tuple(map(simplify, parts)))
        case Not(inner):
            return Not(simplify(inner))
        case Repeat(inner, low, high):
            return _simplified_repeat(simplify(inner), low, high)
        case _:
            return node


def _simplified_repeat(inner: Node, low: int, high: int | None) -> Node:
    if inner == Empty() or high == 0:
        return Empty()
    if nullable(inner):
        low = 0
    if isinstance(inner, Repeat) and (
        inner.low <= 1 or low == high or (inner.high is None and low > 0)
    ):  # then there are no gaps: every number from the least to the most is possible
        most = None if high is None or inner.high is None else high * inner.high
        return Repeat(inner.inner, low * inner.low, most)
    return Repeat(inner, low, high)


def quote_label(name: str) -> str:
    """Return a label in the syntax of expressions, quoted if necessary."""
    if BARE.match(name):
        return name
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def write_node(node: Node, level: int) -> str:
    """Return the text of a node, in parentheses if it binds less than `level`: | 0, & 1, …, ~ 3."""
    match node:
        case Labels(names, negated):
            words = " ".join(map(quote_label, names))
            if negated:
                return f"[^{words}]" if names else "."
            return words if len(names) == 1 else f"[{words}]"
        case Either(parts):
            own, text = 0, " | ".join(write_node(part, 1) for part in parts)
        case Both(parts):
            own, text = 1, " & ".join(write_node(part, 2) for part in parts)
        case Concat(parts):
            own, text = 2, " ".join(write_node(part, 3) for part in parts)
        case Not(inner):
            own, text = 3, "~" + write_node(inner, 3)
        case Repeat(inner, low, high):
            own, text = 4, write_node(inner, 4) + bounds(low, high)
        case _:
            return "()"
    return text if own >= level else f"({text})"


def bounds(low: int, high: int | None) -> str:
    """Return the bounds of a repetition as text."""
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
    return short or (f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}")
