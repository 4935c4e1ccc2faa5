"""The definition of a CRF layer, by listing every tag sequence; and small random batches."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from hypothesis import strategies as st

from trelliswork.torch import CRF

if TYPE_CHECKING:
    import numpy as np


@dataclass
class Case:
    """A batch in the layer's own order of axes."""

    crf: CRF
    emissions: torch.Tensor
    tags: torch.Tensor
    mask: torch.Tensor | None

    def sequences(self, skip_ignored=False):
        """Yield (emissions, tags, positions) of every sequence, of its tokens with a tag."""
        emissions, tags = self.emissions.detach().double(), self.tags
        mask = torch.ones_like(tags, dtype=torch.bool) if self.mask is None else self.mask.bool()
        if not self.crf.batch_first:
            emissions, tags, mask = (x.transpose(0, 1) for x in (emissions, tags, mask))
        if skip_ignored:
            mask = mask & (tags != -100)
        for phi, gold, kept in zip(emissions, tags, mask, strict=True):
            at = torch.nonzero(kept).flatten()
            yield phi[at].numpy(), gold[at].tolist(), at.tolist()


def scores(crf: CRF, phi: np.ndarray, accepts=lambda path: True) -> dict[tuple[int, ...], float]:
    """Score of every tag sequence that is accepted."""
    start, end, pairs = (
        p.detach().double().numpy()
        for p in (crf.start_transitions, crf.end_transitions, crf.transitions)
    )
    found = {}
    for path in itertools.product(range(crf.num_tags), repeat=len(phi)):
        if accepts(path):
            score = start[path[0]] + end[path[-1]]
            score += sum(phi[t, y] for t, y in enumerate(path))
            score += sum(pairs[a, b] for a, b in itertools.pairwise(path))
            found[path] = float(score)
    return found


def log_sum_exp(values) -> float:
    values = list(values)
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values))


def log_likelihoods(case: Case, accepts=lambda path: True) -> list[float]:
    """log p(tags) of every sequence; 0 where no token counts."""
    found = []
    for phi, gold, _ in case.sequences(skip_ignored=True):
        if not gold:
            found.append(0.0)
            continue
        every = scores(case.crf, phi, accepts)
        found.append(every[tuple(gold)] - log_sum_exp(every.values()))
    return found


@st.composite
def cases(draw, *, dtype=torch.float64, holes=True, ignored=False, backend="auto", **options):
    """Draw a layer and a batch; every sequence has a token."""
    seed = draw(st.integers(0, 2**32 - 1))
    generator = torch.Generator().manual_seed(seed)
    n_tags = options.pop("num_tags", None) or draw(st.integers(1, 4))
    n_sequences, length = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    batch_first = draw(st.booleans())
    crf = CRF(n_tags, batch_first, backend=backend, **options).to(dtype)
    scale = draw(st.sampled_from([1.0, 5.0]))
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
    emissions = torch.randn(n_sequences, length, n_tags, generator=generator, dtype=dtype) * scale
    tags = torch.randint(n_tags, (n_sequences, length), generator=generator)
    mask = None
    if draw(st.booleans()):
        if holes:
            mask = torch.rand(n_sequences, length, generator=generator) < 0.6
            always = torch.randint(length, (n_sequences,), generator=generator)
            mask[torch.arange(n_sequences), always] = True
        else:
            lengths = torch.randint(1, length + 1, (n_sequences, 1), generator=generator)
            mask = torch.arange(length) < lengths
    if ignored:
        tags[torch.rand(tags.shape, generator=generator) < 0.4] = -100
    if not batch_first:
        emissions, tags = (x.transpose(0, 1).contiguous() for x in (emissions, tags))
        mask = None if mask is None else mask.T.contiguous()
    return Case(crf, emissions, tags, mask)


def as_function(crf, verb):
    """The layer as a function of emissions and parameters."""
    names = [name for name, _ in crf.named_parameters()]

    def call(emissions, *parameters):
        given = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(crf, given, (emissions,), {"verb": verb})

    return call


class Verbs(torch.nn.Module):
    """Gives `functional_call` one entry to all verbs."""

    def __init__(self, crf, tags, mask):
        super().__init__()
        self.crf, self.tags, self.mask = crf, tags, mask

    def forward(self, emissions, verb):
        if verb == "log_likelihood":
            return self.crf(emissions, self.tags, self.mask, reduction="none")
        return getattr(self.crf, verb)(emissions, self.mask)
