"""Changes that rules make to the labels of sentences, for ``trelliswork explain``."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from trelliswork._utils.tables import shorten
from trelliswork.cli.answers import DROPPED_RULES
from trelliswork.cli.errors import no_warnings_of
from trelliswork.cli.output import show, show_heading, show_json
from trelliswork.constraints.soft import priced_rule
from trelliswork.taggers.changes import compare, effects_table, empty_summaries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trelliswork.cli.errors import PlacedSentences
    from trelliswork.taggers.base import Tagger
    from trelliswork.taggers.changes import Change, RuleEffect, RuleSummary

__all__ = ["show_changes"]

SHOWN = 20
"""Default number of sentences shown one by one."""


@dataclass
class Totals:
    """Total changes by the rules over all sentences.

    Attributes
    ----------
    sentences, changed : int
        Number of sentences, and of those in which rules changed a label.
    tokens : int
        Tokens whose label changed.
    mended, spoiled : int
        Changed tokens that became right and wrong, by the labels of the input.
    labelled : bool
        Whether the input has labels.
    unsatisfied : int
        Sentences that cannot satisfy all hard rules.
    """

    sentences: int = 0
    changed: int = 0
    tokens: int = 0
    mended: int = 0
    spoiled: int = 0
    labelled: bool = False
    unsatisfied: int = 0

    def add(self, change: Change) -> None:
        """Count one sentence."""
        self.sentences += 1
        self.changed += bool(change.tokens)
        self.tokens += len(change.tokens)
        self.unsatisfied += change.after.status in DROPPED_RULES
        gold = change.sentence.labels
        if gold is not None:
            self.labelled = True
            self.mended += sum(gold[t] == change.after.labels[t] for t in change.tokens)
            self.spoiled += sum(gold[t] == change.before.labels[t] for t in change.tokens)

    def __str__(self) -> str:
        text = (
            f"{self.changed:,} of {self.sentences:,} sentences changed, in {self.tokens:,} tokens"
        )
        if self.labelled:
            text += f": {self.mended:,} became right, {self.spoiled:,} wrong"
        if self.unsatisfied:
            text += f"; {self.unsatisfied:,} sentences cannot satisfy all rules"
        return f"{text}."

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        record = {
            "sentences": self.sentences,
            "changed": self.changed,
            "tokens": self.tokens,
            "unsatisfied": self.unsatisfied,
        }
        return record | ({"mended": self.mended, "spoiled": self.spoiled} if self.labelled else {})


def show_changes(
    tagger: Tagger, sentences: PlacedSentences, *, limit: int | None, as_json: bool
) -> None:
    """Show the changes that the rules of a tagger make to sentences.

    Parameters
    ----------
    tagger
        The tagger.
    sentences
        The sentences, with their places.
    limit
        Maximum number of changed sentences to show. ``None``: all as JSON, else `SHOWN`.
    as_json
        Whether to write JSON.
    """
    totals, rules = Totals(), empty_summaries(tagger)
    if limit is None:
        limit = sys.maxsize if as_json else SHOWN
    records: list[dict[str, Any]] = []
    for place, change in _placed_changes(tagger, sentences):
        totals.add(change)
        for rule, effect in zip(rules, change.effects, strict=True):
            rule.add(effect, changed=bool(change.tokens))
        if change.tokens and totals.changed <= limit:
            if as_json:
                records.append({"place": place} | change.to_dict())
            else:
                show(_described(place, change) + "\n")
    if as_json:
        record = totals.to_dict() | {"changes": records, "rules": [r.to_dict() for r in rules]}
        show_json(record)
    else:
        _show_summary(totals, rules, limit)


def _placed_changes(tagger: Tagger, sentences: PlacedSentences) -> Iterator[tuple[str, Change]]:
    """Yield all changes with their places, with a progress bar on a terminal."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("decoding"),
        TextColumn("{task.completed:,} sentences"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    # The library warns for every batch; the totals sum it up.
    with bar, no_warnings_of("trelliswork.models.batches"):
        task = bar.add_task("decoding", total=None)
        for change in compare(tagger, sentences):
            yield sentences.place, change
            sentences.done()
            bar.advance(task)


def _show_summary(totals: Totals, rules: list[RuleSummary], limit: int) -> None:
    if totals.changed > limit:
        show(f"… and {totals.changed - limit:,} more; --limit shows more or fewer.\n")
    show(str(totals))
    show_heading("Rules")
    show(effects_table(rules))


def _described(place: str, change: Change) -> str:
    """Return the text for one changed sentence: changed tokens, and rules that acted."""
    rows = []
    for t in change.tokens:
        labels = change.before.labels[t], change.after.labels[t]
        rows.append((str(t), change.sentence.tokens[t], *labels, _verdict(change, t)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"  {t:>{widths[0]}}  {word:<{widths[1]}}  {before:<{widths[2]}} → {after:<{widths[3]}}  "
        f"{right}".rstrip()
        for t, word, before, after, right in rows
    ]
    head = f"{place}: {len(rows)} of {len(change.sentence)} tokens changed; "
    head += f"the model scores this {change.loss:.3f} lower"
    if change.cost:
        head += f", and {change.cost:.3f} is paid"
    acts = [f"  {_effect(effect)}" for effect in change.effects if effect.acts]
    return "\n".join([head, *lines, *acts])


def _verdict(change: Change, t: int) -> str:
    """Return whether the new label of a token is right, if the input has labels."""
    gold = None if change.sentence.labels is None else change.sentence.labels[t]
    if gold is None:
        return ""
    names = gold if isinstance(gold, frozenset) else {gold}
    right = change.after.labels[t] in names
    return "(right)" if right else f"(gold: {'|'.join(sorted(names))})"


def _effect(effect: RuleEffect) -> str:
    """Return the effect of a rule in one line."""
    times = f"broken {effect.before} → {effect.after}"
    if effect.after and math.isfinite(effect.penalty):
        done = f"pays {effect.penalty:.4g} × {effect.after} = {effect.cost:.4g}"
    elif effect.after:
        done = "cannot hold"
    elif effect.before:
        done = "mended"
    else:
        done = "kept"
    price = f", price {effect.price:.4g}" if effect.price else ""
    return f"{shorten(repr(priced_rule(effect.rule, effect.penalty)))}: {times}: {done}{price}"
