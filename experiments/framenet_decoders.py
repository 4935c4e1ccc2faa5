"""Strategies of decoding: each role alone, beam search, and everything that `tw.assign` offers.

A strategy takes scored cases and returns for each the index of the span of every role, −1 where it
stays empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import trelliswork as tw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framenet_cases import Case
    from framenet_data import Frame
    from framenet_spans import HashArray, IntArray

    from trelliswork.constraints.base import Constraint
    from trelliswork.spans.solve import SpanMethod

EMPTY = -1


@dataclass(frozen=True)
class Decoded:
    """Answers for some cases.

    Attributes
    ----------
    choices : list of numpy.ndarray
        The span of every role of a case, or −1, shape ``(R,)``.
    tight : float or None
        Share of cases whose relaxation has an answer in whole numbers; None: no relaxation.
    proven : int or None
        How many answers are proven optimal; None: the strategy proves nothing.
    """

    choices: list[IntArray]
    tight: float | None = None
    proven: int | None = None


def decode_locally(cases: Sequence[Case]) -> Decoded:
    """Give each role its best span, whatever the others have."""
    choices = []
    for case in cases:
        best = case.scores.argmax(axis=0)
        top = np.take_along_axis(case.scores, best[None, :], axis=0)[0]
        choices.append(np.where(top > case.empty, best, EMPTY))
    return Decoded(choices)


def decode_by_beam(cases: Sequence[Case], width: int) -> Decoded:
    """Fill role by role, without overlaps; ``width`` partial answers survive each step.

    The search of SEMAFOR (Das et al. 2010): roles with the clearest best span come first, and rules
    between roles are not looked at.
    """
    return Decoded([_beam(case, width) for case in cases])


def decode_by_assign(
    cases: Sequence[Case], rules: Sequence[list[Constraint]], method: SpanMethod
) -> Decoded:
    """Decode with :func:`trelliswork.assign`, one batch, one thread."""
    tables = [
        tw.SpanTable(case.spans, case.target.frame.roles, case.scores, case.empty) for case in cases
    ]
    found = tw.assign(tables, list(rules), method, n_jobs=1)
    choices = []
    for case, answer in zip(cases, found, strict=True):
        rows = {(start, end): i for i, (start, end) in enumerate(case.spans.tolist())}
        filled = (answer.roles[role] for role in case.target.frame.roles)
        choices.append(np.array([EMPTY if s is None else rows[s] for s in filled]))
    tight = None
    if method in ("ad3", "lp"):
        tight = float(np.mean([answer.status in ("optimal", "unverified") for answer in found]))
    proven = sum(answer.status == "optimal" for answer in found)
    return Decoded(choices, tight, None if method in ("milp", "lp") else proven)


def rules_of(frame: Frame) -> list[Constraint]:
    """Return the constraints of a frame: no overlap, and both relations in both directions."""
    rules: list[Constraint] = [tw.no_overlap()]
    for first, second in frame.excludes:
        rules.append(tw.excludes(first, second))
    for first, second in frame.requires:
        rules += [tw.requires(first, second), tw.requires(second, first)]
    return rules


def _beam(case: Case, width: int) -> IntArray:
    covers = _cover(case.spans)  # (S, words)
    gains = case.scores.max(axis=0) - case.empty
    totals = np.zeros(1)
    covered = np.zeros((1, covers.shape[1]), dtype=np.uint64)
    steps: list[tuple[int, IntArray, IntArray]] = []  # role; for each survivor, parent and option
    for role in np.argsort(-gains, kind="stable").tolist():
        options = np.append(case.scores[:, role], case.empty[role])  # the last: leave it empty
        # Empty is always possible: where the beam is full, what is worse than the last one with it
        # cannot survive (with room for rounding: the selection below is what counts).
        full = len(totals) == width
        least = totals[-1] + options[-1] - 1e-6 if full else -np.inf
        counts = np.searchsorted(-totals, options - least, side="right")
        option = np.repeat(np.arange(len(options)), counts)
        parent = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        fits = ~(covered[parent] & covers[option]).any(axis=1)
        option, parent = option[fits], parent[fits]
        values = totals[parent] + options[option]
        if len(values) > width:
            kept = np.argpartition(-values, width - 1)[:width]
            option, parent, values = option[kept], parent[kept], values[kept]
        order = np.argsort(-values, kind="stable")
        option, parent, totals = option[order], parent[order], values[order]
        covered = covered[parent] | covers[option]
        steps.append((role, parent, option))
    found = np.full(len(gains), EMPTY)
    at = 0
    for role, parent, option in reversed(steps):
        found[role] = option[at] if option[at] < len(case.spans) else EMPTY
        at = int(parent[at])
    return found


def _cover(spans: IntArray) -> HashArray:
    """Return the tokens of each span as bits, with a last row for the empty span."""
    n_words = 1 + int(spans[:, 1].max(initial=0)) // 64
    tokens = np.arange(64 * n_words)
    inside = (spans[:, :1] <= tokens) & (tokens < spans[:, 1:])
    bits = np.uint64(1) << (tokens % 64).astype(np.uint64)
    words = np.where(inside, bits, np.uint64(0)).reshape(len(spans), n_words, 64).sum(axis=2)
    return np.concatenate([words, np.zeros((1, n_words), dtype=np.uint64)])
