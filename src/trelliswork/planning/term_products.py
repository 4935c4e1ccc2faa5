"""The model times terms of the violation sum: hard ones forbid, soft ones count violations.

In a product of a plan with ``I`` terms, pattern ``P + 2 i`` fires once for every unit by which an
arc raises the violation of soft term ``i``, and ``P + 2 i + 1`` once for every unit by which it
lowers it; ``P`` are the patterns of the model. With weights ``−ρ_i`` and ``ρ_i`` of these a path
scores

    score(y) − Σ_{soft i in the product} ρ_i (v_i(y) − v_i(ε)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import MAX_ARCS, StatePairs, assemble, fired_by, is_deterministic
from trelliswork.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork._typing import IdArray, IntArray
    from trelliswork.planning.violation_automata import ViolationAutomaton


__all__ = ["ProductPart", "multiply"]


@dataclass(frozen=True, eq=False)
class ProductPart:
    """A part of a product: an automaton that the model is multiplied with.

    Attributes
    ----------
    automaton : Automaton
        Over the letters of the model, for each class of tokens.
    term : int or None
        The soft term whose violations it counts; None: it forbids.
    violations : ViolationAutomaton or None
        What its arcs add to the violation of that term.
    """

    automaton: Automaton
    term: int | None = None
    violations: ViolationAutomaton | None = None


def multiply(
    model: Automaton,
    parts: Iterable[ProductPart],
    n_classes: int,
    budget: int,
    n_more_patterns: int,
) -> Automaton:
    """Return the product of the model and some parts, with patterns for violations.

    Parameters
    ----------
    model
        The automaton of the model.
    parts
        What to multiply it with, in this order; each is asked for when it is needed.
    n_classes
        Classes of tokens.
    budget
        Maximum number of arcs.
    n_more_patterns
        Patterns for violations, after those of the model: two for each term of the plan.

    Raises
    ------
    TooLargeError
        If the product has more arcs than `budget`.
    """
    together = _together(parts, budget * n_classes)
    if together is None:
        return Automaton._from_arrays(
            model._arrays()._replace(n_patterns=model.n_patterns + n_more_patterns)
        )
    language, counters = together
    pairs = StatePairs.of(model, language, n_classes, budget)
    counters = [counter.at(pairs.language_states) for counter in counters]
    fired = _fired_with(model, pairs, counters)
    contexts = _contexts_with(model, pairs, counters)
    return assemble(
        model, language, pairs, n_classes, fired, contexts, n_more_patterns=n_more_patterns
    )


@dataclass(frozen=True, eq=False)
class _TermCounter:
    """The violation automaton of a term, and its state in each state of a product, ``(S,)``."""

    term: int
    violations: ViolationAutomaton
    states: IntArray

    def at(self, places: IdArray) -> _TermCounter:
        """Return the counter in a product whose states are at some places of this one."""
        return _TermCounter(self.term, self.violations, self.states[places])

    def on_arcs(self, pairs: StatePairs) -> IntArray:
        """Return the change of the violation by each arc of a product, shape ``(A,)``."""
        added, value = self.violations.added, self.violations.value
        source, target = self.states[pairs.source], self.states[pairs.target]
        found: IntArray = added[source, pairs.label] + value[target] - value[source]
        return found

    def classes(self) -> IntArray:
        """Return numbers of states that add the same by the same label, shape ``(S,)``."""
        made, added = self.violations.automaton, self.violations.added.copy()
        if self.violations.value.any():  # no letter but its label matters, see `_contexts_with`
            change = self.violations.value[made.target] - self.violations.value[made.source]
            added[made.source, made.label] += change
        kinds = np.unique(added, axis=0, return_inverse=True)[1].ravel()
        return np.asarray(kinds[self.states], dtype=np.int64)


def _together(
    parts: Iterable[ProductPart], max_arcs: int
) -> tuple[Automaton, list[_TermCounter]] | None:
    """Return the product of all parts, and the counters in it; None without any."""
    language: Automaton | None = None
    counters: list[_TermCounter] = []
    for part in parts:
        if language is None:
            language = part.automaton
            counters = _counters(part, np.arange(language.n_states))
            continue
        pairs = StatePairs.of(language, part.automaton, 1, max_arcs)
        counters = [counter.at(pairs.model_states) for counter in counters]
        counters += _counters(part, pairs.language_states.astype(np.int64))
        initial, final = pairs.borders(language, part.automaton)
        language = Automaton(
            initial.size,
            part.automaton.n_labels,
            pairs.source,
            pairs.label,
            pairs.target,
            initial=initial,
            final=final,
        )
    return None if language is None else (language, counters)


def _counters(part: ProductPart, states: IntArray) -> list[_TermCounter]:
    if part.term is None or part.violations is None:
        return []
    return [_TermCounter(part.term, part.violations, states)]


def _fired_with(
    model: Automaton, pairs: StatePairs, counters: Sequence[_TermCounter]
) -> tuple[IntArray, IdArray]:
    """Return the patterns of arcs: those of the model, then those of violations."""
    offsets, ids = fired_by(model, pairs.arc_map)
    arcs = [np.repeat(np.arange(pairs.source.size), np.diff(offsets))]
    patterns = [ids]
    for counter in counters:
        change = counter.on_arcs(pairs)
        times = np.abs(change)
        if times.sum() > MAX_ARCS:
            raise TooLargeError("A row has coefficients too large to be counted unit by unit.")
        pattern = model.n_patterns + 2 * counter.term + (change < 0)
        arcs.append(np.repeat(np.arange(change.size), times))
        patterns.append(np.repeat(pattern, times).astype(np.int32))
    arc, fired = np.concatenate(arcs), np.concatenate(patterns)
    counts = np.bincount(arc, minlength=pairs.source.size)
    return (
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        fired[np.argsort(arc, kind="stable")],
    )


def _contexts_with(
    model: Automaton, pairs: StatePairs, counters: Sequence[_TermCounter]
) -> IdArray | None:
    """Return which states fire the same patterns by the same label, violations included."""
    if not pairs.model_states.size or not is_deterministic(model):
        return None
    if any(counter.violations.reads_tokens for counter in counters):
        return None  # which patterns a label fires depends on the token
    columns = [pairs.model_states.astype(np.int64), *(own.classes() for own in counters)]
    numbers = np.unique(np.stack(columns), axis=1, return_inverse=True)[1]
    return numbers.ravel().astype(np.int32)
