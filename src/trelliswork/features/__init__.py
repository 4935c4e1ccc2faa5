"""Sparse features of tokens, transitions and segments.

An encoder turns the input of an estimator (text, feature dicts or matrices) into the sparse rows
``X`` of a batch; a model scores them as

    φ = X W.

`Templates` are a small language, compiled to a native extractor; `bundle` names ready sets of them,
and pattern files of CRF++ and Wapiti are read as well. `inputs` checks the arguments of ``fit`` and
``predict``. Encoders are saved as JSON values and arrays, and read by `restore`.

Imports `data`, `labels` and the floors below. Models and weights are unknown here.
"""

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
