"""Exact inference on a batch of sequences: trellises, and the verbs on them.

A `Trellis` holds the scores ``φ`` of a ragged batch on one automaton; every verb is a pure function
of it: ``log Z``, marginals, Viterbi, k-best, samples, entropy, where

    score(y) = Σ_segments φ[t, d, y] + Σ_{patterns z fired} ψ_z.

Public: `trelliswork.inference` re-exports the verbs. Imports `automata`, `labels` and the floors
below. Knows no rules.
"""

from trelliswork.inference.verbs import (
    BestPaths,
    Marginals,
    Path,
    Trellis,
    entropy,
    kbest,
    language_probability,
    log_partition,
    log_probability,
    marginals,
    max_marginal,
    sample,
    span_probability,
    viterbi,
)

__all__ = [
    "BestPaths",
    "Marginals",
    "Path",
    "Trellis",
    "entropy",
    "kbest",
    "language_probability",
    "log_partition",
    "log_probability",
    "marginals",
    "max_marginal",
    "sample",
    "span_probability",
    "viterbi",
]
