"""Rules given on the command line, with their places in files for messages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeVar

import typer

from trelliswork._utils.tables import shorten
from trelliswork.automata.automaton import MAX_STATES
from trelliswork.constraints import iter_rules
from trelliswork.constraints.soft import Soft
from trelliswork.data.files import read_lines
from trelliswork.data.sentence import TOKEN_COLUMN
from trelliswork.errors import LabelError, RuleError, TooLargeError
from trelliswork.learn.settings_checks import labels_to_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork.constraints import Constraint, PlacedRule
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.taggers.trained import TrainedTagger

__all__ = ["GivenRules", "RuleOptions", "columns_tested"]

AnyTagger = TypeVar("AnyTagger", bound="TrainedTagger")


@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """The rules that a user gives."""

    panel: ClassVar[str] = "Rules"

    rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rules for the labels, one per line, such as at_most(1, title). A rule that ends "
            "in ': soft' may be broken at a penalty.",
        ),
    ] = None
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A single rule. May be repeated."),
    ] = None

    def read(self) -> GivenRules:
        """Return the rules of the file, followed by those given as text."""
        placed: list[PlacedRule] = []
        if self.rules is not None:
            if str(self.rules) == "-":
                raise ValueError(
                    "--rules: expected a file, got -: standard input is for sentences."
                )
            placed += iter_rules("\n".join(read_lines(self.rules)), str(self.rules))
            if not placed:
                raise RuleError(f"{self.rules}: expected one rule a line, got none.")
        for text in self.rule or ():
            if not text.strip():
                raise RuleError("--rule: expected a rule, got an empty text.")
            placed += iter_rules(text, "--rule")
        return GivenRules(tuple(placed))


@dataclass(frozen=True, slots=True)
class GivenRules:
    """The rules of one run.

    Attributes
    ----------
    placed
        The rules, each with its place in a file or among the options.
    """

    placed: tuple[PlacedRule, ...]

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The rules alone."""
        return tuple(placed.rule for placed in self.placed)

    @property
    def to_learn(self) -> tuple[PlacedRule, ...]:
        """The soft rules whose penalties are to be learned."""
        return tuple(
            placed
            for placed in self.placed
            if isinstance(placed.rule, Soft) and placed.rule.penalty is None
        )

    def check(self, labels: LabelSet, *, more: bool = False) -> None:
        """Raise an error with its place if a rule names an unknown label.

        Parameters
        ----------
        labels
            The labels.
        more
            Whether the command has the option ``--labels`` for labels that do not occur.
        """
        for placed in self.placed:
            try:
                placed.check(labels)
            except LabelError as error:
                missing = labels_to_name(self.constraints, labels) if more else []
                if not missing:
                    raise
                raise LabelError(
                    f"{error} If the label exists but does not occur in the data, add "
                    f"--labels {','.join(missing)}."
                ) from error

    def apply_to(self, tagger: AnyTagger) -> AnyTagger:
        """Return a trained tagger with these rules, if any, in place of its own.

        Soft rules without a penalty take the penalty that the tagger learned.
        """
        if not self.placed:
            return tagger
        self.check(tagger.labels_)
        try:
            found = tagger.with_constraints(self.constraints)
        except TooLargeError as error:
            raise self.too_large(error, tagger.labels_) from error
        for placed, penalty in zip(self.placed, found.plan_.penalties.tolist(), strict=True):
            if math.isnan(penalty):
                raise RuleError(
                    f"{placed.place}: {shorten(repr(placed.rule))} has no penalty, and the model "
                    "has learned none. Give the penalty, as in ': soft(1.5)', or train with this "
                    "rule."
                )
        return found

    def too_large(self, error: TooLargeError, labels: LabelSet) -> TooLargeError:
        """Return an error about the rule that is too large by itself, or `error` if none is."""
        for placed in self.placed:
            try:
                placed.rule.compile(labels)
            except RuleError:  # a sum of counts has no automaton
                continue
            except TooLargeError:
                return TooLargeError(
                    f"{placed.place}: {shorten(repr(placed.rule))} needs more than "
                    f"{MAX_STATES:,} states. Give a rule with smaller numbers, or several simpler "
                    "ones instead."
                )
        return error


def columns_tested(rules: Iterable[Constraint]) -> list[str]:
    """Return the columns, except the tokens, that the token tests of rules read."""
    columns = (
        atom.column for rule in rules for test in rule.tests for atom in test.atoms if atom.column
    )
    return [column for column in dict.fromkeys(columns) if column != TOKEN_COLUMN]
