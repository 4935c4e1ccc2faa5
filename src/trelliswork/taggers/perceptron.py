"""The averaged structured perceptron as a tagger."""

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
    """A chain of any order, learned by the averaged structured perceptron (Collins 2002).

    Decodes each training sentence and, where the answer ``ŷ`` is wrong, moves the weights from it
    to the gold labelling: ``w ← w + Φ(x, y*) − Φ(x, ŷ)``. Needs no normaliser and few epochs, so
    that constraints of any kind can take part in training; see `training`.

    Scores are no log-probabilities: `predict_marginals` and the like return the softmax of scores
    that nothing calibrates, and are usually far too sure. `CRFTagger` learns probabilities.

    Parameters
    ----------
    order
        Highest order of the dependencies between labels: all transitions have a weight, and those
        longer patterns of up to ``order + 1`` labels that occur in training. 0: no transitions.
    features
        For token input: the name of a bundle (``"chunking"``, ``"ner"``, ``"citation"``), template
        text, or `Templates`; None is ``"ner"``. For feature dicts and matrices: None.
    min_count
        Leave out features seen fewer times.
    epochs
        Passes over the training set. After one without a mistake the others are not run, which
        changes nothing: they count in the average all the same.
    average
        Whether the weights, and penalties that are learned, are the average over all steps, which
        is far less sensitive to the order of sentences. False: the last ones.
    patience
        With a development set: stop after so many epochs without a better score.
    l1, regularizer
        As those of `CRFTagger`: l1 on all weights and on the penalties that ``"wCIBT"`` learns, and
        norms of groups, see `GroupLasso`. They shrink the weights after every batch of sentences,
        by one times their strength an epoch (Martins, Smith, Figueiredo and Aguiar 2011). What is 0
        at the end is 0 in the average, and features and templates without a weight are no part of
        the model. All epochs are run: without a mistake weights still shrink. Every feature has a
        weight for every label here, and groups are as large.
    debias
        Whether to learn the weights that are not 0 once more, from 0 and without shrinking, in as
        many epochs again.
    constraints
        What labellings must satisfy, hard or soft; see `trelliswork.constraints`.
    training
        What constraints do, see `trelliswork.learn.protocols`. ``"L"``: nothing. ``"L+CI"``: all
        are hard, in decoding only. ``"L+wCI"``: in decoding only, and soft ones without a penalty
        cost the log-odds that training labels satisfy them; mind that the scores they are weighed
        against are no log-probabilities. ``"CIBT"``: all are hard, and training decodes under them.
        ``"wCIBT"``: training decodes under them, and the penalties of soft ones without one are
        learned with the weights.
    on_infeasible
        What to do with a sequence that no labelling fits, in decoding and, under ``"CIBT"`` and
        ``"wCIBT"``, in training: ``"error"``; ``"relax"``: drop constraints of minimal conflicting
        subsets, the last given first, until one fits; or ``"unconstrained"``: drop all.
    decoding_budget
        Most arcs of the product of the model with constraints that an answer breaks.
    labels
        Names of labels that there are besides those seen in training: few labelled sequences may
        lack some that constraints name.
    scheme
        How to read the labels, see `LabelSet`; None: guess.
    outside
        The plain label that is no segment, such as ``"O"``. It has to occur in training.
    n_jobs
        Threads of feature extraction and of decoding; None: as many as there are cores. Training
        goes sentence by sentence.
    random_state
        Seed of the order of sentences, which is drawn anew each epoch.
    verbose
        Show a progress bar on standard error.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The label names, in the order of every label axis.
    labels_ : LabelSet
        The same with their scheme.
    model_ : CRFModel
        The weights. Pairs of a feature and a label whose weight is 0 are left out.
    plan_ : Plan
        What the constraints compiled into; print it to see.
    penalties_ : dict
        What each soft constraint costs, by its expression.
    n_iter_ : int
        Epochs run.
    stop_reason_ : str
        ``"converged"`` (an epoch without a mistake), ``"max_iter"``, ``"early_stopping"`` or
        ``"interrupted"``.
    training_log_ : list of PerceptronEpoch
        One entry an epoch.
    dev_score_ : float or None
        F1 of the epoch kept on the development set, where there was one.
    metadata_ : dict
        Anything that JSON can hold, saved with the model; empty after ``fit``, yours to fill.

    Notes
    -----
    A model of segments (``max_segment`` of `CRFTagger`) has no perceptron.

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

        Ctrl-C ends training early and keeps the model so far; see ``stop_reason_``. In the first
        epoch there is none, and the interruption goes on.

        Parameters
        ----------
        X
            Sequences: token lists, `Corpus`, lists of feature dicts, or matrices.
        y
            Label names, one list a sequence, all known. Default: the labels of the corpus.
        sample_weight
            Weight of each sequence, shape ``(B,)``, by which its updates are multiplied.
        dev
            A labelled `Corpus`, or a pair ``(X, y)``: keep the epoch with the best F1, and stop
            where it no longer rises.
        on_step
            Called after every epoch.

        Raises
        ------
        InfeasibleError
            Under ``"CIBT"`` and ``"wCIBT"``, for a sequence that no labelling fits, unless
            `on_infeasible` says otherwise.
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
        """Settle patterns, features and constraints; features of unlabelled sequences as well."""
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
        """Return the segment F1 on a development set as a function of what is learned."""
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
