"""What every trained tagger can do with its model: predict, decode, score, and be saved."""

from __future__ import annotations

from copy import copy, deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from trelliswork.batches import decoded_batches
from trelliswork.conflicts import check_on_infeasible
from trelliswork.described import describe_batch, describe_nbest
from trelliswork.inputs import allowed_labels, as_labels, as_sequences
from trelliswork.learn.pruning import without_zeros
from trelliswork.parameters import restored_parameters, saved_parameters
from trelliswork.persist import write_model_file
from trelliswork.plan import Plan, as_constraints, plan
from trelliswork.problem import Problem
from trelliswork.report import report
from trelliswork.tagger_files import described
from trelliswork.tagger_probabilities import ProbabilityMethods

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from trelliswork.conflicts import OnInfeasible
    from trelliswork.constraints import Predicate
    from trelliswork.decoded import DecodedBatch, Decoding
    from trelliswork.evidence import Evidence
    from trelliswork.labels import LabelSet
    from trelliswork.learn.learner import Learned
    from trelliswork.model import CRFModel
    from trelliswork.segments import Span

__all__ = ["Tagger"]


class Tagger(ProbabilityMethods, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: everything but ``fit``, which sets `model_`, `labels_` and `plan_`.

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

    def _keep(self, learned: Learned) -> None:
        """Set the attributes that every trained tagger has."""
        if self._makes_zeros():
            learned = without_zeros(learned)
        self.model_ = learned.model
        self.plan_ = learned.plan
        self.labels_ = learned.model.labels
        self.classes_ = np.array(self.labels_.names)
        self.metadata_ = {}

    def _makes_zeros(self) -> bool:
        """Return whether training is asked to make weights 0, which are no part of the model."""
        l1, groups = getattr(self, "l1", 0.0), getattr(self, "regularizer", None)
        return l1 > 0 or groups is not None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically; read it with `trelliswork.load`."""
        check_is_fitted(self)
        settings, version = described(self)
        write_model_file(path, settings, self.model_.arrays(), version)

    def _saved_parameters(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        return saved_parameters(self.get_params(deep=False), self.plan_)

    @classmethod
    def _restored_parameters(
        cls, saved: Mapping[str, Any], predicates: Mapping[str, Predicate] | None = None
    ) -> dict[str, Any]:
        """Return the parameters that `_saved_parameters` described; predicates are given."""
        return restored_parameters(saved, predicates)

    def _training_record(self) -> dict[str, Any]:
        """Return how training went, as JSON can hold it."""
        return {}

    def _restore_training(self, record: Mapping[str, Any]) -> None:
        """Set the attributes that `_training_record` was made from."""

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
        check_is_fitted(self)
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
        check_is_fitted(self)
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
        check_is_fitted(self)
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
        check_is_fitted(self)
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

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803
        """Return the token accuracy; use `trelliswork.report` for segments."""
        sequences = as_sequences(X)
        return report(as_labels(sequences, y), self.predict(sequences)).token_accuracy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Samples are sequences of different lengths, not the rows of one array.
        tags.input_tags.two_d_array = False
        tags.target_tags.required = False  # a labelled corpus brings its own
        return tags
