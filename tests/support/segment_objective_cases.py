"""Objectives of small models of any order and over segments, and their loss by enumeration."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from oracle import log_sum_exp, segmentations
from trelliswork.features import TemplateEncoder
from trelliswork.labels.label_set import LabelSet
from trelliswork.learn.objective.objective import Objective
from trelliswork.models.structure import Structure, length_buckets

CHAIN_RULES = "word\nword[-1]\nedge: word\nedge: word[-1]"


SEGMENT_RULES = f"{CHAIN_RULES}\nbegin: word\nend: word[1]\nsegment: text\nsegment: shape"


TOKENS = st.sampled_from(["a", "B", "c1"])


@st.composite
def problems(draw):
    """A training set, an objective over it, and parameters."""
    scheme = draw(st.sampled_from(["plain", "plain with outside", "bio"]))
    names = ["O", "B-x", "I-x"] if scheme == "bio" else ["x", "y", "O"][: draw(st.integers(2, 3))]
    labels = LabelSet(
        names,
        "bio" if scheme == "bio" else "plain",
        outside="O" if scheme == "plain with outside" and "O" in names else None,
    )
    max_segment = draw(st.sampled_from([1, 2, 3, "auto"]))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3).filter(any))
    limit = max_segment if isinstance(max_segment, int) and max_segment > 1 else 4
    gold = [draw(labellings(labels, n, limit)) for n in lengths]
    hidden = [
        [label if draw(st.integers(0, 5)) else None for label in own]
        if draw(st.booleans())
        else own
        for own in gold
    ]
    X = [draw(st.lists(TOKENS, min_size=n, max_size=n)) for n in lengths]
    structure = Structure.choose(
        labels,
        hidden,
        order=draw(st.integers(0, 3)),
        max_segment=max_segment,
        adjacent=draw(st.booleans()) and labels.scheme == "plain",
        edge_order=draw(st.integers(0, 3)),
        all_transitions=draw(st.booleans()),
    )
    encoded = structure.encode(hidden)
    encoder = TemplateEncoder(CHAIN_RULES if structure.segmentation is None else SEGMENT_RULES)
    features = encoder.fit(X, segments=structure.known_segments(encoded, lengths))
    weights = draw(st.one_of(st.none(), st.just(np.linspace(0.5, 2.0, len(lengths)))))
    objective = Objective(
        features,
        encoded,
        structure,
        weights=weights,
        l2=draw(st.sampled_from([0.0, 0.5, {0: 0.5, 1: 0.25, 3: 0.1}])),
        pairs=draw(st.sampled_from(["observed", "all"])),
    )
    seed = draw(st.integers(0, 2**16))
    parameters = np.random.default_rng(seed).normal(size=objective.n_parameters)
    return X, hidden, weights, objective, encoder, parameters


@st.composite
def labellings(draw, labels: LabelSet, length: int, limit: int) -> list[str]:
    """Labels of one sequence, without a segment that is too long or an I- that begins one."""
    own: list[str] = []
    run = 0
    for _ in range(length):
        choices = [y for y in labels.names if y != "I-x" or (own and own[-1] != "O")]
        if run >= limit:
            choices = [y for y in choices if y != own[-1] and not y.startswith("I-")]
        y = draw(st.sampled_from(choices))
        free = y == "O" and (labels.scheme == "bio" or labels.outside == "O")
        run = run + 1 if own and (y in (own[-1], "I-x")) and y != "B-x" and not free else 1
        own.append(y)
    return own


def dense(pairs, n_outputs: int) -> np.ndarray:
    table = np.zeros((pairs.offsets.size - 1, n_outputs))
    table[pairs.features, pairs.outputs] = pairs.weights
    return table


def scored_labellings(model, tokens: list[str]):
    """Yield (tags, score) of every segmentation of one sequence."""
    structure, segmentation = model.structure, model.segmentation
    features = model.encoder.transform([tokens])
    n_letters = structure.n_letters

    def rows(matrix, weights, n_outputs=n_letters):
        if matrix is None or weights is None:
            return np.zeros((len(tokens), n_outputs))
        return matrix.to_scipy().toarray() @ dense(weights, n_outputs)

    state, begin, end = (
        rows(getattr(features, kind), getattr(model, kind)) for kind in ("state", "begin", "end")
    )
    edge = rows(features.edge, model.edge, structure.n_edge_patterns)
    whole = {} if model.segment is None else dense(model.segment, n_letters)
    patterns = list(model.patterns)
    continues = np.zeros(n_letters, bool) if segmentation is None else segmentation.continues
    repeats = np.ones(n_letters, bool) if segmentation is None else segmentation.repeats
    longest = np.ones(n_letters, int) if segmentation is None else segmentation.longest
    for durations in segmentations(len(tokens), structure.n_durations):
        for letters in itertools.product(range(n_letters), repeat=len(durations)):
            read: tuple[int, ...] = ()
            tags: list[int] = []
            score, first = 0.0, 0
            for y, d in zip(letters, durations, strict=True):
                if d > longest[y]:
                    break
                last = first + d
                score += state[first:last, y].sum() + begin[first, y] + end[last - 1, y]
                if model.length is not None:
                    bucket = length_buckets(structure.n_durations)[d - 1]
                    score += dense(model.length, n_letters)[bucket, y]
                if features.segment is not None:
                    own = slice(*features.segment.offsets[last - 1 : last + 1])
                    for duration, feature in zip(
                        features.segment.durations[own], features.segment.indices[own], strict=True
                    ):
                        score += whole[feature, y] if duration == d else 0.0
                again = bool(read) and read[-1] == y
                if again and not continues[y] and not repeats[y]:
                    break
                if not (again and continues[y]):
                    read = (*read, y)
                    for z, pattern in enumerate(patterns):
                        if read[-len(pattern) :] == pattern:
                            score += model.pattern_weights[z]
                            score += edge[first, z] if z < structure.n_edge_patterns else 0.0
                tags += [y] + [y + n_letters] * (d - 1)
                first = last
            if len(tags) == len(tokens):
                yield tags, score


def agrees(model, tags: list[int], labels) -> bool:
    """Return whether the gold labels, open where None, allow a segmentation."""
    segmentation = model.segmentation
    if segmentation is not None and segmentation.is_hidden and None not in labels:
        gold = segmentation.encode([labels])  # the maximal runs, of those that read the same
        return tags == np.where(gold.begins, gold.ids, gold.ids + segmentation.n_letters).tolist()
    names = model.labels.names if segmentation is None else segmentation.tag_names
    own = [names[tag] for tag in tags]
    return all(y is None or y == z for y, z in zip(labels, own, strict=True))


def loss_by_enumeration(sentences, gold, weights, objective, encoder, parameters) -> float:
    model = objective.model(parameters, encoder)
    total = float((objective.l2 * parameters**2).sum())
    for b, (tokens, labels) in enumerate(zip(sentences, gold, strict=True)):
        found = list(scored_labellings(model, tokens))
        inside = [score for tags, score in found if agrees(model, tags, labels)]
        weight = 1.0 if weights is None else weights[b]
        every = log_sum_exp([score for _, score in found])
        total += weight * (every - log_sum_exp(inside))
    return total
