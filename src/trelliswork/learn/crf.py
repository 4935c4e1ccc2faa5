"""The CRF learner: maximum likelihood on a fixed structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.threads import resolve_jobs
from trelliswork.automata.pattern_statistics import PatternStatistics, warn_of_growth
from trelliswork.evaluation.report import report
from trelliswork.features.inputs import make_encoder
from trelliswork.learn.learner import Learned
from trelliswork.learn.mixing import mix_weights
from trelliswork.learn.objective.objective import Objective
from trelliswork.learn.optimizers.minimizer import Minimizer
from trelliswork.learn.penalties.counts import count_penalties
from trelliswork.learn.penalties.held_out import learn_held_out
from trelliswork.learn.sequence_weights import sequence_weights
from trelliswork.learn.settings_checks import check_rule_names, check_settings, warn_of_no_features
from trelliswork.learn.setup import Setup
from trelliswork.learn.sparsity.task import SparseTask
from trelliswork.learn.train import DevCheck, train
from trelliswork.learn.warm_start import parameters_like

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, FloatArray
    from trelliswork._utils.progress import TrainingStep
    from trelliswork.data.sentence import Label
    from trelliswork.features import EncodedFeatures
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.learn.crf_settings import CRFSettings
    from trelliswork.learn.objective.soft_terms import SoftTerms
    from trelliswork.learn.penalties.held_out import Refit
    from trelliswork.learn.train import TrainingRun
    from trelliswork.models.model import CRFModel
    from trelliswork.planning.plan import Plan

    Labelled = tuple[list[Any], Sequence[Sequence[Label]]]

__all__ = ["CRFLearner", "CRFProblem", "LearnedCRF"]


@dataclass(frozen=True, eq=False)
class LearnedCRF(Learned):
    """A learned CRF with its training log.

    Attributes
    ----------
    run : TrainingRun
        The training run: log, loss and stop reason.
    sparse_run : TrainingRun
        The run with the regularizer. Differs from `run` if the weights were debiased afterwards.
    n_skipped : int
        Number of sequences left out because their labels break a constraint.
    """

    run: TrainingRun
    sparse_run: TrainingRun
    n_skipped: int

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped learning."""
        return self.run.reason == "interrupted"


@dataclass(frozen=True, eq=False)
class CRFProblem:
    """The optimisation problem for a training set.

    Attributes
    ----------
    task : SparseTask
        The objective and its regularizer.
    rules : Plan
        The constraints, with the penalties that are not learned together with the weights.
    n_skipped : int
        Number of sequences left out because their labels break a constraint.
    log : tuple of TrainingStep
        Log of the initial fit for adaptive groups; empty without one.
    """

    task: SparseTask
    rules: Plan
    n_skipped: int
    log: tuple[TrainingStep, ...] = ()


