"""A CRF layer for torch networks: `CRF`, a drop-in for ``torchcrf.CRF`` that obeys rules.

The layer computes, on a chain of tags or its product with a language,

    log p(y | x) = Σ_t φ[t, y_t] + Σ_t ψ[y_{t-1}, y_t] + start + end − log Z.

`crf` is the layer, `kernels` the C++ kernel as a differentiable torch function, `tensor` the same
recursion in tensors (for CUDA and second derivatives), `rules` compiles the language.

Imports `constraints`, `inference` and the floors below. Needs the torch extra:
``pip install ".[torch]"`` in a checkout.
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
