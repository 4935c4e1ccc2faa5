"""The number of features and weights of each feature template in a model.

>>> from trelliswork import CRFTagger
>>> tagger = CRFTagger(features="word[0]", l1=0.1).fit([["a", "b"]], [["X", "Y"]])
>>> template_sizes(tagger.model_)
[TemplateSize(name='word[0]', features=2, weights=2)]
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from trelliswork.features import Encoder
    from trelliswork.models.model import CRFModel
    from trelliswork.models.pair_weights import PairWeights

__all__ = ["TemplateSize", "template_names", "template_sizes"]


@dataclass(frozen=True, slots=True)
class TemplateSize:
    """The size of one template in a model.

    Attributes
    ----------
    name
        The text of the template; for feature dicts, the key.
    features
        Number of features with a nonzero weight.
    weights
        Number of nonzero weights.
    """

    name: str
    features: int
    weights: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return asdict(self)


def template_sizes(model: CRFModel) -> list[TemplateSize]:
    """Return the templates with a nonzero weight, in the order of the template text.

    A line of a CRF++ file that describes both tokens and transitions is one template.
    """
    found: dict[str, tuple[int, int]] = {}
    for kind, (names, owner) in model.encoder.feature_templates().items():
        part: PairWeights | None = getattr(model, kind)
        if part is None:
            continue
        counts = np.concatenate([[0], np.cumsum(part.weights != 0.0)])[part.offsets]
        weights = np.diff(counts)  # of each feature
        by_template = np.bincount(owner, weights, len(names)).astype(int).tolist()
        features = np.bincount(owner, weights > 0, len(names)).astype(int).tolist()
        for name, n_features, n_weights in zip(names, features, by_template, strict=True):
            before = found.get(name, (0, 0))
            found[name] = before[0] + n_features, before[1] + n_weights
    return [TemplateSize(name, *sizes) for name, sizes in found.items() if sizes[1]]


def template_names(encoder: Encoder) -> list[str]:
    """Return the names of all templates of an encoder, in the order of the template text."""
    return list(
        dict.fromkeys(name for names, _ in encoder.feature_templates().values() for name in names)
    )
