"""Segments of label sequences: reading, writing, and conversion between schemes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trelliswork.errors import LabelError
from trelliswork.labels.schemes import OUTSIDE, check_sequence, continued_levels, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.data.sentence import Label
    from trelliswork.labels.schemes import Levels, Scheme


class Span(NamedTuple):
    """A segment: tokens ``start`` to ``end`` (exclusive), and its name."""

    start: int
    end: int
    name: str


def spans(
    labels: Sequence[Label],
    scheme: Scheme,
    *,
    strict: bool = False,
    level: int | None = None,
    outside: str | None = None,
) -> list[Span]:
    """Return the segments of a label sequence, in order, outer before inner.

    A label that is ``None`` or a set belongs to no segment.

    Parameters
    ----------
    labels
        The labels.
    scheme
        The scheme of the labels.
    strict
        ``False``: the rule of the module, so that ``I-x`` after ``O`` begins a segment, as in
        ``conlleval``. ``True``: a segment counts only where its own tags are valid: it begins as
        its scheme demands (B, S or U; in iob1 a B only right after the same name) and, in bioes
        and bilou, ends with E, L, S or U.
    level
        With paths, the level to return: 1 is the outermost. ``None``: all.
    outside
        The plain label that is no segment. ``None``: every maximal run is a segment.

    Returns
    -------
    list of Span
        ``(start, end, name)``, `end` exclusive. With paths a segment is a path prefix and its
        name joins the names of its levels: ``"authors/person"``.
    """
    if level is not None and level < 1:
        raise ValueError(f"level: expected 1 (the outermost) or more, got {level}.")
    if level not in (None, 1) and scheme != "path":
        raise ValueError(f"level: {scheme} labels have one level, got {level}. Leave it out.")
    if scheme != "path" and not strict:
        return _flat_spans(labels, scheme, outside)
    found: list[tuple[int, int, int, str]] = []
    open_at: list[tuple[int, bool]] = []  # a level's start, and whether it began validly
    previous: Levels = ()

    def close(end: int, depth: int) -> None:
        while len(open_at) > depth:
            start, valid = open_at.pop()
            k = len(open_at)
            closed = scheme not in ("bioes", "bilou") or previous[k][0] in "ES"
            if (not strict or (valid and closed)) and level in (None, k + 1):
                name = "/".join(name for _, name in previous[: k + 1])
                found.append((start, k, end, name))

    for position, label in enumerate(labels):
        levels = parse(label, scheme, outside) if isinstance(label, str) else ()
        depth = continued_levels(previous, levels)
        if depth < len(open_at):
            close(position, depth)
        open_at += [
            (position, _begins_validly(previous, levels, k, scheme))
            for k in range(depth, len(levels))
        ]
        previous = levels
    close(len(labels), 0)
    return [Span(start, end, name) for start, _, end, name in sorted(found)]


def _flat_spans(labels: Sequence[Label], scheme: Scheme, outside: str | None) -> list[Span]:
    """Return the segments of labels with one level, valid or not."""
    found: list[Span] = []
    start = 0
    previous: Levels = ()
    last: Label = None
    goes_on = True  # whether a label equal to the last one changes nothing
    for position, label in enumerate(labels):
        if goes_on and label == last:
            continue
        levels = parse(label, scheme, outside) if isinstance(label, str) else ()
        if previous and not continued_levels(previous, levels):
            found.append(Span(start, position, previous[0][1]))
            previous = ()
        if not previous:
            start = position
        previous, last = levels, label
        goes_on = not levels or levels[0][0] == "I"
    if previous:
        found.append(Span(start, len(labels), previous[0][1]))
    return found


def _begins_validly(previous: Levels, levels: Levels, k: int, scheme: Scheme) -> bool:
    tag, name = levels[k]
    if scheme == "plain":
        return True
    if scheme == "iob1":
        return tag == "I" or (len(previous) > k and previous[k][1] == name)
    return tag in "BS"


def tag_spans(
    segments: Iterable[tuple[int, int, str]],
    length: int,
    scheme: Scheme,
    *,
    outside: str = OUTSIDE,
) -> list[str]:
    """Return the labels of flat segments: the inverse of `spans` for all schemes but paths.

    Parameters
    ----------
    segments
        ``(start, end, name)``, `end` exclusive, not overlapping.
    length
        The number of tokens.
    scheme
        The scheme to write; in ``"plain"`` neighbouring segments of one name run together.
    outside
        The label of tokens in no segment.
    """
    if scheme == "path":
        raise LabelError("Expected flat labels: paths nest, and do not convert to other schemes.")
    labels = [outside] * length
    last_end, last_name = 0, None
    for start, end, name in sorted(segments):
        if not last_end <= start < end <= length:
            raise LabelError(
                f"Segment ({start}, {end}, {name!r}) is empty, overlaps another or leaves the "
                f"sequence of {length} tokens."
            )
        touches = start == last_end and name == last_name
        for position in range(start, end):
            tag = _tag(position - start, end - start, touches, scheme)
            labels[position] = name if scheme == "plain" else f"{tag}-{name}"
        last_end, last_name = end, name
    return labels


def _tag(offset: int, length: int, touches: bool, scheme: Scheme) -> str:
    """Return the tag of token `offset` of a segment; `touches`: one of the same name ends here."""
    first, last = offset == 0, offset == length - 1
    if scheme in ("bioes", "bilou"):
        closing, single = ("E", "S") if scheme == "bioes" else ("L", "U")
        if last:
            return single if first else closing
        return "B" if first else "I"
    if scheme == "iob1":
        return "B" if first and touches else "I"
    return "B" if first else "I"


def convert(
    labels: Sequence[str],
    source: Scheme,
    target: Scheme,
    *,
    repair: bool = False,
    outside: str = OUTSIDE,
) -> list[str]:
    """Return the same segments in another scheme.

    Parameters
    ----------
    labels
        The labels to convert.
    source, target
        Their scheme and the wanted one; not ``"path"``.
    repair
        ``False``: a sequence that breaks its scheme is an error. ``True``: it is read as
        ``conlleval`` does, so that ``convert(x, "bio", "bio", repair=True)`` mends it.
    outside
        The plain label that is no segment.

    Raises
    ------
    LabelError
        If the labels break their scheme, or are paths.
    """
    if "path" in (source, target):
        raise LabelError("Expected flat schemes: paths nest, and do not convert to other schemes.")
    if not repair:
        check_sequence(labels, source)
    segments = spans(labels, source, outside=outside)
    return tag_spans(segments, len(labels), target, outside=outside)
