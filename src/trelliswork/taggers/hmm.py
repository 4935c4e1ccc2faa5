"""A hidden Markov model with scikit-learn's conventions."""

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
    """A hidden Markov model: labels follow one another, and each brings forth a word.

        P(x, y) = P(y_1) Π_t P(x_t | y_t) Π_t P(y_t | y_{t-1}) P(end | y_T)

    Learned by counting, in one pass, with smoothing for what was not seen: a word is weighed
    against its shape (``Xx``, ``X``, ``9999``, punctuation as it is), so that a word that nobody
    labelled still says something. Its scores are log-probabilities, and every constraint and every
    method of a tagger works on them. A good start where few sequences are labelled and many are
    not, see `CODLTagger`; where many are, `CRFTagger` is better.

    Parameters
    ----------
    smoothing
        How much the shape of a word counts against the word itself: ``κ_y`` is this many times one
        more than the number of different words seen with the label (Witten and Bell).
    shape_smoothing
        Added to the count of every shape with every label.
    transition_smoothing
        Added to the counts of what follows a label, and of first labels, shared out evenly. No
        transition is impossible; `valid_scheme` rules out those that labels in BIO do not allow.
    shapes
        Tell words that training does not show apart by their shape. False: such a word says nothing
        of its label, as in a textbook.
    lowercase
        Read words in lower case; their shapes keep the case.
    min_count
        Words seen fewer times, in labelled and unlabelled sequences, are known by their shape only.
    constraints
        What labellings must satisfy in decoding, as for `CRFTagger`.
    training
        What becomes of the constraints. ``"L"``: none. ``"L+CI"``: all are hard. ``"L+wCI"``: soft
        ones without a penalty cost what their violations in the labelled data say, see
        `count_penalties`. ``"CIBT"`` and ``"wCIBT"`` make no sense here: nothing is decoded while
        counting.
    on_infeasible, decoding_budget
        As for `CRFTagger`.
    labels
        Names of labels that there are besides those seen in training: few labelled sequences may
        lack some that constraints name.
    scheme, outside
        How to read the labels, as for `CRFTagger`.
    n_jobs
        Threads; None: as many as there are cores, or as joblib leaves to this worker.
    random_state, verbose
        Unused: counting knows no chance and takes no time. All taggers have them.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The label names, in the order of every label axis.
    labels_ : LabelSet
        The same with their scheme.
    model_ : CRFModel
        The model. ``exp`` of ``model_.transitions`` are the ``P(y_t | y_{t-1})``; those of its
        features are the ``P(x_t | y_t)``, ``P(y_1)`` and ``P(end | y_T)``.
    plan_ : Plan
        What the constraints compiled into; print it to see.
    penalties_ : dict
        What each soft constraint costs, by its expression.
    metadata_ : dict
        Anything that JSON can hold, saved with the model; empty after ``fit``, yours to fill.

    Notes
    -----
    The defaults were chosen on references of Cora, 5, 10 and 20 of them labelled, by the accuracy
    on other references of the training set, without and with the rules of
    ``examples/citation_rules.txt``. Most of them matter little: a factor of three either way
    changes half a point at most. Two things matter: Witten and Bell's ``κ`` (a constant one loses 2
    to 13 points), and shapes that tell initials from words in capitals and years from other numbers
    (1 to 2 points more than shapes that do not, and 3 to 7 more than no shapes). Suffixes as a
    further step between words and shapes gave nothing.

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
        """Count labelled sequences.

        Parameters
        ----------
        X
            Sequences: token lists or a `Corpus`.
        y
            Label names, one list a sequence, all known. Default: the labels of the corpus.
        sample_weight
            Weight of each sequence, shape ``(B,)``: how many times it is counted.

        Raises
        ------
        DataError
            Where a label is missing or left open: `CODLTagger` learns from unlabelled sequences.
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
        """Return what learns models of these labels, with the words of all sequences."""
        del names  # their labels are all that matters before they are counted
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
        """Raise a `ValueError` at the first parameter with a value that makes no sense."""
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
