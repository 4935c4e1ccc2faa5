"""From the options of ``train`` to the tagger that they ask for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from trelliswork.cli.options.feature_option import resolve_features
from trelliswork.cli.options.rules import columns_tested
from trelliswork.cli.options.sparsity import check_sparsity, read_groups
from trelliswork.cli.options.structure import read_l2, read_max_segment
from trelliswork.cli.options.training import ModelKind
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
    from collections.abc import Mapping

    import typer

    from trelliswork.constraints import Constraint
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
# The options that only some models have.
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


def check_options(context: typer.Context, model: ModelKind, *, unlabelled: bool) -> None:
    """Raise a `ValueError` at the first option given that would have no effect."""
    given = options_given(context)
    for name in given:
        option = f"--{name.replace('_', '-')}"
        models = MODELS_OF.get(name, (model,))
        if model not in models:
            raise ValueError(
                f"{option}: expected with --model {' or '.join(models)} only, got --model {model}."
            )
        if name in UNLABELLED_ONLY and not unlabelled:
            raise ValueError(f"{option}: expected with --unlabelled or --labelled-size only.")
        if name == "top_k" and context.params["labelling"] is not LabellingName.TOPK:
            raise ValueError(
                f"{option}: expected with --labelling topk only, got --labelling "
                f"{context.params['labelling']}."
            )
    check_sparsity(context.params, given)


def options_given(context: typer.Context) -> list[str]:
    """Return the names of the parameters that stand on the command line."""
    sources = ((name, context.get_parameter_source(name)) for name in context.params)
    return [name for name, source in sources if source and source.name == "COMMANDLINE"]


def columns_needed(tagger: Tagger) -> list[str | int]:
    """Return the columns beside the tokens that a tagger to be trained reads, by name or number."""
    tested = columns_tested(as_constraints(tagger.constraints))
    if isinstance(tagger, HMMTagger):
        return list(tested)
    read = resolve(tagger.get_params(deep=False)["features"]).program.columns
    return [*(column for column in read if column not in (None, 0, TOKEN_COLUMN)), *tested]


def make_tagger(
    options: Mapping[str, Any], constraints: tuple[Constraint, ...], labels: list[str] | None
) -> Tagger:
    """Return the tagger that options ask for, not yet trained.

    Parameters
    ----------
    options
        The options of ``train``, by the names of its parameters.
    constraints
        The rules.
    labels
        Labels that there are, whether or not they are seen.
    """
    training, scheme = options["training"], options["scheme"]
    common: dict[str, Any] = {
        "min_count": options["min_count"],
        "constraints": constraints,
        "on_infeasible": options["on_infeasible"].value,
        "labels": labels,
        "scheme": None if scheme is None else check_scheme(scheme),
        "outside": options["outside"],
        "n_jobs": options["jobs"],
        "random_state": options["seed"],
        "verbose": not options["quiet"] and sys.stderr.isatty(),
    }
    if training is not None:
        common["training"] = training.value
    if options["model"] is ModelKind.HMM:
        return HMMTagger(smoothing=options["smoothing"], **common)
    features = resolve_features(options["features"])
    sparsity = {
        "l1": options["l1"],
        "regularizer": read_groups(options),
        "debias": options["debias"],
    }
    if options["model"] is ModelKind.PERCEPTRON:
        return PerceptronTagger(
            order=options["order"],
            features=features,
            epochs=options["epochs"],
            patience=options["patience"] or 3,
            **sparsity,
            **common,
        )
    transitions, init = options["transitions"], options["init"]
    return CRFTagger(
        order=options["order"],
        max_segment=read_max_segment(options["max_segment"]),
        adjacent=options["adjacent"],
        min_pattern_count=options["min_pattern_count"],
        max_patterns=options["max_patterns"],
        edge_order=options["edge_order"],
        l2=read_l2(options["l2"]),
        features=features,
        pairs=options["pairs"].value,
        transitions=None if transitions is None else transitions.value,
        max_iter=options["max_iter"],
        tol=options["tol"],
        gap_tol=options["gap_tol"],
        solver=options["solver"],
        **sparsity,
        init=None if init is None else load(init),
        dev_every=options["dev_every"],
        patience=options["patience"] or 10,
        penalties=options["penalties"].value,
        held_out=options["held_out"],
        constrained_training=not options["decode_only_rules"],
        on_conflict=options["on_conflict"].value,
        **common,
    )


def with_unlabelled(base: Tagger, options: Mapping[str, Any]) -> CODLTagger:
    """Return a tagger that learns from sentences without labels as well."""
    return CODLTagger(
        base,
        gamma=options["gamma"],
        cycles=options["cycles"],
        labelling=options["labelling"].value,
        k=options["top_k"],
        include_labelled=options["include_labelled"],
        on_infeasible=options["on_infeasible"].value,
        patience=options["patience"] or 3,
        n_jobs=options["jobs"],
        random_state=options["seed"],
        verbose=not options["quiet"] and sys.stderr.isatty(),
    )
