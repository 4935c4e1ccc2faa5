"""``trelliswork inspect``: show the content of a model file.

Training history of a model, for ``trelliswork inspect``.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trelliswork._utils.tables import shorten, text_table
from trelliswork.automata.pattern_statistics import PatternStatistics
from trelliswork.cli.options.shared import AsJson
from trelliswork.cli.output import show, show_heading, show_json
from trelliswork.cli.training_log import curve_table
from trelliswork.constraints.soft import spell_penalty
from trelliswork.features import TemplateEncoder
from trelliswork.learn.codl import Cycle
from trelliswork.learn.sparsity.group_lasso import GroupLasso
from trelliswork.selection.template_sizes import template_sizes
from trelliswork.taggers.base import Tagger
from trelliswork.taggers.codl import CODLTagger
from trelliswork.taggers.inspection import (
    ModelSizes,
    PatternWeights,
    feature_names,
    top_edge_features,
    top_features,
    top_transitions,
)
from trelliswork.taggers.load import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.automata.automaton import Automaton
    from trelliswork.taggers.inspection import TopFeatures


__all__ = ["EXAMPLES", "describe_training", "inspect", "show_training"]


MAX_TEMPLATES = 60  # a matrix has one per column

EXAMPLES = """Examples:

- `trelliswork inspect m.tw`

- `trelliswork inspect m.tw --label B-NP --top 20`

- `trelliswork inspect m.tw --json | jq .training.stop_reason`
"""


def inspect(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by `train`.")],
    top: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Number of features and transitions of each sign to show."
        ),
    ] = 10,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL", help="Show only the features of this label. May be repeated."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a model has learned: sizes, templates, top features and transitions, training."""
    tagger = load(model)
    summary = _summary(tagger, model, label or list(tagger.model_.structure.letter_names), top)
    if as_json:
        show_json(summary)
    else:
        _show(summary)


def _summary(tagger: Tagger, path: Path, labels: Sequence[str], top: int) -> dict[str, Any]:
    """Return everything there is to show, as JSON values."""
    encoder = tagger.model_.encoder
    names = feature_names(tagger)
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "estimator": type(tagger).__name__,
        "labels": list(tagger.labels_.names),
        "scheme": tagger.labels_.scheme,
        "columns": tagger.metadata_.get("columns"),
        "tokenizer": tagger.metadata_.get("tokenizer"),
        "sizes": ModelSizes.of(tagger).to_dict(),
        "templates": str(encoder.templates) if isinstance(encoder, TemplateEncoder) else None,
        "template_sizes": [size.to_dict() for size in template_sizes(tagger.model_)],
        "segments": _segments(tagger),
        "parameters": {
            name: value
            for name, value in _parameters(tagger).items()
            if isinstance(value, str | int | float | dict) or value is None
        },
        "rules": [
            {
                "rule": repr(rule),
                "penalty": penalty if math.isfinite(penalty) else None,
                "hard": not rule.is_soft,
            }
            for rule, penalty in zip(
                tagger.plan_.constraints, tagger.plan_.penalties.tolist(), strict=True
            )
        ],
        "features": {name: _signs(top_features(tagger, name, top, names=names)) for name in labels},
        "transitions": _signs(top_transitions(tagger, top)),
        "patterns": _patterns(PatternWeights.of(tagger), tagger.model_.automaton, top),
        "edge_features": _signs(top_edge_features(tagger, top)),
        "training": describe_training(tagger),
    }


def _parameters(tagger: Tagger) -> dict[str, Any]:
    """Return the parameters, including those of a base tagger."""
    found: dict[str, Any] = tagger.get_params(deep=True)
    if isinstance(found.get("base"), Tagger):
        found["base"] = type(found["base"]).__name__
    for name, value in found.items():
        if isinstance(value, GroupLasso):
            found[name] = value.to_dict()
    return found


