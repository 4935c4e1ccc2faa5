"""`Parser`: text to references, by splitting, tagging under rules, and interpretation.

>>> from trelliswork.citations import parse
>>> (reference,) = parse("Shannon, C. E. (1948). A mathematical theory of communication. Bell "
...     "System Technical Journal, 27(3), 379–423.")
>>> reference.authors[0].family, reference.year, reference.container, reference.pages
('Shannon', '1948', 'Bell System Technical Journal', '379-423')
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib import resources
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from trelliswork.citations.believable import is_believable
from trelliswork.citations.documents import Entry, split_references
from trelliswork.citations.documents.entry import Vocabulary, join_lines
from trelliswork.citations.fields import LABELS, TOKENIZER, to_plain
from trelliswork.citations.meaning.interpret import interpret
from trelliswork.citations.meaning.trimming import trim
from trelliswork.citations.readings import Reader
from trelliswork.citations.reference import Alternative, Field, Reference
from trelliswork.errors import DataError
from trelliswork.taggers.load import load_saved

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from trelliswork.citations.readings import Reading
    from trelliswork.data.sentence import Sentence
    from trelliswork.labels.segments import Span
    from trelliswork.taggers.trained import TrainedTagger

DEFAULT_MODEL = "default.tw"
LONGEST = 3_000
"""Most characters of a reference."""

_BATCH = 256


class Parser:
    """A parser of references with a model.

    Parameters
    ----------
    tagger
        A trained tagger with labels among `LABELS`, on the tokens of `TOKENIZER`. Its constraints
        are the rules that every answer obeys.

    Raises
    ------
    DataError
        The tagger has other labels.
    """

    def __init__(self, tagger: TrainedTagger) -> None:
        unknown = sorted(set(tagger.labels_.segment_names) - set(LABELS))
        if unknown:
            raise DataError(
                f"expected a model of references, with labels among {', '.join(LABELS)}; got one "
                f"with {', '.join(unknown[:5])}. `trelliswork cite train` makes such models; "
                "`trelliswork tag` uses any other."
            )
        self.tagger = tagger
        self._reader = Reader(tagger)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> Parser:
        """Read a model; the one that ships with the package by default."""
        with model_path(path) as found:
            return cls(load_saved(found))

    def parse(
        self,
        source: str | Iterable[str],
        *,
        alternatives: int = 0,
        exact: bool = False,
        by_field: bool = True,
    ) -> list[Reference]:
        """Read references.

        Parameters
        ----------
        source : str or iterable of str
            A document, which is split into references; or the references, one a string. In both,
            line breaks and runs of blanks become one blank, and words that a line break cut in two
            become whole.
        alternatives : int
            Most other readings of each reference.
        exact : bool
            Whether confidences include all rules, to within 0.001: slow, some references a second.
            Otherwise those that the reference calls for; the difference is mostly small.
        by_field : bool
            Whether to say how sure each field is. Otherwise each has the confidence of the whole
            reference, which is not above its own, at a fraction of the time.

        Returns
        -------
        list of Reference
            In their order. Offsets are in the document, or in the string of the reference. What
            has not the parts of a reference has a confidence of 0, as has a text of more than
            `LONGEST` characters, which is not read.
        """
        return list(self.iterate(source, alternatives=alternatives, exact=exact, by_field=by_field))

    def iterate(
        self,
        source: str | Iterable[str],
        *,
        alternatives: int = 0,
        exact: bool = False,
        by_field: bool = True,
        name: str = "",
    ) -> Iterator[Reference]:
        """Read references one after the other; see `parse`.

        Parameters
        ----------
        source, alternatives, exact, by_field
            As in `parse`.
        name : str
            Name of the document in messages.
        """
        if alternatives < 0:
            raise ValueError(f"alternatives: expected 0 or more, got {alternatives}.")
        entries = _entries(source, name)
        read = partial(self._reader.read, exact=exact, alternatives=alternatives, by_field=by_field)
        for first in range(0, len(entries), _BATCH):
            yield from self._read(entries[first : first + _BATCH], read)

    def _read(
        self, entries: list[Entry], read: Callable[[list[Sentence]], list[Reading]]
    ) -> Iterator[Reference]:
        sentences = [TOKENIZER.tokenize(entry.text[:LONGEST]) for entry in entries]
        known = [
            i
            for i, entry in enumerate(entries)
            if sentences[i].tokens and len(entry.text) <= LONGEST
        ]
        asked = [sentences[i] for i in known]
        readings = dict(zip(known, read(asked), strict=True))
        for i, entry in enumerate(entries):
            if i in readings:
                yield self._reference(entry, sentences[i], readings[i])
            else:
                yield _unread(entry)

    def _reference(
        self,
        entry: Entry,
        sentence: Sentence,
        reading: Reading,
    ) -> Reference:
        spans = self.tagger.labels_.spans
        labels = to_plain(reading.labels, self.tagger.labels_.scheme)
        believed = is_believable(labels)
        sure = reading.confidences if believed else [0.0] * len(reading.spans)
        fields = _fields(entry, sentence, reading.spans, sure)
        alternatives = []
        for other, share in reading.others:
            runs, chance = spans(other), share if believed else 0.0
            other_fields = _fields(entry, sentence, runs, [chance] * len(runs))
            alternatives.append(Alternative(tuple(other_fields), chance))
        unruled: list[Field] = []
        if reading.free_labels != reading.labels:
            runs = spans(reading.free_labels)
            unruled = _fields(entry, sentence, runs, [0.0] * len(runs))
        return interpret(
            entry.text,
            fields,
            start=entry.start,
            end=entry.end,
            key=entry.key,
            confidence=reading.confidence if believed else 0.0,
            tokens=sentence.tokens,
            labels=tuple(labels),
            alternatives=tuple(alternatives),
            unruled=tuple(unruled),
            broken_rules=reading.broken,
        )


@contextmanager
def model_path(path: str | os.PathLike[str] | None) -> Iterator[str | os.PathLike[str]]:
    """Return the path, by default that of the model that ships with the package."""
    if path is not None:
        yield path
        return
    with resources.as_file(resources.files(__package__).joinpath(DEFAULT_MODEL)) as default:
        yield default


@lru_cache(maxsize=1)
def default_parser() -> Parser:
    """Return the parser that ships with the package, loaded once."""
    return Parser.load()


def parse(
    source: str | Iterable[str], *, alternatives: int = 0, exact: bool = False
) -> list[Reference]:
    """Read references with the parser that ships with the package; see `Parser.parse`."""
    return default_parser().parse(source, alternatives=alternatives, exact=exact)


def _entries(source: str | Iterable[str], name: str) -> list[Entry]:
    if isinstance(source, str):
        return split_references(source, name=name)
    if not isinstance(source, Iterable) or isinstance(source, bytes):
        raise DataError(
            f"references: expected a document as a string, or a list of strings, got "
            f"{type(source).__name__}."
        )
    entries: list[Entry] = []
    for i, text in enumerate(source):
        if not isinstance(text, str):
            raise DataError(
                f"references: expected strings, got {type(text).__name__} at {i}. Decode bytes "
                "first; give a document as one string."
            )
        entries.append(_entry(text))
    return entries


def _entry(text: str) -> Entry:
    """Return a reference given as a string of its own, on one line."""
    bounds = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    joined = join_lines(text, list(pairwise(bounds)), Vocabulary(text))
    return Entry("", 0, len(text)) if joined is None else joined


def _fields(
    entry: Entry, sentence: Sentence, spans: Sequence[Span], confidences: Sequence[float]
) -> list[Field]:
    offsets = sentence.offsets or ()
    found = []
    for (first, last, label), confidence in zip(spans, confidences, strict=True):
        begin, end = trim(entry.text, offsets[first][0], offsets[last - 1][1], label)
        if begin < end:
            start, stop = entry.locate(begin, end)
            found.append(Field(label, entry.text[begin:end], start, stop, confidence))
    return found


def _unread(entry: Entry) -> Reference:
    """Return the reference, without fields, for a text that is too long or has no words."""
    return Reference(entry.text[:LONGEST], entry.start, entry.end, (), 0.0, key=entry.key)
