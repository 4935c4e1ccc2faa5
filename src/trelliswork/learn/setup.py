"""What is settled before training: the structure, the constraints, the sequences to train on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.learn.denominator import Denominator
from trelliswork.models.structure import Structure
from trelliswork.planning.plan import Plan, plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from trelliswork.data.sentence import Label
    from trelliswork.labels.label_set import LabelSet

__all__ = ["Setup"]


@dataclass(frozen=True, eq=False)
class Setup:
    """How a tagger is about to be trained.

    Attributes
    ----------
    structure : Structure
        Labels, patterns and segments.
    rules : Plan
        The constraints on it.
    under : Denominator
        What the likelihood of the sequences kept is normalised over.
    kept : numpy.ndarray
        The sequences that are trained on, by index.
    """

    structure: Structure
    rules: Plan
    under: Denominator
    kept: NDArray[np.int64]

    @classmethod
    def choose(
        cls,
        parameters: Mapping[str, Any],
        labels: LabelSet,
        sequences: Sequence[Any],
        names: Sequence[Sequence[Label]],
    ) -> Setup:
        """Settle what the parameters of a tagger mean on a training set.

        Sequences that are left out (``on_conflict="skip"``) shape neither patterns nor limits of
        segments: these are observed again on the others. Labels stay, as constraints may name them.
        """
        structure = _structure(parameters, labels, names)
        first = cls.on(parameters, structure, sequences, names)
        if not first.under.n_skipped:
            return first
        kept = first.kept.tolist()
        own = [sequences[b] for b in kept], [names[b] for b in kept]
        structure = _structure(parameters, labels, own[1])
        if structure == first.structure:
            return first
        second = cls.on(parameters, structure, *own)
        return replace(second, kept=first.kept[second.kept])

    @classmethod
    def on(
        cls,
        parameters: Mapping[str, Any],
        structure: Structure,
        sequences: Sequence[Any],
        names: Sequence[Sequence[Label]],
        rules: Plan | None = None,
    ) -> Setup:
        """Settle the rest, where the structure and perhaps the constraints on it are settled.

        Parameters
        ----------
        parameters, sequences, names
            As for `choose`.
        structure
            The structure.
        rules
            The constraints on it. Default: planned anew.
        """
        trained = bool(parameters["constrained_training"])
        rules = (
            rules
            if rules is not None
            else plan(
                structure.labels,
                parameters["constraints"],
                model=structure.automaton,
                segmentation=structure.segmentation,
                training_budget=parameters["training_budget"] if trained else 0,
                decoding_budget=parameters["decoding_budget"],
                train_soft=parameters["penalties"] == "likelihood",
            )
        )
        under = Denominator.choose(
            rules, sequences, names, trained=trained, on_conflict=parameters["on_conflict"]
        )
        return cls(structure, rules, under, np.flatnonzero(under.kept))


def _structure(
    parameters: Mapping[str, Any], labels: LabelSet, names: Sequence[Sequence[Label]]
) -> Structure:
    transitions = parameters["transitions"]
    # Segments show few transitions; but whoever names patterns, or wants none, gets no others.
    is_chain, chosen = parameters["max_segment"] == 1, parameters["patterns"] is not None
    all_by_default = not (is_chain or chosen or parameters["order"] == 0)
    return Structure.choose(
        labels,
        names,
        order=parameters["order"],
        max_segment=parameters["max_segment"],
        adjacent=parameters["adjacent"],
        patterns=parameters["patterns"],
        min_count=parameters["min_pattern_count"],
        max_patterns=parameters["max_patterns"],
        all_transitions=all_by_default if transitions is None else transitions == "all",
        edge_order=parameters["edge_order"],
    )
