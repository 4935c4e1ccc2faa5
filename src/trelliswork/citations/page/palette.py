"""The colours of fields, light and dark.

Hues stand for kinds of fields: people, titles, numbers, dates, publishers, reports, identifiers;
shades differ within a kind. Colours are never the only sign: fields have labels as tooltips, and
the legend filters.
"""

from __future__ import annotations

from colorsys import hls_to_rgb

from trelliswork.citations.fields import LABELS

__all__ = ["GROUNDS", "INKS", "OTHER", "Colour", "colour", "names_css", "palette_css"]

Colour = tuple[str, str]
"""The background and the underline of a word, as ``#rrggbb``."""

OTHER = "other"
"""The class of a label that is not one of `LABELS`."""

INKS = {"light": "#1b2028", "dark": "#e8eaee"}
"""The colour of text."""

GROUNDS = {"light": "#ffffff", "dark": "#1b1f26"}
"""The colour of the background outside fields."""

# Hue in degrees and step of lightness within the kind.
_HUES: dict[str, tuple[int, int]] = {
    "author": (212, 0),
    "editor": (212, 1),
    "translator": (212, 2),
    "title": (38, 0),
    "booktitle": (20, 1),
    "journal": (8, 0),
    "series": (20, 2),
    "volume": (150, 0),
    "issue": (150, 1),
    "pages": (172, 0),
    "edition": (172, 1),
    "number": (150, 2),
    "date": (278, 0),
    "publisher": (328, 0),
    "location": (328, 1),
    "institution": (306, 0),
    "tech": (60, 0),
    "doi": (192, 0),
    "url": (192, 1),
    "arxiv": (192, 2),
    "isbn": (232, 1),
    "note": (100, 1),
}


def colour(label: str, scheme: str) -> Colour:
    """Return the colours of a label in the scheme ``"light"`` or ``"dark"``."""
    if label not in _HUES:
        return ("#e9ebef", "#6b7480") if scheme == "light" else ("#343a44", "#98a1ad")
    hue, step = _HUES[label]
    if scheme == "light":
        return _hex(hue, 0.90 - 0.045 * step, 0.82 - 0.12 * step), _hex(hue, 0.36, 0.65)
    return _hex(hue, 0.23 + 0.035 * step, 0.52 - 0.07 * step), _hex(hue, 0.66, 0.58)


def palette_css() -> str:
    """Return the CSS rules with the colours of all labels."""
    return (
        "".join(_rule(label, "light") for label in (*LABELS, OTHER))
        + "@media (prefers-color-scheme:dark){"
        + "".join(_rule(label, "dark") for label in (*LABELS, OTHER))
        + "}\n"
    )


def _rule(label: str, scheme: str) -> str:
    ground, line = colour(label, scheme)
    return f".{label}{{--ground:{ground};--line:{line}}}"


def names_css() -> str:
    """Return the CSS rules with the names of the labels."""
    return "".join(f'.{label}{{--name:"{label}"}}' for label in (*LABELS, OTHER))


def _hex(hue: int, lightness: float, saturation: float) -> str:
    parts = hls_to_rgb(hue / 360, lightness, saturation)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)
