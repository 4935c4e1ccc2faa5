"""CRFs for one input of fixed length, with a parameter for every score.

The synthetic experiments hold the input constant, so a model is a matrix of emission scores
``φ (T, L)`` and one of transitions ``ψ (L, L)``; there are no scores for the first or last label.
For a distribution ``P`` over a few labellings the loss is exact, without sampling:

    loss(φ, ψ) = log Z(φ, ψ) − Σ_y P(y) score(y),      ∂ loss = marginals − expected counts under P

where ``Z`` sums over all labellings or, in constrained training, over those in the language: the
same call of `trelliswork.inference.marginals`, on the chain or on its product with the language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import fmin_l_bfgs_b

from trelliswork import inference
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import product

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    LabelArray = NDArray[np.int32]


@dataclass(frozen=True)
class Distribution:
    """A data distribution over labellings of one length.

    Attributes
    ----------
    language : Automaton
        The language; every labelling is in it.
    labellings : numpy.ndarray
        Label ids, one labelling a row, shape ``(n, T)``.
    probabilities : numpy.ndarray
        Shape ``(n,)``, sum 1.
    """

    language: Automaton
    labellings: LabelArray
    probabilities: FloatArray

    @classmethod
    def of(cls, language: Automaton, strings: dict[str, float]) -> Distribution:
        """Read a distribution over strings of one-letter labels."""
        place = {name: i for i, name in enumerate(language.labels or ())}
        ids = np.array([[place[letter] for letter in string] for string in strings], dtype=np.int32)
        return cls(language, ids, np.array(list(strings.values())))

    @property
    def entropy(self) -> float:
        """Entropy in nats: no model has a smaller expected negative log-likelihood."""
        seen = self.probabilities[self.probabilities > 0]
        return float(-(seen * np.log(seen)).sum())

    @property
    def free(self) -> Automaton:
        """The chain: all labellings."""
        return Automaton.chain(self.language.n_labels)

    @property
    def constrained(self) -> Automaton:
        """The product of the chain with the language."""
        return product(self.free, self.language).automaton


@dataclass(frozen=True)
class Parameters:
    """Scores of a model: emissions ``(T, L)`` and transitions ``(L, L)``."""

    emissions: FloatArray
    transitions: FloatArray

    def scores(self, labellings: LabelArray) -> FloatArray:
        """Return the score of each labelling, shape ``(n,)``."""
        positions = np.arange(labellings.shape[1])
        return np.asarray(
            self.emissions[positions, labellings].sum(axis=1)
            + self.transitions[labellings[:, :-1], labellings[:, 1:]].sum(axis=1)
        )

    def log_probabilities(self, labellings: LabelArray, automaton: Automaton) -> FloatArray:
        """Return ``log p(y)`` among the labellings of an automaton, shape ``(n,)``."""
        trellis = inference.Trellis(self.emissions, automaton, weights=self.transitions)
        return self.scores(labellings) - inference.log_partition(trellis, n_jobs=1)

    def loss(self, data: Distribution, automaton: Automaton) -> float:
        """Return the expected negative log-likelihood under the data, in nats."""
        return float(-data.probabilities @ self.log_probabilities(data.labellings, automaton))


def fit(data: Distribution, automaton: Automaton, *, seed: int = 0, l2: float = 0.0) -> Parameters:
    """Minimise the expected negative log-likelihood by L-BFGS, to convergence.

    Parameters
    ----------
    data
        The data distribution.
    automaton
        The labellings that the model sums over: ``data.free`` or ``data.constrained``.
    seed
        Of the start, drawn from N(0, 0.1) as in the paper. The loss is convex: it does not matter.
    l2
        Coefficient of a penalty on the squared norm; 0 is the maximum-likelihood estimate, which
        may lie at infinity, where the loss still converges.
    """
    n_positions, n_labels = data.labellings.shape[1], data.language.n_labels
    wanted = np.zeros((n_positions, n_labels))
    moves = np.zeros((n_labels, n_labels))
    for labelling, probability in zip(data.labellings, data.probabilities, strict=True):
        wanted[np.arange(n_positions), labelling] += probability
        np.add.at(moves, (labelling[:-1], labelling[1:]), probability)
    target = np.concatenate([wanted.ravel(), moves.ravel()])

    def split(vector: FloatArray) -> Parameters:
        emissions, transitions = np.split(vector, [wanted.size])
        return Parameters(emissions.reshape(wanted.shape), transitions.reshape(moves.shape))

    def value_and_grad(vector: FloatArray) -> tuple[float, FloatArray]:
        given = split(vector)
        trellis = inference.Trellis(given.emissions, automaton, weights=given.transitions)
        found = inference.marginals(trellis, n_jobs=1)
        counts = np.concatenate([found.segments.ravel(), found.pattern_counts])
        value = float(found.log_partition[0] - target @ vector + l2 * vector @ vector)
        return value, counts - target + 2 * l2 * vector

    start = np.random.default_rng(seed).normal(0.0, 0.1, target.size)
    # Not far below the rounding of the loss; the gradient decides.
    found, _, _ = fmin_l_bfgs_b(
        value_and_grad, start, m=20, factr=1.0, pgtol=1e-9, maxiter=20_000, maxfun=40_000
    )
    return split(np.asarray(found))