class CRFLearner:
    """Learns the weights of a `CRFTagger`; see `trelliswork.learn.learner.Learner`.

    Label patterns, segments and constraints come from the labelled sequences given here, features
    from these and the unlabelled ones. Every call of `learn` starts from the previous result: the
    optimum is the same, and close.

    Parameters
    ----------
    settings
        The settings.
    labels
        The labels.
    sequences, names
        Labelled sequences; labels may be known in part.
    unlabelled
        Further sequences to extract features from.
    init
        Initial weights for the first call of `learn`. Default: zeros.
    refit
        Trains another tagger with the same settings; used to learn penalties on held-out
        sequences.
    """

    def __init__(
        self,
        settings: CRFSettings,
        labels: LabelSet,
        sequences: list[Any],
        names: Sequence[Sequence[Label]],
        unlabelled: Sequence[Any] = (),
        init: Learned | None = None,
        *,
        refit: Refit,
    ) -> None:
        self._settings = settings
        self._refit = refit
        check_rule_names(settings.constraints, labels)
        setup = Setup.choose(settings, labels, sequences, names)
        self.structure = structure = setup.structure
        check_settings(settings, structure)
        warn_of_growth(PatternStatistics.of(structure.patterns, structure.automaton))
        kept = setup.kept.tolist()
        own = [names[b] for b in kept]
        # Labelled sequences come first, as the positions of gold segments refer to them.
        known = [*(sequences[b] for b in kept), *unlabelled]
        self.encoder = make_encoder(
            known, settings.features, segments=structure.segmentation is not None
        )
        features = self.encoder.fit(
            known,
            min_count=settings.min_count,
            n_jobs=resolve_jobs(settings.n_jobs),
            segments=structure.known_segments(structure.encode(own), [len(one) for one in own]),
        )
        warn_of_no_features(features, settings.min_count)
        self._rules = setup.plan
        # Usually the first call of `learn` gets the same sequences: their features are reused.
        self._first: tuple[Any, Setup, EncodedFeatures | None] | None = (
            sequences,
            setup,
            None if len(unlabelled) else features,
        )
        self._last = init

    def learn(
        self,
        sequences: list[Any],
        names: Sequence[Sequence[Label]],
        weights: ArrayLike | None = None,
        *,
        dev: Labelled | None = None,
        on_step: Callable[[TrainingStep], object] | None = None,
    ) -> LearnedCRF:
        """Learn from labelled sequences.

        Parameters
        ----------
        sequences, names
            The sequences, and their labels, which may be known in part.
        weights
            Weight of each sequence, shape ``(B,)``. Default: 1.
        dev
            Development set, as sequences and labels: stop when F1 no longer improves, and keep the
            best weights.
        on_step
            Called after every iteration.
        """
        problem = self.make_problem(sequences, names, weights, on_step=on_step)
        task = problem.task.screened()
        problem = replace(problem, task=task if self._settings.debias else task.final())
        del task  # frees the features, unless debiasing needs them
        self._last = found = self.fit(problem, self.start(problem), dev=dev, on_step=on_step)
        return found

    def make_problem(
        self,
        sequences: list[Any],
        names: Sequence[Sequence[Label]],
        weights: ArrayLike | None = None,
        *,
        on_step: Callable[[TrainingStep], object] | None = None,
    ) -> CRFProblem:
        """Return the optimisation problem; the parameters are those of `learn`.

        For adaptive groups this runs the initial fit.
        """
        setup, features = self._prepare(sequences, names)
        rules = self._with_penalties(setup.plan, sequences, names, weights)
        of_sequences = sequence_weights(names, weights, self._class_weight(names))
        n_skipped = len(names) - setup.kept.size
        if n_skipped:
            kept = setup.kept.tolist()
            names = [names[b] for b in kept]
            of_sequences = None if of_sequences is None else of_sequences[kept]
        task = SparseTask.whole(
            lambda kept, soft: self._objective(setup, features, names, of_sequences, kept, soft),
            setup.denominator.soft,
            self.encoder,
            self._settings.l1,
            self._settings.regularizer,
        )
        groups = self._settings.regularizer
        if groups is None or not groups.adaptive:
            return CRFProblem(task, rules, n_skipped)
        start = np.zeros(task.objective.n_parameters)
        first = train(task.objective, start, self.minimizer().smooth(), on_step=on_step)
        if first.reason == "interrupted":
            raise KeyboardInterrupt
        return CRFProblem(task.adapted(first.parameters), rules, n_skipped, tuple(first.log))

    def start(self, problem: CRFProblem) -> FloatArray:
        """Return the initial parameters: those of the previous result, or zeros."""
        objective, earlier = problem.task.objective, self._last
        if earlier is None:
            return np.zeros(objective.n_parameters)
        known = problem.rules.with_penalties_of(earlier.plan).penalties
        return parameters_like(objective, earlier.model, self.encoder, known)

    def fit(
        self,
        problem: CRFProblem,
        start: FloatArray,
        *,
        dev: Labelled | None = None,
        on_step: Callable[[TrainingStep], object] | None = None,
    ) -> LearnedCRF:
        """Minimise, and debias if the settings say so.

        Parameters
        ----------
        problem
            The optimisation problem.
        start
            The initial parameters.
        dev, on_step
            As for `learn`.
        """
        task, rules, minimizer = problem.task, problem.rules, self.minimizer()
        objective = task.objective
        sparse_run = run = train(
            objective,
            start,
            minimizer,
            regularizer=task.regularizer,
            dev=None if dev is None else self._dev_check(objective, rules, dev),
            on_step=on_step,
            earlier=problem.log,
        )
        if self._settings.debias and run.reason != "interrupted":
            survivors, start = task.survivors(run.parameters)
            try:
                run = train(
                    survivors,
                    start,
                    minimizer.smooth(),
                    dev=None if dev is None else self._dev_check(survivors, rules, dev),
                    on_step=on_step,
                    earlier=run.log,
                )
                objective = survivors
            except KeyboardInterrupt:  # before the first iteration: keep the sparse run
                run = replace(run, reason="interrupted")
        return LearnedCRF(
            objective.model(run.parameters, self.encoder),
            _learned_rules(objective, run.parameters, rules),
            run,
            sparse_run,
            problem.n_skipped,
        )

    def minimizer(self) -> Minimizer:
        """Return the optimiser and its stopping rules."""
        settings = self._settings
        return Minimizer(
            settings.solver,
            max_iter=settings.max_iter,
            tol=settings.tol,
            gap_tol=settings.gap_tol,
            n_jobs=resolve_jobs(settings.n_jobs),
            random_state=settings.random_state,
        )

    def mix(self, first: CRFModel, second: CRFModel, share: float) -> CRFModel:
        """Return the convex combination of the weights of two models."""
        return mix_weights(first, second, share)

    def _prepare(
        self, sequences: list[Any], names: Sequence[Sequence[Label]]
    ) -> tuple[Setup, EncodedFeatures]:
        """Return the setup of the training set, and its features."""
        first, self._first = self._first, None
        features = None
        if first is not None and first[0] is sequences:
            _, setup, features = first
        else:
            setup = Setup.on(self._settings, self.structure, sequences, names, self._rules)
        if features is None:
            kept = [sequences[b] for b in setup.kept.tolist()]
            features = self.encoder.transform(kept, n_jobs=resolve_jobs(self._settings.n_jobs))
        return setup, features

    def _with_penalties(
        self,
        rules: Plan,
        sequences: list[Any],
        names: Sequence[Sequence[Label]],
        weights: ArrayLike | None,
    ) -> Plan:
        """Return the constraints, with the penalties that are learned apart from the weights."""
        if self._settings.penalties == "counts":
            whole = [b for b, own in enumerate(names) if all(isinstance(y, str) for y in own)]
            counted = count_penalties(
                rules.constraints,
                [sequences[b] for b in whole],
                [[str(y) for y in names[b]] for b in whole],
                self.structure.labels,
                None if weights is None else np.asarray(weights, dtype=np.float64)[whole],
            )
            return rules.with_penalties(counted)
        known = self.structure.labels.names
        by_decoding = learn_held_out(
            self._settings, sequences, names, weights, known, refit=self._refit
        )
        return rules if by_decoding is None else rules.with_penalties(by_decoding)

    def _class_weight(self, names: Sequence[Sequence[Label]]) -> Mapping[str, float] | str | None:
        """Return the class weights without known labels that these sequences lack."""
        given = self._settings.class_weight
        if not isinstance(given, Mapping):
            return given
        there = {label for own in names for label in own}
        might = set(self.structure.labels.names)
        return {name: value for name, value in given.items() if name in there or name not in might}

    def _objective(
        self,
        setup: Setup,
        features: EncodedFeatures,
        names: Sequence[Sequence[Label]],
        weights: FloatArray | None,
        kept: BoolArray | None,
        soft: SoftTerms | None,
    ) -> Objective:
        settings, under = self._settings, setup.denominator
        return Objective(
            features,
            self.structure.encode(names),
            self.structure,
            weights=weights,
            l2=settings.l2,
            pairs="all" if settings.pairs == "all" else "observed",
            transitions="all" if settings.transitions == "all" else "observed",
            automaton=under.automaton,
            classes=under.classes,
            open_labels=under.open_labels,
            soft=soft,
            kept=kept,
        )

    def _dev_check(self, objective: Objective, rules: Plan, dev: Labelled) -> DevCheck:
        sequences, gold = dev
        labels, jobs = self.structure.labels, self._settings.n_jobs

        def score(parameters: FloatArray) -> float:
            candidate = objective.model(parameters, self.encoder)
            under = _learned_rules(objective, parameters, rules)
            found = candidate.decode(sequences, under, n_jobs=jobs)
            return report(gold, found, scheme=labels.scheme, outside=labels.outside).f1

        return DevCheck(score, self._settings.dev_every, self._settings.patience)


def _learned_rules(objective: Objective, parameters: FloatArray, rules: Plan) -> Plan:
    """Return the constraints with the penalties of a parameter vector."""
    penalties = objective.penalties(parameters)
    return rules if penalties is None else rules.with_penalties(penalties)
