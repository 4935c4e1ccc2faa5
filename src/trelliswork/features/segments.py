"""Where a segment of a reference probably starts: the patterns behind ``segment_start()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.features.program import NamedPattern

if TYPE_CHECKING:
    from collections.abc import Mapping

# Names with a dot cannot be declared, so these never clash with a user's.
SEGMENT_PATTERNS: Mapping[str, NamedPattern] = {
    # Sentence marks end a segment; the point of an initial ("J.") does not.
    "segment.end": NamedPattern(r"(.*[^A-Z.])?\.|.*[,;:?!]|.*[)\]\"”]"),
    "segment.start": NamedPattern(
        r"(?i)[(\[\"“].*|in|vol(ume)?\.?|nos?\.?|number|pages?|pp?\.|eds?\.?|edited|editors?"
        r"|proc(eedings)?\.?|tech(nical)?\.?|ph\.?d\.?|to|submitted|accepted|available|url|doi"
        r"|https?:.*",
    ),
}
