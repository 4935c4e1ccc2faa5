"""The labelling that rules are evaluated on, and the names that they use.

A name in a rule stands for a set of segment names (in segment units) or of token labels (in token
units). With paths it may hold wildcards: ``**/person`` is a person at any depth, ``*`` one level.
A `Reading` has the segments of one labelling; many rules can share it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from trelliswork._utils.tables import first_names
from trelliswork.errors import LabelError
from trelliswork.labels import schemes
from trelliswork.labels.label_set import LabelSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import BoolArray
    from trelliswork.constraints.arguments import Unit
    from trelliswork.constraints.base import Constraint
    from trelliswork.constraints.token_tests import SentenceLike, TokenTest
    from trelliswork.labels.schemes import Scheme
    from trelliswork.labels.segments import Span


class Reading:
    """One labelling and its sentence, prepared for the rules.

    Parameters
    ----------
    labels
        The ``T`` labels.
    sentence
        Input of the token tests, or ``None``.
    scheme
        A label set, a scheme name, or ``None`` to guess the scheme from these labels.

    Attributes
    ----------
    labels : tuple of str
        The labels.
    label_set : LabelSet
        The given one, else one of the labels that occur here.
    is_complete : bool
        Whether the label set was given, so that a name it does not know is a mistake.
    spans : list of Span
        The segments.
    """

    def __init__(
        self,
        labels: Sequence[str],
        sentence: SentenceLike | None = None,
        scheme: Scheme | LabelSet | None = None,
    ) -> None:
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            got = f"the string {labels!r}" if isinstance(labels, str) else type(labels).__name__
            raise TypeError(f"labels: expected a list of labels, got {got}.")
        self.labels = tuple(labels)
        for position, label in enumerate(self.labels):
            if not isinstance(label, str):
                raise LabelError(
                    f"position {position}: expected a label, got {label!r}. Rules judge complete "
                    "labellings."
                )
        self.is_complete = isinstance(scheme, LabelSet)
        if isinstance(scheme, LabelSet):
            self.label_set = scheme
            scheme.encode(self.labels)  # refuses labels it does not know
        else:
            names = sorted(set(self.labels))
            self.label_set = LabelSet(names or [schemes.OUTSIDE], scheme or guess_scheme(names))
        self.spans: list[Span] = self.label_set.spans(self.labels)
        self._sentence = sentence
        if sentence is not None and len(sentence) != len(self.labels):
            raise ValueError(
                f"Expected one label a token, got {len(self.labels)} labels for "
                f"{len(sentence)} tokens."
            )
        # Many rules may share one reading, and ask for the same names.
        self._segments: dict[str, list[Span]] = {}
        self._tokens: dict[str, list[int]] = {}
        self._known: dict[tuple[str, Unit], bool] = {}
        self._outcomes: dict[TokenTest, BoolArray] = {}

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def sentence(self) -> SentenceLike | None:
        """The sentence, or ``None``."""
        return self._sentence

    @property
    def has_sentence(self) -> bool:
        """Whether there is a sentence for token tests."""
        return self._sentence is not None

    def segments_of(self, name: str) -> list[Span]:
        """Return the segments of a name, in order of their starts."""
        if name not in self._segments:
            names = segment_names(self.label_set, name)
            self._segments[name] = [span for span in self.spans if span.name in names]
        return self._segments[name]

    def tokens_of(self, name: str) -> list[int]:
        """Return the positions of the tokens of a name."""
        if name not in self._tokens:
            names = token_names(self.label_set, name)
            self._tokens[name] = [t for t, label in enumerate(self.labels) if label in names]
        return self._tokens[name]

    def knows(self, name: str, unit: Unit) -> bool:
        """Return whether the label set has a meaning for a name."""
        if (name, unit) not in self._known:
            self._known[name, unit] = is_known(self.label_set, name, unit)
        return self._known[name, unit]

    def passes(self, test: TokenTest) -> BoolArray:
        """Return which tokens pass a test, shape ``(T,)``."""
        assert self._sentence is not None, "rules with tests are not read without a sentence"
        if test not in self._outcomes:
            self._outcomes[test] = test.passes(self._sentence)
        return self._outcomes[test]


def judge(
    rules: Iterable[Constraint],
    labels: Sequence[str],
    sentence: SentenceLike | None = None,
    *,
    scheme: Scheme | LabelSet | None = None,
) -> list[int]:
    """Return the violations of each rule in one labelling.

    The same numbers as `Constraint.violations` of each rule, but much faster: the segments are read
    once.

    Examples
    --------
    >>> from trelliswork.constraints import at_most, precedes
    >>> judge([at_most(1, "a"), precedes("a", "b")], ["a", "b", "a"])
    [1, 1]
    """
    reading = Reading(labels, sentence, scheme)
    return [rule.degree(reading) for rule in rules]


def guess_scheme(names: Iterable[str]) -> Scheme:
    """Guess the scheme of the labels of one sequence from their names alone.

    Paths where there are slashes and every level has its tag; else bio, bioes or bilou, the first
    that knows all the tags; else plain.
    """
    names = list(names)
    candidates: tuple[Scheme, ...] = ("bio", "bioes", "bilou")
    if any("/" in name for name in names):
        candidates = ("path", *candidates)
    for scheme in candidates:
        try:
            for name in names:
                schemes.parse(name, scheme)
        except LabelError:
            continue
        return scheme
    return "plain"


@lru_cache(maxsize=4096)
def segment_names(labels: LabelSet, name: str) -> frozenset[str]:
    """Return the segment names that a name stands for; none if there is no such segment."""
    if labels.scheme != "path" or "*" not in name:
        return frozenset({name}).intersection(labels.segment_names)
    pattern = tuple(name.split("/"))
    found = (other for other in labels.segment_names if _fits(tuple(other.split("/")), pattern))
    return frozenset(found)


@lru_cache(maxsize=4096)
def token_names(labels: LabelSet, name: str) -> frozenset[str]:
    """Return the labels that a name stands for in token units.

    That label, if there is one of this name; else all labels of tokens inside such a segment.
    """
    if name in labels:
        return frozenset({name})
    wanted = segment_names(labels, name)
    return frozenset(
        label for label in labels if not wanted.isdisjoint(open_segments(labels, label))
    )


def is_known(labels: LabelSet, name: str, unit: Unit) -> bool:
    """Return whether a label set has a meaning for a name."""
    return bool(segment_names(labels, name) or (unit == "token" and token_names(labels, name)))


def open_segments(labels: LabelSet, label: str) -> tuple[str, ...]:
    """Return the names of the segments around a token with this label, outer before inner."""
    return labels.begins(None, label)


def unknown_name(name: str, unit: Unit, labels: LabelSet) -> str:
    """Return the message for an unknown name, with the nearest known ones."""
    known = set(labels.segment_names) | (set(labels) if unit == "token" else set())
    if unit == "segment" and name in labels:
        inside = labels.begins(None, name)
        return f"{name!r} is a token label and no segment. " + (
            f"Did you mean {inside[-1]!r}, or unit='token'?" if inside else "Set unit='token'."
        )
    close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    hint = (
        f"Did you mean {' or '.join(map(repr, close))}?"
        if close
        else f"Known are {first_names(sorted(known))}."
    )
    return f"there is no {'segment' if unit == 'segment' else 'label'} {name!r}. {hint}"


def _fits(levels: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Return whether a path fits a pattern of names, ``*`` (one level) and ``**`` (any number)."""
    if not pattern:
        return not levels
    if pattern[0] == "**":
        return any(_fits(levels[k:], pattern[1:]) for k in range(len(levels) + 1))
    return bool(levels) and pattern[0] in ("*", levels[0]) and _fits(levels[1:], pattern[1:])
