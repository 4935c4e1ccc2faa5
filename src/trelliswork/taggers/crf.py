"""The CRF tagger, an estimator with the conventions of scikit-learn."""

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
from trelliswork.taggers.parameters import check_crf_parameters

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
    from trelliswork.learn.optimizers.minimizer import Solver
    from trelliswork.learn.protocols import Protocol
    from trelliswork.learn.sparsity.group_lasso import GroupLasso

__all__ = ["CRFTagger"]


class CRFTagger(Tagger):
    """A conditional random field of any order, on tokens or segments, by maximum likelihood.

    Minimises ``−Σ_b log p(y_b | x_b) + l2 ‖w‖² + l1 ‖w‖₁ + Ω(w)``, with ``Ω`` the group norms of a
    `regularizer`. Sequences may be partially labelled. Under soft constraints ``p(y | x) ∝
    exp(score(y) − Σ_c ρ_c v_c(y))``, and ``w`` includes the learned penalties ``ρ``. Weights that
    l1 or ``Ω`` make 0 are removed from the model: features and templates without a weight are
    neither stored nor extracted in tagging.

    Parameters
    ----------
    order
        Order of the dependencies between labels: patterns of up to ``order + 1`` labels (or segment
        names) that occur in training have a weight. Training is exact, and fast while few of the
        possible patterns occur. 0: no transitions. In a chain every token counts, so that a long
        run of one label fills a pattern; in a semi-Markov model every segment counts.
    max_segment
        Maximum number of tokens of a segment. 1: a chain, which labels tokens. Otherwise a
        semi-Markov model, which labels segments: a number, a number per segment name, or
        ``"auto"``, the maximum observed for each name. Longer segments are never predicted but
        split. Tokens outside segments, ``O`` in BIO or the plain label given as `outside`, are
        labelled one by one, in runs of any length.
    adjacent
        With plain labels and segments: whether equal segments may be adjacent. Labels do not show
        the boundary between them, so several segmentations have the same labels: answers are
        segmentations, and the best one need not be the most probable labelling. Rules count runs of
        labels; `span_probability` is not available.
    patterns
        Patterns to use instead of the observed ones, each a sequence of names: of labels in a chain
        (``"B-author"``), of segments in a semi-Markov model (``"author"``). Their lengths do not
        depend on `order`.
    min_pattern_count, max_patterns
        Minimum count of a pattern, and maximum number of patterns: the most frequent ones are kept,
        with ties in favour of shorter ones.
    edge_order
        Patterns up to this order have weights for features of the ``edge:`` templates. Values above
        1 make training many times slower. Without such templates it has no effect.
    l2
        Coefficient of ``‖w‖²`` (``c2`` of CRFsuite), or one by order: ``{0: 1.0, 2: 0.1}`` is 1.0
        for features and transitions, 0.1 for patterns of three labels and more.
    l1
        Coefficient of ``‖w‖₁`` (``c1`` of CRFsuite): the larger, the more weights are exactly 0.
        For l1 alone set ``l2=0``. Applies to the penalties of soft constraints that are learned
        with the weights as well, and sets those of unnecessary rules to 0.
    regularizer
        Group norms, see `GroupLasso`: select whole templates, features, labels or label patterns.
    solver
        The optimiser. ``"lbfgs"`` for smooth objectives, ``"owlqn"`` for `l1`, ``"hybrid"`` for a
        `regularizer` with Euclidean norms, ``"sparsa"`` and ``"fista"`` (proximal gradient methods)
        for all norms. ``"auto"``: the fastest one that applies. ``"online"``: steps on single
        sequences, for large training sets; needs a single number as `l2`, either `l1` or a
        `regularizer` with one level of norm ``"l2"``, and no soft constraints in training.
    debias
        Whether to fit the nonzero weights again under l2 alone, as l1 and group norms shrink them.
    features
        Feature templates for token input: the name of a bundle (``"chunking"``, ``"ner"``,
        ``"citation"``), template text, or `Templates`; None is ``"ner"``. For feature dicts and
        matrices: None.
    min_count
        Minimum count of a feature; rarer features are left out.
    pairs, transitions
        The (feature, label) pairs and the transitions that have a weight: those ``"observed"`` in
        the labels, or ``"all"``. None: observed transitions in a chain, all in a semi-Markov model,
        where few occur. Features of segments have a weight for every label.
    class_weight
        A weight per label name, or ``"balanced"`` (inverse frequency). The weight of a sequence is
        the mean weight of its labels.
    max_iter, tol, gap_tol
        Stopping criteria: the maximum number of iterations, the relative change over ten
        iterations, and, with `l1` or a `regularizer`, the relative duality gap. With
        ``solver="online"``, `max_iter` counts passes over the data, `tol` is the change over one of
        them, and there is no gap.
    init
        An earlier tagger, or the path of its file, to start from. Weights are matched by name.
    dev_every, patience
        With a development set: the number of iterations between two measurements, and the number of
        measurements without improvement before training stops.
    labels
        Labels besides those that occur in training. A small training set may lack labels that
        constraints name.
    scheme
        The scheme of the labels, see `LabelSet`; None: infer it.
    outside
        The plain label of tokens outside segments, such as ``"O"``; used for scores, constraints
        and segments. It must occur in training.
    constraints
        Constraints on labellings: a constraint, a regular expression over labels, an `Automaton`,
        or a sequence of these; see `trelliswork.constraints`. Soft constraints may be broken at a
        penalty: ``rule.soft(2.0)``, or ``rule.soft()`` to learn the penalty.
    training
        The training protocol: ``"L"`` (no constraints), ``"L+CI"`` (all hard, in decoding),
        ``"L+wCI"`` (in decoding, penalties counted), ``"CIBT"`` (all hard, in training too) or
        ``"wCIBT"`` (in training too, penalties learned with the weights); see
        `trelliswork.learn.protocols`. It determines `constrained_training` and `penalties`; setting
        these to contradicting values is an error. None: use these parameters.
    penalties
        How penalties that are not given are learned. ``"likelihood"``: with the weights, by maximum
        likelihood, ``ρ ≥ 0``; soft constraints with a given penalty take part in training as well.
        Together with the hard ones they must fit `training_budget`: it is an error if one without a
        penalty does not; the others are left to decoding. With the other methods the weights are
        trained without soft constraints. ``"counts"``: from the violations in fully labelled
        training sequences, see `trelliswork.learn.penalties.counts`. ``"perceptron"`` and
        ``"ssvm"``: by decoding held-out sequences, see `trelliswork.learn_penalties`; the weights
        are trained without these sequences first, and then on all.
    held_out
        Share of the sequences held out for ``"perceptron"`` and ``"ssvm"``.
    constrained_training
        True: the model is a distribution over the labellings that satisfy the constraints, in
        training too. False: constraints apply in decoding only.
    on_conflict
        What to do with training sequences whose labels break a constraint: ``"error"``, or
        ``"skip"`` them. Used with `constrained_training` only. The labels of skipped sequences are
        known to the model, but determine neither patterns nor segment lengths.
    on_infeasible
        What to do with a sequence that cannot satisfy all constraints: ``"error"``; ``"relax"``:
        drop constraints of minimal conflicting subsets, the last given first, until a labelling
        exists; or ``"unconstrained"``: drop all. `decode` marks such answers.
    training_budget, decoding_budget
        Maximum number of arcs of the product of the model with constraints. Constraints beyond the
        training budget are left to decoding, which adds those that answers break; products beyond
        the decoding budget are an error. See `trelliswork.plan`.
    n_jobs
        Number of threads; None: all cores, or those that joblib assigns to this worker.
    random_state
        Seed of the held-out split, of the perceptron for penalties, and of the order of sequences
        with ``solver="online"``. Otherwise unused: training is deterministic.
    verbose
        Whether to show a progress bar on standard error.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The label names, in the order of all label axes.
    labels_ : LabelSet
        The labels with their scheme.
    model_ : CRFModel
        The trained model. ``model_.patterns`` are its label patterns, by name
        ``model_.patterns.names(model_.structure.letter_names)``. ``model_.segmentation``, None in a
        chain, has the names of the segments (``names``) and their maximum lengths (``limits``).
    plan_ : Plan
        The compiled constraints; print it for a summary.
    penalties_ : dict
        The penalty of each soft constraint, by its expression.
    n_skipped_ : int
        Number of training sequences left out because their labels break a constraint.
    n_iter_ : int
        Number of iterations.
    loss_ : float
        The objective at the returned weights.
    stop_reason_ : str
        ``"converged"`` (by `tol`), ``"gap"`` (by `gap_tol`), ``"max_iter"``, ``"early_stopping"``,
        ``"interrupted"`` or ``"precision"``.
    gap_ : float or None
        The duality gap, an upper bound on the distance of `loss_` from the optimum. Known with `l1`
        or a `regularizer`, full labels, no `debias`, and a solver other than ``"online"``.
    training_log_ : list of TrainingStep
        One entry per iteration.
    dev_score_ : float or None
        F1 of the returned weights on the development set; None without one.
    metadata_ : dict
        User data as JSON values, saved with the model; empty after ``fit``.

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

        Ctrl-C stops training and keeps the best model so far; see ``stop_reason_``. Before the end
        of the first iteration, ``KeyboardInterrupt`` is raised.

        Parameters
        ----------
        X
            Sequences: token lists, `Corpus`, lists of feature dicts, or matrices.
        y
            Label names, one list per sequence. ``None`` is an unlabelled token, a set lists
            alternatives. Default: the labels of the corpus.
        sample_weight
            Weight of each sequence, shape ``(B,)``.
        dev
            Development set, a labelled `Corpus` or a pair ``(X, y)``: stop when its F1 no longer
            improves, and keep the best weights.
        on_step
            Called after every iteration.

        Raises
        ------
        NotInLanguageError
            If labels break a constraint; names the sequence, the token and the constraint.
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
        """Set the attributes of a trained tagger."""
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
        """Return the learner, with structure, features and constraints of a training set."""
        parameters = self.get_params(deep=False)
        check_crf_parameters(parameters)
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
        # `init` is a trained tagger, which cloning would reset.
        parameters = self.get_params(deep=False)
        kept = parameters.pop("init")
        copies = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(**copies, init=kept)


def _trained(tagger: CRFTagger | str | os.PathLike[str]) -> Learned:
    """Return the weights and constraints of an earlier tagger."""
    from trelliswork.taggers.load import load  # deferred: it imports all taggers

    fitted = tagger if isinstance(tagger, CRFTagger) else load(tagger)
    if not isinstance(fitted, CRFTagger):
        raise TypeError(f"init: expected a CRFTagger, got a {type(fitted).__name__}.")
    check_is_fitted(fitted)
    return Learned(fitted.model_, fitted.plan_)
