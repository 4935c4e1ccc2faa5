"""Constraint mining: rules that gold labels satisfy and predictions break.

Families of rules (see `trelliswork.mining.families`) are instantiated for all names that occur, and
ranked by the importance of Anzaroot et al. (2014, equation 10)

    imp(c) = (#predictions that break c + s) / (#gold labellings that break c + s)

over the sentences of a labelled corpus. ``s = 0`` gives their formula, which is infinite for a rule
that gold never breaks. The default, ``s = 1/2``, ranks such rules by the number of predictions that
break them: 30 violations in predictions and none in gold give 61, one and none give 3, and none in
both give 1, which is uninformative.
"""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.constraints.given import as_constraints
from trelliswork.errors import DataError
from trelliswork.evaluation.scoring import pair_up
from trelliswork.labels.label_set import LabelSet
from trelliswork.learn.penalties.learn import learn_penalties
from trelliswork.mining.counts import Columns, Occurrences
from trelliswork.mining.families import TEMPLATES, Candidates, candidates
from trelliswork.mining.table import MinedRule, MinedRules

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork._typing import FloatArray, IdArray, IntArray
    from trelliswork.evaluation.scoring import LabelSequences
    from trelliswork.mining.families import Template
    from trelliswork.taggers.base import Tagger

__all__ = ["MinedRule", "MinedRules", "mine"]

logger = logging.getLogger(__name__)

CUTOFF = 2.75
"""Default minimum importance, from the paper."""


def mine(
    corpus: LabelSequences,
    predictions: LabelSequences,
    templates: Iterable[Template] | Template = TEMPLATES,
    *,
    cutoff: float = CUTOFF,
    smoothing: float = 0.5,
    min_predicted: int = 2,
    labels: LabelSet | None = None,
    merge: bool = True,
    max_rules: int | None = None,
    examples: int = 3,
    tagger: Tagger | None = None,
    random_state: int | None = None,
) -> MinedRules:
    """Find rules that predictions break more often than gold labels do.

    Use sentences that the tagger was not trained on: on its training set it breaks few rules. The
    rules are soft, without a penalty unless a tagger is given; `trelliswork.learn_penalties` learns
    penalties.

    Parameters
    ----------
    corpus
        The gold labels: a labelled corpus, or one list of labels per sentence. Partially labelled
        sentences are left out.
    predictions
        Predictions of a tagger without these rules, one list of labels per sentence.
    templates
        The families of rules: ``"singleton"``, ``"pairwise"``, ``"hierarchical"`` and
        ``"precedence"``, the simplest first.
    cutoff
        Minimum importance of a rule.
    smoothing
        ``s`` in the formula of the module; 0 for that of the paper.
    min_predicted
        Minimum number of predictions that break a rule.
    labels
        The labels and their scheme, usually ``tagger.labels_``, so that rules name no label unknown
        to the tagger. Default: those of `tagger`, or all that occur.
    merge
        Whether to merge rules that have the same violations in all labellings, gold and predicted,
        into the first of them in the order of `templates`, with the smallest bound. ``False``
        merges equal rules only.
    max_rules
        Maximum number of rules; the most important ones are kept. Default: all.
    examples
        Number of examples to keep of each rule.
    tagger
        A trained tagger. If given, the penalties of the rules are learned on `corpus`, which must
        have tokens, together with the constraints of the tagger, by `trelliswork.learn_penalties`.
    random_state
        Seed of learning penalties.

    Returns
    -------
    MinedRules
        Sorted by importance, then by the number of predictions that break them.

    Raises
    ------
    DataError
        If gold labels and predictions are not of the same sentences, or there are none.

    Examples
    --------
    >>> gold = [["author", "title"], ["author", "title", "date"]]
    >>> predicted = [["author", "title"], ["title", "author", "title"]]
    >>> rules = mine(gold, predicted, "singleton", min_predicted=1)
    >>> print(rules)
    rule                  template  importance  penalty  gold  predicted  examples
    ───────────────────  ─────────  ──────────  ───────  ────  ─────────  ────────
    at_most(1, 'title')  singleton        3.00        -     0          1         1
    """
    families = _check_templates(templates)
    if not (np.isfinite(smoothing) and smoothing >= 0):
        raise ValueError(f"smoothing: expected a number of 0 or more, got {smoothing!r}.")
    paired = pair_up(corpus, predictions)
    if not paired:
        raise DataError("corpus: expected at least one labelled sentence, got none.")
    pairs = {
        index: pair
        for index, pair in enumerate(paired)
        if all(isinstance(label, str) for label in pair.gold)
    }
    numbers = list(pairs)
    gold: list[Sequence[Any]] = [pair.gold for pair in pairs.values()]
    guesses: list[Sequence[Any]] = [pair.predicted for pair in pairs.values()]
    if not any(gold):
        return MinedRules(())
    if labels is None:
        labels = tagger.labels_ if tagger else LabelSet.infer([*gold, *guesses])
    occurring = {span.name for names in (*gold, *guesses) for span in labels.spans(names)}
    columns = Columns(labels, tuple(sorted(occurring.intersection(labels.segment_names))))
    seen = Occurrences.read(columns, gold), Occurrences.read(columns, guesses)
    kept: dict[Any, MinedRule] = {}
    for family in families:
        tried = _prune(candidates(family, columns), *seen, smoothing, cutoff, min_predicted)
        for k, (own, wrong) in enumerate(_all_degrees(tried, *seen)):
            rule = tried.constraint(columns, k)
            key = _digest(own, wrong) if merge else rule
            if key not in kept:
                in_gold, in_guesses = int((own > 0).sum()), int((wrong > 0).sum())
                shown = np.flatnonzero((wrong > 0) & (own == 0))[:examples].tolist()
                kept[key] = MinedRule(
                    rule.soft(),
                    family,
                    _importance(np.array([in_guesses]), np.array([in_gold]), smoothing).item(),
                    gold_violations=in_gold,
                    predicted_violations=in_guesses,
                    examples=tuple(numbers[i] for i in shown),
                )
    ranked = sorted(kept.values(), key=lambda r: (-r.importance, -r.predicted_violations))
    rules = MinedRules(ranked[:max_rules])
    if tagger is None or not rules:
        return rules
    constraints = [*as_constraints(tagger.constraints), *rules.constraints]
    learned = learn_penalties(tagger, corpus, constraints=constraints, random_state=random_state)
    return rules.with_penalties(learned)


