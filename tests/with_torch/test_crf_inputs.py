"""Tensors of unusual form: no sequences, no tokens, strides, integer masks, inference mode."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the torch extra: make test-torch")

from trelliswork.torch import CRF  # noqa: E402

BACKENDS = ["core", "tensor"]
LANGUAGES = [None, "(0 | 1 2*)*"]

pytestmark = [
    pytest.mark.parametrize("backend", BACKENDS),
    pytest.mark.parametrize("language", LANGUAGES),
]


@pytest.fixture
def crf(backend, language):
    torch.manual_seed(0)
    return CRF(3, batch_first=True, backend=backend, language=language)


@pytest.fixture
def tags():
    return torch.tensor([[0, 1, 2, 2], [1, 0, 0, 1]])


def test_no_sequences(crf):
    emissions = torch.zeros(0, 4, 3, requires_grad=True)
    tags = torch.zeros(0, 4, dtype=torch.long)
    crf(emissions, tags, tags == 0).backward()
    assert emissions.grad.shape == emissions.shape
    assert (crf.transitions.grad == 0).all()
    assert crf.log_partition(emissions).shape == (0,)
    assert crf.marginals(emissions).shape == emissions.shape
    assert crf.decode(emissions) == crf.kbest(emissions, 2) == crf.sample(emissions) == []


@pytest.mark.parametrize("batch_first", [True, False])
def test_no_tokens(crf, batch_first):
    crf.batch_first = batch_first
    shape = (2, 0) if batch_first else (0, 2)
    with pytest.raises(ValueError, match="expected at least one token a sequence, got shape"):
        crf(torch.zeros(*shape, 3), torch.zeros(shape, dtype=torch.long))
    for verb in (crf.decode, crf.log_partition, crf.marginals, crf.sample):
        with pytest.raises(ValueError, match="expected at least one token a sequence, got shape"):
            verb(torch.zeros(*shape, 3))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.float32])
def test_masks_of_numbers(crf, tags, dtype):
    emissions, mask = torch.randn(2, 4, 3), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
    for reduction in ("sum", "token_mean"):
        expected = crf(emissions, tags, mask.bool(), reduction)
        assert torch.equal(crf(emissions, tags, mask.to(dtype), reduction), expected)
    assert crf.decode(emissions, mask.to(dtype)) == crf.decode(emissions, mask.bool())


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
def test_tags_of_any_integers(crf, tags, dtype):
    emissions = torch.randn(2, 4, 3)
    assert torch.equal(crf(emissions, tags.to(dtype)), crf(emissions, tags))


def test_strides(crf, tags):
    plain = torch.randn(2, 4, 3)
    strided = plain.permute(2, 1, 0).contiguous().permute(2, 1, 0)
    weights = torch.tensor([2.0, 9.0, 3.0, 9.0])[::2]
    gradients = []
    for emissions, gold in ((plain, tags), (strided, tags.T.contiguous().T)):
        emissions.requires_grad_()
        crf(emissions, gold, reduction="none").backward(weights)
        gradients.append(emissions.grad)
    assert not strided.is_contiguous()
    assert torch.equal(*gradients)
    assert crf.decode(plain) == crf.decode(strided)


def test_frozen_parameters(crf, tags):
    crf.transitions.requires_grad_(False)
    crf(torch.randn(2, 4, 3), tags).backward()
    assert crf.transitions.grad is None
    assert crf.start_transitions.grad.abs().max() > 0


def test_inference_mode(crf, tags):
    emissions, mask = torch.randn(2, 4, 3), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]) > 0
    with torch.inference_mode():
        inside, hidden = emissions.clone(), mask.clone()
        value = crf(inside, tags, hidden)
        marginals = crf.marginals(inside, hidden)
        decoded = crf.decode(inside, hidden)
    assert torch.equal(value, crf(emissions, tags, mask))
    assert torch.equal(marginals, crf.marginals(emissions, mask))
    assert not marginals.requires_grad
    assert decoded == crf.decode(emissions, mask)
