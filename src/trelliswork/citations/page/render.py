"""`render_page`: references as one self-contained HTML file.

The page works without its script and loads nothing: its content security policy allows its own
style and script, by their hashes, and no other.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING

from trelliswork.citations.page import palette
from trelliswork.citations.page.card import STEPS, card
from trelliswork.citations.page.marks import escape_text
from trelliswork.citations.page.summary import legend, summary
from trelliswork.citations.writing.bibtex import to_bibtex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.citations.reference import Reference

__all__ = ["render_page"]

MAX_OPEN = 25
"""A page with at most this many references shows all records open at first."""

CONTROLS = """<form class="controls" hidden>
<fieldset class="order"><legend class="unseen">Order</legend>
<label><input type="radio" name="sort" value="" checked>As listed</label>
<label><input type="radio" name="sort" value="confidence">Least certain first</label></fieldset>
<label>Field <select name="field"><option value="">any</option></select></label>
<label>Confidence below <input type="range" name="below" min="5" max="100" step="5" value="100">
<output>any</output></label>
<label><input type="checkbox" name="changed">Changed by rules</label>
<input type="search" name="text" placeholder="Search" aria-label="Search in the references">
<button type="button">Copy BibTeX</button>
<span role="status"></span>
</form>
"""


def render_page(
    references: Sequence[Reference], *, title: str = "References", source: str = ""
) -> str:
    """Return references as one self-contained HTML page.

    Parameters
    ----------
    references
        The references to show, in this order.
    title
        Title of the page.
    source
        Origin of the references, such as the name of a file; shown below the title.
    """
    style, script = _style(), _data("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    # All at once, so that keys are those of a file of all of them; an entry begins its line.
    entries = _ENTRY.split(to_bibtex(references))[1:]
    is_open = len(references) <= MAX_OPEN
    cards = "".join(
        card(number, reference, entry, is_open=is_open)
        for number, (reference, entry) in enumerate(zip(references, entries, strict=True), start=1)
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{summary(references, title, source)}"
        f'<nav aria-label="Fields and filters">{legend(references)}{CONTROLS}</nav>\n'
        f"<main>{cards or '<p>There are no references.</p>'}</main>\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


@lru_cache(maxsize=1)
def _style() -> str:
    steps = "".join(f".p{step}{{--part:{100 * step // STEPS}%}}" for step in range(STEPS + 1))
    grounds = {f"--{name}": shades for name, shades in _SHADES.items()}
    light, dark = (
        "".join(f"{name}:{shades[scheme]};" for name, shades in grounds.items())
        for scheme in ("light", "dark")
    )
    root = f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return root + palette.palette_css() + palette.names_css() + steps + _data("page.css")


_ENTRY = re.compile(r"^(?=@)", re.MULTILINE)
_SHADES = {"ink": palette.INKS, "paper": palette.GROUNDS}


@lru_cache(maxsize=2)
def _data(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the policy source that allows exactly this text."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
