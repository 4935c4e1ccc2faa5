"""Penalties learned by decoding, on sequences that the weights have not seen.

On its own training set a tagger breaks few rules, and penalties that are learned there come out too
small. So a tagger is trained on the rest, and the penalties are learned on what was held out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from trelliswork.constraints.given import as_constraints
from trelliswork.constraints.soft import Soft
from trelliswork.errors import DataError
from trelliswork.learn.penalties.learn import fit_penalties

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from trelliswork._typing import FloatArray
    from trelliswork.data.sentence import Label
    from trelliswork.taggers.crf import CRFTagger


__all__ = ["learn_held_out", "split_off"]


def learn_held_out(
    tagger: CRFTagger,
    sequences: list[Any],
    labels: Sequence[Sequence[Label]],
    sample_weight: ArrayLike | None,
    known: Sequence[str],
) -> FloatArray | None:
    """Return the penalties of all constraints of a tagger that is about to be trained.

    Parameters
    ----------
    tagger
        The tagger; its parameters say how.
    sequences, labels
        The training set.
    sample_weight
        Weight of each sequence, shape ``(B,)``; those held out all weigh the same.
    known
        The names of all labels that there are.

    Returns
    -------
    numpy.ndarray or None
        Shape ``(C,)``, infinite for hard constraints; None where there is nothing to learn.

    Raises
    ------
    DataError
        Where no sequence can be held out.
    """
    constraints = as_constraints(tagger.constraints)
    penalties = [rule.penalty for rule in constraints if isinstance(rule, Soft)]
    method = tagger.penalties
    if method == "likelihood" or method == "counts":
        return None
    if all(known is not None for known in penalties):
        return None
    held = split_off(labels, tagger.held_out, tagger.random_state)
    if not held.any():
        raise DataError(
            f"penalties={method!r}: expected sequences to hold out, all of whose labels "
            "are known and occur in others too; there are none. Give numbers, as in .soft(2.0), "
            "or set penalties='likelihood'."
        )
    base = clone(tagger).set_params(
        constraints=[rule for rule in constraints if not rule.is_soft],
        penalties="likelihood",
        labels=known,
    )
    train, left = np.flatnonzero(~held).tolist(), np.flatnonzero(held).tolist()
    base.fit(
        [sequences[b] for b in train],
        [labels[b] for b in train],
        sample_weight=None if sample_weight is None else np.asarray(sample_weight)[train],
    )
    return fit_penalties(
        base.with_constraints(constraints),
        [sequences[b] for b in left],
        [labels[b] for b in left],
        method=method,
        random_state=tagger.random_state,
    )


def split_off(
    labels: Sequence[Sequence[Label]], share: float, random_state: int | None
) -> NDArray[np.bool_]:
    """Return which sequences to hold out, shape ``(B,)``: a random share of them.

    Only sequences all of whose labels are known, and so that every label occurs in one of the
    others: rules may name it.

    Examples
    --------
    >>> split_off([["a"], ["a", "b"], ["a"], ["a", None]], 0.5, 0).tolist()
    [True, False, True, False]
    """
    seen: dict[Label, int] = {}
    for own in labels:
        for label in {name for name in own if isinstance(name, str)}:
            seen[label] = seen.get(label, 0) + 1
    held = np.zeros(len(labels), dtype=bool)
    wanted = max(1, round(share * len(labels)))
    for b in np.random.default_rng(random_state).permutation(len(labels)).tolist():
        names = set(labels[b])
        whole = all(isinstance(name, str) for name in labels[b])
        if held.sum() < wanted and names and whole and all(seen[name] > 1 for name in names):
            held[b] = True
            for name in names:
                seen[name] -= 1
    return held
