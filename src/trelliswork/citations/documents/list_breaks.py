"""Breaks between references in a list without marks.

Every pair of neighbouring lines gets a score, the evidence that a reference ends between them:
positive for a break, negative against it. It adds up

* how the first line ends: with a full stop, against a comma or the middle of a sentence;
* how the second one opens: with a name, against small letters, "In", "pp.", a publisher;
* whether the first word of the second line would have fitted into the first one, the sign of the
  last line of a paragraph: the usual width of a full line comes from the whole document;
* whether there is a blank line between them, other than at the edge of a page.

Every reference without a year costs something; less where years are rare. So each way to cut the
document has a worth: the sum of the evidence at its breaks less the costs of its references. Three
regular ways are tried: at blank lines, by indentation (lines that hang out begin a reference, or
else those that are moved in), and at every line. The best of them is taken if it is worth nearly as
much as the best of all ways, regular or not, which one pass of dynamic programming finds; otherwise
that one is taken. How near is said below: indentation is hardly ever there by chance, blank lines
seldom, and a document with few full lines is hardly wrapped, so it has one reference a line.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from trelliswork.citations.documents.list_words import CONTINUING, PARTICLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.documents.list_lines import Line

NO_YEAR, USUAL_YEARS = 3.5, 0.25
"""The cost of a reference without a year, and the share of lines with one that it is meant for."""
LINES, RAGGED_LINES, GAPS, INDENTS = (1.5, 0.25), (1.5, 1.25), (1.5, 0.5), (4.0, 0.75)
"""Largest loss of a regular cut against the best one: in all, and for each line."""
FEW_FULL = 0.4
"""Least share of full lines in a wrapped document."""
NARROWEST = 30
"""Shorter lines are not full; if nearly all are, the document is not wrapped at all."""
WIDEST = 115
"""Longer lines are not wrapped."""
GAP = 2.0
"""Evidence for a break from a blank line inside a page."""

FULL = 0.8
"""A line is full if the next word would fill it to more than this part of the usual width."""

# Evidence by the part of the usual width that the next word would fill a line to; 0 stands for
# lines that are too short or too long to be wrapped.
_ROOM = ((1e-9, 4.0), (0.6, 3.0), (FULL, 1.5), (0.9, 0.5), (float("inf"), -0.3))
_YEAR = re.compile(
    r"(?<![\d/.–-])(?:1[5-9]|20)\d\d(?![\d/–]|-\d)"
    r"|(?<!\d)(?=[^0-9])\d{4}(?!\d)"  # in other digits, any calendar
    r"|\b(?:n\.\s?d\.|in press|forthcoming|to appear|im Druck|sous presse|en prensa|s\.\s?f\.)",
    re.IGNORECASE,
)
_WORD = r"[^\W\d_]+(?:[-’'][^\W\d_]+)*"
_ABBREVIATION = re.compile(
    r"(?:\b(?:pp?|vols?|nos?|proc|eds?|in|univ|tech|rep|intl?|conf|trans|dept|st|jr|bd|nr|vs|cf"
    r"|ch|fig|sec|ser|symp|lect|notes|comput|sci|math|phys|chem|amer|j|bull|ann|rev|res|assoc"
    r"|soc|acad|natl?|eng|mech|appl|theor|stat|syst)\.|[(&:;,/+=–—-]|\b(?:and|und|et|y|of|the|in"
    r"|for|on|to|a|an|with|by|de|von|van|der|la|le|di|del|zur|für|et al\.,))\Z",
    re.IGNORECASE,
)
_INITIAL_END = re.compile(r"(?:^|[\s.,(-])[^\W\d_]\.\Z")
# A year after the full stop of a name: the title follows.
_DATE_END = re.compile(r"\.\)?\s\(?(?:1[5-9]|20)\d\d[a-z]?\)?[.:]?\Z")
_FULL_END = re.compile(r"(?:[.。．!?][)\]\"”’»]?|[)\]\"”’»])\Z")


def choose_breaks(lines: Sequence[Line]) -> list[int]:
    """Return which lines begin a reference; the first line, which must exist, always does."""
    room = _room(lines)
    evidence = _break_evidence(lines, room)
    dated = [is_dated(line.text) for line in lines]
    cost = NO_YEAR * min(1.0, sum(dated) / len(lines) / USUAL_YEARS)
    best = _best_breaks(evidence, dated, cost)
    bound = _worth(best, evidence, dated, cost)
    few_full = sum(filled > FULL for filled in room) < FEW_FULL * len(room)
    chosen, most = best, bound
    for breaks, (slack, per_line) in _regular_breaks(lines, evidence, few_full):
        worth = _worth(breaks, evidence, dated, cost) + slack + per_line * len(room)
        if worth >= most:
            chosen, most = breaks, worth
    return chosen


def is_dated(text: str) -> bool:
    """Return whether a text has a date of publication, or says that there is none yet."""
    return _YEAR.search(text) is not None


def opening_evidence(text: str) -> float:
    """Return the evidence that a line opens a reference: positive for, negative against."""
    head = text[:120].lstrip('"“”‘’«*_ ')
    if re.match(r"[_—–-]{2,}|—", text):
        return 2.5  # the dashes that stand for the authors of the entry before
    if not head[:1].isalpha():
        return -1.5 if head[:1].isdigit() or head[:1] in "([" else -4.0
    words = re.findall(rf"{_WORD}|\d+|[^\w\s]", head)[:12]
    if words[0].casefold() in CONTINUING and not (len(words[0]) == 1 and words[1:2] == ["."]):
        return -2.5
    while len(words) > 1 and words[0].casefold() in PARTICLES:
        words = words[1:]
    if words[0][0].islower():
        return -3.0
    if not words[0][0].isupper():
        return 0.0  # no evidence in a script without capitals
    return _name_evidence(words)


def _name_evidence(words: list[str]) -> float:
    """Return the evidence that capitalised words are a name that a list is sorted by."""
    first, second, third = (*words, "", "", "")[:3]
    if len(first) == 1:  # "J. Smith"
        return 2.5 if second == "." or second[:1].isupper() else -0.5
    if second == ",":  # "Smith, J.", "Smith, John"
        if third.isalpha() and (len(third) == 1 or third.isupper()):
            return 2.5
        return 1.5 if third[:1].isupper() else -1.0
    if second.isalpha() and second.isupper() and len(second) <= 3:  # "Smith JA", "John R. Smith"
        return 2.5
    if second[:1].isupper():  # "John Smith"
        return 1.0 if third in {",", ".", "and", "&", "("} or third[:1].isupper() else 0.0
    if second.casefold() in PARTICLES:  # "Ludwig van"
        return 1.0
    return 0.5 if second in {".", "("} else -0.5


def ending_evidence(text: str) -> float:
    """Return the evidence that a line ends a reference: positive for, negative against."""
    tail = text[-24:]
    last = text[-200:].rsplit(None, 1)[-1]
    if "://" in last or last.startswith(("www.", "10.", "doi:")):
        return 0.3
    if _ABBREVIATION.search(tail):
        return -3.5
    if _DATE_END.search(tail):
        return -1.0
    if _INITIAL_END.search(tail):
        return -1.5
    if _FULL_END.search(tail):
        return 1.0
    if tail[-1].isdigit():
        return 0.3
    return -1.5 if tail[-1].isalpha() and tail[-1].islower() else -0.5


def _room(lines: Sequence[Line]) -> list[float]:
    """Return the fill of each line but the last with the next word: 1 is the usual width."""
    lengths = sorted(len(line.text) for line in lines)
    usual = lengths[(9 * len(lengths) - 1) // 10]
    if usual < NARROWEST:
        return [0.0] * (len(lines) - 1)
    return [
        0.0 if len(before.text) > WIDEST else (len(before.text) + 1 + _first_word(line)) / usual
        for before, line in pairwise(lines)
    ]


def _first_word(line: Line) -> int:
    return len(line.text[:60].split(None, 1)[0])


def _break_evidence(lines: Sequence[Line], room: list[float]) -> list[float]:
    """Return the evidence for a break before each line; that before the first is 0."""
    evidence = [0.0]
    for (before, line), filled in zip(pairwise(lines), room, strict=True):
        points = next(points for limit, points in _ROOM if filled < limit)
        if line.after_gap and not line.after_page:
            points += GAP
        evidence.append(ending_evidence(before.text) + opening_evidence(line.text) + points)
    return evidence


def _regular_breaks(
    lines: Sequence[Line], evidence: list[float], few_full: bool
) -> list[tuple[list[int], tuple[float, float]]]:
    """Return the breaks of regular layouts, and their largest loss against the best ones."""
    rest = range(1, len(lines))
    parted = any(line.after_gap and not line.after_page for line in lines[1:])
    proposals = [([0, *rest], RAGGED_LINES if few_full and not parted else LINES)]
    if parted:
        # A page may end in the middle of a reference.
        gaps = [i for i in rest if lines[i].after_gap and not _is_cut(lines[i], evidence[i])]
        proposals.append(([0, *gaps], GAPS))
    of_page: dict[int, int] = {}
    for line in lines:
        of_page[line.page] = min(of_page.get(line.page, line.indent), line.indent)
    of_all = min(of_page.values())
    # Pages may be adjacent, each with an edge of its own; or one may begin no reference.
    for edges in (of_page, dict.fromkeys(of_page, of_all)):
        out = [line.indent == edges[line.page] for line in lines]
        if not all(out):
            proposals.append(([0, *(i for i in rest if out[i])], INDENTS))
            proposals.append(([0, *(i for i in rest if not out[i])], INDENTS))
    return proposals


def _is_cut(line: Line, evidence: float) -> bool:
    return line.after_page and evidence < -1.0


def _worth(breaks: list[int], evidence: list[float], dated: list[bool], cost: float) -> float:
    worth = 0.0
    for begin, end in zip(breaks, [*breaks[1:], len(dated)], strict=True):
        worth += evidence[begin] - (0.0 if any(dated[begin:end]) else cost)
    return worth


def _best_breaks(evidence: list[float], dated: list[bool], cost: float) -> list[int]:
    """Return the breaks of the largest worth: a path through "had a year yet" line by line."""
    worth = [0.0, float("-inf")] if not dated[0] else [float("-inf"), 0.0]
    steps: list[list[tuple[int, bool]]] = []  # by line and state: the state before, and a break?
    for here in range(1, len(dated)):
        ended = [worth[0] - cost, worth[1]]
        parent = 0 if ended[0] > ended[1] else 1
        fresh = int(dated[here])
        now, step = [float("-inf")] * 2, [(0, False)] * 2
        for state in (0, 1):
            to = max(state, fresh)
            if worth[state] > now[to]:
                now[to], step[to] = worth[state], (state, False)
        if ended[parent] + evidence[here] > now[fresh]:
            now[fresh], step[fresh] = ended[parent] + evidence[here], (parent, True)
        worth = now
        steps.append(step)
    state = 0 if worth[0] - cost > worth[1] else 1
    breaks = []
    for here in range(len(dated) - 1, 0, -1):
        state, begins = steps[here - 1][state]
        if begins:
            breaks.append(here)
    return [0, *reversed(breaks)]
