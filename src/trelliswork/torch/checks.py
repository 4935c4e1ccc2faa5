"""Checks of a batch; the messages are those of torchcrf for the same checks."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from trelliswork.errors import InfeasibleError, NotInLanguageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.torch.lattice import Lattice


__all__ = [
    "IGNORED_TAG",
    "by_sequence",
    "check_feasible",
    "check_language",
    "check_num_tags",
    "check_shapes",
    "check_tag_ids",
    "check_tags",
    "check_tokens",
]

IGNORED_TAG = -100
"""A token with this target is left out of the loss, as everywhere in torch."""


def check_num_tags(num_tags: int) -> int:
    """Return the number of tags, a whole number from 1."""
    try:
        found = operator.index(num_tags)
    except TypeError:
        raise TypeError(
            f"num_tags: expected a whole number, got {type(num_tags).__name__} {num_tags!r}."
        ) from None
    if found <= 0:
        raise ValueError(f"invalid number of tags: {found}")
    return found


def check_shapes(
    emissions: Tensor,
    tags: Tensor | None,
    mask: Tensor | None,
    *,
    n_tags: int,
    batch_first: bool,
) -> None:
    """Check shapes and types, without reading values."""
    _check_tensor("emissions", emissions)
    if emissions.dim() != 3:
        raise ValueError(f"emissions must have dimension of 3, got {emissions.dim()}")
    if emissions.size(2) != n_tags:
        raise ValueError(
            f"expected last dimension of emissions is {n_tags}, got {emissions.size(2)}"
        )
    if not emissions.is_floating_point():
        raise TypeError(f"emissions: expected a floating dtype, got {emissions.dtype}.")
    n_sequences, n_positions = emissions.shape[:2] if batch_first else emissions.shape[1::-1]
    if n_positions == 0 < n_sequences:
        raise ValueError(
            "emissions: expected at least one token a sequence, got shape "
            f"{tuple(emissions.shape)}. Leave such batches out."
        )
    for name, given in (("tags", tags), ("mask", mask)):
        if given is None:
            continue
        _check_tensor(name, given)
        if emissions.shape[:2] != given.shape:
            raise ValueError(
                f"the first two dimensions of emissions and {name} must match, "
                f"got {tuple(emissions.shape[:2])} and {tuple(given.shape)}"
            )


def check_tag_ids(tags: Tensor) -> None:
    """Raise an error for tags whose type cannot hold ids."""
    _check_tensor("tags", tags)
    if tags.is_floating_point() or tags.is_complex() or tags.dtype == torch.bool:
        raise TypeError(f"tags: expected integers (torch.long), the ids of tags, got {tags.dtype}.")


def by_sequence(array: Tensor | None, batch_first: bool) -> NDArray[Any] | None:
    """Return tags or a mask as an array ``(B, T)``."""
    if array is None:
        return None
    found: NDArray[Any] = array.detach().cpu().numpy()
    return found if batch_first else found.T


def check_tokens(mask: BoolArray | None) -> None:
    """Raise an error for a sequence without a token; mask ``(B, T)``."""
    if mask is None or mask.any(axis=1).all():
        return
    empty = np.flatnonzero(~mask.any(axis=1))
    raise ValueError(
        "mask of the first timestep must all be on, or a later one of the same sequence: "
        f"sequence {empty[0]} of the batch has no token. Leave it out."
    )


def check_tags(tags: IntArray | None, mask: BoolArray | None, n_tags: int) -> None:
    """Raise an error for a tag out of range; `tags` and `mask` ``(B, T)``."""
    if tags is None:
        return
    wrong = np.argwhere(_kept(tags, mask) & ((tags < 0) | (tags >= n_tags)))
    if wrong.size:
        sequence, position = wrong[0]
        raise IndexError(
            f"tags: expected ids from 0 to {n_tags - 1} or {IGNORED_TAG} (left out), got "
            f"{tags[sequence, position]} in sequence {sequence} at position {position}."
        )


def check_language(
    lattice: Lattice,
    log_z: FloatArray,
    tags: IntArray | None,
    mask: BoolArray | None,
    n_positions: int,
) -> None:
    """Raise an error for sequences without a labelling, and for tags outside the language.

    Parameters
    ----------
    lattice
        Without a language, everything goes.
    log_z
        Log-partitions, shape ``(B,)``.
    tags, mask
        Shape ``(B, T)``.
    n_positions
        ``T``.
    """
    if lattice.language is None:
        return
    if tags is not None:
        kept = _kept(tags, mask)
        check_feasible(lattice, log_z, kept.sum(axis=1))
        _check_gold(lattice.language, lattice.rules, tags, kept)
    elif mask is not None:
        check_feasible(lattice, log_z, mask.sum(axis=1))
    else:
        check_feasible(lattice, log_z, np.full(log_z.size, n_positions))


def check_feasible(lattice: Lattice, scores: FloatArray, lengths: IntArray) -> None:
    """Raise an error for a sequence without a labelling; best scores or log-partitions ``(B,)``."""
    infeasible = np.flatnonzero(np.isneginf(scores) & (lengths > 0))
    if not infeasible.size:
        return
    first = infeasible[0]
    tokens = "1 token" if lengths[first] == 1 else f"{lengths[first]} tokens"
    if lattice.language is None:
        fault = f"{tokens} has a finite score. Leave it out, or look for scores of -inf."
    else:
        fault = (
            f"{tokens} with a finite score satisfies {lattice.rules}. Leave it out, or allow more."
        )
    raise InfeasibleError(f"Sequence {first} of the batch: no labelling of {fault}")


def _kept(tags: IntArray, mask: BoolArray | None) -> BoolArray:
    counted: BoolArray = tags != IGNORED_TAG
    return counted if mask is None else counted & mask


def _check_tensor(name: str, given: object) -> None:
    if not isinstance(given, Tensor):
        raise TypeError(
            f"{name}: expected a tensor, got {type(given).__name__}. Make one with torch.as_tensor."
        )


def _check_gold(language: Automaton, rules: str, tags: IntArray, kept: BoolArray) -> None:
    lengths = kept.sum(axis=1)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    wrong = np.flatnonzero(~language.accepts_batch(tags[kept], offsets) & (lengths > 0))
    if not wrong.size:
        return
    row, at = tags[wrong[0]], np.flatnonzero(kept[wrong[0]])
    position = _first_rejected(language, row[at])
    last = min(position, at.size - 1)
    name = "" if language.labels is None else f" ({language.labels[row[at[last]]]})"
    fault = "cannot stand there" if position < at.size else "cannot be the last"
    raise NotInLanguageError(
        f"Sequence {wrong[0]} of the batch: the gold tags do not satisfy {rules}: tag "
        f"{row[at[last]]}{name} at position {at[last]} {fault}. Correct the tags or the rules, or "
        f"leave tokens out with tag {IGNORED_TAG}."
    )


def _first_rejected(language: Automaton, tags: IntArray) -> int:
    """Return the first position without a path, or their number if only the end fails."""
    reached = np.isfinite(language.initial)
    for position, tag in enumerate(tags):
        taken = (language.label == tag) & reached[language.source]
        reached = np.zeros_like(reached)
        reached[language.target[taken]] = True
        if not reached.any():
            return position
    return len(tags)
