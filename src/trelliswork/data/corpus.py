"""`Corpus`: an immutable sequence of sentences, with its readers.

Formats: CoNLL columns (`read_conll`, `iter_conll`, `write_conll`), JSON lines (`read_jsonl`,
`iter_jsonl`, `write_jsonl`) and plain lists (`Corpus.from_lists`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from trelliswork.data.conll import iter_conll, write_conll
from trelliswork.data.files import source_name
from trelliswork.data.jsonl import iter_jsonl, write_jsonl
from trelliswork.data.sentence import Label, Sentence
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork.data.files import Source

__all__ = [
    "Corpus",
    "Label",
    "Sentence",
    "iter_conll",
    "iter_jsonl",
    "read_conll",
    "read_jsonl",
    "write_conll",
    "write_jsonl",
]


class Corpus(Sequence[Sentence]):
    """An immutable sequence of sentences that share their columns.

    Parameters
    ----------
    sentences
        The sentences.
    source
        Their origin, for messages.

    Examples
    --------
    >>> corpus = Corpus.from_lists([["Ann", "sings"], ["Bob"]], [["PER", "O"], ["PER"]])
    >>> len(corpus), corpus[:1].labels
    (2, [('PER', 'O')])
    """

    __slots__ = ("_sentences", "_source")

    def __init__(self, sentences: Iterable[Sentence], source: str | None = None) -> None:
        self._sentences = tuple(sentences)
        self._source = source
        for index, sentence in enumerate(self._sentences):
            if not isinstance(sentence, Sentence):
                raise TypeError(
                    f"Expected Sentence objects, got {type(sentence).__name__} at index {index}. "
                    "For lists of tokens use Corpus.from_lists."
                )
            if sentence.columns.keys() != self._sentences[0].columns.keys():
                raise DataError(
                    f"Sentence {index} has the columns {', '.join(sentence.columns)}, expected "
                    f"{', '.join(self.column_names)} as in sentence 0. Give all sentences the "
                    "same columns."
                )

    @classmethod
    def from_lists(
        cls,
        tokens: Sequence[Sequence[str]],
        labels: Sequence[Sequence[Label]] | None = None,
        **columns: Sequence[Sequence[str]],
    ) -> Corpus:
        """Build a corpus from plain lists.

        Parameters
        ----------
        tokens
            One list of tokens a sentence.
        labels
            One list of labels a sentence; see `Sentence` for partial labels.
        **columns
            Further columns, ``pos=[["NNP", "VBZ"], ...]`` for example.
        """
        for name, column in {"labels": labels, **columns}.items():
            if column is not None and len(column) != len(tokens):
                raise DataError(
                    f"{name}: expected {len(tokens)} lists, one a sentence, got {len(column)}."
                )
        sentences = []
        for index, words in enumerate(tokens):
            try:
                sentences.append(
                    Sentence(
                        words,
                        {name: column[index] for name, column in columns.items()},
                        None if labels is None else labels[index],
                    )
                )
            except (DataError, TypeError) as error:
                raise type(error)(f"sentence {index}: {error}") from error
        return cls(sentences)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> Corpus: ...
    def __getitem__(self, index: int | slice) -> Sentence | Corpus:
        if isinstance(index, slice):
            return Corpus(self._sentences[index], self._source)
        return self._sentences[index]

    def __len__(self) -> int:
        return len(self._sentences)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Corpus) and self._sentences == other._sentences

    def __hash__(self) -> int:
        return hash(self._sentences)

    def __repr__(self) -> str:
        words = sum(map(len, self._sentences))
        return f"<Corpus of {len(self)} sentences, {words} tokens: {', '.join(self.column_names)}>"

    @property
    def source(self) -> str | None:
        """Name of the file or stream that the sentences were read from."""
        return self._source

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, labels aside."""
        return tuple(self._sentences[0].columns) if self._sentences else ()

    @property
    def is_labelled(self) -> bool:
        """Whether every sentence has labels."""
        return all(sentence.labels is not None for sentence in self._sentences)

    @property
    def tokens(self) -> list[tuple[str, ...]]:
        """The tokens of every sentence."""
        return [sentence.tokens for sentence in self._sentences]

    @property
    def labels(self) -> list[tuple[Label, ...]]:
        """The labels of every sentence; raises a `DataError` if a sentence has none."""
        labels = []
        for index, sentence in enumerate(self._sentences):
            if sentence.labels is None:
                raise DataError(
                    f"{self._source or 'corpus'}: sentence {index} has no labels. Name the label "
                    'column "label" when reading, or pass labels to Corpus.from_lists.'
                )
            labels.append(sentence.labels)
        return labels


def read_conll(
    path: Source,
    columns: Sequence[str] | None = ("word", "label"),
    separator: str | None = None,
    *,
    labelled: bool | None = True,
    comment: str | None = None,
    unknown: str | None = None,
    alternatives: str | None = None,
) -> Corpus:
    """Read a CoNLL file; see `iter_conll` for the parameters and the format.

    Raises
    ------
    DataError
        If the file holds no sentence, or a line has the wrong number of cells.
    """
    sentences = iter_conll(
        path,
        columns,
        separator,
        labelled=labelled,
        comment=comment,
        unknown=unknown,
        alternatives=alternatives,
    )
    return _not_empty(Corpus(sentences, source_name(path)), "one token a line")


def read_jsonl(path: Source, columns: Sequence[str] | None = None) -> Corpus:
    """Read a JSON-lines file; see `iter_jsonl` for the parameters and the format.

    Raises
    ------
    DataError
        If the file holds no sentence, or a line is no sentence.
    """
    return _not_empty(Corpus(iter_jsonl(path, columns), source_name(path)), "one object a line")


def _not_empty(corpus: Corpus, expected: str) -> Corpus:
    if not len(corpus):
        raise DataError(
            f"{corpus.source}: expected {expected}, got no sentence: the file is empty."
        )
    return corpus
