"""Taggers with scikit-learn's conventions."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from trelliswork._utils.progress import TrainingProgress, TrainingStep
from trelliswork.features.inputs import as_dev, as_labels, as_sequences, infer_labels
from trelliswork.learn.crf import CRFLearner
from trelliswork.learn.crf_settings import CRFSettings
from trelliswork.learn.learner import Learned
from trelliswork.learn.settings_checks import warn_of_long_segments, warn_of_no_weights
from trelliswork.planning.plan import DECODING_BUDGET, TRAINING_BUDGET
from trelliswork.taggers.base import Tagger
from trelliswork.taggers.parameters import check_parameters

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from trelliswork.constraints import Constraint
    from trelliswork.data.sentence import Label
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.features import Templates
    from trelliswork.labels.label_set import LabelSet, Scheme
    from trelliswork.labels.segmentation import MaxSegment
    from trelliswork.learn.crf import LearnedCRF
    from trelliswork.learn.optimizers.choose import Solver
    from trelliswork.learn.protocols import Protocol
    from trelliswork.learn.sparsity.group_lasso import GroupLasso

__all__ = ["CRFTagger"]


class CRFTagger(Tagger):
    """A conditional random field of any order, on tokens or segments, by maximum likelihood.

    Minimises ``−Σ_b log p(y_b | x_b) + l2 ‖w‖² + l1 ‖w‖₁ + Ω(w)``, with ``Ω`` the norms of groups
    of a `regularizer`; sequences may be labelled in part. Under soft constraints ``p(y | x) ∝
    exp(score(y) − Σ_c ρ_c v_c(y))``, and ``w`` holds the penalties ``ρ`` that are learned. What l1
    or ``Ω`` make 0 is no part of the model: neither features nor templates that are left without a
    weight are stored, or looked up in tagging.

    Parameters
    ----------
    order
        Highest order of the dependencies between labels: patterns of up to ``order + 1`` labels (or
        names of segments) that occur in training have a weight. Exact, and affordable while few of
        the possible patterns occur. 0: no transitions. In a chain every token counts, so that long
        runs of one label fill a pattern; in a semi-Markov model every segment does.
    max_segment
        Most tokens of a segment. 1: a chain, which labels tokens. Otherwise a semi-Markov model,
        which labels segments: a number, a number a segment name, or ``"auto"``, the longest one
        seen of every name. No longer segment is ever predicted: a longer one comes out broken up.
        Tokens outside, ``O`` in BIO or the plain label given as `outside`, are read one by one, in
        runs of any length.
    adjacent
        With plain labels and segments: whether equal segments may touch. Labels do not show the
        border between the two, so that several segmentations give one labelling: answers are
        segmentations, several of which may read the same, and the best of them need not be the most
        probable labelling. Rules count runs of labels; `span_probability` is not available.
    patterns
        Patterns to use instead of those observed, each a sequence of names: of labels in a chain
        (``"B-author"``), of segments in a semi-Markov model (``"author"``). The list decides how
        long they are, not `order`.
    min_pattern_count, max_patterns
        Leave out patterns seen fewer times; keep the most frequent, of equally frequent ones the
        shorter.
    edge_order
        Patterns up to this order have weights that read the ``edge:`` templates as well. Above 1
        this makes training many times slower. Without such templates it means nothing.
    l2
        Coefficient of ``‖w‖²`` (CRFsuite's ``c2``); or one for each order: ``{0: 1.0, 2: 0.1}`` is
        1.0 for features and transitions, 0.1 for patterns of three labels and more.
    l1
        Coefficient of ``‖w‖₁`` (CRFsuite's ``c1``): the larger, the more weights are exactly 0. For
        l1 alone set ``l2=0``. It is on penalties of soft constraints too, where these are learned
        with the weights: those that become 0 are not needed either.
    regularizer
        Norms of groups, see `GroupLasso`: templates, features, labels or label patterns that live
        or die as a whole.
    solver
        ``"lbfgs"`` where all is smooth, ``"owlqn"`` with `l1`; with a `regularizer` ``"hybrid"``,
        which fits the groups that live by these, or ``"sparsa"`` and ``"fista"``, proximal gradient
        methods for all norms. ``"auto"``: the fastest of these that can. ``"online"`` steps from
        sequence to sequence, for large training sets: with one number as `l2`, `l1` or a
        `regularizer` with one level of norm ``"l2"``, but not both, and no soft constraints in
        training.
    debias
        Whether to fit the weights that are not 0 once more, under l2 alone: l1 and norms of groups
        make those that live too small.
    features
        For token input: the name of a bundle (``"chunking"``, ``"ner"``, ``"citation"``), template
        text, or `Templates`; None is ``"ner"``. For feature dicts and matrices: None.
    min_count
        Leave out features seen fewer times.
    pairs, transitions
        Give a weight to the (feature, label) pairs and to the transitions ``"observed"`` in the
        labels, or to ``"all"``. None: observed transitions in a chain, all in a semi-Markov model,
        where there are few to see. Features of segments have a weight for every label.
    class_weight
        A weight a label name, or ``"balanced"`` (inverse to frequency). A sequence weighs as much
        as its labels do on average.
    max_iter, tol, gap_tol
        Most iterations; the relative change over ten iterations at which training stops; and, with
        `l1` or a `regularizer`, the proven relative distance from the optimum at which it does.
        With ``solver="online"``, `max_iter` counts passes over the data, `tol` is the change over
        one of them, and nothing is proven.
    init
        An earlier tagger, or the path of one, to start from. Weights carry over by name.
    dev_every, patience
        With a development set: measure every so many iterations, and stop after so many
        measurements without a better score.
    labels
        Names of labels that there are besides those seen in training: few labelled sequences may
        lack some that constraints name.
    scheme
        How to read the labels, see `LabelSet`; None: guess.
    outside
        The plain label that is no segment, such as ``"O"``; matters for scores, constraints and
        segments. It has to occur in training.
    constraints
        What labellings must satisfy: a constraint, a regular expression over labels, an
        `Automaton`, or a sequence of these; see `trelliswork.constraints`. What may be broken at a
        price is soft: ``rule.soft(2.0)``, or ``rule.soft()`` where the price is to be learned.
    training
        What constraints do, by the name of a protocol: ``"L"`` (there are none), ``"L+CI"`` (all
        hard, in decoding), ``"L+wCI"`` (in decoding, penalties counted), ``"CIBT"`` (all hard, in
        training too) or ``"wCIBT"`` (in training too, penalties learned with the weights); see
        `trelliswork.learn.protocols`. It stands in for `constrained_training` and `penalties`: to
        set one of these to something else is an error. None: as these say.
    penalties
        How the penalties of soft constraints without one are learned. ``"likelihood"``: with the
        weights, by maximum likelihood, ``ρ ≥ 0``; soft constraints with a penalty take part with
        it. They have to fit `training_budget` together with the hard ones: those without a penalty
        that do not are an error, the others are left to decoding. Otherwise the weights are trained
        without soft constraints. ``"counts"``: by how often labels of the training set, known in
        full, break them, see `trelliswork.learn.penalties.counts`. ``"perceptron"`` and
        ``"ssvm"`` learn them by decoding, see `trelliswork.learn_penalties`: the weights are
        trained once without the sequences held out, on which the penalties are learned, and then
        on all.
    held_out
        Share of the sequences that ``"perceptron"`` and ``"ssvm"`` learn penalties on.
    constrained_training
        True: the model is a distribution over the labellings that satisfy the constraints, in
        training too. False: train without, decode with.
    on_conflict
        What to do with training sequences whose labels break a constraint: ``"error"``, or
        ``"skip"`` them. Matters with `constrained_training` only. What is skipped still lends its
        labels, but shapes neither patterns nor limits of segments.
    on_infeasible
        What to do with a sequence that no labelling fits: ``"error"``; ``"relax"``: drop
        constraints of minimal conflicting subsets, the last given first, until one fits; or
        ``"unconstrained"``: drop all. `decode` marks such answers.
    training_budget, decoding_budget
        Most arcs of the product of the model with constraints. Constraints beyond the first are
        left to decoding, which adds them as answers break them; where a product passes the second,
        there is an error. See `trelliswork.plan`.
    n_jobs
        Threads; None: as many as there are cores, or as joblib leaves to this worker.
    random_state
        Seed of which sequences are held out, of the perceptron, and of the order of sequences
        with ``solver="online"``. Otherwise unused: training is deterministic.
    verbose
        Show a progress bar on standard error.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The label names, in the order of every label axis.
    labels_ : LabelSet
        The same with their scheme.
    model_ : CRFModel
        The trained model. ``model_.patterns`` are its label patterns, by name
        ``model_.patterns.names(model_.structure.letter_names)``. ``model_.segmentation``, None in a
        chain, has the names of its segments (``names``) and their most tokens (``limits``).
    plan_ : Plan
        What the constraints compiled into; print it to see.
    penalties_ : dict
        What each soft constraint costs, by its expression.
    n_skipped_ : int
        Training sequences left out because their labels break a constraint.
    n_iter_ : int
        Iterations run.
    loss_ : float
        The objective at the weights kept.
    stop_reason_ : str
        ``"converged"`` (by `tol`), ``"gap"`` (by `gap_tol`), ``"max_iter"``, ``"early_stopping"``,
        ``"interrupted"`` or ``"precision"``.
    gap_ : float or None
        How far `loss_` is from the optimum at most, by a duality gap, where it is known: with `l1`
        or a `regularizer`, all labels known, no `debias`, and another solver than ``"online"``.
    training_log_ : list of TrainingStep
        One entry an iteration.
    dev_score_ : float or None
        F1 of the weights kept on the development set, where there was one.
    metadata_ : dict
        Anything that JSON can hold, saved with the model; empty after ``fit``, yours to fill.

    Examples
    --------
    >>> X = [["the", "cat", "sleeps"], ["a", "dog", "barks"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> CRFTagger(features="lower(word[0])", l2=0.01).fit(X, y).predict([["the", "dog"]])
    [['DET', 'NOUN']]
    """

    def __init__(
        self,
        *,
        order: int = 1,
        max_segment: MaxSegment = 1,
        adjacent: bool = False,
        patterns: Sequence[Sequence[str]] | None = None,
        min_pattern_count: int = 1,
        max_patterns: int | None = None,
        edge_order: int = 1,
        l2: float | Mapping[int, float] = 1.0,
        l1: float = 0.0,
        regularizer: GroupLasso | None = None,
        solver: Solver = "auto",
        debias: bool = False,
        features: str | Templates | None = None,
        min_count: int = 1,
        pairs: str = "observed",
        transitions: str | None = None,
        class_weight: Mapping[str, float] | str | None = None,
        max_iter: int = 200,
        tol: float = 1e-5,
        gap_tol: float = 1e-4,
        init: CRFTagger | str | os.PathLike[str] | None = None,
        dev_every: int = 5,
        patience: int = 10,
        labels: Sequence[str] | None = None,
        scheme: Scheme | None = None,
        outside: str | None = None,
        constraints: Any = (),
        training: Protocol | None = None,
        penalties: Literal["likelihood", "counts", "perceptron", "ssvm"] = "likelihood",
        held_out: float = 0.2,
        constrained_training: bool = True,
        on_conflict: Literal["error", "skip"] = "error",
        on_infeasible: OnInfeasible = "error",
        training_budget: int = TRAINING_BUDGET,
        decoding_budget: int = DECODING_BUDGET,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.order = order
        self.max_segment = max_segment
        self.adjacent = adjacent
        self.patterns = patterns
        self.min_pattern_count = min_pattern_count
        self.max_patterns = max_patterns
        self.edge_order = edge_order
        self.l2 = l2
        self.l1 = l1
        self.regularizer = regularizer
        self.solver = solver
        self.debias = debias
        self.features = features
        self.min_count = min_count
        self.pairs = pairs
        self.transitions = transitions
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.gap_tol = gap_tol
        self.init = init
        self.dev_every = dev_every
        self.patience = patience
        self.labels = labels
        self.scheme = scheme
        self.outside = outside
        self.constraints = constraints
        self.training = training
        self.penalties = penalties
        self.held_out = held_out
        self.constrained_training = constrained_training
        self.on_conflict = on_conflict
        self.on_infeasible = on_infeasible
        self.training_budget = training_budget
        self.decoding_budget = decoding_budget
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
        on_step: Callable[[TrainingStep], object] | None = None,
    ) -> CRFTagger:
        """Train on labelled sequences.

        Ctrl-C ends training early and keeps the best model so far; see ``stop_reason_``. Before
        the first iteration there is none, and the interruption goes on.

        Parameters
        ----------
        X
            Sequences: token lists, `Corpus`, lists of feature dicts, or matrices.
        y
            Label names, one list a sequence; ``None`` is an unlabelled token, a set lists
            alternatives. Default: the labels of the corpus.
        sample_weight
            Weight of each sequence, shape ``(B,)``.
        dev
            A labelled `Corpus`, or a pair ``(X, y)``: stop when its F1 no longer rises, and keep
            the weights that scored best.
        on_step
            Called after every iteration.

        Raises
        ------
        NotInLanguageError
            Where labels break a constraint, naming the sequence, the token and the constraint.
        """
        sequences = as_sequences(X)
        names = as_labels(sequences, y)
        learner = self._learner(
            infer_labels(names, self.scheme, self.outside, self.labels), sequences, names
        )
        labels = learner.structure.labels
        checked = None
        if dev is not None:
            checked = as_dev(dev, labels)
            warn_of_long_segments(checked[1], learner.structure.segmentation)
        groups = self.regularizer
        first = int(groups is not None and groups.adaptive)
        most = self.max_iter * (1 + first + int(self.debias))
        bar = TrainingProgress(most) if self.verbose else nullcontext()
        with bar as shown:

            def show(step: TrainingStep) -> None:
                if shown is not None:
                    shown.show(step)
                if on_step is not None:
                    on_step(step)

            found = learner.learn(
                sequences,
                names,
                sample_weight,
                dev=checked,
                on_step=show,
            )
        self._keep_learned(found)
        if self._makes_zeros():
            warn_of_no_weights(self.model_)
        return self

    def _keep_learned(self, found: LearnedCRF) -> None:
        """Set what ``fit`` sets."""
        self._keep(found)
        self.n_skipped_ = found.n_skipped
        self.n_iter_ = len(found.run.log)
        self.loss_ = found.run.loss
        self.stop_reason_ = found.run.reason
        self.gap_ = found.run.gap
        self.training_log_ = found.run.log
        self.dev_score_ = found.run.best_dev_score

    def _learner(
        self,
        labels: LabelSet,
        sequences: list[Any],
        names: Sequence[Sequence[Label]],
        unlabelled: Sequence[Any] = (),
    ) -> CRFLearner:
        """Settle structure, features and constraints on a training set."""
        parameters = self.get_params(deep=False)
        check_parameters(parameters)
        earlier = None if self.init is None else _trained(self.init)
        return CRFLearner(
            CRFSettings.of(parameters),
            labels,
            sequences,
            names,
            unlabelled,
            earlier,
            refit=self._refit,
        )

    def _refit(
        self,
        constraints: Sequence[Constraint],
        labels: Sequence[str],
        sequences: list[Any],
        names: Sequence[Sequence[Label]],
        weights: ArrayLike | None,
    ) -> CRFTagger:
        """Train a copy of this tagger; see `trelliswork.learn.penalties.held_out.Refit`."""
        other: CRFTagger = clone(self)
        other.set_params(constraints=constraints, penalties="likelihood", labels=labels)
        return other.fit(sequences, names, sample_weight=weights)

    def _training_record(self) -> dict[str, Any]:
        return {
            "n_iter": self.n_iter_,
            "loss": self.loss_,
            "stop_reason": self.stop_reason_,
            "dev_score": self.dev_score_,
            "n_skipped": self.n_skipped_,
            "log": [step.to_dict() for step in self.training_log_],
            **({} if self.gap_ is None else {"gap": self.gap_}),
        }

    def _restore_training(self, record: Mapping[str, Any]) -> None:
        self.n_iter_ = record["n_iter"]
        self.loss_ = record["loss"]
        self.stop_reason_ = record["stop_reason"]
        self.gap_ = record.get("gap")
        self.dev_score_ = record["dev_score"]
        self.n_skipped_ = record.get("n_skipped", 0)
        self.training_log_ = [TrainingStep(**step) for step in record["log"]]

    def __sklearn_clone__(self) -> CRFTagger:
        # `init` is a trained tagger: cloning it would forget what it learned.
        parameters = self.get_params(deep=False)
        kept = parameters.pop("init")
        copies = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(**copies, init=kept)


def _trained(tagger: CRFTagger | str | os.PathLike[str]) -> Learned:
    """Return what an earlier tagger learned."""
    from trelliswork.taggers.load import load  # which knows all taggers, this one too

    fitted = tagger if isinstance(tagger, CRFTagger) else load(tagger)
    if not isinstance(fitted, CRFTagger):
        raise TypeError(f"init: expected a CRFTagger, got a {type(fitted).__name__}.")
    check_is_fitted(fitted)
    return Learned(fitted.model_, fitted.plan_)
