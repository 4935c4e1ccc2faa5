"""Many rules held against one labelling, which is read once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.constraints.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.constraints.base import Constraint
    from trelliswork.constraints.token_tests import SentenceLike
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.schemes import Scheme

__all__ = ["judge"]


def judge(
    rules: Iterable[Constraint],
    labels: Sequence[str],
    sentence: SentenceLike | None = None,
    *,
    scheme: Scheme | LabelSet | None = None,
) -> list[int]:
    """Return how badly a labelling breaks each of some rules.

    The same as `Constraint.violations` of each, with the same parameters, in much less time: the
    segments are read once.

    Examples
    --------
    >>> from trelliswork.constraints import at_most, precedes
    >>> judge([at_most(1, "a"), precedes("a", "b")], ["a", "b", "a"])
    [1, 1]
    """
    reading = Reading(labels, sentence, scheme)
    return [rule.degree(reading) for rule in rules]
