"""Rules that a user gives, each with the place where it was given."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from trelliswork._utils.tables import shorten
from trelliswork.automata.automaton import MAX_STATES
from trelliswork.constraints import iter_rules
from trelliswork.constraints.soft import Soft
from trelliswork.data.files import read_lines
from trelliswork.data.sentence import TOKEN_COLUMN
from trelliswork.errors import LabelError, RuleError, TooLargeError
from trelliswork.learn.settings_checks import labels_to_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from trelliswork.constraints import Constraint, PlacedRule
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.taggers.trained import TrainedTagger

__all__ = ["GivenRules", "columns_tested"]

AnyTagger = TypeVar("AnyTagger", bound="TrainedTagger")


@dataclass(frozen=True, slots=True)
class GivenRules:
    """The rules of one run.

    Attributes
    ----------
    placed
        The rules, each with the place where it stands.
    """

    placed: tuple[PlacedRule, ...]

    @classmethod
    def read(cls, path: Path | None, texts: Sequence[str] | None) -> GivenRules:
        """Return the rules of a file, and after them those given as text."""
        placed: list[PlacedRule] = []
        if path is not None:
            if str(path) == "-":
                raise ValueError("--rules: expected a file, got -: standard input has sentences.")
            placed += iter_rules("\n".join(read_lines(path)), str(path))
            if not placed:
                raise RuleError(f"{path}: expected one rule a line, got none.")
        for text in texts or ():
            if not text.strip():
                raise RuleError("--rule: expected a rule, got an empty text.")
            placed += iter_rules(text, "--rule")
        return cls(tuple(placed))

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
        """Raise an error where a rule names what the labels do not know, with its place.

        Parameters
        ----------
        labels
            The labels.
        more
            Whether the command has ``--labels`` for those that the data do not show.
        """
        for placed in self.placed:
            try:
                placed.check(labels)
            except LabelError as error:
                missing = labels_to_name(self.constraints, labels) if more else []
                if not missing:
                    raise
                raise LabelError(
                    f"{error} If the data just do not show all labels that there are, add "
                    f"--labels {','.join(missing)}."
                ) from error

    def apply_to(self, tagger: AnyTagger) -> AnyTagger:
        """Return a trained tagger under these rules, if there are any, instead of its own.

        Soft rules without a penalty have the one that the tagger learned.
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
                    "has learned none. Say what to break it costs, as in ': soft(1.5)', or train "
                    "with this rule."
                )
        return found

    def too_large(self, error: TooLargeError, labels: LabelSet) -> TooLargeError:
        """Return an error that tells which rule alone is too large; that given where none is."""
        for placed in self.placed:
            try:
                placed.rule.compile(labels)
            except RuleError:  # a sum of counts, which is no automaton
                continue
            except TooLargeError:
                return TooLargeError(
                    f"{placed.place}: {shorten(repr(placed.rule))} needs more than "
                    f"{MAX_STATES:,} states. Give a rule with smaller numbers, or several simpler "
                    "ones instead."
                )
        return error


def columns_tested(rules: Iterable[Constraint]) -> list[str]:
    """Return the columns beside the tokens that the token tests of rules read."""
    columns = (
        atom.column for rule in rules for test in rule.tests for atom in test.atoms if atom.column
    )
    return [column for column in dict.fromkeys(columns) if column != TOKEN_COLUMN]