def _segments(tagger: Tagger) -> dict[str, int | None] | None:
    """Return the maximum length of segments by name, ``None`` for any; ``None`` for a chain."""
    segmentation = tagger.model_.segmentation
    if segmentation is None:
        return None
    letters = zip(
        segmentation.names, segmentation.limits, segmentation.continues.tolist(), strict=True
    )
    return {name: None if outside else limit for name, limit, outside in letters}


def _patterns(weighed: PatternWeights, automaton: Automaton, top: int) -> dict[str, Any]:
    """Return statistics of label patterns and the strongest ones, as JSON values."""
    summary = PatternStatistics.of(weighed.patterns, automaton).to_dict()
    for own in summary["lengths"]:
        own["top"] = _signs(weighed.top(own["length"], top))
    return summary


def _signs(found: TopFeatures) -> dict[str, list[list[Any]]]:
    return {
        "positive": [list(entry) for entry in found.positive],
        "negative": [list(entry) for entry in found.negative],
    }


def _show(summary: dict[str, Any]) -> None:
    sizes, training = summary["sizes"], summary["training"]
    tokenizer = summary["tokenizer"]
    facts = {
        "file": f"{summary['file']} ({summary['bytes']:,} bytes)",
        "model": summary["estimator"],
        "labels": f"{sizes['labels']} ({summary['scheme']}): {' '.join(summary['labels'])}",
        **_segment_facts(summary["segments"]),
        "columns": ", ".join(summary["columns"] or ["not recorded"]),
        "tokenizer": " ".join(tokenizer.values()) if tokenizer else "not recorded",
        "features": ModelSizes(**sizes).spell_features(),
        "weights": f"{sizes['weights']:,}, of which {sizes['nonzero']:,} are not 0",
        "settings": " ".join(f"{k}={v}" for k, v in summary["parameters"].items()),
    }
    show("\n".join(f"{name:<12}{value}" for name, value in facts.items()))
    show_heading("Training")
    show_training(training)
    if summary["templates"] is not None:
        show_heading("Templates")
        show(summary["templates"].rstrip())
    _show_template_sizes(summary["template_sizes"])
    if summary["rules"]:
        show_heading("Rules")
        rows = [
            [shorten(_without_penalty(own["rule"])), _spelled_penalty(own)]
            for own in summary["rules"]
        ]
        show(text_table(("rule", "penalty"), rows))
    show_heading("Transitions")
    _show_signs(summary["transitions"])
    _show_patterns(summary["patterns"])
    if sizes["edge_features"]:
        show_heading("Features of transitions")
        _show_signs(summary["edge_features"])
    for label, found in summary["features"].items():
        show_heading(f"Features of {label}")
        _show_signs(found)


def _show_template_sizes(found: list[dict[str, Any]]) -> None:
    """Show the features and weights of each template, the largest first."""
    show_heading("Weights by template" if found else "Weights by template: none")
    if not found:
        return
    order = sorted(found, key=lambda own: -own["weights"])
    rows = [
        [shorten(own["name"]), f"{own['features']:,}", f"{own['weights']:,}"]
        for own in order[:MAX_TEMPLATES]
    ]
    show(text_table(("template", "features", "weights"), rows))
    if len(order) > MAX_TEMPLATES:
        show(f"… and {len(order) - MAX_TEMPLATES:,} more: --json has all")


def _without_penalty(rule: str) -> str:
    return re.sub(r"\.soft\([^()]*\)$", "", rule)


def _spelled_penalty(own: dict[str, Any]) -> str:
    unknown = math.inf if own["hard"] else math.nan
    return spell_penalty(unknown if own["penalty"] is None else own["penalty"])


def _segment_facts(longest: dict[str, int | None] | None) -> dict[str, str]:
    if longest is None:
        return {}
    limits = ((name, "any" if limit is None else limit) for name, limit in longest.items())
    return {"segments": "up to " + " ".join(f"{name}: {limit}" for name, limit in limits)}


