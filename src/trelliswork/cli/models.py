"""The tagger described by the options of ``train``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from trelliswork.cli.options.rules import columns_tested
from trelliswork.cli.options.structure import ModelKind, read_l2, read_max_segment, resolve_features
from trelliswork.cli.options.unlabelled import LabellingName
from trelliswork.constraints.given import as_constraints
from trelliswork.data.sentence import TOKEN_COLUMN
from trelliswork.features import resolve
from trelliswork.labels.schemes import check_scheme
from trelliswork.taggers.codl import CODLTagger
from trelliswork.taggers.crf import CRFTagger
from trelliswork.taggers.hmm import HMMTagger
from trelliswork.taggers.load import load
from trelliswork.taggers.perceptron import PerceptronTagger

if TYPE_CHECKING:
    import typer

    from trelliswork.cli.options.training import TrainOptions
    from trelliswork.constraints import Constraint
    from trelliswork.learn.optimizers.minimizer import Solver
    from trelliswork.taggers.base import Tagger

__all__ = [
    "check_options",
    "columns_needed",
    "make_tagger",
    "options_given",
    "with_unlabelled",
]

CRF_ONLY = (
    "max_segment",
    "adjacent",
    "min_pattern_count",
    "max_patterns",
    "edge_order",
    "l2",
    "pairs",
    "transitions",
    "max_iter",
    "tol",
    "solver",
    "gap_tol",
    "init",
    "dev_every",
    "penalties",
    "held_out",
    "on_conflict",
    "decode_only_rules",
    "adaptive",
)
# Options that only some models have.
MODELS_OF: dict[str, tuple[ModelKind, ...]] = {
    **dict.fromkeys(CRF_ONLY, (ModelKind.CRF,)),
    **dict.fromkeys(
        ("order", "features", "l1", "group_lasso", "norm", "debias"),
        (ModelKind.CRF, ModelKind.PERCEPTRON),
    ),
    "epochs": (ModelKind.PERCEPTRON,),
    "smoothing": (ModelKind.HMM,),
}
UNLABELLED_ONLY = ("gamma", "cycles", "labelling", "top_k", "include_labelled")


def check_options(context: typer.Context, options: TrainOptions, *, unlabelled: bool) -> None:
    """Raise a `ValueError` at the first given option that has no effect."""
    given = options_given(context)
    model, labelling = options.model.model, options.few_labels.labelling
    for name in given:
        option = f"--{name.replace('_', '-')}"
        models = MODELS_OF.get(name, (model,))
        if model not in models:
            raise ValueError(
                f"{option}: expected with --model {' or '.join(models)} only, got --model {model}."
            )
        if name in UNLABELLED_ONLY and not unlabelled:
            raise ValueError(f"{option}: expected with --unlabelled or --labelled-size only.")
        if name == "top_k" and labelling is not LabellingName.TOPK:
            raise ValueError(
                f"{option}: expected with --labelling topk only, got --labelling {labelling}."
            )
    options.sparsity.check(given)


def options_given(context: typer.Context) -> list[str]:
    """Return the names of the parameters given on the command line."""
    sources = ((name, context.get_parameter_source(name)) for name in context.params)
    return [name for name, source in sources if source and source.name == "COMMANDLINE"]


def columns_needed(tagger: Tagger) -> list[str | int]:
    """Return the columns, except the tokens, that an untrained tagger reads, by name or number."""
    tested = columns_tested(as_constraints(tagger.constraints))
    if isinstance(tagger, HMMTagger):
        return list(tested)
    read = resolve(tagger.get_params(deep=False)["features"]).program.columns
    return [*(column for column in read if column not in (None, 0, TOKEN_COLUMN)), *tested]


def make_tagger(
    options: TrainOptions, constraints: tuple[Constraint, ...], labels: list[str] | None
) -> Tagger:
    """Return the tagger described by the options, not yet trained.

    Parameters
    ----------
    options
        The options of ``train``.
    constraints
        The rules.
    labels
        Labels to know, even if they do not occur.
    """
    model, rules, stopping = options.model, options.rules, options.stopping
    scheme, patience = options.data.scheme, stopping.patience
    common: dict[str, Any] = {
        "min_count": model.min_count,
        "constraints": constraints,
        "on_infeasible": rules.on_infeasible.value,
        "labels": labels,
        "scheme": None if scheme is None else check_scheme(scheme),
        "outside": options.data.outside,
        **_run_parameters(options),
    }
    if rules.training is not None:
        common["training"] = rules.training.value
    if model.model is ModelKind.HMM:
        return HMMTagger(smoothing=model.smoothing, **common)
    common |= {
        "order": model.order,
        "features": resolve_features(model.features),
        "l1": options.sparsity.l1,
        "regularizer": options.sparsity.groups(),
        "debias": options.sparsity.debias,
    }
    if model.model is ModelKind.PERCEPTRON:
        return PerceptronTagger(epochs=stopping.epochs, patience=patience or 3, **common)
    return CRFTagger(
        max_segment=read_max_segment(model.max_segment),
        adjacent=model.adjacent,
        min_pattern_count=model.min_pattern_count,
        max_patterns=model.max_patterns,
        edge_order=model.edge_order,
        l2=read_l2(model.l2),
        pairs=model.pairs.value,
        transitions=None if model.transitions is None else model.transitions.value,
        max_iter=stopping.max_iter,
        tol=stopping.tol,
        gap_tol=stopping.gap_tol,
        solver=cast("Solver", options.sparsity.solver),  # checked by the tagger
        init=None if model.init is None else load(model.init),
        dev_every=stopping.dev_every,
        patience=patience or 10,
        penalties=rules.penalties.value,
        held_out=rules.held_out,
        constrained_training=not rules.decode_only_rules,
        on_conflict=rules.on_conflict.value,
        **common,
    )


def with_unlabelled(base: Tagger, options: TrainOptions) -> CODLTagger:
    """Return a tagger that also learns from sentences without labels."""
    few = options.few_labels
    return CODLTagger(
        base,
        gamma=few.gamma,
        cycles=few.cycles,
        labelling=few.labelling.value,
        k=few.top_k,
        include_labelled=few.include_labelled,
        on_infeasible=options.rules.on_infeasible.value,
        patience=options.stopping.patience or 3,
        **_run_parameters(options),
    )


def _run_parameters(options: TrainOptions) -> dict[str, Any]:
    return {
        "n_jobs": options.run.jobs,
        "random_state": options.run.seed,
        "verbose": not options.run.quiet and sys.stderr.isatty(),
    }
