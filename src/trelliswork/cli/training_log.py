"""Log and summary of ``trelliswork train``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trelliswork._utils.progress import TrainingStep
from trelliswork._utils.tables import text_table
from trelliswork.cli.output import show, show_heading
from trelliswork.constraints.soft import priced_rule
from trelliswork.evaluation.report import report
from trelliswork.features import resolve
from trelliswork.learn.codl import Cycle
from trelliswork.learn.perceptron.learner import PerceptronEpoch
from trelliswork.learn.protocols import MEANINGS
from trelliswork.planning.placements import penalties_text
from trelliswork.selection.path_points import PathPoint
from trelliswork.selection.template_sizes import template_sizes
from trelliswork.taggers.codl import CODLTagger
from trelliswork.taggers.crf import CRFTagger
from trelliswork.taggers.inspection import ModelSizes
from trelliswork.taggers.perceptron import PerceptronTagger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from trelliswork._utils.progress import LoggedStep
    from trelliswork.constraints import Constraint
    from trelliswork.data.corpus import Corpus
    from trelliswork.learn.protocols import Protocol
    from trelliswork.taggers.base import Tagger

__all__ = ["curve_table", "log_line", "summarise"]

# Name of a step, and the measure on the development set.
WORDS: dict[type, tuple[str, str]] = {
    PerceptronEpoch: ("epoch", "F1"),
    Cycle: ("cycle", "accuracy"),
    PathPoint: ("point", "F1"),
}
LINES_EVERY = 10  # iterations between two lines if standard error is not a terminal


def log_line(step: LoggedStep) -> None:
    """Log a step: every few iterations, every epoch and every cycle."""
    score = step.dev_score
    if isinstance(step, TrainingStep):
        if step.iteration != 1 and step.iteration % LINES_EVERY != 0 and score is None:
            return
        told = f"loss {step.loss:.2f}  gradient {step.gradient_norm:.3g}"
        if step.nonzero is not None:
            told += f"  weights {step.nonzero:,}"
    else:
        told = step.summary()
    kind, measure = WORDS.get(type(step), ("iteration", "F1"))
    shown = "" if score is None else f"  dev {measure} {100 * score:.2f}"
    show(
        f"{kind} {step.iteration:>4}  {told}  {step.seconds:.1f} s{shown}",
        err=True,
    )


def summarise(
    tagger: Tagger, training: Corpus, dev: Corpus | None, out: Path, *, n_unlabelled: int = 0
) -> None:
    """Show a summary of the model and its scores on the development set."""
    sizes = ModelSizes.of(tagger)
    facts = {
        "sentences": f"{len(training):,}",
        "tokens": f"{sum(map(len, training)):,}",
        **({"unlabelled": f"{n_unlabelled:,} sentences"} if n_unlabelled else {}),
        "labels": f"{sizes.labels:,} ({tagger.labels_.scheme})",
        **_structure_facts(tagger),
        "features": sizes.spell_features(),
        "weights": f"{sizes.weights:,}",
        **_template_facts(tagger),
        **_training_facts(tagger),
        **_rule_facts(tagger),
        "model": f"{out} ({out.stat().st_size:,} bytes)",
    }
    show("\n".join(f"{name:<12}{value}" for name, value in facts.items()))
    if isinstance(tagger, CODLTagger):
        show(f"\n{curve_table(tagger.curve_)}")
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
        show_heading(f"Development set: {len(dev):,} sentences")
        show(str(scores))


def curve_table(curve: Sequence[Cycle]) -> str:
    """Return the learning curve over unlabelled sentences as a table."""
    with_dev = any(cycle.dev_score is not None for cycle in curve)
    rows = []
    for cycle in curve:
        row = [
            f"{cycle.iteration}",
            _spell_changed(cycle),
            *(
                "" if value is None else f"{value:.2f}"
                for value in (cycle.violations_before, cycle.violations_after, cycle.mean_score)
            ),
            f"{cycle.seconds:.1f}",
        ]
        if with_dev:
            row.append("" if cycle.dev_score is None else f"{100 * cycle.dev_score:.2f}")
        rows.append(row)
    header = ("cycle", "changed", "violations", "under rules", "score", "seconds")
    return text_table((*header, "dev accuracy") if with_dev else header, rows)


def _spell_changed(cycle: Cycle) -> str:
    if cycle.changed is None:
        return "supervised"
    return "" if cycle.iteration == 1 else f"{cycle.changed:.2%}"  # nothing to compare with


def _priced_rules(tagger: Tagger) -> list[Constraint]:
    """Return the rules with their learned penalties."""
    rules, penalties = tagger.plan_.constraints, tagger.plan_.penalties.tolist()
    return [priced_rule(rule, penalty) for rule, penalty in zip(rules, penalties, strict=True)]


def _training_facts(tagger: Any) -> dict[str, str]:
    """Return facts about the training of a tagger, by its kind."""
    if isinstance(tagger, CRFTagger):
        near = "" if tagger.gap_ is None else f", at most {tagger.gap_:.2g} above the least"
        return {
            "iterations": f"{tagger.n_iter_} ({tagger.stop_reason_})",
            "loss": f"{tagger.loss_:,.2f}{near}",
        }
    if isinstance(tagger, PerceptronTagger):
        return {"epochs": f"{tagger.n_iter_} ({tagger.stop_reason_})"}
    if isinstance(tagger, CODLTagger):
        kept = "" if tagger.dev_score_ is None else f", that of cycle {tagger.kept_cycle_} kept"
        return {
            "base": type(tagger.base).__name__,
            "cycles": f"{tagger.n_iter_} ({tagger.stop_reason_}){kept}",
        }
    return {}


def _template_facts(tagger: Any) -> dict[str, str]:
    """Return the number of remaining templates, if training is sparse."""
    parameters = tagger.get_params(deep=False)
    if not parameters.get("l1") and parameters.get("regularizer") is None:
        return {}
    segments = tagger.model_.segmentation is not None
    known = resolve(parameters["features"], segments=segments)
    n_known = len({*known.names, *(rule.name for rule in known.segment_rules)})
    return {"templates": f"{len(template_sizes(tagger.model_)):,} of {n_known:,}"}


def _structure_facts(tagger: Tagger) -> dict[str, str]:
    """Return facts about segments and label patterns, except for a chain of order 1."""
    facts = {}
    segmentation, patterns = tagger.model_.segmentation, tagger.model_.patterns
    if segmentation is not None:
        facts["segments"] = f"up to {segmentation.spell_limits()} tokens"
    if segmentation is not None or not patterns.is_chain:
        facts["patterns"] = f"{len(patterns):,} of up to {patterns.order + 1} labels"
    return facts


def _meaning(training: Protocol) -> str:
    return MEANINGS[training].replace("constraint", "rule")


def _rule_facts(tagger: Any) -> dict[str, str]:
    """Return facts about the rules, if there are any."""
    placed = tagger.plan_.placements
    if not placed:
        return {}
    base = tagger.base if isinstance(tagger, CODLTagger) else tagger
    if base.training is None:
        trained = sum(p.where != "decoding" for p in placed) if base.constrained_training else 0
        facts = {"rules": f"{len(placed):,}, of which {trained:,} in training"}
    else:
        facts = {"rules": f"{len(placed):,}, {base.training}: {_meaning(base.training)}"}
    rules, penalties = tagger.plan_.constraints, tagger.plan_.penalties.tolist()
    if soft := [(rules[i], penalties[i]) for i in tagger.plan_.soft]:
        facts["penalties"] = penalties_text(soft)
    if getattr(tagger, "n_skipped_", 0):
        facts["skipped"] = f"{tagger.n_skipped_:,} sentences that break a rule"
    return facts
