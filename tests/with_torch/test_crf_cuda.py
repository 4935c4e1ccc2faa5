"""The recursion in tensors on CUDA against the core on the CPU."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch", reason="needs the torch extra: make test-torch")

from trelliswork.errors import InfeasibleError, NotInLanguageError  # noqa: E402
from trelliswork.torch import CRF  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

LANGUAGES = [None, "(0 | 1 2* | 3 4*)*", "~(.* 1 .* 1 .*)"]


def twins(language, *, dtype=torch.float32, batch_first=True, scale=1.0):
    """The same layer and batch on the CPU and on CUDA."""
    torch.manual_seed(0)
    n_tags, n_sequences, length = 5, 6, 17
    layer = CRF(n_tags, batch_first, language=language).to(dtype)
    emissions = scale * torch.randn(n_sequences, length, n_tags, dtype=dtype)
    mask = torch.rand(n_sequences, length) < 0.8
    mask[:, 0] = True
    tags = torch.zeros(n_sequences, length, dtype=torch.long)
    tags[:, 3] = -100
    if not batch_first:
        emissions, mask, tags = (x.transpose(0, 1).contiguous() for x in (emissions, mask, tags))
    found = []
    for device in ("cpu", "cuda"):
        phi = emissions.to(device, copy=True).requires_grad_()
        found.append((copy.deepcopy(layer).to(device), phi, tags.to(device), mask.to(device)))
    return found


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_values_and_gradients(language, batch_first, dtype, scale):
    results = []
    for layer, phi, tags, mask in twins(
        language, dtype=dtype, batch_first=batch_first, scale=scale
    ):
        value = layer(phi, tags, mask, reduction="none")
        assert value.device == phi.device
        assert value.dtype == dtype
        (value * torch.arange(6, device=phi.device)).sum().backward()
        parts = [value, phi.grad, *(p.grad for p in layer.parameters())]
        results.append([part.detach().cpu() for part in parts])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("language", LANGUAGES)
def test_other_verbs(language):
    (cpu, phi, _, mask), (cuda, cuda_phi, _, cuda_mask) = twins(language)
    assert cpu.decode(phi, mask) == cuda.decode(cuda_phi, cuda_mask)
    assert cpu.kbest(phi, 3, mask) == cuda.kbest(cuda_phi, 3, cuda_mask)
    assert cpu.sample(phi, 3, mask, seed=1) == cuda.sample(cuda_phi, 3, cuda_mask, seed=1)
    marginals = cuda.marginals(cuda_phi, cuda_mask)
    assert marginals.is_cuda
    torch.testing.assert_close(marginals.cpu(), cpu.marginals(phi, mask), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("language", LANGUAGES)
def test_second_derivatives(language):
    layer, phi, tags, mask = twins(language, dtype=torch.float64)[1]
    phi = phi[:2, :4].detach().requires_grad_()

    def value(emissions):
        return layer(emissions, tags[:2, :4], mask[:2, :4])

    assert torch.autograd.gradgradcheck(value, (phi,), nondet_tol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast(dtype):
    layer, phi, tags, mask = twins(None)[1]
    linear = torch.nn.Linear(5, 5).cuda()
    with torch.autocast("cuda", dtype=dtype):
        emissions = linear(phi)
        assert emissions.dtype == dtype
        value = layer(emissions, tags, mask, reduction="mean")
    assert value.dtype == torch.float32
    value.backward()
    assert torch.isfinite(linear.weight.grad).all()


def test_the_core_takes_cuda_tensors():
    layer, phi, tags, mask = twins(None)[1]
    expected = layer(phi, tags, mask)
    layer.backend = "core"
    value = layer(phi, tags, mask)
    assert value.is_cuda
    torch.testing.assert_close(value, expected)
    value.backward()
    assert phi.grad.is_cuda


@pytest.mark.parametrize("backend", ["core", "tensor"])
def test_tags_and_mask_may_stay_on_the_cpu(backend):
    (_, _, cpu_tags, cpu_mask), (layer, phi, tags, mask) = twins(None)
    layer.backend = backend
    expected = layer(phi, tags, mask, reduction="token_mean")
    for gold, kept in ((cpu_tags, mask), (tags, cpu_mask), (cpu_tags, cpu_mask)):
        value = layer(phi, gold, kept, reduction="token_mean")
        assert value.is_cuda
        torch.testing.assert_close(value, expected)


def test_errors():
    layer = CRF(2, batch_first=True, language="(0 1)*").cuda()
    emissions = torch.zeros(1, 4, 2, device="cuda")
    with pytest.raises(NotInLanguageError, match="at position 1"):
        layer(emissions, torch.zeros(1, 4, dtype=torch.long, device="cuda"))
    with pytest.raises(InfeasibleError, match="3 tokens"):
        layer.log_partition(emissions[:, :3])
    with pytest.raises(IndexError, match="got 7"):
        layer(emissions, torch.full((1, 4), 7, device="cuda"))
