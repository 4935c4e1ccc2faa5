"""The HMM tagger, an estimator with the conventions of scikit-learn."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.threads import resolve_jobs
from trelliswork.decoding.conflicts import check_on_infeasible
from trelliswork.features import ObservationEncoder
from trelliswork.features.inputs import as_known_labels, as_sequences, infer_labels
from trelliswork.learn.hmm import HMMLearner
from trelliswork.learn.protocols import check_protocol, rules_under
from trelliswork.learn.sequence_weights import sequence_weights
from trelliswork.learn.settings_checks import check_rule_names
from trelliswork.models.structure import Structure
from trelliswork.planning.plan import DECODING_BUDGET, plan
from trelliswork.taggers.base import Tagger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import ArrayLike

    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.labels.label_set import LabelSet, Scheme
    from trelliswork.learn.protocols import Protocol

__all__ = ["HMMTagger"]


class HMMTagger(Tagger):
    """A hidden Markov model of labels, each of which emits a word.

        P(x, y) = P(y_1) Π_t P(x_t | y_t) Π_t P(y_t | y_{t-1}) P(end | y_T)

    Estimated by counting in one pass. The emission of a word is interpolated with that of its shape
    (``Xx``, ``X``, ``9999``, punctuation unchanged), so that words unseen in training are
    informative. Scores are log-probabilities; all constraints and all methods of taggers are
    available. A good choice for few labelled and many unlabelled sequences, see `CODLTagger`; with
    many labelled ones, `CRFTagger` is better.

    Parameters
    ----------
    smoothing
        Weight of the shape of a word against the word itself: ``κ_y`` is this number times one plus
        the number of distinct words seen with the label (Witten and Bell).
    shape_smoothing
        Pseudo-count of every shape with every label.
    transition_smoothing
        Pseudo-count of the transitions from a label, and of the first labels, divided evenly. No
        transition is impossible; `valid_scheme` rules out those that are invalid in BIO.
    shapes
        Whether to distinguish unknown words by their shape. False: an unknown word says nothing
        about its label, as in a textbook.
    lowercase
        Whether to lowercase words; shapes keep the case.
    min_count
        Minimum count of a word, in labelled and unlabelled sequences; rarer words are represented
        by their shape only.
    constraints
        Constraints for decoding, as for `CRFTagger`.
    training
        The training protocol. ``"L"``: no constraints. ``"L+CI"``: all are hard. ``"L+wCI"``:
        penalties that are not given are counted from violations in the labelled data, see
        `count_penalties`. ``"CIBT"`` and ``"wCIBT"`` do not apply: training decodes nothing.
    on_infeasible, decoding_budget
        As for `CRFTagger`.
    labels
        Labels besides those that occur in training. A small training set may lack labels that
        constraints name.
    scheme, outside
        The scheme of the labels, and the label outside segments, as for `CRFTagger`.
    n_jobs
        Number of threads; None: all cores, or those that joblib assigns to this worker.
    random_state, verbose
        Unused: counting is deterministic and fast. Present in all taggers.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The label names, in the order of all label axes.
    labels_ : LabelSet
        The labels with their scheme.
    model_ : CRFModel
        The model. ``exp`` of ``model_.transitions`` are the ``P(y_t | y_{t-1})``; those of its
        features are the ``P(x_t | y_t)``, ``P(y_1)`` and ``P(end | y_T)``.
    plan_ : Plan
        The compiled constraints; print it for a summary.
    penalties_ : dict
        The penalty of each soft constraint, by its expression.
    metadata_ : dict
        User data as JSON values, saved with the model; empty after ``fit``.

    Notes
    -----
    The defaults were chosen on references of Cora, with 5, 10 and 20 of them labelled, by the
    accuracy on other references of the training set, without and with the rules of
    ``examples/citation_rules.txt``. Most of them matter little: a factor of three changes at most
    half a point. Two choices matter: ``κ`` by Witten and Bell (a constant loses 2 to 13 points),
    and shapes that distinguish initials from capitalised words and years from other numbers (1 to 2
    points above shapes that do not, 3 to 7 above no shapes). Suffixes as a step between words and
    shapes did not help.

    Examples
    --------
    >>> X = [["the", "cat", "sleeps"], ["a", "dog", "barks"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> HMMTagger().fit(X, y).predict([["the", "horse", "barks"]])
    [['DET', 'NOUN', 'VERB']]
    """

    def __init__(
        self,
        *,
        smoothing: float = 1.0,
        shape_smoothing: float = 0.5,
        transition_smoothing: float = 1.0,
        shapes: bool = True,
        lowercase: bool = False,
        min_count: int = 1,
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
        self.smoothing = smoothing
        self.shape_smoothing = shape_smoothing
        self.transition_smoothing = transition_smoothing
        self.shapes = shapes
        self.lowercase = lowercase
        self.min_count = min_count
        self.constraints = constraints
        self.training: Protocol = training
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
    ) -> Self:
        """Train on labelled sequences.

        Parameters
        ----------
        X
            Sequences: token lists or a `Corpus`.
        y
            Label names, one list per sequence, all known. Default: the labels of the corpus.
        sample_weight
            Weight of each sequence in the counts, shape ``(B,)``.

        Raises
        ------
        DataError
            If a label is missing or ambiguous; `CODLTagger` learns from unlabelled sequences.
        """
        sequences = as_sequences(X)
        names: Any = as_known_labels(sequences, y)
        labels = infer_labels(names, self.scheme, self.outside, self.labels)
        weights = sequence_weights(names, sample_weight, None)
        learned = self._learner(labels, sequences, names).learn(sequences, names, weights)
        self._keep(learned)
        return self

    def _learner(
        self,
        labels: LabelSet,
        sequences: Sequence[Any],
        names: Sequence[Sequence[str]],
        unlabelled: Sequence[Any] = (),
    ) -> HMMLearner:
        """Return the learner, with the labels and the words of all sequences."""
        del names  # `labels` has all that the structure needs
        self._check()
        training = check_protocol(
            self.training,
            allowed=("L", "L+CI", "L+wCI"),
            because="A hidden Markov model is counted: nothing is decoded while it learns.",
        )
        structure = Structure.chain(labels)
        encoder = ObservationEncoder(lowercase=bool(self.lowercase), shapes=bool(self.shapes))
        encoder.fit([*sequences, *unlabelled], min_count=int(self.min_count))
        constraints = rules_under(training, self.constraints)
        check_rule_names(constraints, labels)
        rules = plan(
            labels,
            constraints,
            model=structure.automaton,
            training_budget=0,
            decoding_budget=self.decoding_budget,
        )
        return HMMLearner(
            structure,
            encoder,
            rules,
            training=training,
            smoothing=self.smoothing,
            shape_smoothing=self.shape_smoothing,
            transition_smoothing=self.transition_smoothing,
            n_jobs=self.n_jobs,
        )

    def _check(self) -> None:
        """Raise a `ValueError` for the first parameter with an invalid value."""
        for name in ("smoothing", "shape_smoothing", "transition_smoothing"):
            value = getattr(self, name)
            is_number = isinstance(value, Real) and not isinstance(value, bool)
            if not is_number or not 0.0 < float(value) < np.inf:
                raise ValueError(f"{name}: expected a finite number above 0, got {value!r}.")
        for name in ("min_count", "decoding_budget"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name}: expected a whole number from 1 up, got {value!r}.")
        for name in ("shapes", "lowercase"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name}: expected True or False, got {value!r}.")
        check_on_infeasible(self.on_infeasible)
        resolve_jobs(self.n_jobs)
