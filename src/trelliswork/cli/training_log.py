"""What ``trelliswork train`` tells while it trains, and at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from trelliswork.constraints.given import as_constraints
from trelliswork.constraints.soft import priced_rule
from trelliswork.inspection import ModelSizes
from trelliswork.placements import count_penalties
from trelliswork.report import report

if TYPE_CHECKING:
    from pathlib import Path

    from trelliswork.constraints import Constraint
    from trelliswork.corpus import Corpus
    from trelliswork.estimators import CRFTagger
    from trelliswork.progress import TrainingStep

__all__ = ["log_line", "summarise"]

LINES_EVERY = 10  # iterations between two lines of a log that is no terminal


def log_line(step: TrainingStep) -> None:
    """Tell how training goes on, every few iterations."""
    if step.iteration == 1 or step.iteration % LINES_EVERY == 0 or step.dev_score is not None:
        score = "" if step.dev_score is None else f"  dev F1 {100 * step.dev_score:.2f}"
        typer.echo(
            f"iteration {step.iteration:>4}  loss {step.loss:.2f}  "
            f"gradient {step.gradient_norm:.3g}  {step.seconds:.1f} s{score}",
            err=True,
        )


def summarise(tagger: CRFTagger, training: Corpus, dev: Corpus | None, out: Path) -> None:
    """Tell what was trained, and how well it does on the development set."""
    sizes = ModelSizes.of(tagger)
    facts = {
        "sentences": f"{len(training):,}",
        "tokens": f"{sum(map(len, training)):,}",
        "labels": f"{sizes.labels:,} ({tagger.labels_.scheme})",
        **_structure_facts(tagger),
        "features": sizes.spell_features(),
        "weights": f"{sizes.weights:,}",
        "iterations": f"{tagger.n_iter_} ({tagger.stop_reason_})",
        "loss": f"{tagger.loss_:,.2f}",
        **_rule_facts(tagger),
        "model": f"{out} ({out.stat().st_size:,} bytes)",
    }
    typer.echo("\n".join(f"{name:<12}{value}" for name, value in facts.items()))
    if dev is not None:
        labels = tagger.labels_
        found = tagger.set_params(on_infeasible="relax").predict(dev)
        scores = report(
            dev,
            found,
            scheme=labels.scheme,
            outside=labels.outside,
            constraints=_priced_rules(tagger),
        )
        typer.secho(f"\nDevelopment set: {len(dev):,} sentences", bold=True)
        typer.echo(str(scores))


def _priced_rules(tagger: CRFTagger) -> list[Constraint]:
    """Return the rules, with the penalties that were learned."""
    rules, penalties = as_constraints(tagger.constraints), tagger.plan_.penalties.tolist()
    return [priced_rule(rule, penalty) for rule, penalty in zip(rules, penalties, strict=True)]


def _structure_facts(tagger: CRFTagger) -> dict[str, str]:
    """Return what there is to say of segments and label patterns beyond a chain of order 1."""
    facts = {}
    segmentation, patterns = tagger.model_.segmentation, tagger.model_.patterns
    if segmentation is not None:
        facts["segments"] = f"up to {segmentation.spell_limits()} tokens"
    if segmentation is not None or not patterns.is_chain:
        facts["patterns"] = f"{len(patterns):,} of up to {patterns.order + 1} labels"
    return facts


def _rule_facts(tagger: CRFTagger) -> dict[str, str]:
    """Return what there is to say of rules, if there are any."""
    placed = tagger.plan_.placements
    if not placed:
        return {}
    trained = sum(p.where != "decoding" for p in placed) if tagger.constrained_training else 0
    facts = {"rules": f"{len(placed):,}, of which {trained:,} in training"}
    rules, penalties = tagger.plan_.constraints, tagger.plan_.penalties.tolist()
    if soft := [(rules[i], penalties[i]) for i in tagger.plan_.soft]:
        facts["penalties"] = count_penalties(soft)
    if tagger.n_skipped_:
        facts["skipped"] = f"{tagger.n_skipped_:,} sentences that break a rule"
    return facts
