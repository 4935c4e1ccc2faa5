"""`restore`: rebuild any encoder from its stored settings and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.features.dict_encoder import DictEncoder
from trelliswork.features.encoder import Encoder, TemplateEncoder
from trelliswork.features.matrix_encoder import MatrixEncoder
from trelliswork.features.observation_encoder import ObservationEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


def restore(settings: Mapping[str, object], arrays: Mapping[str, NDArray[np.generic]]) -> Encoder:
    """Rebuild an encoder from its ``settings()`` and ``arrays()``; no code is executed.

    Raises
    ------
    ValueError
        The settings or the arrays are not those of an encoder.
    """
    kind = settings.get("kind")
    if kind == TemplateEncoder.kind:
        return TemplateEncoder.restore(settings, arrays)
    if kind == DictEncoder.kind:
        return DictEncoder.restore(settings, arrays)
    if kind == MatrixEncoder.kind:
        return MatrixEncoder.restore(settings, arrays)
    if kind == ObservationEncoder.kind:
        return ObservationEncoder.restore(settings, arrays)
    raise ValueError(
        f"expected an encoder of templates, dicts, matrices or observations, got {kind!r}."
    )
