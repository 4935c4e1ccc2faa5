"""From text to sparse features: templates, encoders, and ready bundles."""

from trelliswork.features.bundles import BUNDLES, bundle, resolve, with_segment_rules
from trelliswork.features.dict_encoder import DictEncoder
from trelliswork.features.encoder import Encoder, TemplateEncoder
from trelliswork.features.matrix import (
    EncodedFeatures,
    FeatureMatrix,
    SegmentMatrix,
    SegmentSpec,
)
from trelliswork.features.matrix_encoder import MatrixEncoder
from trelliswork.features.observation_encoder import ObservationEncoder
from trelliswork.features.program import Lexicon
from trelliswork.features.restore import restore
from trelliswork.features.templates import Templates

__all__ = [
    "BUNDLES",
    "DictEncoder",
    "EncodedFeatures",
    "Encoder",
    "FeatureMatrix",
    "Lexicon",
    "MatrixEncoder",
    "ObservationEncoder",
    "SegmentMatrix",
    "SegmentSpec",
    "TemplateEncoder",
    "Templates",
    "bundle",
    "resolve",
    "restore",
    "with_segment_rules",
]
