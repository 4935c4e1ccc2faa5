"""The recursion of the kernel in tensors: for CUDA, and for second derivatives.

    α_0[s] = initial[s]        α_{t+1}[s'] = log Σ_{arcs s → s' reading y} exp(α_t[s] + w + φ[t, y])
    log Z = log Σ_s exp(α_T[s] + final[s])

in double precision, for all sequences of a batch at once. ``-inf`` is a true zero: it gives
zero gradients, never NaN. Letters: ``B`` sequences, ``T`` positions, ``K`` tags, ``A`` arcs,
``S`` states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from trelliswork.torch.checks import (
    IGNORED_TAG,
    by_sequence,
    check_language,
    check_tags,
    check_tokens,
)

if TYPE_CHECKING:
    from trelliswork.torch.batch import PaddedBatch
    from trelliswork.torch.lattice import Arcs, Lattice

__all__ = ["log_likelihood"]

# exp loses nothing that counts while its argument stays above this (it vanishes below −745).
SAFE_SPREAD = 600.0


class _Arranged(NamedTuple):
    """Sequences without their holes: tokens first, padding last."""

    phi: Tensor  # (B, T, K), with start and end scores
    tags: Tensor | None  # (B, T), 0 in the padding
    kept: Tensor  # (B, T): the tokens
    length: Tensor  # (B,)


def log_likelihood(batch: PaddedBatch, lattice: Lattice) -> Tensor:
    """Return ``log p(tags)``, or ``log Z`` without tags, float64, shape ``(B,)``."""
    pairs = batch.transitions.double()
    if not torch.compiler.is_compiling():  # a graph that is being compiled has no values
        gold, tokens = (by_sequence(x, batch.batch_first) for x in (batch.tags, batch.mask))
        check_tokens(tokens)
        check_tags(gold, tokens, pairs.shape[0])
    arranged = _arrange(batch)
    if lattice.is_chain:
        log_z = _chain_log_partition(arranged, pairs)
    else:
        log_z = _sparse_log_partition(arranged, pairs, lattice.arcs(pairs.device))
    if lattice.language is not None and not torch.compiler.is_compiling():
        found = log_z.detach().cpu().numpy()
        check_language(lattice, found, gold, tokens, batch.n_positions)
    return log_z if arranged.tags is None else _score(arranged, pairs) - log_z


def _arrange(batch: PaddedBatch) -> _Arranged:
    """Move the tokens of each sequence to its front and add the start and end scores."""
    phi, tags, mask = batch.emissions.double(), batch.tags, batch.mask
    if not batch.batch_first:
        phi = phi.transpose(0, 1)
        tags, mask = (None if x is None else x.transpose(0, 1) for x in (tags, mask))
    kept = torch.ones(phi.shape[:2], dtype=torch.bool, device=phi.device) if mask is None else mask
    if tags is not None:
        kept = kept & (tags != IGNORED_TAG)
    if mask is not None or tags is not None:
        order = torch.argsort(~kept, dim=1, stable=True)
        phi = phi.gather(1, order[:, :, None].expand_as(phi))
        kept = kept.gather(1, order)
        tags = None if tags is None else torch.where(kept, tags.gather(1, order), 0)
    length = kept.sum(1)
    position = torch.arange(phi.shape[1], device=phi.device)
    phi = phi + torch.where((position == 0)[:, None], batch.start.double(), 0.0)
    at_end = position == length[:, None] - 1
    phi = phi + torch.where(at_end[:, :, None], batch.end.double(), 0.0)
    return _Arranged(phi, tags, kept, length)


def _score(batch: _Arranged, pairs: Tensor) -> Tensor:
    """Score of the tags, shape (B,)."""
    phi, tags, kept, _ = batch
    assert tags is not None
    chosen = phi.gather(2, tags[:, :, None]).squeeze(2)
    score = torch.where(kept, chosen, 0.0).sum(1)
    stepped = pairs[tags[:, :-1], tags[:, 1:]]
    return score + torch.where(kept[:, 1:], stepped, 0.0).sum(1)


def _chain_log_partition(batch: _Arranged, pairs: Tensor) -> Tensor:
    """Run the recursion on a chain, with one state a tag."""
    phi, _, kept, length = batch
    shift = pairs.detach().max()
    weight = (pairs - shift).exp() if _spread_is_safe(phi, pairs) else None
    alpha = phi[:, 0]
    for t in range(1, phi.shape[1]):
        if weight is None:
            step = _log_sum_exp(alpha[:, :, None] + pairs, dim=1)
        else:
            best = alpha.detach().amax(1, keepdim=True)
            step = ((alpha - best).exp() @ weight).log() + (best + shift)
        alpha = torch.where(kept[:, t, None], step + phi[:, t], alpha)
    return torch.where(length > 0, _log_sum_exp(alpha, dim=1), 0.0)


def _spread_is_safe(phi: Tensor, pairs: Tensor) -> bool:
    """Return whether sums of products of shifted exponentials lose no path.

    Within a row, ``α`` spreads no further than the scores of its token and the transitions into
    it do, and each product takes one transition more.
    """
    if torch.compiler.is_compiling() or phi.numel() == 0:
        return False  # the answer depends on data, which a compiled graph must not
    phi, pairs = phi.detach(), pairs.detach()
    spread = (phi.amax(2) - phi.amin(2)).max() + 2 * (pairs.max() - pairs.min())
    return bool(spread < SAFE_SPREAD)


def _sparse_log_partition(batch: _Arranged, pairs: Tensor, arcs: Arcs) -> Tensor:
    """Run the recursion over an arc list."""
    phi, _, kept, length = batch
    weight = torch.zeros_like(arcs.source, dtype=torch.float64)
    weight = weight.index_add(0, arcs.fired_by, pairs.flatten()[arcs.pattern])
    alpha = arcs.initial.expand(phi.shape[0], -1)
    target = arcs.target.expand(phi.shape[0], -1)
    for t in range(phi.shape[1]):
        taken = alpha[:, arcs.source] + (phi[:, t, arcs.label] + weight)
        best = torch.full_like(alpha, -torch.inf).scatter_reduce(1, target, taken.detach(), "amax")
        best = _finite(best)
        mass = torch.zeros_like(best).index_add(
            1, arcs.target, (taken - best[:, arcs.target]).exp()
        )
        alpha = torch.where(kept[:, t, None], _log(mass) + best, alpha)
    return torch.where(length > 0, _log_sum_exp(alpha + arcs.final, dim=1), 0.0)


def _log_sum_exp(x: Tensor, dim: int) -> Tensor:
    """``log Σ exp(x)``; −inf with a zero gradient if all terms are −inf."""
    best = _finite(x.detach().amax(dim, keepdim=True))
    return _log((x - best).exp().sum(dim)) + best.squeeze(dim)


def _log(mass: Tensor) -> Tensor:
    """``log(mass)`` with a zero gradient at zero."""
    some = mass > 0
    return torch.where(some, torch.where(some, mass, 1.0).log(), -torch.inf)


def _finite(best: Tensor) -> Tensor:
    return torch.where(best == -torch.inf, 0.0, best)
