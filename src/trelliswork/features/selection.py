"""Feature selection for ``TemplateEncoder.select``: the kept features and their templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork.features.checks import as_mask
from trelliswork.features.vocabulary import TemplateVocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from trelliswork import _core
    from trelliswork._typing import IntArray
    from trelliswork.features.program import Template
    from trelliswork.features.segment_rules import SegmentRule
    from trelliswork.features.templates import Templates


def select_features(
    templates: Templates, vocabulary: TemplateVocabulary, keep: Mapping[str, ArrayLike | None]
) -> tuple[Templates, TemplateVocabulary]:
    """Return the kept features, renumbered in order, and the templates that produce them.

    Parameters
    ----------
    templates : Templates
    vocabulary : TemplateVocabulary
        The features learned by an encoder of these templates.
    keep : mapping from parts to masks
        One entry a feature; ``None`` keeps all of a part.
    """
    counts = vocabulary.counts()
    masks = {part: _mask(part, mask, counts.get(part)) for part, mask in keep.items()}
    live: set[Template] = set()
    for part, (index, edge) in vocabulary.indexes().items():
        lives = index.live_templates(edge, masks[part])
        live |= {t for t, stays in zip(templates.of(part), lives, strict=True) if stays}
    live_rules: set[SegmentRule] = set()
    if vocabulary.segment is not None:
        numbers = np.unique(vocabulary.segment.feature_rules()[masks["segment"] != 0])
        live_rules = {templates.segment_rules[i] for i in numbers}
    smaller = templates.keep(live, live_rules)
    return smaller, _carry_over(vocabulary, masks, templates, smaller)


def _mask(part: str, keep: ArrayLike | None, n_features: int | None) -> NDArray[np.uint8]:
    if n_features is None and keep is not None and np.size(keep):
        raise ValueError(
            f"expected nothing to keep of a part that the templates do not describe ({part})."
        )
    mask = as_mask(np.ones(n_features or 0, bool) if keep is None else keep)
    if mask.shape != (n_features or 0,):
        raise ValueError(
            f"expected one entry to keep or drop for every feature of {part}, {n_features or 0}, "
            f"got shape {mask.shape}."
        )
    return mask


def _carry_over(
    vocabulary: TemplateVocabulary,
    masks: Mapping[str, NDArray[np.uint8]],
    whole: Templates,
    smaller: Templates,
) -> TemplateVocabulary:
    """Return the learned features of the templates that are left."""
    program = smaller.program

    def carried(
        index: _core.FeatureIndex | None, native: _core.FeatureProgram | None, part: str
    ) -> _core.FeatureIndex | None:
        if index is None or native is None:
            return None
        origins = _places(smaller.of(part), whole.of(part))
        return index.select(masks[part], np.zeros(0, np.uint8), native, origins)

    segment = None
    if vocabulary.segment is not None and program.segment is not None:
        origins = _places(smaller.segment_rules, whole.segment_rules)
        segment = vocabulary.segment.select(masks["segment"], program.segment, origins)
    return TemplateVocabulary(
        vocabulary.tokens.select(
            masks["state"],
            masks["edge"],
            program.tokens,
            _places(smaller.of("state", "edge"), whole.of("state", "edge")),
        ),
        carried(vocabulary.begin, program.begin, "begin"),
        carried(vocabulary.end, program.end, "end"),
        segment,
        vocabulary.max_duration,
    )


def _places(some: Iterable[object], every: Iterable[object]) -> IntArray:
    """Return the indices of some items among all of them."""
    places = {item: i for i, item in enumerate(every)}
    return np.array([places[item] for item in some], dtype=np.int64)