def _check_templates(templates: Iterable[Template] | Template) -> tuple[Template, ...]:
    given = (templates,) if isinstance(templates, str) else tuple(templates)
    for template in given:
        if template not in TEMPLATES:
            raise ValueError(
                f"templates: expected some of {', '.join(TEMPLATES)}, got {template!r}."
            )
    return tuple(dict.fromkeys(given))


def _prune(
    tried: Candidates,
    gold: Occurrences,
    guesses: Occurrences,
    smoothing: float,
    cutoff: float,
    min_predicted: int,
) -> Candidates:
    """Return the candidates that are important enough, the simplest first.

    Small bounds come before large ones, and upper bounds before lower ones.
    """
    predicted = tried.violation_counts(guesses)
    importance = _importance(predicted, tried.violation_counts(gold), smoothing)
    found = tried.take(np.flatnonzero((importance >= cutoff) & (predicted >= min_predicted)))
    logger.info("%s: %d of %d rules kept", tried.template, len(found), len(tried))
    return found.take(np.lexsort((found.bounds < 0, np.abs(found.bounds))))


def _importance(predicted: IntArray, gold: IntArray, smoothing: float) -> FloatArray:
    """Return the importance of rules, with 0 / 0 = 0."""
    above, below = predicted + smoothing, gold + smoothing
    safe = np.where(below > 0, below, 1.0)
    return np.where(below > 0, above / safe, np.where(above > 0, np.inf, 0.0))


def _all_degrees(
    found: Candidates, gold: Occurrences, guess: Occurrences
) -> Iterable[tuple[IdArray, IdArray]]:
    """Yield the violations of each rule, by gold labels and by predictions."""
    for own, wrong in zip(found.degrees(gold), found.degrees(guess), strict=True):
        yield from zip(own, wrong, strict=True)


def _digest(own: IdArray, wrong: IdArray) -> bytes:
    """Return a hash of the violations of a rule, as a short key."""
    return hashlib.blake2b(own.tobytes() + wrong.tobytes(), digest_size=16).digest()
