"""Prediction with a trained model: decoding, probabilities, and other constraints.

`TrainedTagger` is the part of a tagger that needs neither a learner nor scikit-learn. It decodes
under constraints, and returns probabilities of labels, labellings, segments and constraints.
"""

from __future__ import annotations

from copy import copy, deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trelliswork import inference
from trelliswork.constraints.given import as_constraints
from trelliswork.decoding.conflicts import check_on_infeasible
from trelliswork.decoding.describe import describe_batch, describe_nbest
from trelliswork.decoding.on_products import constrained_trellis
from trelliswork.decoding.probabilities import span_probabilities, token_marginals
from trelliswork.decoding.problem import Problem
from trelliswork.features.inputs import allowed_labels, as_labels, as_sequences
from trelliswork.inference.certain_segments import collect_spans
from trelliswork.inference.sums import log_ratio, log_sums
from trelliswork.inference.trellis import rows_of
from trelliswork.models.batches import (
    decoded_batches,
    feasible_batches,
    scored_batches,
    token_offsets,
)
from trelliswork.planning.plan import Plan, plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import FloatArray, IntArray
    from trelliswork.decoding.answers import DecodedBatch, Decoding
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.inference.trellis import Trellis
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.segments import Span
    from trelliswork.models.batches import ScoredBatch
    from trelliswork.models.model import CRFModel
    from trelliswork.planning.evidence import Evidence


__all__ = ["TrainedTagger"]


