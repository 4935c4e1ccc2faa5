"""What a trained model can do, however it came about: predict, decode, and obey other rules."""

from __future__ import annotations

from copy import copy, deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

from trelliswork.decoding.conflicts import check_on_infeasible
from trelliswork.decoding.describe import describe_batch, describe_nbest
from trelliswork.decoding.problem import Problem
from trelliswork.features.inputs import allowed_labels, as_labels, as_sequences
from trelliswork.models.batches import decoded_batches
from trelliswork.planning.plan import as_constraints, plan
from trelliswork.taggers.tagger_probabilities import ProbabilityMethods

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from trelliswork.decoding.answers import DecodedBatch, Decoding
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.labels.segments import Span
    from trelliswork.models.model import CRFModel
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan

__all__ = ["TrainedTagger"]


class TrainedTagger(ProbabilityMethods):
    """A model and its plan: everything but training, and what scikit-learn asks of an estimator.

    All of it is under the constraints of the tagger, unless it says otherwise.
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

    def with_constraints(
        self,
        constraints: Any,
        *,
        on_infeasible: OnInfeasible | None = None,
        decoding_budget: int | None = None,
    ) -> Self:
        """Return this trained tagger under other constraints, which hold in decoding only.

        The weights are shared, and this tagger stays as it is. The other parameters carry over,
        `constrained_training` among them: to ``fit`` the result, or a clone of it, trains under
        the new constraints wherever this tagger was to train under its own.

        Parameters
        ----------
        constraints
            A constraint, a regular expression, an automaton, or a sequence of these; ``()`` for
            none. A soft one without a penalty has the one that this tagger learned for the same
            rule; where it has none, `trelliswork.learn_penalties` learns it.
        on_infeasible
            What to do where no labelling satisfies them. Default: as before.
        decoding_budget
            Most arcs of a product. Default: as before.
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
        """What a violation of each soft constraint costs, by its expression; nan: not learned."""
        rules, penalties = self.plan_.constraints, self.plan_.penalties.tolist()
        return {repr(rules[i]): penalties[i] for i in self.plan_.soft}

    def predict(self, X: Any, *, known: Any = None) -> list[list[str]]:  # noqa: N803
        """Return the best labelling of each sequence.

        With ``adjacent=True``: that of the best segmentation, which need not be the most probable
        labelling.

        Parameters
        ----------
        X
            Sequences, as for ``fit``.
        known
            What is known of the labels, as ``y`` in ``fit``: the best labelling that agrees.

        Raises
        ------
        InfeasibleError
            Where no labelling satisfies all constraints, unless ``on_infeasible`` says otherwise;
            and where none agrees with what is known, naming the sequence and the token.
        """
        answers: list[list[str]] = []
        for evidence, (found,) in self._decode(X, known):
            names = self.plan_.names(found.tags)
            answers += [names[first:last] for first, last in pairwise(evidence.offsets.tolist())]
        return answers

    def predict_segments(self, X: Any, *, known: Any = None) -> list[list[Span]]:  # noqa: N803
        """Return the segments of the best labelling of each sequence; see `LabelSet.spans`.

        A model with ``adjacent=True`` knows segments that its labels do not tell apart. The
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
        """Return the best labelling of each sequence, with what is known about it.

        Parameters
        ----------
        X, known
            As in `predict`.
        time_limit
            Seconds for each round of decoding a sequence. Where it is reached, the best labelling
            so far is the answer, with status ``"feasible"`` and a bound. Default: none.
        """
        return [
            answer
            for evidence, (found,) in self._decode(X, known, time_limit=time_limit)
            for answer in describe_batch(self.plan_, evidence, found)
        ]

    def decode_nbest(self, X: Any, k: int, *, known: Any = None) -> list[list[Decoding]]:  # noqa: N803
        """Return the `k` best labellings of each sequence with their scores, best first.

        Exact, and without probabilities: as `decode`, it needs the automata of those constraints
        only that an answer breaks, where `predict_nbest` needs all in one product. Fewer than `k`
        where there are no more. With ``adjacent=True`` they are segmentations, several of which
        may read the same.

        Parameters
        ----------
        X
            Sequences, as for ``fit``.
        k
            How many.
        known
            What is known of the labels, as in `predict`.
        """
        return [
            answers
            for evidence, found in self._decode(X, known, k)
            for answers in describe_nbest(self.plan_, evidence, found)
        ]

    def problem(self, x: Any, *, known: Any = None) -> Problem:
        """Return what is to be decoded for one sequence, for `solve` and `verify`.

        Parameters
        ----------
        x
            One sequence: the tokens of a sentence, or whatever one entry of ``X`` is in ``fit``.
        known
            What is known of its labels, as one entry of ``y`` in ``fit``.
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
        """Return the answers to all sequences, batch by batch in order."""
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
