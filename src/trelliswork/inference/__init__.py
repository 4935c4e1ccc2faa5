"""Exact inference on a batch of sequences: trellises, and the verbs on them.

A `Trellis` holds the scores ``φ`` of a ragged batch on one automaton. Every verb is a pure function
of it: ``log Z``, marginals, Viterbi, k-best, samples, entropy, for the score

    score(y) = Σ_segments φ[t, d, y] + Σ_{patterns z fired} ψ_z.

The verbs are public here. Imports `automata`, `labels` and the floors below. Rules are unknown
here: they come as automata, masks and scores.
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
