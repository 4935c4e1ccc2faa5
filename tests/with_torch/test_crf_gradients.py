"""Derivatives of the layer: against finite differences, of both orders, and in compiled graphs."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the torch extra: make test-torch")

from crf_oracle import Verbs, as_function  # noqa: E402
from trelliswork.torch import CRF  # noqa: E402

BACKENDS = ["core", "tensor"]


def batch(backend, *, batch_first=True, dtype=torch.float64, **options):
    torch.manual_seed(1)
    crf = CRF(3, batch_first, backend=backend, **options).to(dtype)
    emissions = torch.randn(3, 4, 3, dtype=dtype, requires_grad=True)
    tags = torch.tensor([[0, 1, 2, 1], [2, -100, 1, 0], [1, 1, 0, 2]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 1]], dtype=torch.bool)
    if not batch_first:
        emissions = emissions.detach().transpose(0, 1).contiguous().requires_grad_()
        tags, mask = tags.T, mask.T
    return crf, emissions, tags, mask


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("verb", ["log_likelihood", "log_partition", "marginals"])
def test_first_derivatives(verb, backend, batch_first):
    crf, emissions, tags, mask = batch(backend, batch_first=batch_first)
    verbs = Verbs(crf, tags, mask)
    assert torch.autograd.gradcheck(as_function(verbs, verb), (emissions, *verbs.parameters()))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("verb", ["log_likelihood", "log_partition"])
def test_second_derivatives(verb, backend):
    crf, emissions, tags, mask = batch(backend)
    verbs = Verbs(crf, tags, mask)
    assert torch.autograd.gradgradcheck(as_function(verbs, verb), (emissions, *verbs.parameters()))


def test_weighted_sequences():
    """Sequences may count differently, and some not at all."""
    gradients = []
    for backend in BACKENDS:
        crf, emissions, tags, mask = batch(backend, dtype=torch.float32)
        value = crf(emissions, tags, mask, reduction="none")
        (value * torch.tensor([2.0, 0.0, -0.5])).sum().backward()
        gradients.append([emissions.grad, *(p.grad for p in crf.parameters())])
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs)
    assert (gradients[0][0][1] == 0).all()


@pytest.mark.parametrize("compiler", ["eager", "aot_eager"])
@pytest.mark.parametrize("masked", [True, False])
def test_compiled(compiler, masked):
    crf, emissions, tags, mask = batch("auto", dtype=torch.float32)
    mask = mask if masked else None
    torch.compiler.reset()
    compiled = torch.compile(crf, backend=compiler, fullgraph=True)
    gradients = []
    for layer in (crf, compiled):
        emissions.grad = None
        crf.zero_grad()
        value = layer(emissions, tags, mask, reduction="mean")
        value.backward()
        gradients.append([value, emissions.grad, *(p.grad.clone() for p in crf.parameters())])
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs)
    with torch.no_grad():
        torch.testing.assert_close(compiled(emissions, tags, mask), crf(emissions, tags, mask))


def test_compiled_in_tensors():
    crf, emissions, tags, mask = batch("tensor")
    torch.compiler.reset()
    compiled = torch.compile(crf, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(emissions, tags, mask), crf(emissions, tags, mask))


@pytest.mark.parametrize("verb", ["crf_value", "crf_gradient"])
def test_operators_are_well_formed(verb):
    """Schema, fake implementation and autograd registration agree with the operator."""
    crf, emissions, tags, mask = batch("core")
    scores = (crf.start_transitions, crf.end_transitions, crf.transitions)
    inputs = (emissions, tags, mask, *(x.detach().requires_grad_() for x in scores), True)
    key = crf.lattice.key
    if verb == "crf_gradient":
        parts = torch.ops.trelliswork.crf_value(*inputs, key, True)[1:]
        weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
        arguments = (weights, *inputs, *(part.detach() for part in parts), key)
    else:
        arguments = (*inputs, key, True)
    operator = getattr(torch.ops.trelliswork, verb).default
    checks = ["test_schema", "test_autograd_registration", "test_faketensor"]
    if verb == "crf_value":  # a second derivative looks at values: not in a compiled graph
        checks.append("test_aot_dispatch_dynamic")
    torch.library.opcheck(operator, arguments, test_utils=checks)
