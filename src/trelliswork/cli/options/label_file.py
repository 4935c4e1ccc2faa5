"""The content of a label file: gold labels or predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trelliswork.errors import DataError

if TYPE_CHECKING:
    from trelliswork.data.sentence import Label, Sentence

__all__ = ["LabelFile"]


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The content of a label file, sentence by sentence.

    Attributes
    ----------
    name
        Its name, for messages.
    width
        Number of columns; ``None`` for JSON lines.
    sentences
        The tokens and other columns, if there are any.
    labels
        The labels: predicted ones in a file of predictions.
    gold
        The gold labels beside them, if requested.
    confidences
        The confidence of each label, if the file has any.
    """

    name: str
    width: int | None
    sentences: list[Sentence] | None
    labels: list[tuple[Label, ...]]
    gold: list[tuple[Label, ...]] | None = None
    confidences: list[list[float]] | None = None

    @property
    def tokens(self) -> list[tuple[str, ...]] | None:
        """The tokens, if there are any."""
        return None if self.sentences is None else [s.tokens for s in self.sentences]

    def check_tokens(self, gold: LabelFile) -> None:
        """Raise an error if the tokens differ from those of the gold labels.

        Different numbers of sentences or tokens are found later, when labels are compared.
        """
        own, others = self.tokens, gold.tokens
        if own is None or others is None or len(own) != len(others):
            return
        for index, (mine, right) in enumerate(zip(own, others, strict=True)):
            if len(mine) == len(right) and mine != right:
                place = next(i for i, token in enumerate(mine) if token != right[i])
                raise DataError(
                    f"{self.name}: sentence {index}, token {place}: expected {right[place]!r} as "
                    f"in {gold.name}, got {mine[place]!r}. Give labels of the same text, or "
                    "--ignore-tokens."
                )
