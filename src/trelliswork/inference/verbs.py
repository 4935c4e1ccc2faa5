"""The verbs of inference: exact computations on a batch of sequences.

Every verb is a pure function of a :class:`Trellis`, the scores of a ragged batch of sequences on
one automaton. Letters: ``B`` sequences, ``N`` tokens in all, ``D`` longest segment (1 in a chain),
``L`` labels, ``P`` patterns, ``A`` arcs. The score of a path is

    score(y) = Σ_segments φ[t, d, y] + Σ_{patterns z fired} ψ_z  (+ start and end scores)

``-inf`` forbids a label, an arc or a sequence, exactly; NaN and ``+inf`` are refused. A sequence
that no path fits has a log-partition of ``-inf``, labels ``-1`` and zero marginals.

Sums run in scaled probabilities; a sequence for which these would lose a path or digits is computed
again in logarithms, and refused where these have too few digits themselves. Ties are broken toward
the lowest label, last position first.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.product import product
from trelliswork.automata.product_size import smallest_for
from trelliswork.inference.certain_segments import (
    collect_spans,
    guarded_trellises,
    split_by_sequence,
)
from trelliswork.inference.results import BestPaths, Marginals, Path
from trelliswork.inference.segment_posteriors import (
    label_posteriors,
    segment_posteriors,
)
from trelliswork.inference.sums import LogSums, log_ratio, log_sums, refuse_lost_digits
from trelliswork.inference.trellis import Trellis, derive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, FloatArray, IdArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.labels.label_set import LabelSet


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


def log_partition(
    trellis: Trellis, *, allowed: ArrayLike | None = None, n_jobs: int | None = None
) -> FloatArray:
    """Log of the sum over all paths, ``log Z = log Σ_y exp score(y)``.

    Parameters
    ----------
    trellis
        The batch.
    allowed
        Labels that each token may have, boolean, shape ``(N, L)``: the sum runs over the labellings
        inside these sets only (partial labels). With shape ``(N, 2, L)``: labels of segments that
        may begin at the token, and that may go on there.
    n_jobs
        Threads; see :func:`trelliswork._utils.threads.resolve_jobs`.

    Returns
    -------
    numpy.ndarray
        Shape ``(B,)``.

    Raises
    ------
    PrecisionError
        If scores are so large that ``log Z`` is not known to 1e-6. All verbs that sum raise it.
    """
    return log_sums(trellis, allowed=allowed, n_jobs=n_jobs).value


def marginals(
    trellis: Trellis,
    *,
    allowed: ArrayLike | None = None,
    arcs: bool = False,
    n_jobs: int | None = None,
) -> Marginals:
    """Posterior probabilities of labels, segments and patterns (and arcs, if asked for).

    The gradient of ``log Z`` is the posteriors: ``∂ log Z / ∂φ[t, d, y] = segments[t, d, y]`` and
    ``∂ Σ log Z / ∂ψ_z = pattern_counts[z]``. Deterministic for a given `n_jobs`.
    """
    log_z = np.empty(trellis.n_sequences)
    path_entropy = np.empty(trellis.n_sequences)
    segments = np.empty(trellis.scores.shape)
    counts = np.zeros(trellis.automaton.n_patterns)
    per_arc = np.zeros((trellis.n_tokens, trellis.automaton.n_arcs)) if arcs else None
    trellis._batch(allowed, n_jobs).posteriors(log_z, segments, counts, per_arc, path_entropy)
    refuse_lost_digits(trellis, log_z)
    np.minimum(segments, 1.0, out=segments)  # rounding
    return Marginals(log_z, segments, counts, path_entropy, per_arc)


def viterbi(
    trellis: Trellis, *, allowed: ArrayLike | None = None, n_jobs: int | None = None
) -> Path:
    """Best path of each sequence, ``argmax_y score(y)``; with `allowed`, forced decoding."""
    labels = np.empty(trellis.n_tokens, dtype=np.int32)
    begins = np.zeros(trellis.n_tokens, dtype=np.uint8)
    scores = np.empty(trellis.n_sequences)
    trellis._batch(allowed, n_jobs).best_path(labels, begins, scores)
    return Path(labels, begins.astype(bool), scores, trellis.automaton.n_labels)


def max_marginal(
    trellis: Trellis, *, allowed: ArrayLike | None = None, n_jobs: int | None = None
) -> tuple[IdArray, FloatArray]:
    """Most probable label of each token by itself, ``argmax_y P(y_t = y)``.

    Minimises the expected number of wrong tokens; the labelling as a whole may be impossible.

    Returns
    -------
    labels, probabilities : numpy.ndarray
        Both of shape ``(N,)``; ``-1`` and 0 where no path exists.
    """
    posterior = label_posteriors(segment_posteriors(trellis, allowed=allowed, n_jobs=n_jobs))
    labels = posterior.argmax(axis=1).astype(np.int32)
    confidence = posterior.max(axis=1)
    labels[confidence == 0.0] = -1
    return labels, confidence


def kbest(
    trellis: Trellis, k: int, *, allowed: ArrayLike | None = None, n_jobs: int | None = None
) -> BestPaths:
    """Find the `k` best distinct paths of each sequence, exactly, best first.

    Two paths differ in a label or, in a model with segments, in where a segment begins. The first
    axis is shorter than `k` where no sequence has so many. Keeps every forward row: memory ∝
    tokens × states of the longest sequence, a thread. Where the automaton is ambiguous, all paths
    that spell the same labels are looked at and the best is kept, which can take very long.
    """
    k = paths_to_find(trellis, k)
    labels = np.full((k, trellis.n_tokens), -1, dtype=np.int32)
    begins = np.zeros((k, trellis.n_tokens), dtype=np.uint8)
    scores = np.full((trellis.n_sequences, k), -np.inf)
    trellis._batch(allowed, n_jobs).best_paths(labels, begins, scores)
    return BestPaths(labels, begins.astype(bool), scores, trellis.automaton.n_labels)


def paths_to_find(trellis: Trellis, k: int) -> int:
    """Return `k`, or a bound on the number of paths of any sequence if that is less.

    Paths differ in labels, and in where segments begin.
    """
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k: expected a whole number from 1 up, got {k!r}.")
    longest = int(np.diff(trellis.offsets).max(initial=0))
    ways = trellis.automaton.n_labels * (2 if trellis.scores.shape[1] > 1 else 1)
    # Beyond any k that fits into memory the exact number does not matter.
    return min(int(k), int(ways ** min(longest, 64)))


def sample(
    trellis: Trellis,
    n: int,
    *,
    random_state: int | np.random.Generator | None = None,
    allowed: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> tuple[IdArray, BoolArray]:
    """Draw `n` independent paths a sequence from ``p(y) = exp(score(y)) / Z``.

    The result depends on `random_state`, not on `n_jobs`.

    Returns
    -------
    labels, begins : numpy.ndarray
        Both of shape ``(n, N)``.
    """
    if n < 0:
        raise ValueError(f"n: expected a number of samples, got {n}.")
    seed = int(np.random.default_rng(random_state).integers(2**63))
    labels = np.empty((n, trellis.n_tokens), dtype=np.int32)
    begins = np.zeros((n, trellis.n_tokens), dtype=np.uint8)
    log_z = np.empty(trellis.n_sequences)
    trellis._batch(allowed, n_jobs).sample(seed, labels, begins, log_z)
    refuse_lost_digits(trellis, log_z)
    return labels, begins.astype(bool)


def entropy(
    trellis: Trellis, *, allowed: ArrayLike | None = None, n_jobs: int | None = None
) -> FloatArray:
    """Entropy of the distribution over paths, ``H = log Z − E[score(y)]``, in nats, shape ``(B,)``.

    NaN for a sequence that has no path.
    """
    found = marginals(trellis, allowed=allowed, n_jobs=n_jobs)
    return np.where(np.isneginf(found.log_partition), np.nan, found.entropy)


def log_probability(
    trellis: Trellis, labels: ArrayLike, *, n_jobs: int | None = None
) -> FloatArray:
    """Log-probability of a given labelling of every sequence, ``score(y) − log Z``, shape ``(B,)``.

    On a model with segments this sums over the segmentations that give the labels. ``-inf`` for a
    labelling that the automaton does not accept.

    Parameters
    ----------
    trellis
        The batch.
    labels
        Label ids, shape ``(N,)``.
    n_jobs
        Threads.
    """
    ids = np.asarray(labels)
    n_labels = trellis.automaton.n_labels
    if ids.shape != (trellis.n_tokens,) or (ids.size and not np.issubdtype(ids.dtype, np.integer)):
        raise ValueError(
            f"labels: expected {trellis.n_tokens} label ids, got {ids.dtype} of shape {ids.shape}."
        )
    outside = np.flatnonzero((ids < 0) | (ids >= n_labels))
    if outside.size:
        raise ValueError(
            f"labels: expected ids from 0 to {n_labels - 1}, got {ids[outside[0]]} "
            f"at token {outside[0]}."
        )
    allowed = ids[:, None] == np.arange(n_labels)
    inside = log_sums(trellis, allowed=allowed, n_jobs=n_jobs)
    return log_ratio(inside, log_sums(trellis, n_jobs=n_jobs))


def language_probability(
    trellis: Trellis,
    language: Automaton,
    *,
    log: bool = False,
    n_jobs: int | None = None,
) -> FloatArray:
    """Probability that the labelling is in a language, ``P(y ∈ L | x) = Z_L / Z``, shape ``(B,)``.

    Parameters
    ----------
    trellis
        The batch, on any automaton without guards: the probability is under its own model.
    language
        A language over the labels; see `trelliswork.automata.automaton`.
    log
        Return the logarithm, which resolves tiny probabilities; ``-inf`` for 0.
    n_jobs
        Threads.
    """
    if trellis.automaton.guards is not None:
        raise ValueError(
            "trellis: expected an automaton without guards. For rules that look at tokens, give "
            "them all to trelliswork.plan."
        )
    smallest = smallest_for(trellis.automaton, language.unambiguous())
    both = product(trellis.automaton, smallest).automaton
    inside = derive(trellis, automaton=both)
    found = log_ratio(log_sums(inside, n_jobs=n_jobs), log_sums(trellis, n_jobs=n_jobs))
    return found if log else np.exp(found)


def span_probability(
    trellis: Trellis,
    labels: LabelSet,
    spans: Sequence[Sequence[tuple[int, int, str]]],
    *,
    n_jobs: int | None = None,
) -> list[FloatArray]:
    """Probability that ``[start, end)`` is exactly a segment of the given name.

    A segment is what `LabelSet.spans` says, on invalid sequences too: in BIO, ``I-x`` after ``O``
    begins one.

    Parameters
    ----------
    trellis
        The batch, on a chain or a product of it: arcs fire the patterns of label pairs.
    labels
        The labels and their scheme.
    spans
        For each sequence, any number of ``(start, end, name)``.
    n_jobs
        Threads.

    Returns
    -------
    list of numpy.ndarray
        For each sequence, one probability a span.
    """
    wanted = collect_spans(spans, labels, np.diff(trellis.offsets))
    total = log_sums(trellis, n_jobs=n_jobs)
    found = np.zeros(len(wanted))
    for places, guarded in guarded_trellises(trellis, labels, wanted):
        owners = [wanted[i].sequence for i in places]
        whole = LogSums(total.value[owners], total.rest[owners])
        found[places] = np.exp(log_ratio(log_sums(guarded, n_jobs=n_jobs), whole))
    return split_by_sequence(found, spans)
