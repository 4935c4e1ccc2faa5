"""Soft rules: a labelling pays a penalty for every violation instead of being forbidden.

The score of a labelling under soft rules is

    P(y) = score(y) − Σ_c ρ_c · v_c(y),    ρ_c ≥ 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.base import Constraint

if TYPE_CHECKING:
    from typing import NoReturn

    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints.arguments import Unit
    from trelliswork.constraints.reading import Reading
    from trelliswork.constraints.rows import Row
    from trelliswork.constraints.token_tests import TokenTest
    from trelliswork.labels.label_set import LabelSet

__all__ = ["Soft", "priced_rule"]

MAX_PENALTY = 1e6
"""Scores are nats: nothing that costs more is ever broken for their sake."""


@dataclass(frozen=True, repr=False)
class Soft(Constraint):
    """A soft rule; made by `Constraint.soft`.

    Its violations, names and explanations are those of the rule inside.

    Attributes
    ----------
    rule : Constraint
        The rule itself, which is hard.
    penalty : float or None
        The penalty of one violation, ``ρ ≥ 0``; ``None``: to be learned.
    """

    rule: Constraint
    penalty: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.rule, Constraint):
            raise TypeError(
                f"Soft: expected a constraint, got {type(self.rule).__name__} {self.rule!r}."
            )
        object.__setattr__(self, "rule", self.rule.hard)
        object.__setattr__(self, "penalty", check_penalty(self.penalty))

    @property
    def is_soft(self) -> bool:
        """True: the rule is soft."""
        return True

    @property
    def is_predicate(self) -> bool:
        """Whether the rule is a Python function."""
        return self.rule.is_predicate

    @property
    def hard(self) -> Constraint:
        """The hard rule behind this one."""
        return self.rule

    @property
    def tests(self) -> tuple[TokenTest, ...]:
        """The token tests that the rule asks."""
        return self.rule.tests

    @property
    def names(self) -> tuple[tuple[str, Unit], ...]:
        """The names that the rule mentions."""
        return self.rule.names

    @property
    def rows(self) -> tuple[Row, ...] | None:
        """The rows whose violations add up to those of the rule."""
        return self.rule.rows

    @property
    def conjuncts(self) -> tuple[Constraint, ...]:
        """The operands of ``&`` at the top, each soft with the same penalty."""
        return tuple(replace(self, rule=part) for part in self.rule.conjuncts)

    def per_token(self) -> Constraint:
        """Return the rule with a violation for every token that breaks it, as soft as before."""
        return replace(self, rule=self.rule.per_token())

    def in_segments(self) -> Constraint:
        """Return the rule as a semi-Markov model reads it."""
        return replace(self, rule=self.rule.in_segments())

    def check(self, labels: LabelSet) -> None:
        """Raise a `LabelError` if the rule has a name that the label set does not know."""
        self.rule.check(labels)

    def _degree(self, reading: Reading) -> int:
        return self.rule._degree(reading)

    def _faults(self, reading: Reading) -> list[str]:
        return self.rule._faults(reading)

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        return self.rule._build(labels, max_states)

    def __and__(self, other: object) -> NoReturn:
        raise _combined(self, "&")

    def __or__(self, other: object) -> NoReturn:
        raise _combined(self, "|")

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> NoReturn:
        raise _combined(self, "~")

    def __repr__(self) -> str:
        penalty = "" if self.penalty is None else repr(self.penalty)
        rule = self.rule._operand()
        if rule.startswith("~"):  # a dot binds more closely
            rule = f"({rule})"
        return f"{rule}.soft({penalty})"


def spell_penalty(penalty: float) -> str:
    """Return a penalty as a cell of a table: ``hard``, ``to learn`` or a number.

    Examples
    --------
    >>> [spell_penalty(p) for p in (math.inf, math.nan, 1.23456)]
    ['hard', 'to learn', '1.235']
    """
    if math.isnan(penalty):
        return "to learn"
    return "hard" if math.isinf(penalty) else f"{penalty:.4g}"


def priced_rule(rule: Constraint, penalty: float) -> Constraint:
    """Return the source of a rule with its learned penalty, to four digits, for tables.

    Parameters
    ----------
    rule
        The rule.
    penalty
        The penalty of one violation in its plan; nan: not learned yet.
    """
    if not isinstance(rule, Soft) or rule.penalty is not None or math.isnan(penalty):
        return rule
    return rule.rule.soft(float(f"{penalty:.4g}"))


def check_penalty(penalty: object) -> float | None:
    """Return a penalty: ``None`` or a finite number from 0 up; raise an error for anything else."""
    if penalty is None:
        return None
    if isinstance(penalty, np.ndarray) and penalty.ndim == 0:
        penalty = penalty.item()
    if isinstance(penalty, bool) or not isinstance(penalty, Real):
        raise TypeError(
            f"penalty: expected a number, got {type(penalty).__name__} {penalty!r}. Leave it out "
            "to have it learned."
        )
    try:
        value = float(penalty)
    except OverflowError:
        value = math.inf
    if MAX_PENALTY < value < math.inf:
        raise ValueError(
            f"penalty: expected at most {MAX_PENALTY:g}, got {value:g}: sums with larger numbers "
            "lose the digits of scores. A rule without .soft() is hard: no labelling breaks it."
        )
    if value == math.inf:
        raise ValueError(
            "penalty: expected a finite number, got inf. A rule without .soft() is hard: no "
            "labelling breaks it."
        )
    if math.isnan(value):
        raise ValueError(
            "penalty: expected a number of 0 or more, got nan. Leave it out to have it learned."
        )
    if value < 0.0:
        raise ValueError(
            f"penalty: expected 0 or more, got {value}. Write a rule for the opposite with ~ to "
            "reward what breaks it, or leave the penalty out to have it learned."
        )
    return value + 0.0  # -0.0 prints as 0.0


def _combined(rule: Soft, sign: str) -> TypeError:
    whole = "(~a).soft()" if sign == "~" else f"(a {sign} b).soft()"
    also = ", or give the rules one by one" if sign == "&" else ""
    return TypeError(
        f"{sign}: {rule!r} is soft, and a part of a rule cannot be. Make the whole soft: "
        f"{whole}{also}."
    )
