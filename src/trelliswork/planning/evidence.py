"""Evidence: outcomes of token tests and position-wise masks on a batch, each evaluated once.

A rule may look at the tokens through a few yes-or-no tests. So a token is one of ``2**k``
*classes*: bit ``i`` is the outcome of test ``i``. A position-wise rule gives a mask over labels.
``B`` sequences, ``N`` tokens in all, ``L`` labels.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.constraints.combined import All
from trelliswork.constraints.token_tests import Before
from trelliswork.data.sentence import TOKEN_COLUMN, Sentence
from trelliswork.errors import DataError
from trelliswork.inference.trellis import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, IntArray
    from trelliswork.constraints import Constraint, TokenTest
    from trelliswork.labels.label_set import LabelSet


__all__ = ["Evidence"]


class Evidence:
    """Outcomes of token tests, and masks of position-wise constraints, on one batch; kept.

    Parameters
    ----------
    labels
        The ``L`` labels.
    sentences
        The ``B`` sequences, as users pass them.
    offsets
        Sequence ``b`` is tokens ``offsets[b]`` to ``offsets[b + 1]``, shape ``(B + 1,)``.
    numbers
        Sequence numbers in error messages, shape ``(B,)``. Default: from 0.
    """

    def __init__(
        self,
        labels: LabelSet,
        sentences: Sequence[Any],
        offsets: IntArray,
        numbers: Sequence[int] | None = None,
    ) -> None:
        self.labels = labels
        self.sentences = sentences
        self.offsets = offsets
        self.numbers = range(len(sentences)) if numbers is None else numbers
        self._outcomes: dict[TokenTest, BoolArray] = {}
        self._masks: dict[Constraint, BoolArray] = {}
        self._restricted: dict[Constraint, tuple[IntArray, BoolArray]] = {}
        # The batch that this was taken from, and its tokens there.
        self._whole: tuple[Evidence, IntArray] | None = None
        self._columns: set[str | None] = set()  # of (token, tag) rows, that tests ask for

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all sequences, ``N``."""
        return int(self.offsets[-1])

    @property
    def longest(self) -> int:
        """Number of tokens of the longest sequence."""
        return int(np.diff(self.offsets).max(initial=0))

    def classes(self, tests: Sequence[TokenTest]) -> NDArray[np.uint8] | None:
        """Return the class of each token under `tests`, shape ``(N,)``; None without any test."""
        if not tests:
            return None
        found = np.zeros(self.n_tokens, dtype=np.uint8)
        for bit, test in enumerate(tests):
            found |= self._outcome(test).astype(np.uint8) << np.uint8(bit)
        return found

    def mask(self, constraints: Sequence[Constraint]) -> BoolArray | None:
        """Return the labels that position-wise constraints allow, ``(N, L)``; None without any."""
        found = None
        for constraint in constraints:
            own = self._mask(constraint)
            found = own if found is None else found & own
        return found

    def restricted(self, constraint: Constraint) -> tuple[IntArray, BoolArray]:
        """Return the tokens that a position-wise constraint restricts, and their allowed labels."""
        if constraint not in self._restricted:
            mask = self._mask(constraint)
            tokens = np.flatnonzero(~mask.all(axis=1))
            self._restricted[constraint] = tokens, mask[tokens]
        return self._restricted[constraint]

    def take(self, sequences: IntArray) -> Evidence:
        """Return the evidence of some of the sequences; known outcomes are kept."""
        rows = rows_of(self.offsets, sequences)
        lengths = np.diff(self.offsets)[sequences]
        part = Evidence(
            self.labels,
            [self.sentences[b] for b in sequences.tolist()],
            np.concatenate([[0], np.cumsum(lengths)]),
            [self.numbers[b] for b in sequences.tolist()],
        )
        part._columns = set(self._columns)
        part._whole = self, rows
        return part

    def _outcome(self, test: TokenTest) -> BoolArray:
        if test not in self._outcomes:
            self._check_columns((test,))
            if self._whole is not None and test in self._whole[0]._outcomes:
                self._outcomes[test] = self._whole[0]._outcomes[test][self._whole[1]]
            elif isinstance(test, Before):
                found = np.roll(self._outcome(test.part), 1)
                found[self.offsets[:-1][np.diff(self.offsets) > 0]] = True
                self._outcomes[test] = found
            elif self._distinct is not None:
                sentence, place = self._distinct
                self._outcomes[test] = np.asarray(test.passes(sentence), dtype=bool)[place]
            else:
                answers = [np.asarray(test.passes(s), dtype=bool) for s in self.sentences]
                self._outcomes[test] = self._joined(answers, repr(test))
        return self._outcomes[test]

    def _mask(self, constraint: Constraint) -> BoolArray:
        if constraint not in self._masks and self._whole and constraint in self._whole[0]._masks:
            self._masks[constraint] = self._whole[0]._masks[constraint][self._whole[1]]
        elif constraint not in self._masks:
            parts = constraint.parts if isinstance(constraint, All) else (constraint,)
            masks = [self._mask_of_part(part) for part in parts]
            self._masks[constraint] = np.logical_and.reduce(masks)
        return self._masks[constraint]

    def _mask_of_part(self, part: Constraint) -> BoolArray:
        self._check_columns(part.tests)
        # A single rule asks a test of the token, or where the token stands.
        if part.tests and self._distinct is not None:
            sentence, place = self._distinct
            return _answer(part, self.labels, sentence)[place]
        found = [_answer(part, self.labels, sentence) for sentence in self.sentences]
        return self._joined(found, repr(part)).reshape(self.n_tokens, len(self.labels))

    def _check_columns(self, tests: Sequence[TokenTest]) -> None:
        """Refuse a second column: (token, tag) rows name none, so tests may use one name only."""
        if not any(isinstance(s, list) and s and isinstance(s[0], tuple) for s in self.sentences):
            return
        asked = {atom.column for test in tests for atom in test.atoms}
        self._columns |= {name for name in asked if name not in (None, TOKEN_COLUMN)}
        if len(self._columns) > 1:
            raise DataError(
                f"Token tests look at the columns {', '.join(sorted(map(repr, self._columns)))} of "
                "(token, …) rows, which have no names. Pass Sentences with named columns."
            )

    @cached_property
    def _distinct(self) -> tuple[Any, IntArray] | None:
        """The different tokens as one sentence, and the place in it of each token of the batch.

        Tests are about single tokens, and most tokens occur often. None where tokens are neither
        strings nor cells of columns.
        """
        places: dict[Any, int] = {}
        found: list[int] = []
        if all(isinstance(s, list | tuple) and set(map(type, s)) <= {str} for s in self.sentences):
            for sentence in self.sentences:
                found += [places.setdefault(token, len(places)) for token in sentence]
            return list(places), np.array(found, dtype=np.int64)
        if not all(isinstance(s, Sentence) for s in self.sentences):
            return None
        names = {tuple(sentence.columns) for sentence in self.sentences}
        if len(names) != 1:
            return None
        for sentence in self.sentences:
            rows = zip(sentence.tokens, *sentence.columns.values(), strict=True)
            found += [places.setdefault(row, len(places)) for row in rows]
        tokens, *columns = zip(*places, strict=True) if places else ((), *((),) * len(*names))
        merged = Sentence(tokens, dict(zip(*names, columns, strict=True)))
        return merged, np.array(found, dtype=np.int64)

    def _joined(self, found: list[BoolArray], what: str) -> BoolArray:
        lengths = np.diff(self.offsets)
        for index, (answers, length) in enumerate(zip(found, lengths.tolist(), strict=True)):
            if len(answers) != length:
                raise DataError(
                    f"{what}: expected an answer for each of the {length} tokens of sequence "
                    f"{self.numbers[index]}, got {len(answers)}."
                )
        return np.concatenate(found) if found else np.zeros(0, dtype=bool)


def _answer(constraint: Constraint, labels: LabelSet, sentence: Any) -> BoolArray:
    allowed = constraint.allowed(labels, sentence)
    assert allowed is not None, "position-wise on one sentence, so on all of them"
    return allowed
