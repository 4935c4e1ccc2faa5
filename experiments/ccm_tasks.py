"""Few labels, rules and unlabelled text: what is labelled, what is drawn, and what rules hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from common import read_part

import trelliswork as tw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.constraints import Constraint

HERE = Path(__file__).parent
CITATION_RULES = HERE.parent / "examples" / "citation_rules.txt"
ADDRESS_RULES = HERE / "address_rules.txt"
SHORTEST, LONGEST = 8, 80  # tokens of references that are taken from other data sets
PARTS_OF_TOKENS = re.compile(r"[^\W_]+|[^\w\s]|_")
CLOSING, OPENING, JOINING = set(".,;:)]?!'’”%"), set("([“"), set("-/–—")
# What a hidden Markov model sees of a token, so that perceptrons are compared on equal terms.
WORDS = """
word[0]
short_shape(word[0])
shape(word[0])
"""


@dataclass(frozen=True)
class Draw:
    """A labelled set, and sequences of which no labels are known."""

    labelled: list[tw.Sentence]
    unlabelled: list[tw.Sentence]


@dataclass(frozen=True)
class Task:
    """A data set as it is learned from.

    Attributes
    ----------
    train, held_out
        Labelled sentences to draw from, and those that are reported on.
    more
        Sentences of other data sets, without labels.
    labels
        All label names of `train`.
    rules
        The constraints, all soft.
    features
        Feature templates of a model, by its name.
    """

    train: list[tw.Sentence]
    held_out: list[tw.Sentence]
    more: list[tw.Sentence]
    rules: tuple[Constraint, ...]
    features: dict[str, str]
    labels: list[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "labels", sorted({str(y) for x in self.train for y in x.labels or ()})
        )

    def draw(self, size: int, seed: int, unlabelled: int) -> Draw:
        """Draw labelled sentences; the rest of train is unlabelled, filled up from elsewhere."""
        chance = np.random.default_rng(seed)
        order = chance.permutation(len(self.train)).tolist()
        rest = [self.train[i].with_labels(None) for i in order[size : size + unlabelled]]
        wanted = max(0, unlabelled - len(rest))
        others = chance.permutation(len(self.more))[:wanted].tolist()
        return Draw([self.train[i] for i in order[:size]], rest + [self.more[i] for i in others])


def split_marks(tokens: Sequence[str]) -> list[str]:
    """Split punctuation off, as it is in ``cora``.

    >>> split_marks(["D43", "(1991)", "Jos\u00e9-B."])
    ['D43', '(', '1991', ')', 'Jos\u00e9', '-', 'B', '.']
    """
    return [part for token in tokens for part in PARTS_OF_TOKENS.findall(token)]


def attach_marks(tokens: Sequence[str]) -> list[str]:
    """Put punctuation back on words, as it is in ``cora_ws``.

    >>> attach_marks(["Rev", ".", "D", "(", "1991", ")", ",", "1", "-", "9", "."])
    ['Rev.', 'D', '(1991),', '1-9.']
    """
    found: list[str] = []
    joins = False
    for token in tokens:
        if found and (joins or token in JOINING or set(token) <= CLOSING):
            found[-1] += token
        else:
            found.append(token)
        joins = token in JOINING or token in OPENING
    return found


def citation_task(data: Path | None, name: str, part: str) -> Task:
    """Read ``cora`` or ``cora_ws``, and other references without their labels."""
    adapt = split_marks if name == "cora" else attach_marks
    more = []
    for other in ("umass_citation", "grobid_citation"):
        for sentence in read_part(data, other, "train"):
            tokens = adapt(sentence.tokens)
            if SHORTEST <= len(tokens) <= LONGEST:
                more.append(tw.Sentence(tokens))
    return Task(
        list(read_part(data, name, "train")),
        list(read_part(data, name, part)),
        more,
        tw.read_rules(CITATION_RULES),
        {"perceptron": WORDS, "CRF": "citation"},
    )


def address_task(data: Path | None, part: str) -> Task:
    """Read ``usaddress``; what is not drawn is the unlabelled text."""
    train = list(read_part(data, "usaddress", "train"))
    held_out = list(read_part(data, "usaddress", part))
    rules = tw.read_rules(ADDRESS_RULES)
    return Task(train, held_out, [], rules, {"perceptron": WORDS, "CRF": "ner"})


def read_task(name: str, data: Path | None, part: str) -> Task:
    """Read a task by its name."""
    return address_task(data, part) if name == "usaddress" else citation_task(data, name, part)


def gold_of(sentences: Sequence[Any]) -> list[list[str]]:
    """Return the labels of sentences."""
    return [[str(label) for label in sentence.labels or ()] for sentence in sentences]
