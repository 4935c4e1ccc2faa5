"""Writers of parsed references: BibTeX, CSL-JSON, RIS, JSON lines and CoNLL columns.

`FORMATS` lists all formats. BibTeX, CSL-JSON and RIS have modules of their own; `citation_keys`
makes the keys that they share.
"""

from trelliswork.citations.writing.formats import FORMATS

__all__ = ["FORMATS"]
