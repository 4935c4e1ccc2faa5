"""The setup of CRF training: structure, constraints and the sequences to train on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.learn.denominator import Denominator
from trelliswork.models.structure import Structure
from trelliswork.planning.plan import Plan, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork._typing import IntArray
    from trelliswork.data.sentence import Label
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.learn.crf_settings import CRFSettings

__all__ = ["Setup"]


@dataclass(frozen=True, eq=False)
class Setup:
    """Structure, constraints and training sequences of a CRF.

    Attributes
    ----------
    structure : Structure
        Labels, patterns and segments.
    plan : Plan
        The constraints.
    denominator : Denominator
        The labellings that the likelihood is normalised over.
    kept : numpy.ndarray
        Indices of the sequences to train on.
    """

    structure: Structure
    plan: Plan
    denominator: Denominator
    kept: IntArray

    @classmethod
    def choose(
        cls,
        settings: CRFSettings,
        labels: LabelSet,
        sequences: Sequence[Any],
        names: Sequence[Sequence[Label]],
    ) -> Setup:
        """Return the setup for a training set.

        Sequences that are left out (``on_conflict="skip"``) determine neither patterns nor maximum
        segment lengths: these are observed again on the other sequences. Their labels stay, as
        constraints may name them.
        """
        structure = _structure(settings, labels, names)
        first = cls.on(settings, structure, sequences, names)
        if not first.denominator.n_skipped:
            return first
        kept = first.kept.tolist()
        own = [sequences[b] for b in kept], [names[b] for b in kept]
        structure = _structure(settings, labels, own[1])
        if structure == first.structure:
            return first
        second = cls.on(settings, structure, *own)
        return replace(second, kept=first.kept[second.kept])

    @classmethod
    def on(
        cls,
        settings: CRFSettings,
        structure: Structure,
        sequences: Sequence[Any],
        names: Sequence[Sequence[Label]],
        compiled: Plan | None = None,
    ) -> Setup:
        """Return the setup for a training set on a given structure.

        Parameters
        ----------
        settings, sequences, names
            As for `choose`.
        structure
            The structure.
        compiled
            The compiled constraints. Default: compile those of the settings.
        """
        trained = bool(settings.constrained_training)
        compiled = (
            compiled
            if compiled is not None
            else plan(
                structure.labels,
                settings.constraints,
                model=structure.automaton,
                segmentation=structure.segmentation,
                training_budget=settings.training_budget if trained else 0,
                decoding_budget=settings.decoding_budget,
                train_soft=settings.penalties == "likelihood",
            )
        )
        denominator = Denominator.choose(
            compiled, sequences, names, trained=trained, on_conflict=settings.on_conflict
        )
        return cls(structure, compiled, denominator, np.flatnonzero(denominator.kept))


def _structure(
    settings: CRFSettings, labels: LabelSet, names: Sequence[Sequence[Label]]
) -> Structure:
    transitions = settings.transitions
    # Segments show few transitions, so all get a weight, unless patterns or order=0 are given.
    is_chain, chosen = settings.max_segment == 1, settings.patterns is not None
    all_by_default = not (is_chain or chosen or settings.order == 0)
    return Structure.choose(
        labels,
        names,
        order=settings.order,
        max_segment=settings.max_segment,
        adjacent=settings.adjacent,
        patterns=settings.patterns,
        min_count=settings.min_pattern_count,
        max_patterns=settings.max_patterns,
        all_transitions=all_by_default if transitions is None else transitions == "all",
        edge_order=settings.edge_order,
    )
