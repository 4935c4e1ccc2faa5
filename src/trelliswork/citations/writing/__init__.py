"""Writers of parsed references: BibTeX, CSL-JSON, RIS, JSON lines and CoNLL columns.

`formats` lists all formats as `FORMATS`, and writes JSON lines and CoNLL itself. `bibtex`,
`csl_json` and `ris` have modules of their own; `citation_keys` makes the keys of the first two.

Imports `records`, `documents.latex`, `reference`, `fields` and `data`.
"""

from trelliswork.citations.writing.formats import FORMATS

__all__ = ["FORMATS"]
