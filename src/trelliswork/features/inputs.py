"""The arguments of ``fit`` and ``predict``: sequences of many kinds, and their labels.

A sequence is a sentence (token strings, ``(token, tag, …)`` tuples, or a
:class:`~trelliswork.data.corpus.Sentence`), a list of feature dicts or feature-name lists, one a
token, or a matrix with one row a token. One input holds one kind.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from trelliswork.data.corpus import Corpus, Sentence
from trelliswork.errors import DataError, LabelError
from trelliswork.features.bundles import resolve
from trelliswork.features.dict_encoder import DictEncoder
from trelliswork.features.encoder import TemplateEncoder
from trelliswork.features.matrix_encoder import MatrixEncoder
from trelliswork.labels.label_set import LabelSet

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray
    from trelliswork.data.sentence import Label
    from trelliswork.features.encoder import Encoder
    from trelliswork.features.templates import Templates
    from trelliswork.labels.label_set import Scheme

__all__ = [
    "allowed_labels",
    "as_labels",
    "as_sequences",
    "check_scheme_fits",
    "infer_labels",
    "make_encoder",
    "sequence_length",
]


def as_sequences(X: Any, name: str = "X") -> list[Any]:  # noqa: N803
    """Return the sequences of an input as a list, after checking its outer shape."""
    if isinstance(X, Corpus):
        return list(X)
    if isinstance(X, str | bytes | Mapping) or not hasattr(X, "__iter__"):
        raise TypeError(
            f"{name}: expected a list of sequences (token lists, feature dicts, matrices) or a "
            f"Corpus, got {type(X).__name__}."
        )
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":
        return [list(map(str, sequence)) for sequence in X]  # token lists that happen to be equal
    one_matrix = isinstance(X, np.ndarray) and X.dtype != object and X.ndim < 3
    is_frame = hasattr(X, "columns") and hasattr(X, "shape")  # it would be read as its columns
    if one_matrix or is_frame or _is_sparse(X):
        raise ValueError(
            f"{name}: expected a list with one matrix a sequence, got one "
            f"{type(X).__name__ if is_frame else 'array'} of shape {getattr(X, 'shape', '?')}. "
            "Reshape your data: one row a token, one array a sequence."
        )
    sequences = [_without_string_array(sequence) for sequence in X]
    for index, sequence in enumerate(sequences):
        if isinstance(sequence, str | bytes):
            raise TypeError(
                f"{name}: sequence {index} is the string {sequence[:40]!r}; expected a list of "
                "tokens. Split it, or use trelliswork.data.tokenizer.Tokenizer."
            )
    return sequences


def _is_sparse(value: Any) -> bool:
    """Return whether a value is a sparse matrix, without importing SciPy."""
    return "scipy.sparse" in sys.modules and bool(scipy.sparse.issparse(value))


def _without_string_array(sequence: Any) -> Any:
    """Return an array of strings as a list of tokens; anything else unchanged."""
    if isinstance(sequence, np.ndarray) and sequence.ndim == 1 and sequence.dtype.kind in "USO":
        return [str(token) if isinstance(token, str) else token for token in sequence.tolist()]
    return sequence


def as_labels(sequences: list[Any], y: Any, name: str = "y") -> list[Sequence[Label]]:
    """Return one label sequence a sequence; without `y`, the labels of the sentences.

    Errors call the labels `name`.

    Raises
    ------
    DataError
        If the numbers of sequences or of labels do not match, naming the first place.
    """
    if y is None:
        labels = [s.labels if isinstance(s, Sentence) else None for s in sequences]
        missing = next((i for i, own in enumerate(labels) if own is None), None)
        if missing is not None:
            raise DataError(
                f"{name}: sequence {missing} has no labels. Pass labels, as a pair (X, y) where "
                "one argument holds both, or read data with a label column."
            )
    else:
        labels = [s.labels if isinstance(s, Sentence) else s for s in as_sequences(y, name)]
    if len(labels) != len(sequences):
        raise DataError(f"{name}: expected {len(sequences)} label sequences, got {len(labels)}.")
    checked: list[Sequence[Label]] = []
    for index, (sequence, own) in enumerate(zip(sequences, labels, strict=True)):
        n_tokens = sequence_length(sequence)
        if own is None or len(own) != n_tokens:
            got = "none" if own is None else len(own)
            raise DataError(f"{name}: sequence {index}: expected {n_tokens} labels, got {got}.")
        checked.append([_one_label(label, name, index, t) for t, label in enumerate(own)])
    return checked


def as_known_labels(sequences: list[Any], y: Any, name: str = "y") -> list[list[str]]:
    """Return label sequences as `as_labels` does; every label must be known.

    Raises
    ------
    DataError
        If one is open, naming its place.
    """
    checked = as_labels(sequences, y, name)
    for index, own in enumerate(checked):
        for t, label in enumerate(own):
            if not isinstance(label, str):
                raise DataError(
                    f"{name}: sequence {index}, token {t}: expected a label name, got {label!r}: "
                    "all labels have to be known here. Leave the sequence out, pass it as "
                    "unlabelled to CODLTagger, or use CRFTagger."
                )
    return [list(map(str, own)) for own in checked]


def as_dev(dev: Any, labels: LabelSet) -> tuple[list[Any], list[Sequence[Label]]]:
    """Return the sequences and labels of a development set: a corpus, or a pair ``(X, y)``."""
    if isinstance(dev, tuple) and len(dev) != 2:
        raise DataError(f"dev: expected a labelled corpus or a pair (X, y), got {len(dev)} values.")
    given, y = dev if isinstance(dev, tuple) else (dev, None)
    sequences = as_sequences(given, "dev")
    names = as_labels(sequences, y, "dev")
    check_scheme_fits(names, labels)
    if not any(isinstance(label, str) for own in names for label in own):
        raise DataError("dev: expected labelled tokens to measure on, got none.")
    return sequences, names


def allowed_labels(labels: LabelSet, sequences: Sequence[Sequence[Label]], name: str) -> BoolArray:
    """Return which labels each token of a batch may have, shape ``(N, L)``."""
    masks = [np.zeros((0, len(labels)), dtype=bool)]
    for index, sequence in enumerate(sequences):
        try:
            masks.append(labels.allowed(sequence))
        except LabelError as error:
            raise LabelError(f"{name}: sequence {index}, {error}") from error
    return np.concatenate(masks)


def make_encoder(
    sequences: list[Any], features: str | Templates | None, *, segments: bool = False
) -> Encoder:
    """Choose the encoder that fits the first token: templates, dicts or matrices.

    With `segments`, a bundle of templates gets rules for whole segments as well.
    """
    for sequence in sequences:
        if _is_sparse(sequence) or isinstance(sequence, np.ndarray):
            return _without_templates(MatrixEncoder(), features, "matrices")
        if isinstance(sequence, Sentence) or not len(sequence):
            continue
        token = sequence[0]
        if isinstance(token, Mapping):
            return _without_templates(DictEncoder(), features, "feature dicts")
        if isinstance(token, list | set | frozenset) and features is None:
            return DictEncoder()
        break
    return TemplateEncoder(resolve(features, segments=segments))


def _without_templates(encoder: Encoder, features: str | Templates | None, kind: str) -> Encoder:
    if features is not None:
        raise ValueError(
            f"features: expected None, since X holds {kind}, got {features!r}. Templates read "
            "tokens: pass token lists, or leave features out."
        )
    return encoder


def sequence_length(sequence: Any) -> int:
    """Return the number of tokens of a sequence of any kind."""
    return int(sequence.shape[0]) if hasattr(sequence, "shape") else len(sequence)


def _one_label(label: Any, name: str, sequence: int, token: int) -> Label:
    if label is None or type(label) is str:
        return label
    if isinstance(label, str):  # a NumPy string, whose type would leak into every prediction
        return str(label)
    if isinstance(label, set | frozenset) and label and all(isinstance(n, str) for n in label):
        return frozenset(label)
    raise TypeError(
        f"{name}: sequence {sequence}, token {token}: expected a label name, None (unlabelled) or "
        f"a set of names, got {label!r}."
    )


def infer_labels(
    sequences: Sequence[Sequence[Label]],
    scheme: Scheme | None,
    outside: str | None,
    more: Any = None,
) -> LabelSet:
    """Return the labels of a training set, and `more` names; see `LabelSet.infer`."""
    sized = more is None or (hasattr(more, "__len__") and not isinstance(more, str))
    if not sized or not all(isinstance(name, str) for name in more or ()):
        raise TypeError(f"labels: expected a list of label names, got {more!r}.")
    if not any(len(sequence) for sequence in sequences):
        raise DataError("X: expected at least one labelled token, got none.")
    try:
        labels = LabelSet.infer(sequences, scheme, outside=outside)
        if more:
            labels = LabelSet(sorted({*labels.names, *more}), labels.scheme, outside)
    except LabelError as error:
        raise LabelError(f"y: {error}") from error
    if outside is not None:
        try:
            labels.id(outside)
        except LabelError as error:
            raise LabelError(f"outside: {error}") from error
    return labels


def check_scheme_fits(dev: Sequence[Sequence[Label]], labels: LabelSet) -> None:
    """Raise an error before training for a label that the scheme cannot read."""
    for index, sequence in enumerate(dev):
        try:
            labels.spans(sequence)
        except LabelError as error:
            raise LabelError(f"dev: sequence {index}: {error}") from error
