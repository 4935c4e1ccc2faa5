"""The CoDL tagger: constraint-driven learning from few labels and unlabelled sequences."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone

from trelliswork._utils.arguments import check_number, check_whole
from trelliswork._utils.progress import TrainingProgress
from trelliswork.data.sentence import Sentence
from trelliswork.decoding.conflicts import check_on_infeasible
from trelliswork.errors import DataError
from trelliswork.features.inputs import (
    as_dev,
    as_known_labels,
    as_sequences,
    infer_labels,
    sequence_length,
)
from trelliswork.learn.codl import Cycle, Settings, learn_with_unlabelled
from trelliswork.learn.pool import UnlabelledPool
from trelliswork.planning.plan import DECODING_BUDGET
from trelliswork.taggers.base import Tagger
from trelliswork.taggers.crf import CRFTagger
from trelliswork.taggers.hmm import HMMTagger
from trelliswork.taggers.parameters import parameters_from_json, parameters_to_json
from trelliswork.taggers.perceptron import PerceptronTagger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trelliswork.constraints import Predicate
    from trelliswork.decoding.conflicts import OnInfeasible

__all__ = ["CODLTagger"]

BASES: dict[str, type[Tagger]] = {
    kind.__name__: kind for kind in (HMMTagger, PerceptronTagger, CRFTagger)
}
LABELLINGS = ("top1", "topk", "posterior")
LEAST_TEMPERATURE = 1e-6


class CODLTagger(Tagger):
    """Constraint-driven learning (CoDL): few labels, constraints, and many unlabelled sequences.

    A base tagger learns ``(w₀, ρ₀)`` from the labelled sequences. In every cycle it then labels the
    unlabelled sequences under constraints, learns from these labels alone, and the result is mixed
    with the supervised model:

        (w, ρ) = γ (w₀, ρ₀) + (1 − γ) learn(T)

    The algorithm is the second of Chang, Ratinov and Roth, "Constraints as Prior Knowledge" (2008).

    Parameters
    ----------
    base
        An unfitted `HMMTagger`, `PerceptronTagger` or `CRFTagger`, which determines the learner,
        the features and the training protocol. It is not modified.
    constraints
        Constraints instead of those of the base; ``()`` for none, which is plain self-training.
        None: those of the base.
    gamma
        ``γ``, the share of the supervised model, from 0 to 1. With 0 it is only the start of the
        first cycle.
    cycles
        Maximum number of cycles.
    labelling
        The labellings to learn from. ``"top1"``: the best labelling of each unlabelled sequence
        under constraints. ``"topk"``: the `k` best, weighted by ``exp(score / temperature)``,
        normalised to 1 per sequence. ``"posterior"``: all labellings, weighted by their probability
        under constraints, for an `HMMTagger`; without constraints this is expectation maximisation.
        It needs the product of all constraints, which must be small.
    k, temperature
        Parameters of ``"topk"``. Scores of CRFs and HMMs are natural logarithms, those of
        perceptrons have no scale.
    include_labelled
        Whether every cycle learns from the labelled sequences as well. In the paper it does not:
        they contribute through ``γ``.
    tol
        Stop when at most this share of the unlabelled tokens has changed its label since the
        previous cycle.
    patience
        With a development set: the number of cycles without improvement before training stops.
    on_infeasible, decoding_budget
        As for `CRFTagger`; they replace those of the base. In training, unlabelled sequences that
        cannot satisfy all constraints are left out, and counted in ``curve_``.
    n_jobs
        Number of threads; None: that of the base.
    random_state
        Seed of the base; None: its own.
    verbose
        Whether to show a progress bar on standard error.

    Attributes
    ----------
    model_, plan_, labels_, classes_, penalties_, metadata_
        As for `CRFTagger`. Penalties are mixed like weights.
    n_iter_ : int
        Number of cycles.
    kept_cycle_ : int
        The cycle of the returned model: the last one or, with a development set, the best one. 0 is
        the supervised model.
    stop_reason_ : str
        ``"cycles"``, ``"converged"``, ``"early_stopping"`` or ``"interrupted"``.
    curve_ : list of Cycle
        One entry for the supervised model, then one per cycle.
    dev_score_ : float or None
        Token accuracy of the returned model on the development set; None without one.

    Examples
    --------
    >>> from trelliswork.constraints import starts_with
    >>> base = CRFTagger(features="word[0]", training="L+CI", constraints=starts_with("DET"))
    >>> X, y = [["the", "cat"], ["the", "dog"]], [["DET", "NOUN"], ["DET", "NOUN"]]
    >>> tagger = CODLTagger(base, gamma=0.5, cycles=2).fit(X, y, unlabelled=[["a", "dog"]])
    >>> tagger.predict([["a", "cat"]])
    [['DET', 'NOUN']]
    """

    def __init__(
        self,
        base: Tagger,
        constraints: Any = None,
        *,
        gamma: float = 0.9,
        cycles: int = 10,
        labelling: Literal["top1", "topk", "posterior"] = "top1",
        k: int = 10,
        temperature: float = 1.0,
        include_labelled: bool = False,
        tol: float = 1e-3,
        patience: int = 3,
        on_infeasible: OnInfeasible = "error",
        decoding_budget: int = DECODING_BUDGET,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.base = base
        self.constraints = constraints
        self.gamma = gamma
        self.cycles = cycles
        self.labelling = labelling
        self.k = k
        self.temperature = temperature
        self.include_labelled = include_labelled
        self.tol = tol
        self.patience = patience
        self.on_infeasible = on_infeasible
        self.decoding_budget = decoding_budget
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        *,
        unlabelled: Any,
        dev: Any = None,
        on_cycle: Callable[[Cycle], object] | None = None,
    ) -> CODLTagger:
        """Learn from labelled and unlabelled sequences.

        Ctrl-C stops training and keeps the model of the last cycle; see ``stop_reason_``.

        Parameters
        ----------
        X, y
            The labelled sequences, as for ``fit`` of the base.
        unlabelled
            Unlabelled sequences of the same kind. Any labels are dropped.
        dev
            Development set, a labelled `Corpus` or a pair ``(X, y)``: keep the cycle with the best
            token accuracy.
        on_cycle
            Called with the supervised model, and after every cycle.
        """
        settings = self._settings()
        base = self._own_base()
        sequences = as_sequences(X)
        names = as_known_labels(sequences, y)
        more = [_without_labels(own) for own in as_sequences(unlabelled, "unlabelled")]
        more = [own for own in more if sequence_length(own)]
        if not more:
            raise DataError(
                "unlabelled: expected at least one sequence with tokens, got none. To learn from "
                f"labels alone, fit the {type(base).__name__} itself."
            )
        labels = infer_labels(names, base.scheme, base.outside, base.labels)
        learner = base._learner(labels, sequences, names, more)
        checked = None
        if dev is not None:
            dev_sequences, dev_labels = as_dev(dev, learner.structure.labels)
            checked = dev_sequences, as_known_labels(dev_sequences, dev_labels, "dev")
        bar = (
            TrainingProgress(self.cycles, measure="dev accuracy") if self.verbose else nullcontext()
        )
        with bar as shown:

            def show(cycle: Cycle) -> None:
                if shown is not None:
                    shown.show(cycle)
                if on_cycle is not None:
                    on_cycle(cycle)

            run = learn_with_unlabelled(
                learner,
                (sequences, names),
                UnlabelledPool(more, settings.n_jobs),
                settings,
                dev=checked,
                on_cycle=show,
            )
        self._keep(run.learned)
        self.n_iter_ = max(0, len(run.curve) - 1)
        self.kept_cycle_ = run.kept
        self.stop_reason_ = run.reason
        self.curve_ = run.curve
        kept = next((cycle for cycle in run.curve if cycle.iteration == run.kept), None)
        self.dev_score_ = None if kept is None else kept.dev_score
        return self

    def _settings(self) -> Settings:
        """Check the parameters and return the settings of the run."""
        if not isinstance(self.base, tuple(BASES.values())):
            raise TypeError(f"base: expected an unfitted {' or '.join(BASES)}, got {self.base!r}.")
        if self.labelling not in LABELLINGS:
            raise ValueError(
                f"labelling: expected {' or '.join(map(repr, LABELLINGS))}, got {self.labelling!r}."
            )
        for name in ("gamma", "tol", "temperature"):
            check_number(name, getattr(self, name))
        for name in ("gamma", "tol"):
            if getattr(self, name) > 1.0:
                raise ValueError(
                    f"{name}: expected a share, 1 at most, got {getattr(self, name)!r}."
                )
        if self.temperature < LEAST_TEMPERATURE:
            raise ValueError(
                f"temperature: expected {LEAST_TEMPERATURE:g} or more, got {self.temperature!r}. "
                "For the best labelling alone, use labelling='top1'."
            )
        for name in ("cycles", "k", "patience"):
            check_whole(name, getattr(self, name), 1)
        if not isinstance(self.include_labelled, bool | np.bool_):
            raise ValueError(
                f"include_labelled: expected True or False, got {self.include_labelled!r}."
            )
        if self.labelling == "posterior" and not isinstance(self.base, HMMTagger):
            raise ValueError(
                "labelling: expected 'top1' or 'topk', as only an HMMTagger learns from "
                f"posteriors, got 'posterior' and a {type(self.base).__name__}."
            )
        check_on_infeasible(self.on_infeasible)
        return Settings(
            float(self.gamma),
            int(self.cycles),
            self.labelling,
            int(self.k) if self.labelling == "topk" else 1,
            float(self.temperature),
            bool(self.include_labelled),
            float(self.tol),
            int(self.patience),
            self.n_jobs if self.n_jobs is not None else self.base.n_jobs,
        )

    def _own_base(self) -> Any:
        """Return a copy of the base with the parameters of this tagger."""
        base = clone(self.base)
        base.set_params(decoding_budget=self.decoding_budget)
        for name in ("constraints", "n_jobs", "random_state"):
            if getattr(self, name) is not None:
                base.set_params(**{name: getattr(self, name)})
        return base

    def _makes_zeros(self) -> bool:
        made: bool = self.base._makes_zeros()
        return made

    def _parameters_to_json(self) -> dict[str, Any]:
        base = {
            "estimator": type(self.base).__name__,
            "parameters": parameters_to_json(self.base.get_params(deep=False), self.plan_),
        }
        own = {name: value for name, value in self.get_params(deep=False).items() if name != "base"}
        return {**parameters_to_json(own, self.plan_), "base": base}

    @classmethod
    def _parameters_from_json(
        cls, saved: Mapping[str, Any], predicates: Mapping[str, Predicate] | None = None
    ) -> dict[str, Any]:
        own = dict(saved)
        base = own.pop("base")
        kind = BASES[base["estimator"]]
        parameters = kind._parameters_from_json(base["parameters"], predicates)
        return {**parameters_from_json(own, predicates), "base": kind(**parameters)}

    def _training_record(self) -> dict[str, Any]:
        return {
            "n_iter": self.n_iter_,
            "kept_cycle": self.kept_cycle_,
            "stop_reason": self.stop_reason_,
            "dev_score": self.dev_score_,
            "curve": [asdict(cycle) for cycle in self.curve_],
        }

    def _restore_training(self, record: Mapping[str, Any]) -> None:
        self.n_iter_ = record["n_iter"]
        self.kept_cycle_ = record["kept_cycle"]
        self.stop_reason_ = record["stop_reason"]
        self.dev_score_ = record["dev_score"]
        self.curve_ = [Cycle(**cycle) for cycle in record["curve"]]


def _without_labels(sequence: Any) -> Any:
    return sequence.with_labels(None) if isinstance(sequence, Sentence) else sequence
