"""An independent judge: automatic differentiation of a forward recursion written in torch."""

from __future__ import annotations

import numpy as np
import pytest

from trelliswork import inference
from trelliswork.inference.verbs import Trellis

torch = pytest.importorskip("torch", reason="needs the torch extra: make test-torch")


def forward(scores, transitions, start, end):
    """log Z of one sequence by the textbook recursion, in logarithms."""
    alpha = start + scores[0]
    for row in scores[1:]:
        alpha = torch.logsumexp(alpha[:, None] + transitions, dim=0) + row
    return torch.logsumexp(alpha + end, dim=0)


@pytest.mark.parametrize("seed", range(20))
def test_marginals_equal_automatic_differentiation(seed):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(2, 40))
    length = int(rng.integers(1, 60))
    scale = float(rng.choice([1.0, 30.0, 500.0]))
    arrays = [
        rng.normal(size=shape) * scale for shape in ((length, n_labels), (n_labels, n_labels))
    ]
    arrays += [rng.normal(size=n_labels) for _ in range(2)]
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    log_z = forward(*tensors)
    log_z.backward()
    scores, transitions, start, end = arrays
    trellis = Trellis(scores, weights=transitions, start=start, end=end)
    found = inference.marginals(trellis)
    assert found.log_partition[0] == pytest.approx(log_z.item(), rel=1e-12)
    np.testing.assert_allclose(found.labels, tensors[0].grad, atol=1e-9)
    np.testing.assert_allclose(
        found.pattern_counts.reshape(n_labels, n_labels), tensors[1].grad, atol=1e-8
    )
