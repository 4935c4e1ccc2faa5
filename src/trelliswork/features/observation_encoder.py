"""`ObservationEncoder`: the input of hidden Markov models, words or the shapes of unknown ones."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trelliswork._utils.threads import resolve_jobs
from trelliswork.features.checks import (
    as_list,
    check_min_count,
    require_fitted,
    stored_array,
    stored_texts,
)
from trelliswork.features.encoder import TokenFeaturesOnly
from trelliswork.features.matrix import EncodedFeatures, FeatureMatrix
from trelliswork.features.shapes import word_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import FloatArray, IdArray, IntArray
    from trelliswork.features.matrix import SegmentSpec

__all__ = ["ObservationEncoder"]


class ObservationEncoder(TokenFeaturesOnly):
    """An encoder with one observation a token, and features for both ends of a sequence.

    The ``O`` observations are the ``V`` words learned, then for each of ``S`` shapes "a word of
    this shape that was not learned", the last of which is a shape that was not learned either. The
    features are the observations, then ``first``, then ``last``.

    Parameters
    ----------
    lowercase
        Read words in lower case. The shape of a word is always that of the token; a word that was
        seen in several has the most frequent one.
    shapes
        Tell words that were not learned apart by their shape. False: they are all of one shape,
        ``any``.

    Examples
    --------
    >>> encoder = ObservationEncoder()
    >>> encoder.fit([["Cited", "in", "1999"]]).state.indices.tolist()
    [1, 7, 2, 0, 8]
    >>> encoder.feature_names()  # doctest: +NORMALIZE_WHITESPACE
    ['word=1999', 'word=Cited', 'word=in', 'shape=9999', 'shape=Xx', 'shape=x', 'shape unknown',
     'first', 'last']
    """

    kind = "hmm"

    def __init__(self, *, lowercase: bool = False, shapes: bool = True) -> None:
        self.lowercase = lowercase
        self.shapes = shapes
        self._vocabulary: _Vocabulary | None = None

    def fit(
        self,
        sequences: Iterable[object],
        *,
        min_count: int = 1,
        n_jobs: int | None = 1,
        segments: SegmentSpec | None = None,
    ) -> EncodedFeatures:
        """Learn the words seen at least `min_count` times and all shapes; ``n_jobs`` is ignored."""
        del segments  # there is nothing to learn from them
        check_min_count(min_count)
        resolve_jobs(n_jobs)
        given = as_list(sequences)
        tokens = [token for i, sequence in enumerate(given) for token in _tokens(sequence, i)]
        self._vocabulary = self._learned(Counter(tokens), min_count)
        return self.transform(given)

    def transform(self, sequences: Iterable[object], *, n_jobs: int | None = 1) -> EncodedFeatures:
        """Encode with the learned words and shapes; ``n_jobs`` is ignored."""
        resolve_jobs(n_jobs)
        vocabulary = require_fitted(self._vocabulary)
        given = [_tokens(sequence, i) for i, sequence in enumerate(as_list(sequences))]
        lengths = np.array([len(tokens) for tokens in given], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        seen: dict[str, int] = {}
        for tokens in given:
            for token in tokens:
                if token not in seen:
                    seen[token] = self._observation(vocabulary, token)
        observed = np.array([seen[token] for tokens in given for token in tokens], dtype=np.int32)
        filled = lengths > 0
        is_first, is_last = np.zeros((2, observed.size), dtype=bool)
        is_first[offsets[:-1][filled]] = True
        is_last[offsets[1:][filled] - 1] = True
        indptr = np.concatenate([[0], np.cumsum(1 + is_first + is_last)]).astype(np.int64)
        indices = np.empty(indptr[-1], dtype=np.int32)
        indices[indptr[:-1]] = observed
        indices[indptr[:-1][is_first] + 1] = self.n_observations
        indices[indptr[1:][is_last] - 1] = self.n_observations + 1
        return EncodedFeatures(
            offsets, FeatureMatrix(indptr, indices, None, self.n_observations + 2)
        )

    @property
    def n_observations(self) -> int:
        """Number of observations, ``O = V + S``."""
        vocabulary = require_fitted(self._vocabulary)
        return len(vocabulary.words) + len(vocabulary.shapes) + 1

    @property
    def shape_of(self) -> IntArray:
        """Shape of each observation, from 0 to ``S - 1``, shape ``(O,)``."""
        vocabulary = require_fitted(self._vocabulary)
        return np.concatenate([vocabulary.shape_of, np.arange(len(vocabulary.shapes) + 1)])

    @property
    def shares(self) -> FloatArray:
        """``P(observation | its shape)`` in the training data, for all labels, shape ``(O,)``.

        A word seen ``c`` times has ``c / (n + v)`` of a shape with ``n`` tokens and ``v`` words;
        words of that shape that were not learned have the rest, which is never 0.
        """
        return require_fitted(self._vocabulary).shares

    def select(
        self,
        keep_state: ArrayLike,
        keep_edge: ArrayLike | None = None,
        *,
        keep_begin: ArrayLike | None = None,
        keep_end: ArrayLike | None = None,
        keep_segment: ArrayLike | None = None,
    ) -> ObservationEncoder:
        """Raise an error: every token has exactly one observation, so that none can be dropped."""
        del keep_state, keep_edge, keep_begin, keep_end, keep_segment
        raise ValueError("expected all observations to be kept: each token has exactly one.")

    def feature_names(self) -> list[str]:
        """Return names such as ``word=the``, ``shape=Xx`` and ``first``."""
        words, shapes, _, _ = require_fitted(self._vocabulary)
        named = [*(f"word={word}" for word in words), *(f"shape={shape}" for shape in shapes)]
        return [*named, "shape unknown", "first", "last"]

    def feature_counts(self) -> dict[str, int]:
        """Return the number of features."""
        return {"state": self.n_observations + 2}

    def feature_templates(self) -> dict[str, tuple[list[str], IdArray]]:
        """Return the templates ``word``, ``shape``, ``first`` and ``last``, and their features."""
        n_words = len(require_fitted(self._vocabulary).words)
        counts = [n_words, self.n_observations - n_words, 1, 1]
        return {
            "state": (
                ["word", "shape", "first", "last"],
                np.repeat(np.arange(4, dtype=np.int32), counts),
            )
        }

    def settings(self) -> dict[str, object]:
        """Return the kind of the encoder and its treatment of words."""
        return {"kind": self.kind, "lowercase": self.lowercase, "shapes": self.shapes}

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return words and shapes as arrays."""
        vocabulary = require_fitted(self._vocabulary)
        found: dict[str, NDArray[np.generic]] = {
            "shape_of": vocabulary.shape_of,
            "shares": vocabulary.shares,
        }
        for name, texts in (("word", vocabulary.words), ("shape", vocabulary.shapes)):
            packed = [text.encode("utf-8", "surrogatepass") for text in texts]
            found[f"{name}_bytes"] = np.frombuffer(b"".join(packed), dtype=np.uint8)
            found[f"{name}_offsets"] = np.cumsum([0, *map(len, packed)], dtype=np.int64)
        return found

    @classmethod
    def restore(
        cls, settings: Mapping[str, object], arrays: Mapping[str, NDArray[np.generic]]
    ) -> ObservationEncoder:
        """Rebuild an encoder from :meth:`settings` and :meth:`arrays`."""
        lowercase, with_shapes = settings.get("lowercase"), settings.get("shapes")
        if not isinstance(lowercase, bool) or not isinstance(with_shapes, bool):
            raise ValueError(
                f"expected lowercase and shapes to be true or false, got {lowercase!r} and "
                f"{with_shapes!r}."
            )
        words, shapes = _stored(arrays, "word"), _stored(arrays, "shape")
        shape_of = stored_array(arrays, "shape_of", np.int64)
        shares = stored_array(arrays, "shares", np.float64)
        if shape_of.size != len(words) or not ((shape_of >= 0) & (shape_of < len(shapes))).all():
            raise ValueError(f"shape_of: expected one of {len(shapes)} shapes for every word.")
        if shares.size != len(words) + len(shapes) + 1 or not ((shares > 0) & (shares <= 1)).all():
            raise ValueError("shares: expected a probability above 0 for every observation.")
        encoder = cls(lowercase=lowercase, shapes=with_shapes)
        encoder._vocabulary = _Vocabulary(words, shapes, shape_of, shares)
        return encoder

    def __reduce__(self) -> tuple[object, ...]:
        if self._vocabulary is None:
            return partial(ObservationEncoder, lowercase=self.lowercase, shapes=self.shapes), ()
        return ObservationEncoder.restore, (self.settings(), self.arrays())

    def _learned(self, tokens: Counter[str], min_count: int) -> _Vocabulary:
        """Return the vocabulary of counted tokens, independent of their order."""
        shapes_of: dict[str, Counter[str]] = {}
        for token, count in tokens.items():
            own = shapes_of.setdefault(self._word(token), Counter())
            own[self._shape(token)] += count
        counts = {word: own.total() for word, own in shapes_of.items()}
        words = sorted(word for word, count in counts.items() if count >= min_count)
        usual = {word: min(own, key=lambda s: (-own[s], s)) for word, own in shapes_of.items()}
        shapes = {
            s: i for i, s in enumerate(sorted({s for own in shapes_of.values() for s in own}))
        }
        shape_of = np.array([shapes[usual[word]] for word in words], dtype=np.int64)
        known = np.array([counts[word] for word in words], dtype=np.float64)
        rare = np.zeros(len(shapes) + 1)  # tokens of words that are too rare to be learned
        for word, count in counts.items():
            if count < min_count:
                rare[shapes[usual[word]]] += count
        n_words = np.bincount(shape_of, minlength=rare.size)
        unseen = rare + np.maximum(n_words, 1)
        total = unseen + np.bincount(shape_of, known, minlength=rare.size)
        shares = np.concatenate([known / total[shape_of], unseen / total])
        return _Vocabulary({word: i for i, word in enumerate(words)}, shapes, shape_of, shares)

    def _observation(self, vocabulary: _Vocabulary, token: str) -> int:
        found = vocabulary.words.get(self._word(token))
        if found is not None:
            return found
        shape = vocabulary.shapes.get(self._shape(token), len(vocabulary.shapes))
        return len(vocabulary.words) + shape

    def _word(self, token: str) -> str:
        return token.lower() if self.lowercase else token

    def _shape(self, token: str) -> str:
        return word_shape(token) if self.shapes else "any"


