"""A slow, independent feature extractor: strings and Python's own methods, nothing shared.

Templates are built here as small trees; `text` writes one in the template language and `features`
says what it means for every token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    name: str
    offset: int

    def text(self):
        return f"{self.name}[{self.offset}]"

    def value(self, sentence, t, pad):
        tokens = sentence[self.name]
        place = t + self.offset
        if 0 <= place < len(tokens):
            return tokens[place]
        if not pad:
            return None
        return f"_B{place}" if place < 0 else f"_B+{place - len(tokens) + 1}"

    def outside(self, sentence, t):
        return not 0 <= t + self.offset < len(sentence[self.name])


@dataclass(frozen=True)
class Change:
    """lower, shape, short_shape, prefix, suffix; outside the sentence the pad is left alone."""

    function: str
    inner: object
    length: int | None = None

    def text(self):
        length = "" if self.length is None else f", {self.length}"
        return f"{self.function}({self.inner.text()}{length})"

    def outside(self, sentence, t):
        return self.inner.outside(sentence, t)

    def value(self, sentence, t, pad):
        value = self.inner.value(sentence, t, pad)
        if value is None or self.outside(sentence, t):
            return value
        if self.function == "lower":
            return "".join(c.lower() for c in value)
        if self.function == "shape":
            return shape(value)
        if self.function == "short_shape":
            return re.sub(r"(.)\1+", r"\1", shape(value), flags=re.DOTALL)
        if len(value) < self.length:
            return None
        return value[: self.length] if self.function == "prefix" else value[-self.length :]


def shape(value):
    return "".join(
        "X" if c.isupper() else "x" if c.islower() or c.isalpha() else "9" if c.isdigit() else c
        for c in value
    )


@dataclass(frozen=True)
class Test:
    function: str  # match or search
    name: str
    expression: str
    inner: object

    def text(self):
        return f"{self.function}({self.name}, {self.inner.text()})"

    def value(self, sentence, t, pad):
        if self.inner.outside(sentence, t):
            return None
        value = self.inner.value(sentence, t, pad)
        how = re.fullmatch if self.function == "match" else re.search
        return "" if value is not None and how(self.expression, value) else None


@dataclass(frozen=True)
class Member:
    name: str
    phrases: tuple[str, ...]
    inner: Column

    def text(self):
        return f"in({self.name}, {self.inner.text()})"

    def value(self, sentence, t, pad):
        if self.inner.outside(sentence, t):
            return None
        words = ["".join(c.lower() for c in w) for w in sentence[self.inner.name]]
        marks, at = {}, 0
        phrases = [["".join(c.lower() for c in w) for w in p.split()] for p in self.phrases]
        while at < len(words):
            longest = max(
                (len(p) for p in phrases if p and words[at : at + len(p)] == p), default=0
            )
            for i in range(longest):
                marks[at + i] = "I" if i else "B"
            at += max(longest, 1)
        return marks.get(t + self.inner.offset)


@dataclass(frozen=True)
class Mark:
    """bias, first, last, position."""

    function: str
    bins: int = 0

    def text(self):
        return "bias" if self.function == "bias" else f"{self.function}({self.bins or ''})"

    def value(self, sentence, t, pad):
        n = len(sentence["word"])
        if self.function == "position":
            return str(t * self.bins // n)
        there = {"bias": True, "first": t == 0, "last": t == n - 1}[self.function]
        return "" if there else None


@dataclass(frozen=True)
class SegmentStart:
    end: tuple[str, str]
    start: tuple[str, str]
    offset: int

    def text(self):
        return f"segment_start({self.end[0]}, {self.start[0]})[{self.offset}]"

    def value(self, sentence, t, pad):
        words = sentence["word"]
        t += self.offset
        if not 0 <= t < len(words):
            return None
        ends = [re.fullmatch(self.end[1], w) is not None for w in words]
        opens = t == 0 or (ends[t - 1] and not ends[t])
        return "" if opens or re.fullmatch(self.start[1], words[t]) else None


def name(terms, values):
    parts = []
    for term, value in zip(terms, values, strict=True):
        is_presence = isinstance(term, Test | SegmentStart) or (
            isinstance(term, Mark) and term.function != "position"
        )
        parts.append(term.text() + ("" if is_presence else f"={value}"))
    return "|".join(parts)


def features(templates, sentence, *, pad):
    """List of lists of names, a list a token; `templates` are tuples of terms."""
    rows = []
    for t in range(len(sentence["word"])):
        row = []
        for terms in templates:
            values = [term.value(sentence, t, pad) for term in terms]
            if None not in values:
                row.append(name(terms, values))
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Whole:
    """A rule of whole segments: text, shape, ends, or a lexicon with its phrases."""

    function: str
    column: str = "word"
    phrases: tuple[str, ...] = ()
    cased: bool = False

    def text(self):
        arguments = [self.function] if self.phrases else []
        arguments += [self.column] if self.column != "word" else []
        function = "in" if self.phrases else self.function
        return f"segment: {function}" + (f"({', '.join(arguments)})" if arguments else "")

    def feature(self, sentence, start, end):
        """Return a feature as hashable parts, ``None`` where the segment has none."""
        tokens = sentence[self.column][start:end]
        lower = tuple("".join(c.lower() for c in w) for w in tokens)
        if self.phrases:
            words = tuple(tokens) if self.cased else lower
            known = {
                tuple(w if self.cased else "".join(c.lower() for c in w) for w in p.split())
                for p in self.phrases
            }
            return (self.text(), ()) if words in known else None
        if self.function == "shape":
            runs = (re.sub(r"(.)\1+", r"\1", shape(w), flags=re.DOTALL) for w in tokens)
            return self.text(), tuple(runs)
        return self.text(), (lower[0], lower[-1]) if self.function == "ends" else lower

    def name(self, feature):
        joint = "|" if self.function == "ends" else " "
        return feature[0] + (f"={joint.join(feature[1])}" if feature[1] else "")
