"""The head of the page: the number of references, their confidences, and the legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.citations.fields import LABELS
from trelliswork.citations.page.marks import class_of, escape_text, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.reference import Reference

__all__ = ["counts_of", "histogram", "legend", "summary"]

BINS = 10
WIDTH, HEIGHT = 240, 56  # of the histogram, in pixels


def summary(references: Sequence[Reference], title: str, source: str) -> str:
    """Return the heading and the numbers."""
    numbers = [
        _number(f"{len(references):,}", "references" if len(references) != 1 else "reference")
    ]
    picture = ""
    if references:
        mean = sum(reference.confidence for reference in references) / len(references)
        changed = sum(bool(reference.unruled) for reference in references)
        numbers.append(_number(percent(mean), "mean confidence"))
        numbers.append(_number(f"{changed:,}", "changed by rules"))
        picture = histogram([reference.confidence for reference in references])
    below = f'<p class="source" dir="auto">{escape_text(source)}</p>' if source else ""
    return (
        f'<header class="page"><div><h1 dir="auto">{escape_text(title)}</h1>{below}</div>'
        f"<dl>{''.join(numbers)}</dl>{picture}</header>\n"
    )


def _number(value: str, name: str) -> str:
    return f"<div><dt>{name}</dt><dd>{value}</dd></div>"


def counts_of(confidences: Sequence[float]) -> list[int]:
    """Return the number of confidences in each tenth; 1 belongs to the last."""
    counts = [0] * BINS
    for confidence in confidences:
        counts[min(BINS - 1, max(0, int(BINS * confidence)))] += 1
    return counts


def histogram(confidences: Sequence[float]) -> str:
    """Return a histogram of the confidences as SVG."""
    counts = counts_of(confidences)
    most, wide = max(counts), WIDTH / BINS
    bars = []
    for place, count in enumerate(counts):
        # One reference among thousands is to be seen, too.
        high = max(2.0, HEIGHT * count / most) if count else 0.0
        low, top = place * BINS, (place + 1) * BINS
        bars.append(
            f'<rect x="{place * wide + 1:g}" y="{HEIGHT - high:g}" width="{wide - 2:g}" '
            f'height="{high:g}" rx="2"><title>{count:,} from {low}% to {top}%</title></rect>'
        )
    description = ", ".join(
        f"{count:,} from {place * BINS}% to {(place + 1) * BINS}%"
        for place, count in enumerate(counts)
        if count
    )
    return (
        f'<svg class="histogram" viewBox="0 0 {WIDTH} {HEIGHT + 14}" width="{WIDTH}" '
        f'height="{HEIGHT + 14}" role="img" aria-label="References by confidence: {description}">'
        f"{''.join(bars)}"
        f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT + 0.5}" y2="{HEIGHT + 0.5}"/>'
        f'<text x="0" y="{HEIGHT + 12}">0%</text>'
        f'<text x="{WIDTH / 2:g}" y="{HEIGHT + 12}" text-anchor="middle">confidence</text>'
        f'<text x="{WIDTH}" y="{HEIGHT + 12}" text-anchor="end">100%</text></svg>'
    )


def legend(references: Sequence[Reference]) -> str:
    """Return the labels that occur, each in its colour, in the order of `LABELS`."""
    seen = {field.label for reference in references for field in reference.fields}
    ordered = [label for label in LABELS if label in seen]
    ordered += sorted(seen.difference(LABELS))
    items = "".join(
        f'<li><mark class="{class_of(label)}" data-label="{class_of(label)}">{escape_text(label)}'
        "</mark></li>"
        for label in ordered
    )
    names = '<label class="names"><input type="checkbox">Show names</label>'
    return f'<div class="legend"><ul aria-label="Fields">{items}</ul>{names if items else ""}</div>'
