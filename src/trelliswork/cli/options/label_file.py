"""What a file of labels holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trelliswork.errors import DataError

if TYPE_CHECKING:
    from trelliswork.data.sentence import Label, Sentence

__all__ = ["LabelFile"]


@dataclass(frozen=True, slots=True)
class LabelFile:
    """What a file of labels holds, sentence by sentence.

    Attributes
    ----------
    name
        Its name, for messages.
    width
        How many columns it has; ``None`` for JSON lines.
    sentences
        The tokens and other columns, where it has any.
    labels
        The labels: predicted ones in a file of predictions.
    gold
        The gold labels beside them, where they were asked for.
    confidences
        How sure the model was of each label, where the file says so.
    """

    name: str
    width: int | None
    sentences: list[Sentence] | None
    labels: list[tuple[Label, ...]]
    gold: list[tuple[Label, ...]] | None = None
    confidences: list[list[float]] | None = None

    @property
    def tokens(self) -> list[tuple[str, ...]] | None:
        """The tokens, where it has any."""
        return None if self.sentences is None else [s.tokens for s in self.sentences]

    def check_tokens(self, gold: LabelFile) -> None:
        """Raise an error where the tokens are not those of the gold labels.

        Other numbers of sentences or tokens are left to those who compare the labels.
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
