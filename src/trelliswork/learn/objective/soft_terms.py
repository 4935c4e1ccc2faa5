"""Soft constraints in the likelihood: penalties as parameters.

    −log p(y | x) = log Σ_y' exp P(y') − P(y),    P(y) = score(y) − Σ_c ρ_c v_c(y)

    ∂(−log p)/∂ρ_c = v_c(y) − E[v_c]

For partial labels, ``v_c(y)`` is its expectation over the labellings that agree with them. In the
product that training sums over, every unit of violation activates a pattern of its own, see
`trelliswork.planning.term_products`; the weights of these patterns are ``∓ρ`` of their constraint.
Notation: ``C`` constraints, ``I`` terms, ``S`` soft terms in the product, ``F`` penalties to be
learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.planning.plan import Plan


__all__ = ["SoftTerms"]


@dataclass(frozen=True, eq=False)
class SoftTerms:
    """The soft constraints that training sums over.

    Attributes
    ----------
    terms : numpy.ndarray
        Their terms, shape ``(S,)``.
    constraints : numpy.ndarray
        The constraint of each of these, shape ``(S,)``.
    penalties : numpy.ndarray
        ``ρ`` of all constraints of the plan, nan where it is to be learned, shape ``(C,)``.
    changes : numpy.ndarray
        ``v_i(y) − v_i(ε)`` of the gold labels, shape ``(B, S)``; anything where they are open.
    """

    terms: IntArray
    constraints: IntArray
    penalties: FloatArray
    changes: IntArray

    @classmethod
    def of(cls, plan: Plan, constraints: tuple[int, ...], violations: IntArray) -> SoftTerms:
        """Return the terms of the soft constraints among those in training.

        Parameters
        ----------
        plan
            The compiled constraints.
        constraints
            The constraints in training.
        violations
            Violations of all terms by the gold labels, shape ``(B, I)``.
        """
        terms = plan.terms.of(i for i in constraints if i in plan.soft)
        chosen = np.array(terms, dtype=np.int64)
        of = np.array([plan.terms[i].constraint for i in terms], dtype=np.int64)
        return cls(
            chosen, of, plan.penalties, violations[:, chosen] - plan.terms.empty_violations[chosen]
        )

    @cached_property
    def learned(self) -> IntArray:
        """The constraints whose penalties are learned, shape ``(F,)``."""
        found = np.unique(self.constraints)
        return found[np.isnan(self.penalties[found])]

    def patterns(self, n_patterns: int) -> IdArray:
        """Return the patterns of the terms, after those of the model, shape ``(2 S,)``."""
        first = n_patterns + 2 * self.terms
        return np.stack([first, first + 1], axis=1).ravel().astype(np.int32)

    def weights(self, values: FloatArray) -> FloatArray:
        """Return the weights of these patterns, shape ``(2 S,)``.

        Parameters
        ----------
        values
            The learned penalties, shape ``(F,)``.
        """
        own = self.all_penalties(values)[self.constraints]
        return np.stack([-own, own], axis=1).ravel()

    def gradient(self, of_weights: FloatArray) -> FloatArray:
        """Return the gradient of the penalties, ``(F,)``, from that of `weights`, ``(2 S,)``."""
        of_terms = of_weights[1::2] - of_weights[0::2]
        of_constraints = np.bincount(self.constraints, of_terms, minlength=self.penalties.size)
        return np.asarray(of_constraints[self.learned], dtype=np.float64)

    def all_penalties(self, values: FloatArray) -> FloatArray:
        """Return the penalties of all constraints, shape ``(C,)``, including the learned ones."""
        found = self.penalties.copy()
        found[self.learned] = values
        return found

    def with_gold(
        self,
        offsets: IntArray,
        fired: tuple[IntArray, IdArray],
        n_patterns: int,
    ) -> tuple[IntArray, IdArray]:
        """Return the patterns of gold labels, with those of their violations added.

        The violations of a sequence are placed at its first token, as only their sum matters.

        Parameters
        ----------
        offsets
            Sequence ``b`` is tokens ``offsets[b]`` to ``offsets[b + 1]``, shape ``(B + 1,)``.
        fired
            Patterns of the model: offsets of shape ``(N + 1,)``, and ids.
        n_patterns
            Number of patterns of the model.
        """
        before, ids = fired
        token = np.repeat(np.arange(before.size - 1), np.diff(before))
        changes = np.where((np.diff(offsets) > 0)[:, None], self.changes, 0)
        sequence, place = np.nonzero(changes)
        change = changes[sequence, place]
        pattern = n_patterns + 2 * self.terms[place] + (change < 0)
        tokens = np.concatenate([token, np.repeat(offsets[:-1][sequence], np.abs(change))])
        every = np.concatenate([ids, np.repeat(pattern, np.abs(change)).astype(np.int32)])
        counts = np.bincount(tokens, minlength=before.size - 1)
        found = every[np.argsort(tokens, kind="stable")]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), found

    def take(self, sequences: BoolArray) -> SoftTerms:
        """Return the terms for a subset of the sequences, given as a mask of shape ``(B,)``."""
        return SoftTerms(self.terms, self.constraints, self.penalties, self.changes[sequences])
