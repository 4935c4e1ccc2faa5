"""Statistics of label patterns, and a warning if there are too many.

Models of high order are affordable because few of the ``L**k`` patterns of ``k`` labels occur. The
statistics show whether this holds. Letters: ``L`` labels, ``P`` patterns.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from trelliswork.automata.automaton import Automaton
    from trelliswork.automata.patterns import Patterns

__all__ = ["LengthStatistics", "PatternStatistics", "growth_problem", "warn_of_growth"]

logger = logging.getLogger(__name__)

MANY_PATTERNS = 1_000  # fewer are affordable, however dense
DENSE_GROWTH = 0.5  # share of the possible patterns of a length, L for each shorter one
MANY_ARCS = 100_000
MOSTLY_ONCE = 0.5


@dataclass(frozen=True, slots=True)
class LengthStatistics:
    """Statistics of the patterns of one length.

    Attributes
    ----------
    length
        Number of labels, ``k``.
    patterns
        Number of patterns of this length.
    possible
        ``L**k``.
    occurrences
        Number of their occurrences; ``None`` if unknown.
    once
        Number of patterns that occur once only; ``None`` if unknown.
    """

    length: int
    patterns: int
    possible: int
    occurrences: int | None
    once: int | None


@dataclass(frozen=True, slots=True)
class PatternStatistics:
    """Statistics of a set of patterns.

    Attributes
    ----------
    labels
        ``L``.
    patterns
        ``P``.
    states, arcs
        Of the automaton of the patterns.
    lengths
        The same, length by length; lengths without patterns are left out.

    Examples
    --------
    >>> from trelliswork.automata.patterns import Patterns
    >>> found = PatternStatistics.of(Patterns.observe([0, 1, 0, 1], [0, 4], 2, order=2))
    >>> found.states, found.arcs
    (5, 10)
    >>> [(own.length, own.patterns, own.possible, own.once) for own in found.lengths]
    [(2, 2, 4, 1), (3, 2, 8, 2)]
    """

    labels: int
    patterns: int
    states: int
    arcs: int
    lengths: tuple[LengthStatistics, ...]

    @classmethod
    def of(cls, patterns: Patterns, automaton: Automaton | None = None) -> PatternStatistics:
        """Count patterns; `automaton` is that of the model, if it exists already."""
        automaton = patterns.automaton() if automaton is None else automaton
        counts = patterns.counts
        found = []
        for length in np.unique(patterns.lengths).tolist():
            of_length = patterns.lengths == length
            found.append(
                LengthStatistics(
                    length,
                    int(of_length.sum()),
                    patterns.n_labels**length,
                    None if counts is None else int(counts[of_length].sum()),
                    None if counts is None else int((counts[of_length] == 1).sum()),
                )
            )
        return cls(
            patterns.n_labels, len(patterns), automaton.n_states, automaton.n_arcs, tuple(found)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return asdict(self)


def growth_problem(statistics: PatternStatistics) -> str | None:
    """Return a warning if the patterns are not sparse, with advice; ``None`` if they are.

    They are not where a longer pattern goes on with most labels, so that each order multiplies
    their number and the cost; or where the automaton is large for the sake of patterns that were
    mostly seen once.
    """
    advice = "Cost grows with them. Use a lower order, a higher min_pattern_count, or max_patterns."
    before = statistics.labels
    for own in statistics.lengths:
        grows = own.patterns >= DENSE_GROWTH * before * statistics.labels
        # Pairs do not count: a chain has all of them.
        if own.length > 2 and own.patterns >= MANY_PATTERNS and grows:
            return (
                f"Label patterns are not sparse: there are {own.patterns:,} of {own.length} "
                f"labels, {own.patterns / before:.1f} times as many as of {own.length - 1}, with "
                f"{statistics.labels} labels. Their number grows exponentially with the order. "
                f"{advice}"
            )
        before = own.patterns
    longer = [own for own in statistics.lengths if own.length > 2]
    n_patterns = sum(own.patterns for own in longer)
    n_once = sum(own.once or 0 for own in longer)
    if statistics.arcs >= MANY_ARCS and n_once > MOSTLY_ONCE * n_patterns:
        return (
            f"{n_once:,} of the {n_patterns:,} label patterns of three labels and more occur once "
            f"only (the longest has {longer[-1].length}), and the automaton has "
            f"{statistics.arcs:,} arcs. {advice}"
        )
    return None


def warn_of_growth(statistics: PatternStatistics) -> None:
    """Log a warning if the patterns are not sparse."""
    problem = growth_problem(statistics)
    if problem is not None:
        logger.warning("%s", problem)
