"""Training history of a model, for ``trelliswork inspect``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from trelliswork.cli.training_log import curve_table
from trelliswork.learn.codl import Cycle
from trelliswork.taggers.codl import CODLTagger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.taggers.base import Tagger

__all__ = ["describe_training", "show_training"]

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
        typer.echo("counted, in one step")
        return
    log = training["log"]
    if "kept_cycle" in training:
        typer.echo(
            f"{training['iterations']} cycles in {training['seconds']:.1f} s, stopped: "
            f"{training['stop_reason']}; the model is that of cycle {training['kept_cycle']}"
        )
        typer.echo(curve_table([Cycle(**step) for step in log]))
        return
    loss = training["loss"]
    told = "iterations" if loss is not None else "epochs"
    final = "" if loss is None else f", final loss {loss:,.4f}"
    took = f" in {training['seconds']:.1f} s" if log else ""
    typer.echo(f"{training['iterations']} {told}{took}, stopped: {training['stop_reason']}{final}")
    name = "loss" if loss is not None else "mistakes"
    values = [step[name] for step in log]
    if values:
        digits = ".1f" if loss is not None else ""
        first, last = format(values[0], f",{digits}"), format(values[-1], f",{digits}")
        typer.echo(f"{name:<8}{_curve(values)}  {first} → {last}")
    _show_dev(training, told.removesuffix("s"))
    if loss is not None and training["dev_scores"] and loss != values[-1]:
        typer.echo("The weights with the best dev F1 were kept: the final loss is theirs.")


def _show_dev(training: dict[str, Any], step: str) -> None:
    scores = training["dev_scores"]
    if scores:
        iteration, best = max(scores, key=lambda entry: entry[1])
        typer.echo(
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
