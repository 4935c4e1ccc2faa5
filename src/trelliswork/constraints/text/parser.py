"""The parser of single rules, and of files with one rule a line.

`parse` reads the `repr` of a rule, and plainer words too: labels need no quotes, ``author before
title`` is `precedes`, and ``: soft`` at the end makes a rule soft. No code is executed, so that any
rule file is safe to read; `trelliswork.constraints.text.grammar` has the grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trelliswork.constraints.predicates import as_predicates
from trelliswork.constraints.text.grammar import Grammar
from trelliswork.constraints.text.scanner import PlacedError, Scanner
from trelliswork.errors import LabelError, RuleError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

    from trelliswork.constraints.base import Constraint
    from trelliswork.constraints.predicates import Predicate, Predicates
    from trelliswork.labels.label_set import LabelSet

__all__ = ["PlacedRule", "iter_rules", "parse", "parse_rules", "read_rules"]


@dataclass(frozen=True)
class PlacedRule:
    """A rule and its place in a file.

    Attributes
    ----------
    rule : Constraint
        The rule.
    place : str
        Its line, ``rules.txt:3`` for example.
    columns : mapping of str to int
        The columns of its names in that line, counted from 1.
    """

    rule: Constraint
    place: str
    columns: Mapping[str, int]

    def check(self, labels: LabelSet) -> None:
        """Raise a `LabelError`, with line and column, for a name that the labels do not know."""
        try:
            self.rule.check(labels)
        except LabelError as error:
            column = self._column(self.rule.unknown_names(labels)[0][0])
            place = self.place if column is None else f"{self.place}:{column}"
            raise LabelError(f"{place}: {error}") from error

    def _column(self, name: str) -> int | None:
        """Return the column of a name, alone or in a regular expression."""
        if name in self.columns:
            return self.columns[name]
        for text, column in self.columns.items():
            if found := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                return column + 1 + found.start()  # after the quote
        return None


def parse(text: str, *, predicates: Predicates | None = None) -> Constraint:
    """Read one rule.

    Parameters
    ----------
    text
        The rule as Python source, ``at_most(1, 'title') & ~contiguous('author')``,
        or in a rule file, ``author before title : soft``.
    predicates
        The predicates for ``predicate('name')``: Python functions cannot be written as text.

    Raises
    ------
    RuleError
        If the text is not a rule, naming the place and the expected token.

    Examples
    --------
    >>> parse("at_most(1, 'title') | precedes('author', 'title')")
    (at_most(1, 'title') | precedes('author', 'title'))
    >>> parse("count(**/person) - count(authors) >= 0 : soft(1.5)")
    (count('**/person') - count('authors') >= 0).soft(1.5)
    """
    return _read(text, "column ", as_predicates(predicates))[0]


def parse_rules(text: str, origin: str = "rules") -> tuple[Constraint, ...]:
    """Read the rules of a text, one a line; blank lines and comments (``#``) are skipped.

    Parameters
    ----------
    text
        The text.
    origin
        Name of the text in errors, for example of a file.
    """
    return tuple(placed.rule for placed in iter_rules(text, origin))


def iter_rules(text: str, origin: str = "rules") -> Iterator[PlacedRule]:
    """Yield the rules of a text, each with its place.

    The parameters are those of `parse_rules`.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if not Scanner(line).is_done:
            place = f"{origin}:{number}"
            rule, labels = _read(line, f"{place}:")
            yield PlacedRule(rule, place, {name: at + 1 for name, at in labels.items()})


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


def _read(
    text: str, place: str, predicates: Mapping[str, Predicate] | None = None
) -> tuple[Constraint, dict[str, int]]:
    """Return a rule and the columns of its names; errors name the column after `place`."""
    grammar = Grammar(text, predicates or {})
    try:
        return grammar.rule(), grammar.labels
    except PlacedError as error:
        raise RuleError(f"{place}{error.at + 1}: {error}") from None
