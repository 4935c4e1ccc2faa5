"""Where a segment of a reference probably starts: the patterns behind ``segment_start()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.features.program import NamedPattern

if TYPE_CHECKING:
    from collections.abc import Mapping

# Names with a dot cannot be declared, so these never clash with a user's.
SEGMENT_PATTERNS: Mapping[str, NamedPattern] = {
    # Closing marks, but not the point of an initial ("J."); opening marks that are tokens of their
    # own and words that announce a number, because what follows them is a segment.
    "segment.end": NamedPattern(
        r"(.*[^A-Z.])?\.|.*[,;:?!]|.*[)\]\"”]|[(\[“‘`'«]+"
        r"|[Pp]p\.?|[Pp]ages?|[Vv]ol(ume)?\.?|[Nn]o\.?"
    ),
    "segment.start": NamedPattern(
        r"(?i)[(\[\"“].+|in|vol(ume)?\.?|nos?\.?|number|pages?|pp?\.?|eds?\.?|edited|editors?"
        r"|proc(eedings)?\.?|tech(nical)?\.?|ph\.?d\.?|to|submitted|accepted|available|url|doi"
        r"|https?:.*",
    ),
}
