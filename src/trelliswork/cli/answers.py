"""Answers of ``trelliswork tag``: labels and probabilities, as CoNLL columns or JSON lines."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from trelliswork.data.sentence import TOKEN_COLUMN
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trelliswork._typing import FloatArray
    from trelliswork.data.sentence import Label, Sentence
    from trelliswork.decoding.answers import Decoding
    from trelliswork.taggers.trained import TrainedTagger

__all__ = ["Answer", "answer", "to_conll", "to_jsonl"]

# Keys that an earlier run may have written; they are not passed on.
OWN_KEYS = (
    "labels",
    "gold",
    "confidences",
    "marginals",
    "nbest",
    "text",
    "offsets",
    "status",
    "violations",
)
DECIMALS = 6  # of probabilities
DROPPED_RULES = ("relaxed", "unconstrained")  # status of answers without some of the rules


@dataclass(frozen=True, slots=True)
class Answer:
    """The labels of one sentence of ``T`` tokens.

    Attributes
    ----------
    sentence
        The sentence; its own labels, if any, are the gold ones.
    labellings
        The best labels, followed by the next best if requested.
    probabilities
        Probability of each labelling, if several were requested and probabilities are feasible.
    scores
        Score of each labelling minus its penalties, if several were requested.
    names
        The ``L`` labels of the model.
    marginals
        Shape ``(T, L)``, if requested.
    status
        ``"optimal"``, or the reason why rules are broken; see `Decoding`.
    broken_rules
        Rules that the best labels break, with counts, if not all hard rules could hold.
    """

    sentence: Sentence
    labellings: list[list[str]]
    probabilities: list[float] | None
    names: Sequence[str]
    marginals: FloatArray | None
    status: str = "optimal"
    broken_rules: Mapping[str, int] | None = None
    scores: list[float] | None = None

    def confidences(self, labels: Sequence[str]) -> list[float] | None:
        """Return the probability of each label of a labelling; ``None`` without marginals."""
        if self.marginals is None:
            return None
        place = {name: i for i, name in enumerate(self.names)}
        # A sum of rounded numbers may slightly exceed 1.
        return [
            round(min(1.0, float(row[place[label]])), DECIMALS)
            for row, label in zip(self.marginals, labels, strict=True)
        ]


def answer(
    tagger: TrainedTagger,
    batch: list[Sentence],
    *,
    marginals: bool,
    nbest: int | None,
    with_probabilities: bool = True,
) -> list[Answer]:
    """Label a batch of sentences.

    Parameters
    ----------
    tagger
        The model.
    batch
        The sentences.
    marginals
        Whether to add the probabilities of labels.
    nbest
        Number of labellings, with their probabilities; ``None``: only the best, without.
    with_probabilities
        False: add scores to several labellings instead, which need no product of all rules.
    """
    names = tagger.labels_.names
    best: list[tuple[list[list[str]], list[float] | None]]
    rows = tagger.predict_marginals(batch) if marginals else [None] * len(batch)
    if nbest is not None and not with_probabilities:
        return [
            replace(_ranked(sentence, found, names), marginals=row)
            for sentence, found, row in zip(
                batch, tagger.decode_nbest(batch, nbest), rows, strict=True
            )
        ]
    decoded = tagger.decode(batch)
    if nbest is None:
        best = [([found.labels], None) for found in decoded]
    else:
        best = [
            ([labels for labels, _ in found], [round(p, DECIMALS) for _, p in found])
            for found in tagger.predict_nbest(batch, nbest)
        ]
    return [
        Answer(
            sentence,
            labellings,
            probabilities,
            names,
            row,
            found.status,
            found.violations if found.status in DROPPED_RULES else None,
        )
        for sentence, (labellings, probabilities), row, found in zip(
            batch, best, rows, decoded, strict=True
        )
    ]


def _ranked(sentence: Sentence, found: Sequence[Decoding], names: Sequence[str]) -> Answer:
    """Return the labellings of a sentence, best first, with their scores."""
    best = found[0]
    return Answer(
        sentence,
        [one.labels for one in found],
        None,
        names,
        None,
        best.status,
        best.violations if best.status in DROPPED_RULES else None,
        [round(one.score, DECIMALS) for one in found],
    )


def to_conll(found: Answer, separator: str = "\t", *, mark: bool = False) -> str:
    """Return CoNLL columns: input, offsets of raw text, gold labels, labels, confidences.

    Each of several labellings is a block after a comment ``# rank probability``, or ``# rank
    score`` if there are no probabilities. With `mark`, a comment such as
    ``# relaxed: at_most(1, 'title')`` tells that not all rules could hold.
    """
    sentence = found.sentence
    columns: list[Sequence[str]] = list(sentence.columns.values())
    if sentence.offsets is not None:
        columns += [[str(pair[end]) for pair in sentence.offsets] for end in (0, 1)]
    if sentence.labels is not None:
        columns.append([_gold_cell(label) for label in sentence.labels])
    blocks = []
    for rank, labels in enumerate(found.labellings):
        confidences = found.confidences(labels)
        shown = [] if confidences is None else [[f"{c:.{DECIMALS}f}" for c in confidences]]
        cells = [*columns, labels, *shown]
        lines = list(map(separator.join, zip(*cells, strict=True)))
        if any(line.count(separator) != len(cells) - 1 or "\n" in line for line in lines):
            raise DataError(
                f"A cell of the sentence {' '.join(sentence.tokens)[:40]!r}… holds a line end or "
                f"the separator {separator!r}, which CoNLL columns cannot. Use --format jsonl."
            )
        if found.probabilities is not None:
            lines.insert(0, f"# {rank + 1} {found.probabilities[rank]:.{DECIMALS}f}")
        elif found.scores is not None:
            lines.insert(0, f"# {rank + 1} {found.scores[rank]:.{DECIMALS}f}")
        if mark and found.broken_rules is not None and rank == 0:
            lines.insert(0, f"# {found.status}: {'; '.join(found.broken_rules)}")
        blocks.append("".join(f"{line}\n" for line in lines))
    return "".join(f"{block}\n" for block in blocks)


def to_jsonl(found: Answer, *, given: Mapping[str, Any], all_marginals: bool) -> str:
    """Return a line of JSON: ``tokens``, other columns, ``labels`` and requested extras.

    Parameters
    ----------
    found
        The answer.
    given
        The object that the sentence was read from; its other keys, such as an id, are passed on.
    all_marginals
        Whether to add the probability of every label of every token.
    """
    sentence = found.sentence
    labels = found.labellings[0]
    record: dict[str, Any] = {"tokens": sentence.tokens}
    record |= {
        name: column
        for name, column in sentence.columns.items()
        if name != TOKEN_COLUMN and column is not sentence.tokens
    }
    record |= {name: value for name, value in given.items() if name not in {*record, *OWN_KEYS}}
    record["labels"] = labels
    if sentence.labels is not None:
        record["gold"] = [
            sorted(label) if isinstance(label, frozenset) else label for label in sentence.labels
        ]
    if found.broken_rules is not None:
        record |= {"status": found.status, "violations": dict(found.broken_rules)}
    if found.marginals is not None:
        record["confidences"] = found.confidences(labels)
        if all_marginals:
            record["marginals"] = [
                dict(zip(found.names, row, strict=True))
                for row in found.marginals.round(DECIMALS).tolist()
            ]
    if found.probabilities is not None:
        record["nbest"] = [
            {"labels": ranked, "probability": probability}
            for ranked, probability in zip(found.labellings, found.probabilities, strict=True)
        ]
    elif found.scores is not None:
        record["nbest"] = [
            {"labels": ranked, "score": score}
            for ranked, score in zip(found.labellings, found.scores, strict=True)
        ]
    if sentence.text is not None:
        record["text"] = sentence.text
    if sentence.offsets is not None:
        record["offsets"] = sentence.offsets
    return json.dumps(record, ensure_ascii=False) + "\n"


def _gold_cell(label: Label) -> str:
    if isinstance(label, str):
        return label
    return "?" if label is None else "|".join(sorted(label))
