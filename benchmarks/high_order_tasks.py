"""The data and models of the benchmark of high-order and semi-Markov models."""

from __future__ import annotations

import time
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from common import peak_megabytes

import trelliswork as tw
from trelliswork.learn.objective.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

REFERENCES = """
bias
word[-4..4]
prefix(word, 1..5)
suffix(word, 1..5)
edge: word[0]
edge: word[-1]
"""
REFERENCE_SEGMENTS = """
begin: bias
begin: word[-1..0]
end: word
"""
PAPER = {"scheme": "plain", "transitions": "observed"}
WINDOW = """
word[-4..4]
ngrams(word[-4..4], 2)
"""
MARKS = f"""{WINDOW}
bias
edge: word[0]
edge: word[-1]
edge: word[-1] | word[0]
"""
MARK_SEGMENTS = """
begin: bias
begin: word[-1..0]
begin: word[-1] | word[0]
end: word
"""


def load(
    data: Path, name: str, *, segments: bool = False
) -> tuple[Any, list[list[str]], dict[str, Any]]:
    """Return the training sequences of a data set, their labels, and parameters for the tagger."""
    if name == "letters":
        return (*letters(data, of_fold=True), {"l2": 0.5, "pairs": "all", "scheme": "plain"})
    if name == "chunking":
        corpus = tw.read_conll(data / "conll2000" / "train.conll.gz", ("word", "pos", "label"))
        return corpus, _labels(corpus), {"l2": 1.0, "features": "chunking"}
    if name == "references":
        corpus = tw.read_conll(data / "cora_hosemicrf" / "train.conll", ("word", "label"), "\t")
        features = REFERENCES + (REFERENCE_SEGMENTS if segments else "")
        return corpus, _labels(corpus), {"l2": 0.5, "features": features, **PAPER}
    corpus = tw.read_conll(data / "punct_movie" / "train.conll", ("word", "label"), "\t")
    labels = [_with_next_mark(marks) for marks in _labels(corpus)]
    features = MARKS + (MARK_SEGMENTS if segments else "")
    return corpus, labels, {"l2": 0.5, "features": features, **PAPER}


def letters(data: Path, *, of_fold: bool) -> tuple[list[Any], list[list[str]]]:
    """Return the words of the first fold of the handwritten letters, or those of all others."""
    with np.load(data / "letters" / "letters.npz") as stored:
        pixels = np.unpackbits(stored["pixels_packed"], axis=1).astype(np.float64)
        names = [chr(ord("a") + i) for i in stored["label"].tolist()]
        ends = list(pairwise(stored["word_start"].tolist()))
        chosen = np.flatnonzero((stored["fold"] == 0) == of_fold).tolist()
    rows = np.hstack([pixels, np.ones((len(pixels), 1))])
    places = [slice(*ends[i]) for i in chosen]
    return [rows[at] for at in places], [names[at] for at in places]


def as_pairs(labels: Sequence[str]) -> list[str]:
    """Return every label joined to the one before it: a second order for first-order software."""
    return [f"{before}{label}" for before, label in zip(["^", *labels[:-1]], labels, strict=True)]


def measure(data: Path, name: str, parameters: dict[str, Any], iterations: int) -> dict[str, Any]:
    """Train for some iterations; returns seconds, the size of the model and peak memory."""
    segments = parameters.get("max_segment", 1) != 1
    sequences, labels, settings = load(data, name, segments=segments)
    if parameters.pop("pairs_as_labels", False):
        labels = [as_pairs(row) for row in labels]
    test = parameters.pop("test", False)
    some = parameters.pop("sequences", None)
    sequences, labels = sequences[:some], labels[:some]
    before = peak_megabytes()
    evaluations: list[float] = []
    tagger = tw.CRFTagger(**(settings | parameters), max_iter=iterations, tol=0.0)
    with _timed(evaluations):
        tagger.fit(sequences, labels)
    model = tagger.model_
    found = {
        # The first evaluation pays for memory that the others find ready.
        "evaluation_s": float(np.median(evaluations[1:] or evaluations)),
        "iteration_s": tagger.training_log_[-1].seconds / tagger.n_iter_,
        "iterations": tagger.n_iter_,
        "evaluations": len(evaluations),
        "patterns": int(np.count_nonzero(model.pattern_weights)),
        "states": model.automaton.n_states,
        "arcs": model.automaton.n_arcs,
        "sequences": len(labels),
        "tokens": sum(map(len, labels)),
        "loss": tagger.loss_,
        "peak_mb": peak_megabytes(),
        "peak_mb_before": before,
    }
    return found | (_tested(tagger, data, name) if test else {})


def measure_crfsuite(data: Path, name: str, iterations: int) -> dict[str, Any]:
    """Train python-crfsuite on pairs of labels, the second order of first-order software."""
    import pycrfsuite

    sequences, labels, _ = load(data, name)
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select("lbfgs")
    for sequence, row in zip(sequences, labels, strict=True):
        trainer.append([_items(sequence, t) for t in range(len(row))], as_pairs(row))
    seconds = []
    # Its log counts processor time and leaves out setting up: the clock on the wall, twice.
    for most in (1, 1 + iterations):
        trainer.set_params({"c1": 0.0, "c2": 0.5, "max_iterations": most, "epsilon": 0.0})
        begun = time.perf_counter()
        trainer.train("")
        seconds.append(time.perf_counter() - begun)
    return {
        "iteration_s": (seconds[1] - seconds[0]) / iterations,
        "iterations": iterations,
        "labels": len({pair for row in labels for pair in as_pairs(row)}),
        "peak_mb": peak_megabytes(),
    }


def _items(sequence: Any, t: int) -> list[str]:
    """Return the features of a token, for CRFsuite: pixels, or words in a window."""
    if isinstance(sequence, np.ndarray):
        return [str(i) for i in np.flatnonzero(sequence[t]).tolist()]
    words = ["^"] * 4 + list(sequence.tokens) + ["$"] * 4
    near = words[t : t + 9]
    singles = [f"{i}:{word}" for i, word in enumerate(near)]
    return singles + [f"{i}:{a}|{b}" for i, (a, b) in enumerate(pairwise(near))]


def _tested(tagger: tw.CRFTagger, data: Path, name: str) -> dict[str, float]:
    """Score a model on what it has not seen."""
    if name == "letters":
        sequences, gold = letters(data, of_fold=False)
        rows = [[label[-1] for label in row] for row in tagger.predict(sequences)]
        return {"accuracy": 100 * tw.report(gold, rows, scheme="plain").token_accuracy}
    corpus = tw.read_conll(data / "conll2000" / "test.conll.gz", ("word", "pos", "label"))
    return {"f1": 100 * tw.report(corpus, tagger.predict(corpus)).f1}


@contextmanager
def _timed(seconds: list[float]) -> Iterator[None]:
    """Collect the seconds of every evaluation of the objective inside."""
    plain = Objective.value_and_grad

    def timed(objective: Objective, *arguments: Any, **more: Any) -> float:
        begun = time.perf_counter()
        value = plain(objective, *arguments, **more)
        seconds.append(time.perf_counter() - begun)
        return value

    Objective.value_and_grad = timed
    try:
        yield
    finally:
        Objective.value_and_grad = plain


def _labels(corpus: tw.Corpus) -> list[list[str]]:
    return [list(sentence.labels) for sentence in corpus]


def _with_next_mark(marks: list[str]) -> list[str]:
    """Join to the first word of a stretch the mark that will end it: the paper's ten labels."""
    labels, first = list(marks), 0
    for t, mark in enumerate(marks):
        if mark != "O":
            labels[first] += mark
            first = t + 1
    return labels
