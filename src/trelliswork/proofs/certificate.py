"""Certificates: a tree of decisions whose leaves bound all answers.

A certificate splits the answers into *leaves*. The decisions of a leaf say which answers belong to
it; its Lagrange multipliers bound the best of them. Each kind of problem adds its multipliers to
`Leaf`: prices of rows, or shares of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Certificate", "Leaf", "WrongError", "check_cover"]

DecisionT = TypeVar("DecisionT", bound=tuple[Any, ...])
LeafT = TypeVar("LeafT", bound="Leaf[Any]")


@dataclass(frozen=True, eq=False)
class Leaf(Generic[DecisionT]):
    """Some of the answers; subclasses add the multipliers that bound the best of them.

    Attributes
    ----------
    decisions : tuple of tuple
        The decisions shared by the answers of the leaf, from the root of the search on. The last
        entry of a decision is true or false; the others are the question.
    """

    decisions: tuple[DecisionT, ...]


class Certificate(Generic[LeafT]):
    """The proof that no answer is better.

    Attributes
    ----------
    leaves : tuple of Leaf
        Every answer belongs to one of them.
    """

    leaves: tuple[LeafT, ...]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.leaves)} leaves)"


class WrongError(Exception):
    """A claim that does not hold."""


def check_cover(leaves: Sequence[Leaf[Any]]) -> None:
    """Raise where some answer belongs to no leaf.

    The decisions of all leaves form a tree: at every node either one leaf ends, or all leaves
    continue with one question, which is answered both ways.
    """
    waiting = [(0, [leaf.decisions for leaf in leaves])]
    while waiting:
        depth, paths = waiting.pop()
        if any(len(path) == depth for path in paths):
            if len(paths) > 1:
                raise WrongError("certificate: a leaf ends where others continue.")
            continue
        if not paths:
            raise WrongError("certificate: a leaf is missing: some answers belong to none.")
        if len({path[depth][:-1] for path in paths}) > 1:
            raise WrongError(
                "certificate: leaves with the same decisions continue with two questions."
            )
        for answer in (True, False):
            part = [path for path in paths if path[depth][-1] is answer]
            waiting.append((depth + 1, part))
