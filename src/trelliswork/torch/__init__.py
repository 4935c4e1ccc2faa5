"""A CRF layer for torch networks: `CRF`, a drop-in for ``torchcrf.CRF`` that obeys languages.

Needs the torch extra: ``pip install ".[torch]"`` in a checkout.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        'trelliswork.torch needs torch. Install it in a checkout with: pip install ".[torch]"'
    ) from error

from trelliswork.torch.crf import CRF

__all__ = ["CRF"]
