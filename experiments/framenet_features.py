"""What the scorer sees of a candidate span: hashed templates over words, tags, place and distance.

All candidates of all targets are described at once. A template is a tuple of integer columns with a
row a span; its feature is the hash of the row. Templates of the first group (coarse: tags, places,
lengths, function words) are crossed with the kind of role, with the role and with frame and role;
those of the second (lexical) only with the kind of role and the role. An empty role has features of
its own.

There is no parse. The head of a span is guessed: behind a leading preposition, the last token of
the first run of tags that noun phrases are made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from framenet_spans import MARKS, code, mix, place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framenet_data import Frame, Target
    from framenet_spans import HashArray, IntArray
    from numpy.typing import NDArray

NOUNS = frozenset(("nn", "nns", "np", "nps", "nnp", "pp", "prp", "cd"))
MODIFIERS = frozenset(("dt", "pdt", "pp$", "jj", "jjr", "jjs", "rb", "rbr", "rbs"))
NOMINAL = NOUNS | MODIFIERS | {"pos", "ex", "fw", "sym", "$", "#"}
PREPOSITIONS = frozenset(("in", "to"))
BE = frozenset(("be", "is", "are", "was", "were", "been", "being", "am", "'s", "'re", "'m"))
GET = frozenset(("get", "gets", "got", "getting"))
# Tags by what they do in a path: the many kinds of nouns, verbs, … are one each.
COARSE = {
    **dict.fromkeys(NOMINAL, "n"),
    **dict.fromkeys(MODIFIERS | {"cd"}, ""),
    **dict.fromkeys(PREPOSITIONS, "p"),
    **dict.fromkeys(MARKS, ","),
    **dict.fromkeys(("wdt", "wp", "wp$", "wrb"), "w"),
}
_PAD = 2
_BASE = np.uint64(0x100000001B3)


@dataclass(frozen=True)
class Text:
    """The sentences of some targets end to end, with a border of two tokens around each.

    Attributes
    ----------
    words, tags, shapes : numpy.ndarray
        A number a token.
    path : numpy.ndarray
        ``path[t]``: hash of the coarse tags before token ``t``, so that differences are hashes of
        what lies between.
    power : numpy.ndarray
        The base of that hash to the number of coarse tags before each token.
    breaks : numpy.ndarray
        The next token from each one on that no noun phrase goes on with.
    verbs, marks, nouns : numpy.ndarray
        How many of them stand before each token.
    offsets : numpy.ndarray
        Where the sentence of each target begins.
    """

    words: HashArray
    tags: HashArray
    shapes: HashArray
    path: HashArray
    power: HashArray
    breaks: IntArray
    verbs: IntArray
    marks: IntArray
    nouns: IntArray
    prepositions: NDArray[np.bool_]
    offsets: IntArray

    @classmethod
    def of(cls, targets: Sequence[Target]) -> Text:
        """Lay out the sentences of the targets."""
        tokens: list[str] = []
        tags: list[str] = []
        begins: dict[int, int] = {}
        for sentence in (target.sentence for target in targets):
            if id(sentence) not in begins:
                begins[id(sentence)] = len(tokens) + _PAD
                tokens += ["<", "<", *sentence.tokens, ">", ">"]
                tags += ["<", "<", *sentence.tags, ">", ">"]
        coarse = [COARSE.get(tag, tag[:1]) for tag in tags]
        path = np.zeros(len(tags) + 1, dtype=np.uint64)
        power = np.ones(len(tags) + 1, dtype=np.uint64)
        with np.errstate(over="ignore"):
            for t, letter in enumerate(coarse):
                grow = _BASE if letter else np.uint64(1)
                path[t + 1] = path[t] * grow + np.uint64(code(letter) if letter else 0)
                power[t + 1] = power[t] * grow
        breaks = np.zeros(len(tags) + 1, dtype=np.int64)
        breaks[-1] = len(tags)
        for t in range(len(tags) - 1, -1, -1):
            breaks[t] = breaks[t + 1] if tags[t] in NOMINAL else t
        return cls(
            _codes([token.lower() for token in tokens]),
            _codes(tags),
            _codes([_shape(token) for token in tokens]),
            path,
            power,
            breaks,
            _before([tag[0] == "v" or tag == "md" for tag in tags]),
            _before([tag in MARKS for tag in tags]),
            _before([tag in NOUNS for tag in tags]),
            np.array([tag in PREPOSITIONS for tag in tags]),
            np.array([begins[id(target.sentence)] for target in targets], dtype=np.int64),
        )

    def between(self, start: IntArray, end: IntArray) -> HashArray:
        """Return hashes of the coarse tags from ``start`` to ``end``; equal for equal strings."""
        return self.path[end] - self.path[start] * (self.power[end] * _inverse(self.power[start]))


def describe(targets: Sequence[Target], candidates: Sequence[IntArray]) -> tuple[HashArray, int]:
    """Return the features of all candidates, one row a span, and how many columns are coarse."""
    text = Text.of(targets)
    sizes = np.array([len(spans) for spans in candidates])
    which = np.repeat(np.arange(len(targets)), sizes)  # the target of each row
    spans = np.concatenate(candidates)
    places = np.concatenate(
        [place(s[:, 0], s[:, 1], target) for s, target in zip(candidates, targets, strict=True)]
    )
    starts, ends = (spans + text.offsets[which, None]).T
    target_starts = (np.array([t.start for t in targets]) + text.offsets)[which]
    target_ends = (np.array([t.end for t in targets]) + text.offsets)[which]
    units = _codes([target.unit for target in targets])[which]
    kinds = _codes([target.unit.rpartition(".")[2] for target in targets])[which]
    voices = np.array([_is_passive(target) for target in targets], dtype=np.int64)[which]

    words, tags = text.words, text.tags
    lasts = ends - 1
    is_before, is_after = ends <= target_starts, starts >= target_ends
    gap_start = np.where(is_before, ends, np.where(is_after, target_ends, 0))
    gap_end = np.where(is_before, target_starts, np.where(is_after, starts, 0))
    gap = _bucket(gap_end - gap_start)
    length = _bucket(ends - starts)
    paths = text.between(gap_start, gap_end)
    own = text.between(starts, ends)
    gap_verbs = np.minimum(text.verbs[gap_end] - text.verbs[gap_start], 3)
    gap_marks = np.minimum(text.marks[gap_end] - text.marks[gap_start], 3)
    gap_nouns = np.minimum(text.nouns[gap_end] - text.nouns[gap_start], 4)
    own_verbs = np.minimum(text.verbs[ends] - text.verbs[starts], 2)
    own_marks = np.minimum(text.marks[ends] - text.marks[starts], 2)
    is_prepositional = text.prepositions[starts] & (ends - starts > 1)
    begin = starts + is_prepositional
    run = np.minimum(text.breaks[begin], ends)
    heads = np.where(run > begin, run - 1, begin)
    lead = np.where(is_prepositional, words[starts], np.uint64(0))
    first, second, last = tags[starts], tags[starts + 1], tags[lasts]
    before, after = tags[starts - 1], tags[ends]
    head_tag, head_word = tags[heads], words[heads]
    target_tag = tags[target_starts]

    coarse: list[tuple[HashArray | IntArray, ...]] = [
        (places,),
        (places, length),
        (places, gap),
        (places, first),
        (places, last),
        (places, before, first),
        (places, last, after),
        (places, head_tag, lead),
        (places, words[starts]),
        (places, gap_verbs, gap_marks),
        (places, gap_nouns, first),
        (places, kinds, voices, first),
        (paths, places),
        (first, last),
        (length, own_verbs, own_marks),
    ]
    lexical: list[tuple[HashArray | IntArray, ...]] = [
        (head_word,),
        (places, head_word),
        (lead, head_word),
        (lead, head_tag, places, kinds),
        (text.shapes[heads], head_tag),
        (words[starts],),
        (words[lasts],),
        (words[starts], words[starts + 1]),
        (places, words[starts - 1]),
        (places, words[ends]),
        (own, places),
        (own, before, after),
        (paths, first, head_tag),
        (paths, own, kinds),
        (paths, target_tag, voices, first),
        (places, gap, first, last),
        (units, places),
        (units, places, first),
        (units, places, words[starts]),
        (units, places, gap, length),
        (units, paths, head_tag),
        (units, own, places),
        (units, head_word),
        (places, target_tag, voices, first, gap_nouns),
        (places, words[target_starts - 1], first, gap),
        (places, words[target_ends], first, gap),
        (places, before, first, second, after),
        (before, first, last, after),
    ]
    columns = [mix(number, *parts) for number, parts in enumerate((*coarse, *lexical), start=1)]
    return np.stack(columns, axis=1), len(coarse)


def describe_empty(target: Target) -> list[int]:
    """Return what an empty role depends on beside itself: nothing, the target, its neighbours."""
    tags = ("<", *target.sentence.tags, ">")
    around = f"{tags[target.start]} {tags[target.start + 1]} {tags[target.end + 1]}"
    facts = ("", target.unit, f"tag {tags[target.start + 1]}", f"around {around}")
    return [*map(code, facts), code(f"passive {_is_passive(target)}")]


def role_codes(frame: Frame) -> tuple[HashArray, HashArray, HashArray]:
    """Return numbers for the kinds of a frame's roles, for the roles, and for frame and role."""
    return (
        _codes([f"kind {kind}" for kind in frame.coreness]),
        _codes([f"role {role}" for role in frame.roles]),
        _codes([f"frame {frame.name} {role}" for role in frame.roles]),
    )


