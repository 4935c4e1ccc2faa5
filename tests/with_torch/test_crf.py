"""The layer against the enumeration of all tag sequences."""

from __future__ import annotations

import copy
import doctest
import importlib
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

torch = pytest.importorskip("torch", reason="needs the torch extra: make test-torch")

from crf_oracle import Case, cases, log_likelihoods, log_sum_exp, scores  # noqa: E402
from trelliswork.torch import CRF  # noqa: E402

backends = st.sampled_from(["core", "tensor"])


@given(st.data(), backends, st.booleans())
def test_log_likelihood(data, backend, ignored):
    case = data.draw(cases(backend=backend, ignored=ignored))
    expected = log_likelihoods(case)
    found = case.crf(case.emissions, case.tags, case.mask, reduction="none")
    np.testing.assert_allclose(found.detach(), expected, atol=1e-9)
    n_tokens = sum(len(gold) for _, gold, _ in case.sequences(skip_ignored=True))
    total = sum(expected)
    means = {"sum": total, "mean": total / len(expected)}
    if n_tokens:
        means["token_mean"] = total / n_tokens
    for reduction, value in means.items():
        found = case.crf(case.emissions, case.tags, case.mask, reduction)
        assert found.shape == ()
        assert found.item() == pytest.approx(value, abs=1e-9)


@given(st.data(), backends)
def test_log_partition_and_marginals(data, backend):
    case = data.draw(cases(backend=backend))
    log_z = case.crf.log_partition(case.emissions, case.mask)
    marginals = case.crf.marginals(case.emissions, case.mask)
    assert marginals.shape == case.emissions.shape
    by_sequence = marginals if case.crf.batch_first else marginals.transpose(0, 1)
    for index, (phi, _, positions) in enumerate(case.sequences()):
        every = scores(case.crf, phi)
        total = log_sum_exp(every.values())
        assert log_z[index].item() == pytest.approx(total, abs=1e-9)
        expected = np.zeros(by_sequence[index].shape)
        for path, score in every.items():
            for position, tag in zip(positions, path, strict=True):
                expected[position, tag] += math.exp(score - total)
        np.testing.assert_allclose(by_sequence[index].detach(), expected, atol=1e-9)


@given(st.data())
def test_decode_and_kbest(data):
    case = data.draw(cases())
    decoded = case.crf.decode(case.emissions, case.mask)
    k = data.draw(st.integers(1, 5))
    best = case.crf.kbest(case.emissions, k, case.mask)
    for index, (phi, _, _) in enumerate(case.sequences()):
        every = scores(case.crf, phi)
        expected = sorted(every.values(), reverse=True)[:k]
        assert every[tuple(decoded[index])] == pytest.approx(expected[0], abs=1e-9)
        assert [score for _, score in best[index]] == pytest.approx(expected, abs=1e-9)
        paths = [tuple(path) for path, _ in best[index]]
        assert len(set(paths)) == len(paths)
        assert [every[path] for path in paths] == pytest.approx(expected, abs=1e-9)


@settings(max_examples=10)
@given(st.data())
def test_samples_follow_the_distribution(data):
    case = data.draw(cases())
    n = 3000
    draws = case.crf.sample(case.emissions, n, case.mask, seed=1)
    marginals = case.crf.marginals(case.emissions, case.mask)
    by_sequence = marginals if case.crf.batch_first else marginals.transpose(0, 1)
    for index, (_, _, positions) in enumerate(case.sequences()):
        tags = np.array(draws[index])
        assert tags.shape == (n, len(positions))
        share = (tags[:, :, None] == np.arange(case.crf.num_tags)).mean(axis=0)
        # five standard deviations of a proportion
        np.testing.assert_allclose(
            share, by_sequence[index][positions].detach(), atol=5 * 0.5 / math.sqrt(n)
        )


def test_samples_repeat():
    crf, emissions = CRF(3), torch.zeros(6, 2, 3)
    assert crf.sample(emissions, 4, seed=7) == crf.sample(emissions, 4, seed=7)
    first = crf.sample(emissions, 4, generator=torch.Generator().manual_seed(3))
    assert first == crf.sample(emissions, 4, generator=torch.Generator().manual_seed(3))
    torch.manual_seed(5)
    first = crf.sample(emissions, 4)
    torch.manual_seed(5)
    assert first == crf.sample(emissions, 4) != crf.sample(emissions, 4)
    with pytest.raises(ValueError, match="a generator or a seed"):
        crf.sample(emissions, generator=torch.Generator(), seed=1)


