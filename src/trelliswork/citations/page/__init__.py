"""References as a self-contained HTML page.

`render` combines a summary and a legend (`summary`) with a `card` for each reference: its text with
`marks` around fields, and its `record`. `palette` has the colours of fields. The style sheet
``page.css`` and the script ``page.js`` are written into the page.

Imports `writing.bibtex`, `records`, `reference` and `fields`.
"""

from trelliswork.citations.page.render import render_page

__all__ = ["render_page"]
