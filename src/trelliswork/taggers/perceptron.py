"""The perceptron tagger, an estimator with the conventions of scikit-learn."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.arguments import check_whole
from trelliswork._utils.progress import TrainingProgress
from trelliswork._utils.threads import resolve_jobs
from trelliswork.decoding.conflicts import check_on_infeasible
from trelliswork.evaluation.report import report
from trelliswork.features.inputs import (
    as_dev,
    as_known_labels,
    as_sequences,
    infer_labels,
    make_encoder,
)
from trelliswork.learn.perceptron.learner import (
    PerceptronEpoch,
    PerceptronLearner,
)
from trelliswork.learn.perceptron.shrinkage import Sparsity
from trelliswork.learn.protocols import check_protocol, rules_under
from trelliswork.learn.sequence_weights import sequence_weights
from trelliswork.learn.settings_checks import check_rule_names
from trelliswork.models.structure import Structure
from trelliswork.planning.plan import DECODING_BUDGET, plan
from trelliswork.taggers.base import Tagger
from trelliswork.taggers.parameters import check_sparsity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.features import Templates
    from trelliswork.labels.label_set import LabelSet, Scheme
    from trelliswork.learn.learner import Learned
    from trelliswork.learn.protocols import Protocol
    from trelliswork.learn.sparsity.group_lasso import GroupLasso

__all__ = ["PerceptronTagger"]

LEAST = {"order": 0, "min_count": 1, "epochs": 1, "patience": 1, "decoding_budget": 1}


class PerceptronTagger(Tagger):
    """A chain of any order, trained by the averaged structured perceptron (Collins 2002).

    Decodes each training sentence and, if the answer ``ŷ`` is wrong, moves the weights towards the
    gold labelling: ``w ← w + Φ(x, y*) − Φ(x, ŷ)``. It needs no partition function and few epochs,
    so all kinds of constraints can take part in training; see `training`.

    Scores are not log-probabilities: methods such as `predict_marginals` return the softmax of
    uncalibrated scores, which is usually overconfident. `CRFTagger` learns probabilities.

    Parameters
    ----------
    order
        Order of the dependencies between labels: all transitions have a weight, and longer patterns
        of up to ``order + 1`` labels if they occur in training. 0: no transitions.
    features
        Feature templates for token input: the name of a bundle (``"chunking"``, ``"ner"``,
        ``"citation"``), template text, or `Templates`; None is ``"ner"``. For feature dicts and
        matrices: None.
    min_count
        Minimum count of a feature; rarer features are left out.
    epochs
        Maximum number of passes over the training set. After an epoch without a mistake, training
        stops; the remaining epochs are counted in the average, so the result is the same.
    average
        Whether to average the weights and learned penalties over all steps, which is far less
        sensitive to the order of sentences. False: use the last ones.
    patience
        With a development set: the number of epochs without improvement before training stops.
    l1, regularizer
        As for `CRFTagger`: l1 on all weights and on the penalties that ``"wCIBT"`` learns, and
        group norms, see `GroupLasso`. They shrink the weights after every batch of sentences, with
        their full strength once per epoch (Martins, Smith, Figueiredo and Aguiar 2011). Weights
        that are 0 at the end are 0 in the average, and features and templates without a weight are
        removed from the model. All epochs are run, as weights shrink even without mistakes. Every
        feature has a weight for every label here, which makes groups larger than those of
        `CRFTagger`.
    debias
        Whether to train the nonzero weights again, from 0 and without shrinkage, for the same
        number of epochs.
    constraints
        Constraints on labellings, hard or soft; see `trelliswork.constraints`.
    training
        The training protocol, see `trelliswork.learn.protocols`. ``"L"``: no constraints.
        ``"L+CI"``: all are hard, in decoding only. ``"L+wCI"``: in decoding only; penalties that
        are not given are the log-odds that training labels satisfy the constraint, although scores
        are not log-probabilities here. ``"CIBT"``: all are hard, and training decodes under them.
        ``"wCIBT"``: training decodes under them, and learns penalties that are not given with the
        weights.
    on_infeasible
        What to do with a sequence that cannot satisfy all constraints, in decoding and, under
        ``"CIBT"`` and ``"wCIBT"``, in training: ``"error"``; ``"relax"``: drop constraints of
        minimal conflicting subsets, the last given first, until a labelling exists; or
        ``"unconstrained"``: drop all.
    decoding_budget
        Maximum number of arcs of the product of the model with the constraints that an answer
        breaks.
    labels
        Labels besides those that occur in training. A small training set may lack labels that
        constraints name.
    scheme
        The scheme of the labels, see `LabelSet`; None: infer it.
    outside
        The plain label of tokens outside segments, such as ``"O"``. It must occur in training.
    n_jobs
        Number of threads for feature extraction and decoding; None: all cores. Training is
        sequential.
    random_state
        Seed of the order of sentences, which changes every epoch.
    verbose
        Whether to show a progress bar on standard error.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The label names, in the order of all label axes.
    labels_ : LabelSet
        The labels with their scheme.
    model_ : CRFModel
        The trained model, without pairs of a feature and a label of weight 0.
    plan_ : Plan
        The compiled constraints; print it for a summary.
    penalties_ : dict
        The penalty of each soft constraint, by its expression.
    n_iter_ : int
        Number of epochs.
    stop_reason_ : str
        ``"converged"`` (an epoch without a mistake), ``"max_iter"``, ``"early_stopping"`` or
        ``"interrupted"``.
    training_log_ : list of PerceptronEpoch
        One entry per epoch.
    dev_score_ : float or None
        F1 of the returned model on the development set; None without one.
    metadata_ : dict
        User data as JSON values, saved with the model; empty after ``fit``.

    Notes
    -----
    Segment models (``max_segment`` of `CRFTagger`) are not supported.

    Examples
    --------
    >>> X = [["the", "cat", "sleeps"], ["a", "dog", "barks"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> tagger = PerceptronTagger(features="lower(word[0])", random_state=0).fit(X, y)
    >>> tagger.predict([["the", "dog"]])
    [['DET', 'NOUN']]
    >>> tagger.stop_reason_
    'converged'
    """

    def __init__(
        self,
        *,
        order: int = 1,
        features: str | Templates | None = None,
        min_count: int = 1,
        epochs: int = 20,
        average: bool = True,
        patience: int = 3,
        l1: float = 0.0,
        regularizer: GroupLasso | None = None,
        debias: bool = False,
        constraints: Any = (),
        training: Protocol = "L+wCI",
        on_infeasible: OnInfeasible = "error",
        decoding_budget: int = DECODING_BUDGET,
        labels: Sequence[str] | None = None,
        scheme: Scheme | None = None,
        outside: str | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.order = order
        self.features = features
        self.min_count = min_count
        self.epochs = epochs
        self.average = average
        self.patience = patience
        self.l1 = l1
        self.regularizer = regularizer
        self.debias = debias
        self.constraints = constraints
        self.training = training
        self.on_infeasible = on_infeasible
        self.decoding_budget = decoding_budget
        self.labels = labels
        self.scheme = scheme
        self.outside = outside
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        dev: Any = None,
        on_step: Callable[[PerceptronEpoch], object] | None = None,
    ) -> PerceptronTagger:
        """Train on labelled sequences.

        Ctrl-C stops training and keeps the model so far; see ``stop_reason_``. In the first epoch,
        ``KeyboardInterrupt`` is raised.

        Parameters
        ----------
        X
            Sequences: token lists, `Corpus`, lists of feature dicts, or matrices.
        y
            Label names, one list per sequence, all known. Default: the labels of the corpus.
        sample_weight
            Weight of each sequence, shape ``(B,)``: a factor of its updates.
        dev
            Development set, a labelled `Corpus` or a pair ``(X, y)``: keep the epoch with the best
            F1, and stop when it no longer improves.
        on_step
            Called after every epoch.

        Raises
        ------
        InfeasibleError
            Under ``"CIBT"`` and ``"wCIBT"``, if a sequence cannot satisfy all constraints and
            ``on_infeasible="error"``.
        """
        sequences = as_sequences(X)
        names = as_known_labels(sequences, y)
        weights = sequence_weights(names, sample_weight, None)
        labels = infer_labels(names, self.scheme, self.outside, self.labels)
        learner = self._learner(labels, sequences, names)
        if dev is not None:
            learner.dev_score = self._dev_score(dev, labels)
        n_epochs = self.epochs * (2 if self.debias else 1)
        bar = TrainingProgress(n_epochs) if self.verbose else nullcontext()
        with bar as shown:

            def show(epoch: PerceptronEpoch) -> None:
                if shown is not None:
                    shown.show(epoch)
                if on_step is not None:
                    on_step(epoch)

            learner.on_epoch = show
            learned = learner.learn(sequences, names, weights)
        self._keep(learned)
        self.n_iter_ = len(learned.log)
        self.stop_reason_ = learned.reason
        self.training_log_ = list(learned.log)
        self.dev_score_ = learned.dev_score
        return self

    def _learner(
        self,
        labels: LabelSet,
        sequences: Sequence[Any],
        names: Sequence[Sequence[Any]],
        unlabelled: Sequence[Any] = (),
    ) -> PerceptronLearner:
        """Return the learner, with patterns, constraints and the features of all sequences."""
        self._check_parameters()
        training = check_protocol(self.training)
        structure = Structure.choose(
            labels, names, order=self.order, all_transitions=self.order > 0
        )
        encoder = make_encoder([*sequences, *unlabelled], self.features)
        encoder.fit([*sequences, *unlabelled], min_count=self.min_count, n_jobs=self.n_jobs)
        constraints = rules_under(training, self.constraints)
        check_rule_names(constraints, labels)
        rules = plan(
            labels,
            constraints,
            model=structure.automaton,
            training_budget=0,
            decoding_budget=self.decoding_budget,
        )
        return PerceptronLearner(
            structure,
            encoder,
            rules,
            training,
            epochs=self.epochs,
            average=self.average,
            random_state=self.random_state,
            on_infeasible=self.on_infeasible,
            n_jobs=self.n_jobs,
            patience=self.patience,
            sparsity=Sparsity(float(self.l1), self.regularizer, bool(self.debias)),
        )

    def _check_parameters(self) -> None:
        for name, low in LEAST.items():
            check_whole(name, getattr(self, name), low)
        if not isinstance(self.average, bool | np.bool_):
            raise ValueError(f"average: expected True or False, got {self.average!r}.")
        check_sparsity(self.l1, self.regularizer, self.debias)
        if self.regularizer is not None and self.regularizer.adaptive:
            raise ValueError(
                f"regularizer: expected one that is not adaptive, got {self.regularizer!r}: a "
                "perceptron has no first fit under l2."
            )
        check_on_infeasible(self.on_infeasible)
        resolve_jobs(self.n_jobs)

    def _dev_score(self, dev: Any, labels: LabelSet) -> Callable[[Learned], float]:
        """Return the segment F1 on a development set as a function of the model."""
        sequences, gold = as_dev(dev, labels)

        def score(learned: Learned) -> float:
            found = learned.model.decode(sequences, learned.plan, n_jobs=self.n_jobs)
            return report(gold, found, scheme=labels.scheme, outside=labels.outside).f1

        return score

    def _training_record(self) -> dict[str, Any]:
        return {
            "n_iter": self.n_iter_,
            "stop_reason": self.stop_reason_,
            "dev_score": self.dev_score_,
            "log": [asdict(step) for step in self.training_log_],
        }

    def _restore_training(self, record: Mapping[str, Any]) -> None:
        self.n_iter_ = record["n_iter"]
        self.stop_reason_ = record["stop_reason"]
        self.dev_score_ = record["dev_score"]
        self.training_log_ = [PerceptronEpoch(**step) for step in record["log"]]
