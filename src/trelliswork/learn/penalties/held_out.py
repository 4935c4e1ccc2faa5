"""Penalties learned by decoding held-out sequences.

On its training set a tagger breaks few rules, and penalties learned there are too small. So a
tagger is trained on a part of the sequences, and the penalties are learned on the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from trelliswork.constraints.given import as_constraints
from trelliswork.constraints.soft import Soft
from trelliswork.errors import DataError
from trelliswork.learn.penalties.learn import fit_penalties

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, FloatArray
    from trelliswork.constraints import Constraint
    from trelliswork.data.sentence import Label
    from trelliswork.learn.crf_settings import CRFSettings
    from trelliswork.learn.penalties.problem import PenaltyTagger


__all__ = ["Refit", "learn_held_out", "split_off"]


class Refit(Protocol):
    """Train a tagger with the settings of the learner, apart from constraints and labels."""

    def __call__(
        self,
        constraints: Sequence[Constraint],
        labels: Sequence[str],
        sequences: list[Any],
        names: Sequence[Sequence[Label]],
        weights: ArrayLike | None,
    ) -> PenaltyTagger:
        """Return the trained tagger.

        Parameters
        ----------
        constraints
            Its constraints, all hard.
        labels
            The names of all labels.
        sequences, names
            The training set.
        weights
            Weight of each sequence, shape ``(B,)``. Default: 1.
        """


def learn_held_out(
    settings: CRFSettings,
    sequences: list[Any],
    names: Sequence[Sequence[Label]],
    weights: ArrayLike | None,
    labels: Sequence[str],
    *,
    refit: Refit,
) -> FloatArray | None:
    """Return the penalties of all constraints, learned on held-out sequences.

    Parameters
    ----------
    settings
        The method, the constraints, the share to hold out and the random seed.
    sequences, names
        The training set.
    weights
        Weight of each sequence, shape ``(B,)``; the sequences held out all weigh the same.
    labels
        The names of all labels.
    refit
        Trains the base model on the sequences that are not held out.

    Returns
    -------
    numpy.ndarray or None
        Shape ``(C,)``, infinite for hard constraints; None if no penalty is learned by decoding.

    Raises
    ------
    DataError
        If no sequence can be held out.
    """
    constraints = as_constraints(settings.constraints)
    penalties = [rule.penalty for rule in constraints if isinstance(rule, Soft)]
    method = settings.penalties
    if method == "likelihood" or method == "counts":
        return None
    if all(known is not None for known in penalties):
        return None
    held = split_off(names, settings.held_out, settings.random_state)
    if not held.any():
        raise DataError(
            f"penalties={method!r}: expected fully labelled sequences to hold out, whose labels "
            "occur in others too, got none. Give numbers, as in .soft(2.0), "
            "or set penalties='likelihood'."
        )
    train, left = np.flatnonzero(~held).tolist(), np.flatnonzero(held).tolist()
    base = refit(
        [rule for rule in constraints if not rule.is_soft],
        labels,
        [sequences[b] for b in train],
        [names[b] for b in train],
        None if weights is None else np.asarray(weights)[train],
    )
    return fit_penalties(
        base.with_constraints(constraints),
        [sequences[b] for b in left],
        [names[b] for b in left],
        method=method,
        random_state=settings.random_state,
    )


def split_off(
    labels: Sequence[Sequence[Label]], share: float, random_state: int | None
) -> BoolArray:
    """Return a mask of the sequences to hold out, shape ``(B,)``: a random share.

    Only fully labelled sequences are held out, and every label keeps an occurrence in the others,
    as rules may name it.

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
