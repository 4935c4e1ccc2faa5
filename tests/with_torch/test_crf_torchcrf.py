"""The layer in the place of ``torchcrf.CRF``, and beside it where it is installed."""

from __future__ import annotations

import inspect
import math
import warnings

import pytest

torch = pytest.importorskip("torch", reason="needs the torch extra: make test-torch")

from trelliswork.torch import CRF  # noqa: E402


@pytest.fixture
def rival():
    return pytest.importorskip("torchcrf", reason="compares with pytorch-crf where it is there").CRF


def twins(rival, n_tags, *, batch_first=False):
    theirs = rival(n_tags, batch_first=batch_first)
    ours = CRF(n_tags, batch_first=batch_first)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean", "token_mean"])
@pytest.mark.parametrize("masked", [True, False])
def test_values_and_gradients_agree(rival, batch_first, reduction, masked):
    torch.manual_seed(0)
    n_tags, shape = 7, (5, 11)
    ours, theirs = (layer.double() for layer in twins(rival, n_tags, batch_first=batch_first))
    lengths = torch.tensor([11, 1, 4, 11, 7])
    mask = torch.arange(11) < lengths[:, None] if masked else None
    emissions = 3 * torch.randn(*shape, n_tags, dtype=torch.float64)
    tags = torch.randint(n_tags, shape)
    if not batch_first:
        emissions, tags = emissions.transpose(0, 1), tags.T
        mask = None if mask is None else mask.T
    results = []
    for layer in (ours, theirs):
        phi = emissions.clone().requires_grad_()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the rival makes masks of bytes
            value = layer(phi, tags, mask, reduction=reduction)
            best = layer.decode(phi, mask)
        value.sum().backward()
        gradients = [phi.grad, *(p.grad for _, p in sorted(layer.named_parameters()))]
        results.append((value, gradients, best))
    torch.testing.assert_close(results[0][:2], results[1][:2], atol=1e-5, rtol=1e-9)
    assert results[0][2] == results[1][2]


def test_signatures(rival):
    for name in ("forward", "decode"):
        ours, theirs = (
            [
                (p.name, p.default)
                for p in inspect.signature(getattr(layer, name)).parameters.values()
            ]
            for layer in (CRF, rival)
        )
        assert ours == theirs
    assert repr(CRF(5)) == repr(rival(5))
    ours, theirs = twins(rival, 3)
    theirs.load_state_dict(ours.state_dict())


def test_the_same_seed_gives_the_same_parameters(rival):
    torch.manual_seed(3)
    ours = CRF(4)
    torch.manual_seed(3)
    theirs = rival(4)
    for name, parameter in ours.named_parameters():
        assert torch.equal(parameter, dict(theirs.named_parameters())[name])


def test_parameters():
    crf = CRF(4)
    shapes = {name: tuple(parameter.shape) for name, parameter in crf.named_parameters()}
    assert shapes == {"start_transitions": (4,), "end_transitions": (4,), "transitions": (4, 4)}
    for parameter in crf.parameters():
        assert parameter.abs().max() <= 0.1
        torch.nn.init.constant_(parameter, math.pi)
    crf.reset_parameters()
    assert all(parameter.abs().max() <= 0.1 for parameter in crf.parameters())
    assert repr(crf) == "CRF(num_tags=4)"


def byte_mask(*rows):
    return torch.tensor(rows, dtype=torch.uint8)


@pytest.mark.parametrize("backend", ["core", "tensor"])
@pytest.mark.parametrize(
    ("emissions", "tags", "mask", "error", "message"),
    [
        ((1, 2), (2, 2), None, ValueError, "emissions must have dimension of 3, got 2"),
        ((1, 2, 4), (1, 2), None, ValueError, "expected last dimension of emissions is 3, got 4"),
        ((1, 2, 3), (2, 2), None, ValueError, r"emissions and tags must match, got \(1, 2\) and"),
        ((1, 2, 3), (1, 2), byte_mask([1], [1]), ValueError, "emissions and mask must match"),
        ((1, 2, 3), (1, 2), byte_mask([0, 1]), ValueError, "mask of the first timestep must all"),
        ((3, 2, 3), (3, 2), byte_mask([1, 0], [0, 0], [1, 0]), ValueError, "sequence 1 of the"),
    ],
)
def test_errors(emissions, tags, mask, error, message, backend):
    crf = CRF(3, backend=backend)
    with pytest.raises(error, match=message):
        crf(torch.zeros(emissions), torch.zeros(tags, dtype=torch.long), mask)
    if "tags" not in message:
        for verb in (crf.decode, crf.marginals, crf.log_partition, crf.sample):
            with pytest.raises(error, match=message):
                verb(torch.zeros(emissions), mask=mask)


@pytest.mark.parametrize("backend", ["core", "tensor"])
def test_unknown_tags(backend):
    crf = CRF(3, backend=backend)
    tags = torch.tensor([[0, 0], [0, 3]])
    with pytest.raises(IndexError, match=r"from 0 to 2 .* got 3 in sequence 1 at position 1"):
        crf(torch.zeros(2, 2, 3), tags)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="invalid number of tags: 0"):
        CRF(0)
    for wrong in ("3", 3.0, None):
        with pytest.raises(TypeError, match="num_tags: expected a whole number, got"):
            CRF(wrong)
    with pytest.raises(ValueError, match="backend: expected one of"):
        CRF(2, backend="cuda")
    with pytest.raises(ValueError, match="invalid reduction: foo"):
        CRF(2)(torch.zeros(1, 1, 2), torch.zeros(1, 1, dtype=torch.long), reduction="foo")
    with pytest.raises(TypeError, match="expected a floating dtype"):
        CRF(2).decode(torch.zeros(1, 1, 2, dtype=torch.long))
    with pytest.raises(ValueError, match="k: expected a whole number"):
        CRF(2).kbest(torch.zeros(1, 1, 2), 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.complex64])
def test_tags_that_are_no_ids(dtype):
    with pytest.raises(TypeError, match=f"tags: expected integers .* got {dtype}"):
        CRF(3)(torch.zeros(2, 2, 3), torch.zeros(2, 2, dtype=dtype))


def test_invalid_tensors():
    crf, emissions, tags = CRF(3), torch.zeros(2, 2, 3), torch.zeros(2, 2, dtype=torch.long)
    with pytest.raises(TypeError, match="emissions: expected a tensor, got ndarray"):
        crf.decode(emissions.numpy())
    with pytest.raises(TypeError, match="mask: expected a tensor, got ndarray"):
        crf.decode(emissions, (tags == 0).numpy())
    for wrong in (None, tags.tolist(), tags.numpy()):
        with pytest.raises(TypeError, match="tags: expected a tensor, got"):
            crf(emissions, wrong)
