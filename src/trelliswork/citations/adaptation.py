"""Adaptation of a model to a user's references: raw ones, corrected ones, or records.

Constraint-driven learning (Chang, Ratinov and Roth 2008) from a model that is already good:

    w = w₀                                             the model to adapt
    for N cycles:
        T = { (x, argmax_y score_w(x, y) − Σ_c ρ_c v_c(x, y)) : x ∈ U }
        w = argmin_w  −Σ_T log Σ_{y' ~ y} p_w(y' | x) + λ ‖w − w₀‖²

where ``y' ~ y`` agrees with ``y`` on the tokens whose label has a probability above 0.9: the others
are open, and summed over. The prior around ``w₀`` replaces the share ``γ w₀`` of the paper: weights
of features that do not occur in the references keep their values. The features are those of ``w₀``.
Corrected references, and references made of records, are learned in the same way, with known
labels.
"""

from __future__ import annotations

from copy import copy
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.citations.believable import is_believable
from trelliswork.citations.fields import to_plain, to_scheme
from trelliswork.citations.learning import make_references
from trelliswork.citations.readings import Reader
from trelliswork.citations.styles.csl import csl_styles
from trelliswork.errors import DataError
from trelliswork.learn.anchored import learn_near

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork._typing import FloatArray
    from trelliswork.citations.records import Work
    from trelliswork.data.sentence import Sentence
    from trelliswork.taggers.crf import CRFTagger

    Labelled = tuple[Sequence[str], Sequence[str]]

_L2 = 1.0
_SURE = 0.9
_LONGEST = 300  # tokens: a longer text is several references, and slow under rules
_CORRECTED_WEIGHT = 10.0
_MOST_MADE = 2_000
_MOST_PER_WORK = 20
_STYLES = 200


def adapt(
    tagger: CRFTagger,
    sentences: Sequence[Sentence],
    *,
    cycles: int = 1,
    on_cycle: Callable[[int, int, float], object] | None = None,
) -> CRFTagger:
    """Adapt a model to references without labels.

    Parameters
    ----------
    tagger : CRFTagger
        The model, which is not changed; its constraints are the rules.
    sentences : sequence of Sentence
        ``U``: the tokens of references. Texts that do not look like references are skipped.
    cycles : int
        Number of rounds of labelling and learning.
    on_cycle : callable, optional
        Called after each cycle with its number, the number of texts that are references, and the
        share of their tokens that get another label.

    Raises
    ------
    DataError
        There is nothing to adapt to.
    """
    known = [sentence for sentence in sentences if 0 < len(sentence.tokens) <= _LONGEST]
    read = zip(known, Reader(tagger).read(known, by_field=False), strict=True)
    scheme = tagger.labels_.scheme
    pairs = [pair for pair in read if is_believable(to_plain(pair[1].labels, scheme))]
    if not pairs:
        raise DataError(
            f"expected references to adapt to, got {len(sentences)} texts, none of "
            f"which is one ({len(sentences) - len(known)} are empty or longer than {_LONGEST} "
            "tokens)."
        )
    known, readings = [one for one, _ in pairs], [reading for _, reading in pairs]
    now = tagger
    for cycle in range(1, cycles + 1):
        labels = [reading.labels for reading in readings]
        now = _moved(tagger, known, _sure_labels(now, known, labels))
        if cycle < cycles or on_cycle is not None:
            readings = Reader(now).read(known, by_field=False)
        if on_cycle is not None:
            changed = _changed(labels, [reading.labels for reading in readings])
            on_cycle(cycle, len(known), changed)
    return now


def learn_labelled(
    tagger: CRFTagger,
    corrected: Sequence[Labelled],
    works: Sequence[Work] = (),
    *,
    weight: float = _CORRECTED_WEIGHT,
    seed: int = 0,
) -> CRFTagger:
    """Continue training on corrected references, and on references made of records.

    Parameters
    ----------
    tagger : CRFTagger
        The model to go on from. It stays as it is.
    corrected : sequence of (tokens, labels)
        References with correct labels.
    works : sequence of Work
        Records, which are written in CSL styles; that needs the extra ``cite``.
    weight : float
        Weight of each corrected reference; a generated one has weight 1.
    seed : int
        Seed of the generated references.

    Raises
    ------
    DataError
        There is nothing to learn from.
    """
    if not corrected and not works:
        raise DataError("expected corrected references or records to learn from, got none.")
    references = list(corrected)
    if works:
        per_work = min(_MOST_PER_WORK, max(1, _MOST_MADE // len(works)))
        styles = Random(seed).sample(csl_styles(), _STYLES)
        made = make_references(works[:_MOST_MADE], styles, per_work=per_work, seed=seed)
        references += [(reference.tokens, reference.labels) for reference in made]
    weights = np.ones(len(references))
    weights[: len(corrected)] = weight
    tokens = [list(own) for own, _ in references]
    labels = [to_scheme(own, tagger.labels_.scheme) for _, own in references]
    return _moved(tagger, tokens, labels, weights)


def _moved(
    tagger: CRFTagger,
    sequences: Sequence[Sentence | list[str]],
    labels: Sequence[Sequence[str | None]],
    weights: FloatArray | None = None,
) -> CRFTagger:
    """Return a tagger with the same features and rules, and weights fitted to these labels, too."""
    other = copy(tagger)
    other.model_ = learn_near(
        tagger.model_, list(sequences), labels, l2=_L2, weights=weights, n_jobs=tagger.n_jobs
    )
    return other


def _sure_labels(
    tagger: CRFTagger, sentences: Sequence[Sentence], labels: Sequence[Sequence[str]]
) -> list[list[str | None]]:
    """Return labels with ``None`` for those of which the model alone is not sure."""
    place = {name: i for i, name in enumerate(tagger.labels_)}
    marginals = tagger.with_constraints(()).predict_marginals(sentences)
    return [
        [
            name if chance[place[name]] > _SURE else None
            for name, chance in zip(own, all_chances, strict=True)
        ]
        for own, all_chances in zip(labels, marginals, strict=True)
    ]


def _changed(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> float:
    pairs = [
        old != new
        for own, other in zip(before, after, strict=True)
        for old, new in zip(own, other, strict=True)
    ]
    return sum(pairs) / len(pairs)