def _codes(texts: Sequence[str]) -> HashArray:
    known = {text: code(text) for text in set(texts)}
    return np.array([known[text] for text in texts], dtype=np.uint64)


def _before(flags: Sequence[bool]) -> IntArray:
    return np.cumsum([0, *flags])


def _bucket(sizes: IntArray) -> IntArray:
    """Return a size up to 4 as it is, and coarser the larger it is."""
    return np.searchsorted(np.array([1, 2, 3, 4, 5, 7, 10, 15, 22]), sizes, side="right")


def _shape(token: str) -> str:
    letters = "X" if token[:1].isupper() else "x" if token[:1].isalpha() else "."
    return letters + ("9" if any(c.isdigit() for c in token) else "") + token[-2:].lower()


def _is_passive(target: Target) -> bool:
    tags, tokens = target.sentence.tags, target.sentence.tokens
    is_participle = tags[target.start] in ("vvn", "vbn", "vhn")
    return is_participle and any(
        token.lower() in BE | GET for token in tokens[max(0, target.start - 4) : target.start]
    )


def _inverse(odd: HashArray) -> HashArray:
    """Return 1/x modulo 2⁶⁴ of odd numbers, by Newton's iteration."""
    found = odd.copy()
    for _ in range(6):
        found = found * (np.uint64(2) - odd * found)
    return found
