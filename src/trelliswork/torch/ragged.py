"""`Ragged`: a padded batch as the concatenated sequences that the verbs of inference take."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from trelliswork import inference
from trelliswork.automata.automaton import Automaton
from trelliswork.inference.trellis import Trellis
from trelliswork.torch.checks import by_sequence, check_feasible, check_tokens
from trelliswork.torch.kernels import n_jobs

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from trelliswork._typing import IdArray, IntArray
    from trelliswork.torch.lattice import Lattice

__all__ = ["Ragged"]

# A product with so many times the arcs of the chain is decoded on the chain first.
MUCH_LARGER = 2


class Ragged:
    """A padded batch of ``B`` sequences without its padding and its holes: ``N`` tokens.

    Attributes
    ----------
    rows : numpy.ndarray
        The emissions of the tokens that the mask keeps, shape ``(N, K)``.
    lengths : numpy.ndarray
        Tokens of each sequence, shape ``(B,)``.
    """

    def __init__(
        self,
        emissions: Tensor,
        mask: Tensor | None,
        start: Tensor,
        end: Tensor,
        transitions: Tensor,
        lattice: Lattice,
        batch_first: bool,
    ) -> None:
        phi = _as_array(emissions)
        phi = phi if batch_first else phi.swapaxes(0, 1)
        kept = None if mask is None else by_sequence(mask.bool(), batch_first)
        check_tokens(kept)
        n_sequences, n_positions, n_tags = phi.shape
        if kept is None:
            self.rows = np.ascontiguousarray(phi, dtype=np.float64).reshape(-1, n_tags)
            self.lengths = np.full(n_sequences, n_positions)
        else:
            self.rows, self.lengths = phi[kept], kept.sum(axis=1)
        self._weights = [_as_array(score) for score in (start, end, transitions)]
        self._lattice = lattice

    @cached_property
    def trellis(self) -> Trellis:
        """The scores on the automaton of the lattice."""
        return self._trellis(self._lattice.automaton, self.rows, self.lengths)

    @property
    def n_jobs(self) -> int:
        """Number of threads for a verb on the whole batch."""
        return n_jobs(self.rows.shape[0] * self._lattice.automaton.n_arcs)

    def decode(self) -> IdArray:
        """Return the best label of every token, shape ``(N,)``.

        Where the product is much larger than the chain, the best labelling of all is found first:
        if it is in the language it is the best there. The product runs on the other sequences.
        """
        language, automaton = self._lattice.language, self._lattice.automaton
        n_tags = self.rows.shape[1]
        if language is None or automaton.n_arcs < MUCH_LARGER * n_tags * (n_tags + 1):
            path = inference.viterbi(self.trellis, n_jobs=self.n_jobs)
            check_feasible(self._lattice, path.scores, self.lengths)
            return path.labels
        chain = Automaton.chain(n_tags)
        jobs = n_jobs(self.rows.shape[0] * chain.n_arcs)
        free = self._trellis(chain, self.rows, self.lengths)
        path = inference.viterbi(free, n_jobs=jobs)
        check_feasible(self._lattice, path.scores, self.lengths)
        outside = ~language.accepts_batch(path.labels, free.offsets)
        tokens = np.repeat(outside, self.lengths)
        if not tokens.any():
            return path.labels
        scores = np.zeros(outside.size)
        rest = self._trellis(automaton, self.rows[tokens], self.lengths[outside])
        jobs = n_jobs(rest.n_tokens * automaton.n_arcs)
        bound = inference.viterbi(rest, n_jobs=jobs)
        scores[outside] = bound.scores
        check_feasible(self._lattice, scores, self.lengths)
        path.labels[tokens] = bound.labels
        return path.labels

    def split(self, labels: IdArray) -> list[list[int]]:
        """Cut one label a token, shape ``(N,)``, into one list a sequence."""
        flat: list[int] = labels.tolist()
        bounds: list[int] = [0, *np.cumsum(self.lengths).tolist()]
        return [flat[a:b] for a, b in pairwise(bounds)]

    def _trellis(self, automaton: Automaton, rows: NDArray[Any], lengths: IntArray) -> Trellis:
        start, end, transitions = self._weights
        return Trellis(
            rows,
            automaton,
            offsets=np.concatenate(([0], np.cumsum(lengths))),
            weights=transitions.reshape(-1),
            start=start,
            end=end,
        )


def _as_array(tensor: Tensor) -> NDArray[Any]:
    wide = tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()
    found: NDArray[Any] = wide.detach().cpu().numpy()
    return found