@pytest.mark.parametrize("backend", ["core", "tensor"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_dtypes(dtype, backend):
    torch.manual_seed(0)
    crf = CRF(4, batch_first=True, backend=backend)
    emissions = torch.randn(2, 5, 4).to(dtype).requires_grad_()
    tags = torch.randint(4, (2, 5))
    case = Case(crf, emissions, tags, None)
    value = crf(emissions, tags)
    assert value.dtype == torch.promote_types(dtype, torch.float32)
    assert value.item() == pytest.approx(sum(log_likelihoods(case)), rel=1e-6)
    value.backward()
    assert emissions.grad.dtype == dtype
    assert crf.transitions.grad.dtype == torch.float32
    assert crf.log_partition(emissions).dtype == value.dtype
    assert crf.marginals(emissions).dtype == dtype
    assert crf.decode(emissions) == crf.decode(emissions.double())


def test_left_out_tokens_get_no_gradient_and_do_not_matter():
    torch.manual_seed(0)
    crf = CRF(3, batch_first=True)
    emissions = torch.randn(1, 5, 3, requires_grad=True)
    mask = torch.tensor([[0, 1, 0, 1, 1]])
    tags = torch.tensor([[9, 0, -5, -100, 2]])  # masked tags may hold anything
    crf(emissions, tags, mask).backward()
    assert (emissions.grad[0, [0, 2, 3]] == 0).all()
    assert (emissions.grad[0, [1, 4]] != 0).any()
    expected = crf(emissions[:, [1, 4]], tags[:, [1, 4]])
    assert crf(emissions, tags, mask).item() == pytest.approx(expected.item())


@pytest.mark.parametrize("backend", ["core", "tensor"])
def test_a_sequence_without_targets_counts_nothing(backend):
    crf = CRF(3, batch_first=True, backend=backend)
    emissions = torch.randn(2, 3, 3, requires_grad=True)
    tags = torch.tensor([[0, 1, 2], [-100, -100, -100]])
    value = crf(emissions, tags, reduction="none")
    assert value[1] == 0
    value.sum().backward()
    assert (emissions.grad[1] == 0).all()
    assert value[0].item() == pytest.approx(crf(emissions[:1], tags[:1]).item())


@pytest.mark.parametrize("backend", ["core", "tensor"])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nan_scores_show_in_their_sequence_alone(bad, backend):
    crf = CRF(2, batch_first=True, backend=backend)
    emissions = torch.zeros(2, 3, 2)
    emissions[0, 1, 0] = bad
    emissions.requires_grad_()
    value = crf(emissions, torch.zeros(2, 3, dtype=torch.long), reduction="none")
    assert value.isnan().tolist() == [True, False]
    value.sum().backward()
    assert emissions.grad[0].isnan().any()
    assert not emissions.grad[1].isnan().any()
    assert crf.transitions.grad.isnan().any()


@pytest.mark.parametrize("backend", ["core", "tensor"])
def test_forbidden_tags_have_no_probability_and_no_gradient(backend):
    crf = CRF(2, batch_first=True, backend=backend).double()
    with torch.no_grad():
        crf.transitions[0, 1] = -math.inf
    emissions = torch.randn(1, 4, 2, dtype=torch.float64, requires_grad=True)
    marginals = crf.marginals(emissions)
    crf(emissions, torch.tensor([[1, 1, 0, 0]])).backward()
    assert crf.transitions.grad[0, 1] == 0
    for tensor in (marginals, emissions.grad, crf.transitions.grad):
        assert torch.isfinite(tensor).all()
    every = scores(crf, emissions[0].detach().numpy())
    expected = log_sum_exp(score for score in every.values() if score > -math.inf)
    assert crf.log_partition(emissions).item() == pytest.approx(expected)


@pytest.mark.parametrize("backend", ["core", "tensor"])
def test_large_scores_lose_no_path(backend):
    crf = CRF(2, batch_first=True, backend=backend).double()
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.zero_()
        crf.transitions.copy_(torch.tensor([[0.0, -1e4], [-1e4, 0.0]]))
    emissions = torch.tensor([[[0.0, -760.0], [-400.0, 0.0], [-400.0, 0.0]]], dtype=torch.float64)
    assert crf.log_partition(emissions).item() == pytest.approx(-760.0)
    assert crf(emissions, torch.zeros(1, 3, dtype=torch.long)).item() == pytest.approx(-40.0)


def test_no_gradient_is_computed_where_none_is_wanted():
    crf = CRF(3)
    emissions, tags = torch.randn(4, 2, 3), torch.zeros(4, 2, dtype=torch.long)
    with torch.no_grad():
        assert not crf(emissions, tags).requires_grad
        assert not crf.marginals(emissions).requires_grad
    assert crf(emissions, tags).requires_grad
    crf.requires_grad_(False)
    assert not crf(emissions, tags).requires_grad


def test_copies_and_pickles():
    crf = CRF(3)
    emissions, tags = torch.randn(4, 2, 3), torch.zeros(4, 2, dtype=torch.long)
    for twin in (copy.deepcopy(crf), pickle.loads(pickle.dumps(crf))):
        assert torch.equal(twin(emissions, tags), crf(emissions, tags))


@pytest.mark.parametrize("name", ["crf", "kernels", "lattice", "tensor"])
def test_docstring_examples(name):
    module = importlib.import_module(f"trelliswork.torch.{name}")
    assert doctest.testmod(module).failed == 0