class TrainedTagger:
    """A trained model with its constraints: all of a tagger except training.

    Methods apply the constraints of the tagger unless documented otherwise.
    """

    model_: CRFModel
    labels_: LabelSet
    classes_: NDArray[np.str_]
    plan_: Plan
    metadata_: dict[str, Any]
    constraints: Any
    decoding_budget: int
    n_jobs: int | None
    on_infeasible: OnInfeasible

    def _check_is_fitted(self) -> None:
        """Raise if there is no model yet; estimators override this."""

    def with_constraints(
        self,
        constraints: Any,
        *,
        on_infeasible: OnInfeasible | None = None,
        decoding_budget: int | None = None,
    ) -> Self:
        """Return the tagger under other constraints, which apply in decoding only.

        The result shares the weights; this tagger is not modified. All other parameters are kept,
        including `constrained_training`: calling ``fit`` on the result, or on a clone of it, trains
        under the new constraints if this tagger trains under its own.

        Parameters
        ----------
        constraints
            A constraint, a regular expression, an automaton, or a sequence of these; ``()`` for
            none. A soft constraint without a penalty gets the penalty that this tagger learned for
            the same rule, if any; otherwise learn it with `trelliswork.learn_penalties`.
        on_infeasible
            What to do if no labelling satisfies the constraints. Default: unchanged.
        decoding_budget
            Maximum number of arcs of a product. Default: unchanged.
        """
        self._check_is_fitted()
        other = copy(self)
        other.metadata_ = deepcopy(self.metadata_)
        other.constraints = as_constraints(constraints)
        if on_infeasible is not None:
            check_on_infeasible(on_infeasible)
            other.on_infeasible = on_infeasible
        if decoding_budget is not None:
            other.decoding_budget = decoding_budget
        made = plan(
            self.labels_,
            other.constraints,
            model=self.plan_.model,
            segmentation=self.plan_.segmentation,
            training_budget=0,
            decoding_budget=other.decoding_budget,
        )
        other.plan_ = made.with_penalties_of(self.plan_)
        return other

    @property
    def penalties_(self) -> dict[str, float]:
        """The penalty of each soft constraint, by its expression; nan if not learned."""
        rules, penalties = self.plan_.constraints, self.plan_.penalties.tolist()
        return {repr(rules[i]): penalties[i] for i in self.plan_.soft}

    def predict(self, X: Any, *, known: Any = None) -> list[list[str]]:  # noqa: N803
        """Return the best labelling of each sequence.

        With ``adjacent=True``, the labelling of the best segmentation, which need not be the most
        probable labelling.

        Parameters
        ----------
        X
            Sequences, as for ``fit``.
        known
            Partial labels, as ``y`` in ``fit``; the answer agrees with them. Default: none.

        Raises
        ------
        InfeasibleError
            If no labelling of a sequence satisfies all constraints and ``on_infeasible="error"``,
            or if none agrees with `known`. The message names the sequence and the token.
        """
        answers: list[list[str]] = []
        for evidence, (found,) in self._decode(X, known):
            names = self.plan_.names(found.tags)
            answers += [names[first:last] for first, last in pairwise(evidence.offsets.tolist())]
        return answers

    def predict_segments(self, X: Any, *, known: Any = None) -> list[list[Span]]:  # noqa: N803
        """Return the segments of the best labelling of each sequence; see `LabelSet.spans`.

        A model with ``adjacent=True`` returns segments that its labels do not distinguish. The
        parameters are those of `predict`.
        """
        self._check_is_fitted()
        segmentation = self.plan_.segmentation
        if segmentation is None:
            return [self.labels_.spans(labels) for labels in self.predict(X, known=known)]
        answers: list[list[Span]] = []
        for evidence, (found,) in self._decode(X, known):
            bounds = pairwise(evidence.offsets.tolist())
            answers += [segmentation.spans(found.tags[first:last]) for first, last in bounds]
        return answers

    def decode(
        self,
        X: Any,  # noqa: N803
        *,
        known: Any = None,
        time_limit: float | None = None,
    ) -> list[Decoding]:
        """Return the best labelling of each sequence as a `Decoding`, with score and status.

        Parameters
        ----------
        X, known
            As in `predict`.
        time_limit
            Time limit in seconds for each round of decoding a sequence. At the limit, the best
            labelling so far is returned, with status ``"feasible"`` and a bound. Default: none.
        """
        return [
            answer
            for evidence, (found,) in self._decode(X, known, time_limit=time_limit)
            for answer in describe_batch(self.plan_, evidence, found)
        ]

    def decode_nbest(self, X: Any, k: int, *, known: Any = None) -> list[list[Decoding]]:  # noqa: N803
        """Return the `k` best labellings of each sequence with their scores, best first.

        Exact, but without probabilities: like `decode`, it only compiles the constraints that an
        answer breaks, whereas `predict_nbest` needs all of them in one product. Returns fewer than
        `k` if there are no more. With ``adjacent=True`` the answers are segmentations, several of
        which may have the same labels.

        Parameters
        ----------
        X
            Sequences, as for ``fit``.
        k
            Number of labellings per sequence.
        known
            Partial labels, as in `predict`.
        """
        return [
            answers
            for evidence, found in self._decode(X, known, k)
            for answers in describe_nbest(self.plan_, evidence, found)
        ]

    def problem(self, x: Any, *, known: Any = None) -> Problem:
        """Return the decoding problem of one sequence, for `solve` and `verify`.

        Parameters
        ----------
        x
            One sequence, as an entry of ``X`` in ``fit``.
        known
            Its partial labels, as an entry of ``y`` in ``fit``.
        """
        self._check_is_fitted()
        (sequence,) = as_sequences([x], "x")
        trellis = self.model_.trellis([sequence], n_jobs=self.n_jobs)
        return Problem(trellis, self.plan_, sentence=sequence, known=known)

    def _decode(
        self,
        X: Any,  # noqa: N803
        known: Any,
        k: int = 1,
        time_limit: float | None = None,
    ) -> Iterator[tuple[Evidence, list[DecodedBatch]]]:
        """Yield the answers to all sequences in order, batch by batch."""
        self._check_is_fitted()
        sequences = as_sequences(X)
        allowed = None
        if known is not None:
            given = as_labels(sequences, known, "known")
            allowed = self.plan_.tag_mask(allowed_labels(self.labels_, given, "known"))
        return decoded_batches(
            self.model_,
            self.plan_,
            sequences,
            k=k,
            allowed=allowed,
            on_infeasible=self.on_infeasible,
            time_limit=time_limit,
            n_jobs=self.n_jobs,
        )

    def predict_marginals(self, X: Any) -> list[FloatArray]:  # noqa: N803
        """Return ``P(y_t = y | x)`` as one array of shape ``(T, n_labels)`` per sequence."""
        sequences = as_sequences(X)
        found: list[FloatArray] = [np.zeros((0, 0))] * len(sequences)
        for members, trellis in self._groups(sequences):
            posterior = token_marginals(self.plan_, trellis, self.n_jobs)
            for b, own in zip(members.tolist(), _split(posterior, trellis), strict=True):
                found[b] = own
        return found

    def predict_nbest(self, X: Any, k: int) -> list[list[tuple[list[str], float]]]:  # noqa: N803
        """Return the `k` most probable labellings of each sequence with their probabilities.

        Best first; fewer than `k` if there are no more. Probabilities need the product with all
        constraints; `decode_nbest` does not. With ``adjacent=True`` the answers are segmentations,
        several of which may have the same labels.
        """
        sequences = as_sequences(X)
        answers: list[list[tuple[list[str], float]]] = [[] for _ in sequences]
        for members, trellis in self._groups(sequences):
            best = inference.kbest(trellis, k, n_jobs=self.n_jobs)
            log_z = inference.log_partition(trellis, n_jobs=self.n_jobs)
            probability = np.exp(np.minimum(best.scores - log_z[:, None], 0.0))
            bounds = pairwise(trellis.offsets.tolist())
            for b, (member, (first, last)) in enumerate(zip(members, bounds, strict=True)):
                answers[member] = [
                    (self.plan_.names(best.tags[i, first:last]), float(probability[b, i]))
                    for i in range(len(best.tags))
                    if np.isfinite(best.scores[b, i])
                ]
        return answers

    def log_probability(self, X: Any, y: Any = None) -> FloatArray:  # noqa: N803
        """Return ``log p(y | x)`` of each sequence, shape ``(B,)``.

        Partial labels are summed over. Labels that break a constraint give ``-inf``. With
        ``adjacent=True`` all segmentations with these labels are summed over.
        """
        sequences = as_sequences(X)
        gold = allowed_labels(self.labels_, as_labels(sequences, y), "y")
        offsets = token_offsets(sequences)
        found = np.empty(len(sequences))
        for members, trellis in self._groups(sequences):
            mask = self.plan_.tag_mask(gold[rows_of(offsets, members)])
            inside = log_sums(trellis, allowed=mask, n_jobs=self.n_jobs)
            found[members] = log_ratio(inside, log_sums(trellis, n_jobs=self.n_jobs))
        return found

    def probability_of(self, X: Any, constraint: Any) -> FloatArray:  # noqa: N803
        """Return the probability that a constraint holds, *without* those of the tagger.

        This is ``P(y ∈ L | x)`` under the unconstrained model: how well the constraint agrees with
        the model.

        Parameters
        ----------
        X
            Sequences, as for ``fit``.
        constraint
            A constraint, a regular expression, an automaton, or a sequence of these that must all
            hold.

        Returns
        -------
        numpy.ndarray
            Shape ``(B,)``.
        """
        self._check_is_fitted()
        sequences = as_sequences(X)
        asked = Plan(
            self.labels_,
            [asked_for.hard for asked_for in as_constraints(constraint)],
            model=self.plan_.model,
            segmentation=self.plan_.segmentation,
            decoding_budget=self.decoding_budget,
        )
        found = np.empty(len(sequences))
        for numbers, own, free in self._batches(sequences):
            inside = constrained_trellis(asked, free, asked.evidence(own, free.offsets, numbers))
            holds = log_sums(inside, n_jobs=self.n_jobs)
            log_share = log_ratio(holds, log_sums(free, n_jobs=self.n_jobs))
            found[numbers.start : numbers.stop] = np.exp(log_share)
        return found

    def span_probability(
        self,
        X: Any,  # noqa: N803
        spans: Sequence[Sequence[tuple[int, int, str]]],
    ) -> list[FloatArray]:
        """Return the probability that ``[start, end)`` is a segment with the given name.

        Not available with ``adjacent=True``.

        Parameters
        ----------
        X
            Sequences, as for ``fit``.
        spans
            For each sequence, the segments as ``(start, end, name)``; see `LabelSet.spans`.

        Returns
        -------
        list of numpy.ndarray
            One probability per segment.
        """
        sequences = as_sequences(X)
        collect_spans(spans, self.labels_, np.diff(token_offsets(sequences)))
        found: list[FloatArray] = [np.zeros(0)] * len(spans)
        for members, trellis in self._groups(sequences):
            own = [spans[b] for b in members.tolist()]
            probabilities = span_probabilities(self.plan_, trellis, own, self.n_jobs)
            for b, values in zip(members.tolist(), probabilities, strict=True):
                found[b] = values
        return found

    def trellis(self, X: Any) -> inference.Trellis:  # noqa: N803
        """Return the scores of a batch, for the functions of `trelliswork.inference`.

        The automaton is the product of the model with all constraints. A sequence that cannot
        satisfy them has no path.
        """
        self._check_is_fitted()
        sequences = as_sequences(X)
        free = self.model_.trellis(sequences, n_jobs=self.n_jobs)
        if not self.plan_.constraints:
            return free
        evidence = self.plan_.evidence(sequences, free.offsets)
        return constrained_trellis(self.plan_, free, evidence)

    def _groups(self, sequences: list[Any]) -> Iterator[tuple[IntArray, Trellis]]:
        """Yield the indices of all sequences, with trellises under feasible constraints."""
        self._check_is_fitted()
        return feasible_batches(
            self.model_,
            self.plan_,
            sequences,
            on_infeasible=self.on_infeasible,
            n_jobs=self.n_jobs,
        )

    def _batches(self, sequences: list[Any]) -> Iterator[ScoredBatch]:
        return scored_batches(self.model_, self.plan_, sequences, self.n_jobs)


def _split(rows: FloatArray, trellis: Trellis) -> list[FloatArray]:
    """Return the rows of each sequence."""
    return [rows[first:last] for first, last in pairwise(trellis.offsets.tolist())]
