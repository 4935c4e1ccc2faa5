"""The rivals of the torch layer, each as ``layer(emissions, tags)``: the log-likelihood, summed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from trelliswork import Automaton
    from trelliswork.torch import CRF


def gold_score(crf: CRF, emissions: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
    """Return the summed score of the tags, in a few whole-batch operations."""
    score = emissions.gather(2, tags[:, :, None]).sum()
    score = score + crf.transitions[tags[:, :-1], tags[:, 1:]].sum()
    return score + crf.start_transitions[tags[:, 0]].sum() + crf.end_transitions[tags[:, -1]].sum()


class PlainLoop:
    """Max-shifted exp-matmuls in a loop, float32: what one writes without a library."""

    def __init__(self, crf: CRF) -> None:
        self.crf = crf

    def __call__(self, emissions: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
        """Return the summed log-likelihood."""
        crf = self.crf
        shift = crf.transitions.detach().max()
        weights = (crf.transitions - shift).exp()
        alpha = crf.start_transitions + emissions[:, 0]
        for t in range(1, emissions.shape[1]):
            best = alpha.detach().amax(1, keepdim=True)
            alpha = ((alpha - best).exp() @ weights).log() + best + shift + emissions[:, t]
        log_z = torch.logsumexp(alpha + crf.end_transitions, 1)
        return gold_score(crf, emissions, tags) - log_z.sum()


class TorchStruct:
    """torch-struct's LinearChainCRF, its potentials made from emissions and transitions."""

    def __init__(self, crf: CRF) -> None:
        self.crf = crf

    def distribution(self, emissions: torch.Tensor) -> object:
        """Return the distribution; potentials are (B, T − 1, tag, tag before)."""
        import torch_struct

        crf = self.crf
        first = (crf.start_transitions + emissions[:, :1])[:, :, None, :]
        last = torch.zeros_like(emissions[:, 1:])
        last[:, -1] = crf.end_transitions
        potentials = crf.transitions.T + (emissions[:, 1:] + last)[:, :, :, None]
        potentials = torch.cat([potentials[:, :1] + first, potentials[:, 1:]], 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it defines no arg_constraints
            return torch_struct.LinearChainCRF(potentials)

    def __call__(self, emissions: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
        """Return the summed log-likelihood."""
        log_z = self.distribution(emissions).partition
        return gold_score(self.crf, emissions, tags) - log_z.sum()

    def decode(self, emissions: torch.Tensor) -> list[list[int]]:
        """Return the best tags."""
        distribution = self.distribution(emissions)
        return distribution.struct.from_parts(distribution.argmax)[0].tolist()


class CcrfLayer:
    """ccrf's RegCCRF on one of our languages, with the tags encoded beforehand."""

    def __init__(self, crf: CRF, language: Automaton) -> None:
        import automic
        import ccrf

        automaton = automic.Automaton(language.n_states, set())
        for state, weight in enumerate(language.final):
            if weight == 0:
                automaton.accepting.add(state)
        # It names labels, and sorts their names: ids with leading zeros keep their order.
        self.names = [f"{label:03d}" for label in range(language.n_labels)]
        arcs = zip(language.source, language.label, language.target, strict=True)
        for source, label, target in arcs:
            automaton.transitions[source][self.names[label]].add(int(target))
        self.layer = ccrf.RegCCRF(automaton)
        with torch.no_grad():
            self.layer.label_transitions.copy_(crf.transitions)

    def encode(self, tags: torch.Tensor) -> torch.Tensor:
        """Return our tags as the pairs that it scores."""
        rows = [[self.names[tag] for tag in row] for row in tags.tolist()]
        return torch.tensor([self.layer.encode(row) for row in rows])

    def __call__(self, emissions: torch.Tensor, encoded: torch.Tensor) -> torch.Tensor:
        """Return the summed log-likelihood of encoded tags."""
        return self.layer.log_p(emissions, encoded).sum()

    def decode(self, emissions: torch.Tensor) -> list[list[int]]:
        """Return the best tags."""
        with torch.no_grad():
            best = self.layer.map(emissions)
        return self.layer.tag2label[best].tolist()
