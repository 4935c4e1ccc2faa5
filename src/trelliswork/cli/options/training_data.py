"""The training data of ``train`` and ``select``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trelliswork.cli.options.dev import hold_out, read_share
from trelliswork.cli.options.unlabelled import draw_labelled

if TYPE_CHECKING:
    from trelliswork.cli.options.data import CorpusReader
    from trelliswork.data.corpus import Corpus
    from trelliswork.data.sentence import Sentence

__all__ = ["TrainingData"]


class TrainingData:
    """Labelled sentences, sentences without labels and a development set.

    Parameters
    ----------
    everything
        All labelled sentences.
    reader, path
        The reader and the file that they come from.
    """

    def __init__(self, everything: Corpus, reader: CorpusReader, path: str) -> None:
        self.everything = self.training = everything
        self.unlabelled: list[Sentence] = []
        self.dev: Corpus | None = None
        self._reader, self._path = reader, path

    def hold_out(self, dev: str, seed: int) -> None:
        """Read the development set, or hold out a share of the sentences."""
        share = read_share(dev)
        if share is None:
            self.dev = replace(self._reader, data_format=None).read(dev)
        else:
            self.training, self.dev = hold_out(self.training, share, seed)

    def keep_labels_of(self, size: int, seed: int, rest_is_used: bool) -> None:
        """Draw the sentences whose labels are used; keep the others, if used, without labels."""
        self.training, rest = draw_labelled(self.training, size, seed)
        self.unlabelled += rest if rest_is_used else []

    def label_names(self) -> list[str]:
        """Return the labels of all sentences, alternatives included."""
        names: set[str] = set()
        for sentence in self.everything:
            for label in sentence.labels or ():
                names |= {label} if isinstance(label, str) else set(label or ())
        return sorted(names)

    def place(self, sequence: int) -> str:
        """Return the file and line of a labelled sentence."""
        wanted = self.training[sequence]
        index = next(i for i, sentence in enumerate(self.everything) if sentence is wanted)
        return self._reader.place(self._path, index)
