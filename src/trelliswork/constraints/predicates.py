"""Predicates: Python functions as rules.

A predicate has no automaton, so that only a search over prefixes decodes under it (beam and A*, see
`trelliswork.decoding.prefixes`). With a *prefix form* the search learns early that a labelling goes
wrong:

    v(y) = Σ_t prefix(y_1 … y_t),      prefix ≥ 0

where each summand is the number of violations that token ``t`` newly causes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trelliswork._utils.tables import shorten
from trelliswork.constraints.base import Constraint
from trelliswork.errors import RuleError

if TYPE_CHECKING:
    from typing import NoReturn

    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints.reading import Reading
    from trelliswork.labels.label_set import LabelSet

__all__ = ["Predicate", "Predicates", "as_predicates", "predicate"]

MAX_VIOLATIONS = 1_000_000_000
"""The largest number of violations; sums of such numbers do not overflow."""

Judge: TypeAlias = Callable[[list[str], Any], Any]
"""A function of labels and their sentence; returns the number of violations."""


@dataclass(frozen=True, repr=False)
class Predicate(Constraint):
    """A Python function as a rule; made by `predicate`.

    Attributes
    ----------
    name : str
        Its name in messages and model files.
    function : callable or None
        The violations of a labelling; None: the sum of those of its prefixes.
    prefix : callable or None
        The violations that the last token of a prefix newly causes; None: only complete labellings
        are judged.
    """

    name: str
    function: Judge | None
    prefix: Judge | None = None

    @property
    def is_predicate(self) -> bool:
        """True: the rule is a Python function."""
        return True

    def count(self, labels: list[str], sentence: Any) -> int:
        """Return the violations of a complete labelling.

        Parameters
        ----------
        labels
            The ``T`` labels.
        sentence
            The sentence they belong to, as it was given, or None.

        Raises
        ------
        RuleError
            If the function answers with anything but a number of violations, or raises.
        """
        if self.function is not None:
            return self._asked(self.function, "violations", labels, sentence)
        ends = range(1, len(labels) + 1)
        return sum(self.count_new(labels[:end], sentence) for end in ends)

    def count_new(self, labels: list[str], sentence: Any) -> int:
        """Return the violations newly caused by the last label of a prefix; 0 without `prefix`.

        The parameters are those of `count`, for the first ``t`` labels of the sentence.
        """
        if self.prefix is None:
            return 0
        return self._asked(self.prefix, "prefix", labels, sentence)

    def check_sum(self, total: int, labels: list[str], sentence: Any) -> None:
        """Raise a `RuleError` if prefixes do not add up to the violations of a labelling."""
        if self.function is None or self.prefix is None:
            return
        whole = self.count(labels, sentence)
        if whole != total:
            raise RuleError(
                f"{self!r}: expected the prefix violations of a labelling to add up to its "
                f"violations, {whole}, got {total} for {shorten(repr(labels))}. prefix= counts "
                "what the last label newly causes."
            )

    def _asked(self, function: Judge, what: str, labels: list[str], sentence: Any) -> int:
        """Return a number of violations; raise an error if the function returned anything else."""
        try:
            answer = function(list(labels), sentence)
        except Exception as error:
            raise RuleError(
                f"{self!r}: {what} raised {type(error).__name__}: {error}, for "
                f"{shorten(repr(labels))}."
            ) from error
        is_count = isinstance(answer, bool | np.bool_ | Integral)
        if is_count and 0 <= answer <= MAX_VIOLATIONS:
            return int(answer)
        kind = "one out of range" if is_count else f"a {type(answer).__name__}"
        raise RuleError(
            f"{self!r}: expected {what} to return a whole number from 0 up, or True where the rule "
            f"is broken, got {kind}, {shorten(repr(answer))}, for {shorten(repr(labels))}."
        )

    def _degree(self, reading: Reading) -> int:
        return self.count(list(reading.labels), reading.sentence)

    def _faults(self, reading: Reading) -> list[str]:
        return [f"{self!r} counts {self._degree(reading)}."]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        raise RuleError(
            f"{self!r} is a Python function and has no automaton: only a search over prefixes "
            "decodes under it, method='beam' or 'astar'."
        )

    def __and__(self, other: object) -> NoReturn:
        raise self._combined("&")

    def __or__(self, other: object) -> NoReturn:
        raise self._combined("|")

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> NoReturn:
        raise self._combined("~")

    def _combined(self, sign: str) -> TypeError:
        advice = "Give the rules one by one" if sign == "&" else "Write it in the function"
        return TypeError(
            f"{sign}: {self!r} is a Python function and cannot be a part of a rule. {advice}."
        )

    def __hash__(self) -> int:
        return hash(self.name)  # functions that are objects may have no hash

    def __repr__(self) -> str:
        return f"predicate({self.name!r})"


Predicates: TypeAlias = Mapping[str, Predicate] | Iterable[Predicate]
"""Predicates by their names, or one after the other."""


def predicate(
    violations: Judge | None = None, name: str | None = None, prefix: Judge | None = None
) -> Predicate:
    """Return a Python function as a rule, for conditions that no other rule expresses.

    Only a search decodes under it, and probabilities cannot be had. It is never saved: a model file
    keeps its name, and ``tw.load(path, predicates=[rule])`` puts it back.

    Parameters
    ----------
    violations
        ``violations(labels, sentence)`` says how badly ``labels``, a list of ``T`` names, break the
        rule: a whole number from 0 up, or True. ``sentence`` is the input of the sequence.
        Default: the sum over all prefixes.
    name
        Name of the rule in messages and files. Default: the name of the function.
    prefix
        ``prefix(labels, sentence)`` says how many violations the last of the first ``t`` labels
        newly causes; they add up to those of the whole. The search is much faster with it. Default:
        only complete labellings are judged.

    Examples
    --------
    >>> def repeats(labels, sentence):
    ...     return sum(a == b for a, b in zip(labels, labels[1:]))
    >>> rule = predicate(repeats, prefix=lambda labels, sentence: repeats(labels[-2:], sentence))
    >>> rule, rule.violations(["a", "a", "b", "b"])
    (predicate('repeats'), 2)
    """
    for what, function in (("violations", violations), ("prefix", prefix)):
        if function is not None and not callable(function):
            raise TypeError(
                f"{what}: expected a function of labels and sentence, got "
                f"{type(function).__name__} {function!r}."
            )
    if violations is None and prefix is None:
        raise TypeError("predicate: expected a function, violations= or prefix=, got neither.")
    if name is None:
        name = getattr(violations if violations is not None else prefix, "__name__", "<lambda>")
        if name == "<lambda>":
            raise ValueError("name: expected one, for a function that has none. Give name=.")
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"name: expected a text, got {name!r}.")
    return Predicate(name, violations, prefix)


def as_predicates(given: Predicates | None) -> dict[str, Predicate]:
    """Return predicates by their names.

    Raises
    ------
    TypeError, ValueError
        For anything else, for two of one name, and for one under a name that is not its own.
    """
    if given is None:
        return {}
    pairs = (
        list(given.items()) if isinstance(given, Mapping) else [(None, one) for one in _many(given)]
    )
    found: dict[str, Predicate] = {}
    for name, given_rule in pairs:
        one = given_rule.hard if isinstance(given_rule, Constraint) else given_rule
        if not isinstance(one, Predicate):
            raise TypeError(
                f"predicates: expected predicates made by tw.predicate, got "
                f"{type(one).__name__} {one!r}."
            )
        if name is not None and name != one.name:
            raise ValueError(f"predicates: expected {one!r} under its own name, got {name!r}.")
        if found.setdefault(one.name, one) != one:
            raise ValueError(
                f"predicates: expected one {one!r}, got two functions of that name. Give one of "
                "them another: name=."
            )
    return found


def _many(given: Any) -> list[Any]:
    if isinstance(given, Iterable) and not isinstance(given, str):
        return list(given)
    return [given]
