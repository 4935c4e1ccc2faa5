"""A model for references of one's own: from raw references, or from corrected ones.

Constraint-driven learning (Chang, Ratinov and Roth 2008) from a model that is already good:

    (w, ρ) = (w₀, ρ)                                   the model to adapt
    for N cycles:
        T = { (x, argmax_y score_w(x, y) − Σ_c ρ_c v_c(x, y)) : x ∈ U }
        w = learn(L ∪ T), from w on

A reference of ``T`` weighs as much as its labelling is probable under the rules. ``L`` are
generated references, made afresh: they keep the model from forgetting, and take the place of the
share ``γ w₀``. Corrected references join them with a weight of their own.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from trelliswork.citations.csl_styles import csl_styles
from trelliswork.citations.fields import LABELS
from trelliswork.citations.invent import invent_works
from trelliswork.citations.learning import make_references
from trelliswork.citations.parser_features import parser_templates
from trelliswork.citations.readings import Reader
from trelliswork.citations.works import load_works
from trelliswork.errors import DataError
from trelliswork.estimators import CRFTagger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork.citations.works import Work
    from trelliswork.sentence import Sentence

    Labelled = tuple[Sequence[str], Sequence[str]]

_REMEMBERED = 2_000
_L2 = 0.1
_MAX_ITER = 20
_CORRECTED_WEIGHT = 5.0
_WRITTEN = 2_000  # references made of the records of a user
_MOST_PER_WORK = 20
_STYLES = 200


def adapt(
    tagger: CRFTagger,
    sentences: Sequence[Sentence],
    *,
    cycles: int = 2,
    remembered: int = _REMEMBERED,
    seed: int = 0,
    on_cycle: Callable[[int, float], object] | None = None,
) -> CRFTagger:
    """Adapt a model of references to references without labels.

    Parameters
    ----------
    tagger : CRFTagger
        The model; its constraints are the rules. It stays as it is.
    sentences : sequence of Sentence
        ``U``: the tokens of references.
    cycles : int
        How often they are labelled and learned from.
    remembered : int
        How many generated references ``L`` there are.
    seed : int
        Of the generated references.
    on_cycle : callable, optional
        Called after each cycle with its number and the share of tokens whose label has changed.

    Raises
    ------
    DataError
        There is nothing to adapt to.
    """
    known = [sentence for sentence in sentences if len(sentence.tokens)]
    if not known:
        raise DataError("expected references to adapt to, got none.")
    memory = _memory(remembered, seed)
    now, before = tagger, None
    for cycle in range(1, cycles + 1):
        readings = Reader(now).read(known)
        labels = [reading.labels for reading in readings]
        guessed = [(sentence.tokens, own) for sentence, own in zip(known, labels, strict=True)]
        weights = [reading.confidence for reading in readings]
        now = _learn(now, [*memory, *guessed], [1.0] * len(memory) + weights)
        if on_cycle is not None:
            on_cycle(cycle, 1.0 if before is None else _changed(before, labels))
        before = labels
    return now


def learn_labelled(
    tagger: CRFTagger,
    corrected: Sequence[Labelled],
    works: Sequence[Work] = (),
    *,
    weight: float = _CORRECTED_WEIGHT,
    remembered: int = _REMEMBERED,
    seed: int = 0,
) -> CRFTagger:
    """Go on learning from corrected references, and from references made of records.

    Parameters
    ----------
    tagger : CRFTagger
        The model to go on from. It stays as it is.
    corrected : sequence of (tokens, labels)
        What somebody says is right.
    works : sequence of Work
        Records, which are written in CSL styles; that needs the extra ``cite``.
    weight : float
        What each corrected reference weighs; a generated one weighs 1.
    remembered, seed
        As in `adapt`.

    Raises
    ------
    DataError
        There is nothing to learn from.
    """
    if not corrected and not works:
        raise DataError("expected corrected references or records to learn from, got none.")
    memory = _memory(remembered, seed)
    if works:
        per_work = min(_MOST_PER_WORK, max(1, _WRITTEN // len(works)))
        styles = Random(seed).sample(csl_styles(), _STYLES)
        made = make_references(works[:_WRITTEN], styles, per_work=per_work, seed=seed)
        memory += [(reference.tokens, reference.labels) for reference in made]
    weights = [1.0] * len(memory) + [weight] * len(corrected)
    return _learn(tagger, [*memory, *corrected], weights)


def _memory(size: int, seed: int) -> list[Labelled]:
    """Return generated references in our own styles, which need no extra."""
    works = [*load_works(), *invent_works(max(0, size - len(load_works())), seed)]
    made = make_references(works[:size], [], per_work=1, seed=seed)
    return [(reference.tokens, reference.labels) for reference in made]


def _learn(tagger: CRFTagger, references: Sequence[Labelled], weights: list[float]) -> CRFTagger:
    learner = CRFTagger(
        features=parser_templates(), labels=LABELS, l2=_L2, init=tagger, max_iter=_MAX_ITER
    )
    learner.fit(
        [list(tokens) for tokens, _ in references],
        [list(labels) for _, labels in references],
        sample_weight=weights,
    )
    learner.init = None  # what it learned no longer needs what it started from
    return learner.with_constraints(tagger.plan_.constraints)


def _changed(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> float:
    pairs = [
        (old, new)
        for own, other in zip(before, after, strict=True)
        for old, new in zip(own, other, strict=True)
    ]
    return sum(old != new for old, new in pairs) / len(pairs)
