"""Random Markov models of any order whose states emit Gaussian observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_STATES, N_NEXT, N_OBSERVED, LENGTH = 5, 2, 3, 20


@dataclass(frozen=True)
class Source:
    """A random Markov model: what follows each history, and what each state looks like.

    Attributes
    ----------
    following : numpy.ndarray
        The possible next states, ``order`` axes of states and one of choices.
    chances : numpy.ndarray
        The probability of each, of the same shape.
    means : numpy.ndarray
        Shape ``(N_STATES, N_OBSERVED)``.
    """

    following: NDArray[np.int64]
    chances: NDArray[np.float64]
    means: NDArray[np.float64]

    @classmethod
    def draw(cls, order: int, rng: np.random.Generator) -> Source:
        """Draw a model at random."""
        histories = (N_STATES,) * order
        shuffled = rng.permuted(
            np.broadcast_to(np.arange(N_STATES), (*histories, N_STATES)), axis=-1
        )
        chances = rng.random((*histories, N_NEXT))
        return cls(
            shuffled[..., :N_NEXT],
            chances / chances.sum(axis=-1, keepdims=True),
            rng.random((N_STATES, N_OBSERVED)),
        )

    def states(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw ``n`` sequences of states, each from a random history on; shape ``(n, LENGTH)``."""
        order = self.following.ndim - 1
        found = rng.integers(N_STATES, size=(n, LENGTH))
        for t in range(order, LENGTH):
            history = tuple(found[:, t - order : t].T)
            below = self.chances[history].cumsum(axis=1)
            choice = (rng.random((n, 1)) > below[:, :-1]).sum(axis=1)
            found[:, t] = self.following[history][np.arange(n), choice]
        return found

    def observe(
        self, states: NDArray[np.int64], sigma: float, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw observations; the features are current, previous, next and a constant."""
        seen = self.means[states] + sigma * rng.normal(size=(*states.shape, N_OBSERVED))
        before, after = np.zeros_like(seen), np.zeros_like(seen)
        before[:, 1:], after[:, :-1] = seen[:, :-1], seen[:, 1:]
        return np.concatenate([seen, before, after, np.ones((*states.shape, 1))], axis=2)