class _Vocabulary(NamedTuple):
    """Words and shapes with their numbers, the shape of each word, and the shares."""

    words: dict[str, int]
    shapes: dict[str, int]
    shape_of: IntArray
    shares: FloatArray


def _tokens(sequence: object, place: int) -> Sequence[str]:
    """Return the tokens of a sentence: a list of strings, of ``(token, …)`` rows, or an object."""
    own = getattr(sequence, "tokens", sequence)
    if not isinstance(own, list | tuple):
        raise TypeError(_expected(place, f"{type(sequence).__name__}"))
    found = [token[0] if isinstance(token, tuple) and token else token for token in own]
    for t, token in enumerate(found):
        if not isinstance(token, str):
            raise TypeError(_expected(place, f"{type(own[t]).__name__} as token {t}"))
    return found


def _expected(place: int, got: str) -> str:
    return (
        f"sequence {place}: expected token strings, got {got}. A hidden Markov model reads the "
        "words themselves; feature dicts and matrices are for CRFTagger."
    )


def _stored(arrays: Mapping[str, NDArray[np.generic]], name: str) -> dict[str, int]:
    """Return the texts of a stored encoder with their numbers."""
    content, offsets = stored_texts(arrays, name)
    if (
        not offsets.size
        or offsets[0]
        or offsets[-1] != content.size
        or (np.diff(offsets) < 0).any()
    ):
        raise ValueError(f"{name}_offsets: expected numbers that rise from 0 to {content.size}.")
    packed, bounds = content.tobytes(), offsets.tolist()
    texts = [
        packed[first:last].decode("utf-8", "surrogatepass") for first, last in pairwise(bounds)
    ]
    found = {text: i for i, text in enumerate(texts)}
    if len(found) != len(texts):
        raise ValueError(f"{name}_bytes: expected every {name} once.")
    return found
