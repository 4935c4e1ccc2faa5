"""The effect of constraints: answers without and with them, and the rules that acted.

With ``v_c`` the violations of rule ``c`` and ``ρ_c`` its penalty, an answer ``y`` under soft rules
has the score ``P(y) = score(y) − Σ_c ρ_c v_c(y)``. A rule *acts* on a sentence if the answer
without rules breaks it, if the answer under the rules breaks it at a cost of ``ρ_c v_c(y)``, or if
its price in decoding is not 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from trelliswork._utils.tables import shorten, text_table
from trelliswork.constraints.reading import judge
from trelliswork.constraints.soft import spell_penalty

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trelliswork.constraints import Constraint
    from trelliswork.data.sentence import Sentence
    from trelliswork.decoding.answers import Decoding
    from trelliswork.taggers.base import Tagger

__all__ = ["Change", "RuleEffect", "RuleSummary", "compare", "effects_table", "empty_summaries"]

BATCH = 512  # sentences that are decoded together


@dataclass(frozen=True)
class RuleEffect:
    """The effect of one rule on the answer to one sentence.

    Attributes
    ----------
    rule : Constraint
        The rule.
    penalty : float
        The penalty ``ρ`` of a violation; infinite for a hard rule.
    before, after : int
        Violations by the answer without rules, and by that under them.
    price : float
        The dual price ``λ ≤ ρ`` of the rule in decoding; 0 if it was not needed.
    """

    rule: Constraint
    penalty: float
    before: int
    after: int
    price: float

    @property
    def acts(self) -> bool:
        """Whether the rule is broken before or after, or has a price."""
        return bool(self.before or self.after or self.price)

    @property
    def cost(self) -> float:
        """The cost of the violations of the answer, ``ρ v(y)``; infinite for a hard rule."""
        return self.penalty * self.after if self.after else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary, with None for the penalty of a hard rule."""
        return {
            "rule": repr(self.rule),
            "penalty": _finite(self.penalty),
            "before": self.before,
            "after": self.after,
            "price": self.price,
            "cost": _finite(self.cost),
        }


@dataclass(frozen=True)
class Change:
    """One sentence, labelled without constraints and under them.

    Attributes
    ----------
    sentence : Sentence
        The sentence, with its gold labels if known.
    before, after : Decoding
        The best labelling without constraints, and under them.
    effects : tuple of RuleEffect
        The effect of each constraint, in order.
    """

    sentence: Sentence
    before: Decoding
    after: Decoding
    effects: tuple[RuleEffect, ...]

    @property
    def tokens(self) -> list[int]:
        """The tokens whose labels differ."""
        pairs = zip(self.before.labels, self.after.labels, strict=True)
        return [t for t, (before, after) in enumerate(pairs) if before != after]

    @property
    def cost(self) -> float:
        """The cost of the soft rules that the answer breaks."""
        return sum(effect.cost for effect in self.effects if math.isfinite(effect.cost))

    @property
    def loss(self) -> float:
        """The decrease of the model score of the answer, without penalties."""
        return max(0.0, self.before.score - self.after.score - self.cost)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary: tokens, labels before and after, and the rules that acted."""
        gold = self.sentence.labels
        record: dict[str, Any] = {
            "tokens": list(self.sentence.tokens),
            "before": self.before.labels,
            "after": self.after.labels,
            "changed": self.tokens,
            "status": self.after.status,
            "loss": self.loss,
            "cost": self.cost,
            "rules": [effect.to_dict() for effect in self.effects if effect.acts],
        }
        if gold is not None:
            record["gold"] = [sorted(y) if isinstance(y, frozenset) else y for y in gold]
        return record


@dataclass
class RuleSummary:
    """The effect of one rule on a corpus.

    Attributes
    ----------
    rule : Constraint
        The rule.
    penalty : float
        The penalty of a violation.
    before, after : int
        Number of sentences whose answers break it, without rules and under them.
    changed : int
        Number of sentences that constraints changed and this rule acted on.
    cost : float
        Total cost of the violations of all answers.
    """

    rule: Constraint
    penalty: float
    before: int = 0
    after: int = 0
    changed: int = 0
    cost: float = 0.0

    def add(self, effect: RuleEffect, *, changed: bool) -> None:
        """Count one sentence."""
        self.before += effect.before > 0
        self.after += effect.after > 0
        self.changed += changed and effect.acts
        self.cost += effect.cost

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary."""
        return {
            "rule": repr(self.rule),
            "penalty": _finite(self.penalty),
            "before": self.before,
            "after": self.after,
            "changed": self.changed,
            "cost": _finite(self.cost),
        }


def compare(tagger: Tagger, sentences: Iterable[Sentence]) -> Iterator[Change]:
    """Yield the change of each sentence by constraints, in order, one batch at a time.

    Parameters
    ----------
    tagger
        A trained tagger under constraints.
    sentences
        Any number of sentences.
    """
    free = tagger.with_constraints(())
    plan = tagger.plan_
    penalties = plan.penalties.tolist()
    waiting = iter(sentences)
    while batch := list(islice(waiting, BATCH)):
        answers = zip(batch, free.decode(batch), tagger.decode(batch), strict=True)
        for sentence, before, after in answers:
            broken = judge(plan.constraints, before.labels, sentence, scheme=plan.labels)
            left = broken
            if after.labels != before.labels:
                left = judge(plan.constraints, after.labels, sentence, scheme=plan.labels)
            effects = (
                RuleEffect(rule, penalty, was, is_now, after.prices.get(repr(rule), 0.0))
                for rule, penalty, was, is_now in zip(
                    plan.constraints, penalties, broken, left, strict=True
                )
            )
            yield Change(sentence, before, after, tuple(effects))


def empty_summaries(tagger: Tagger) -> list[RuleSummary]:
    """Return empty summaries of all rules of a tagger."""
    plan = tagger.plan_
    return [
        RuleSummary(rule, penalty)
        for rule, penalty in zip(plan.constraints, plan.penalties.tolist(), strict=True)
    ]


def effects_table(rules: Sequence[RuleSummary]) -> str:
    """Return a table of the effects of rules, in descending order of changed sentences."""
    header = ["rule", "penalty", "broken before", "after", "changed", "cost"]
    ranked = sorted(rules, key=lambda rule: (-rule.changed, -rule.before, -rule.after))
    rows = [
        [
            shorten(repr(rule.rule.hard)),
            spell_penalty(rule.penalty),
            f"{rule.before:,}",
            f"{rule.after:,}",
            f"{rule.changed:,}",
            "-" if math.isinf(rule.penalty) else f"{rule.cost:,.2f}",
        ]
        for rule in ranked
    ]
    return text_table(header, rows)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