def _show_patterns(summary: dict[str, Any]) -> None:
    """Show label patterns longer than transitions, and their sparsity."""
    if all(own["length"] <= 2 for own in summary["lengths"]):
        return
    show_heading("Sparse patterns")
    rows = [
        [
            f"{own['length']}",
            f"{own['patterns']:,}",
            f"{own['possible']:,}",
            f"{own['patterns'] / own['possible']:.2%}",
            "unknown" if own["once"] is None else f"{own['once'] / own['patterns']:.0%}",
        ]
        for own in summary["lengths"]
    ]
    show(text_table(("labels", "patterns", "possible", "share", "seen once"), rows))
    show(f"{summary['states']:,} states and {summary['arcs']:,} arcs in the automaton")
    for own in summary["lengths"]:
        if own["length"] > 2:
            show_heading(f"Patterns of {own['length']} labels")
            _show_signs(own["top"])


def _show_signs(found: dict[str, list[list[Any]]]) -> None:
    rows = [
        [name, f"{weight:+.4f}"]
        for name, weight in [*found["positive"], *reversed(found["negative"])]
    ]
    show(text_table(("name", "weight"), rows) if rows else "none")


BARS = "▁▂▃▄▅▆▇█"


def describe_training(tagger: Tagger) -> dict[str, Any]:
    """Return the training history as JSON values; ``None`` for values that the tagger lacks."""
    is_codl = isinstance(tagger, CODLTagger)
    steps = getattr(tagger, "curve_" if is_codl else "training_log_", [])
    log = [asdict(step) for step in steps]
    return {
        "iterations": getattr(tagger, "n_iter_", None),
        "loss": getattr(tagger, "loss_", None),
        "stop_reason": getattr(tagger, "stop_reason_", None),
        "seconds": log[-1]["seconds"] if log else 0.0,
        "dev_scores": [
            (step["iteration"], step["dev_score"]) for step in log if step["dev_score"] is not None
        ],
        "log": log,
        **({"kept_cycle": tagger.kept_cycle_} if isinstance(tagger, CODLTagger) else {}),
    }


def show_training(training: dict[str, Any]) -> None:
    """Show the result of `describe_training`."""
    if training["iterations"] is None:
        show("counted, in one step")
        return
    log = training["log"]
    if "kept_cycle" in training:
        show(
            f"{training['iterations']} cycles in {training['seconds']:.1f} s, stopped: "
            f"{training['stop_reason']}; the model is that of cycle {training['kept_cycle']}"
        )
        show(curve_table([Cycle(**step) for step in log]))
        return
    loss = training["loss"]
    told = "iterations" if loss is not None else "epochs"
    final = "" if loss is None else f", final loss {loss:,.4f}"
    took = f" in {training['seconds']:.1f} s" if log else ""
    show(f"{training['iterations']} {told}{took}, stopped: {training['stop_reason']}{final}")
    name = "loss" if loss is not None else "mistakes"
    values = [step[name] for step in log]
    if values:
        digits = ".1f" if loss is not None else ""
        first, last = format(values[0], f",{digits}"), format(values[-1], f",{digits}")
        show(f"{name:<8}{_curve(values)}  {first} → {last}")
    _show_dev(training, told.removesuffix("s"))
    if loss is not None and training["dev_scores"] and loss != values[-1]:
        show("The weights with the best dev F1 were kept: the final loss is theirs.")


def _show_dev(training: dict[str, Any], step: str) -> None:
    scores = training["dev_scores"]
    if scores:
        iteration, best = max(scores, key=lambda entry: entry[1])
        show(
            f"dev F1  {_curve([score for _, score in scores])}  "
            f"best {100 * best:.2f} at {step} {iteration}"
        )


def _curve(values: Sequence[float], width: int = 60) -> str:
    """Draw numbers as one line of at most `width` bars."""
    step = -(-len(values) // width)
    kept = [*values[::step]]
    low, high = min(kept), max(kept)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[round((value - low) * scale)] for value in kept)
