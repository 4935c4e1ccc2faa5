"""The C++ kernel as a torch function: opaque to the compiler, differentiable twice.

The kernel runs forward and backward in one call and keeps the posteriors, so the derivative is
a multiplication:

    ∂ log Z / ∂ φ[t, y] = P(y_t = y)        ∂ log p(y) / ∂ φ[t, y] = 1[y_t = y] − P(y_t = y)

The second derivative runs the recursion of `trelliswork.torch.tensor` instead. Compiled graphs
hold the operators ``trelliswork::crf_value`` and ``trelliswork::crf_gradient``; eager code takes
a `torch.autograd.Function`, which costs less to call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from trelliswork import _core
from trelliswork._utils.threads import resolve_jobs
from trelliswork.inference.trellis import MEMORY_LIMIT
from trelliswork.torch import tensor as tensor_path
from trelliswork.torch.batch import PaddedBatch
from trelliswork.torch.checks import IGNORED_TAG, by_sequence, check_language, check_tokens
from trelliswork.torch.lattice import find_lattice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import FloatArray
    from trelliswork.torch.lattice import Lattice

__all__ = ["log_likelihood", "n_jobs"]

# Multiplications that justify a thread: starting one takes about 50 µs.
WORK_A_THREAD = 2_000_000

Values = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]
Gradients = tuple[Tensor, Tensor, Tensor, Tensor]


def log_likelihood(batch: PaddedBatch, lattice: Lattice) -> Tensor:
    """Return ``log p(tags)``, or ``log Z`` without tags, float64, shape ``(B,)``."""
    wanted = torch.is_grad_enabled() and any(score.requires_grad for score in batch.scores)
    found: Tensor
    if torch.compiler.is_compiling():
        found = crf_value(*batch, lattice.key, wanted)[0]
    elif wanted:
        found = _LogLikelihood.apply(*batch, lattice.key)  # type: ignore[no-untyped-call]
    else:
        found = _run(batch, lattice, None, with_gradient=False)[0]
    return found


def n_jobs(work: int) -> int:
    """Return the number of threads for `work` multiplications, at most torch's own limit."""
    return max(1, min(resolve_jobs(None), torch.get_num_threads(), work // WORK_A_THREAD))


def _run(
    batch: PaddedBatch,
    lattice: Lattice,
    weights: FloatArray | None,
    *,
    with_gradient: bool,
) -> Values:
    """Call the core: value (B,) and the gradient of Σ_b weights[b] · value[b], or empty tensors."""
    tokens = by_sequence(batch.mask, batch.batch_first)
    check_tokens(tokens)
    phi = _as_array(batch.emissions)
    call: Any = (
        _core.log_likelihood_float32 if phi.dtype == np.float32 else _core.log_likelihood_float64
    )
    options = _core.LayerOptions(
        batch_first=batch.batch_first,
        ignored_tag=IGNORED_TAG,
        memory_limit=MEMORY_LIMIT,
        n_jobs=n_jobs(batch.n_sequences * batch.n_positions * lattice.automaton.n_arcs),
    )
    values: _core.LayerValues = call(
        lattice.automaton._core,
        phi,
        None if batch.tags is None else _as_array(batch.tags),
        None if batch.mask is None else _as_array(batch.mask).view(np.uint8),
        *(_as_array(score.double()) for score in batch.scores[1:]),
        options,
        weights,
        with_gradient,
    )
    log_z, gold = values.log_z, values.gold
    if lattice.language is not None:
        tags = by_sequence(batch.tags, batch.batch_first)
        check_language(lattice, log_z, tags, tokens, batch.n_positions)
    value = log_z if batch.tags is None else gold - log_z
    nothing = np.empty(0)
    found = values.gradient or (nothing.astype(phi.dtype), nothing, nothing, nothing)
    first, *others = (torch.from_numpy(part) for part in found)
    return torch.from_numpy(value), first, others[0], others[1], others[2]


def _weigh(
    weights: Tensor, batch: PaddedBatch, unweighted: Sequence[Tensor], lattice: Lattice
) -> Gradients:
    """Return the gradient of Σ_b weights[b] · value[b], given that of the unweighted sum.

    All weights are equal after any of the reductions; where they are not, the kernel runs again.
    """
    w = weights.detach().numpy()
    parts: Sequence[Tensor]
    if w.size and (w == w[0]).all():
        # numpy stays on this thread: torch would wake its pool for one multiplication.
        parts = [torch.from_numpy(part.detach().numpy() * float(w[0])) for part in unweighted]
    else:
        parts = _run(batch, lattice, w, with_gradient=True)[1:]
    found = [part.to(score.dtype) for part, score in zip(parts, batch.scores, strict=True)]
    return found[0], found[1], found[2], found[3]


def _as_array(tensor: Tensor) -> NDArray[Any]:
    found: NDArray[Any] = tensor.detach().contiguous().numpy()
    return found


class _LogLikelihood(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        # The lattice itself, not its key: the loss may outlive the layer.
        batch, ctx.lattice = PaddedBatch(*inputs[:-1]), find_lattice(inputs[-1])
        value, *gradient = _run(batch, ctx.lattice, None, with_gradient=True)
        ctx.batch_first = batch.batch_first
        ctx.save_for_backward(*batch[:-1], *gradient)
        return value

    @staticmethod
    def backward(ctx: Any, weights: Tensor) -> Any:
        saved, unweighted = ctx.saved_tensors[:6], ctx.saved_tensors[6:]
        batch = PaddedBatch._make((*saved, ctx.batch_first))
        if torch.is_grad_enabled():  # it will be differentiated again
            found = crf_gradient(weights, *batch, *unweighted, ctx.lattice.key)
        else:
            found = _weigh(weights, batch, unweighted, ctx.lattice)
        return found[0], None, None, *found[1:], None, None


@torch.library.custom_op("trelliswork::crf_value", mutates_args=(), device_types="cpu")
def crf_value(
    emissions: Tensor,
    tags: Tensor | None,
    mask: Tensor | None,
    start: Tensor,
    end: Tensor,
    transitions: Tensor,
    batch_first: bool,
    lattice: int,
    with_gradient: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return the log-likelihood and, if wanted, the gradient of its sum over the batch."""
    batch = PaddedBatch(emissions, tags, mask, start, end, transitions, batch_first)
    return _run(batch, find_lattice(lattice), None, with_gradient=with_gradient)


@crf_value.register_fake
def _(*inputs: Any) -> Values:
    batch, with_gradient = PaddedBatch(*inputs[:7]), inputs[-1]
    value = batch.emissions.new_empty(batch.n_sequences, dtype=torch.float64)
    emissions, *others = (score.shape if with_gradient else (0,) for score in batch.scores)
    start, end, transitions = (value.new_empty(shape) for shape in others)
    return value, batch.emissions.new_empty(emissions), start, end, transitions


@torch.library.custom_op("trelliswork::crf_gradient", mutates_args=(), device_types="cpu")
def crf_gradient(
    weights: Tensor,
    emissions: Tensor,
    tags: Tensor | None,
    mask: Tensor | None,
    start: Tensor,
    end: Tensor,
    transitions: Tensor,
    batch_first: bool,
    emission_gradient: Tensor,
    start_gradient: Tensor,
    end_gradient: Tensor,
    transition_gradient: Tensor,
    lattice: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the gradient of ``Σ_b weights[b] · value[b]``, given that of the unweighted sum."""
    batch = PaddedBatch(emissions, tags, mask, start, end, transitions, batch_first)
    unweighted = (emission_gradient, start_gradient, end_gradient, transition_gradient)
    return _weigh(weights, batch, unweighted, find_lattice(lattice))


@crf_gradient.register_fake
def _(weights: Tensor, *inputs: Any) -> Gradients:
    first, *others = (score.new_empty(score.shape) for score in PaddedBatch(*inputs[:7]).scores)
    return first, others[0], others[1], others[2]


def _save_for_first(ctx: Any, inputs: tuple[Any, ...], output: Values) -> None:
    *tensors, ctx.batch_first, key, _ = inputs
    ctx.lattice = find_lattice(key)
    ctx.mark_non_differentiable(*output[1:])
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*tensors, *output[1:])


def _differentiate(ctx: Any, weights: Tensor, *_: Any) -> Any:
    saved = ctx.saved_tensors
    found = crf_gradient(weights, *saved[:6], ctx.batch_first, *saved[6:], ctx.lattice.key)
    return found[0], None, None, *found[1:], None, None, None


crf_value.register_autograd(_differentiate, setup_context=_save_for_first)


def _save_for_second(ctx: Any, inputs: tuple[Any, ...], output: Gradients) -> None:
    ctx.save_for_backward(*inputs[:7])
    ctx.batch_first, ctx.lattice = inputs[7], find_lattice(inputs[-1])


def _differentiate_again(ctx: Any, *outer: Tensor) -> Any:
    """Differentiate the gradient by the weights and the scores, by the recursion in tensors."""
    weights, emissions, tags, mask, start, end, transitions = ctx.saved_tensors
    with torch.enable_grad():
        weights, emissions, start, end, transitions = (
            x.detach().requires_grad_() for x in (weights, emissions, start, end, transitions)
        )
        batch = PaddedBatch(emissions, tags, mask, start, end, transitions, ctx.batch_first)
        value = tensor_path.log_likelihood(batch, ctx.lattice)
        inner = torch.autograd.grad(value, batch.scores, weights, create_graph=True)
        found = torch.autograd.grad(inner, (weights, *batch.scores), outer)
    return found[0], found[1], None, None, *found[2:], *(None,) * 6


crf_gradient.register_autograd(_differentiate_again, setup_context=_save_for_second)
