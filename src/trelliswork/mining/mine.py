"""Constraint mining: rules that gold labels keep and predictions break.

Families of rules (see `trelliswork.mining.families`) are written out for all names that occur, and
each rule gets the importance of Anzaroot et al. (2014, equation 10)

    imp(c) = (#predictions that break c + s) / (#gold labellings that break c + s)

over the sentences of a labelled corpus. With ``s = 0`` it is theirs, infinite for a rule that gold
never breaks. The default, ``s = 1/2``, ranks such rules by how often predictions break them: 30
times and never in gold gives 61, once and never gives 3, and never and never 1, which says nothing.
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

    from numpy.typing import NDArray

    from trelliswork.evaluation.scoring import LabelSequences
    from trelliswork.mining.families import Template
    from trelliswork.taggers.base import Tagger

__all__ = ["MinedRule", "MinedRules", "mine"]

logger = logging.getLogger(__name__)

CUTOFF = 2.75
"""Least importance, from the paper."""


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

    Mine on sentences that the tagger was not trained on: on its training set it breaks few rules.
    The rules are soft, and have no penalty unless a tagger is given: `trelliswork.learn_penalties`
    learns what they cost.

    Parameters
    ----------
    corpus
        The gold labels: a labelled corpus, or one list of labels a sentence. Sentences that are
        labelled in part are left out.
    predictions
        What a tagger without these rules answers, one list of labels a sentence.
    templates
        The families of rules: ``"singleton"``, ``"pairwise"``, ``"hierarchical"`` and
        ``"precedence"``, the simplest first.
    cutoff
        Least importance of a rule.
    smoothing
        ``s`` in the formula of the module: 0 for the paper's.
    min_predicted
        Least number of predictions that break a rule.
    labels
        The labels and their scheme: those of the tagger, ``tagger.labels_``, so that no rule names
        what it does not know. Default: those of `tagger`, or all that occur.
    merge
        Whether rules that every labelling seen, gold or predicted, breaks equally badly are one
        rule: the first of them in the order of `templates`, with the smallest bound. ``False``
        drops only rules that are equal.
    max_rules
        Most rules, the most important ones. Default: all.
    examples
        How many examples to keep of each rule.
    tagger
        A trained tagger, to learn the penalties of the rules on `corpus`, which must have tokens
        then, under the constraints of the tagger; as `trelliswork.learn_penalties` does it.
    random_state
        Seed for that.

    Returns
    -------
    MinedRules
        By importance, then by how many predictions break them.

    Raises
    ------
    DataError
        Where gold labels and predictions are not of the same sentences, or there are none.

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

    Small bounds before large ones, and upper before lower ones.
    """
    predicted = tried.violation_counts(guesses)
    importance = _importance(predicted, tried.violation_counts(gold), smoothing)
    found = tried.take(np.flatnonzero((importance >= cutoff) & (predicted >= min_predicted)))
    logger.info("%s: %d of %d rules kept", tried.template, len(found), len(tried))
    return found.take(np.lexsort((found.bounds < 0, np.abs(found.bounds))))


def _importance(
    predicted: NDArray[np.int64], gold: NDArray[np.int64], smoothing: float
) -> NDArray[np.float64]:
    """Return the importance of rules; 0 for one that nothing breaks, where that is 0 / 0."""
    above, below = predicted + smoothing, gold + smoothing
    safe = np.where(below > 0, below, 1.0)
    return np.where(below > 0, above / safe, np.where(above > 0, np.inf, 0.0))


def _all_degrees(
    found: Candidates, gold: Occurrences, guess: Occurrences
) -> Iterable[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Yield how badly each rule is broken by gold labels and by predictions."""
    for own, wrong in zip(found.degrees(gold), found.degrees(guess), strict=True):
        yield from zip(own, wrong, strict=True)


def _digest(own: NDArray[np.int32], wrong: NDArray[np.int32]) -> bytes:
    """Return a short key of a rule's degrees: thousands of rules, thousands of sentences."""
    return hashlib.blake2b(own.tobytes() + wrong.tobytes(), digest_size=16).digest()
