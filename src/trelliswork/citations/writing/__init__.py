"""From references to files: BibTeX, CSL-JSON, RIS, JSON lines and CoNLL columns.

Each format has a module of its own, `FORMATS` names them all, and citation keys are the same in
every one of them.
"""

from trelliswork.citations.writing.formats import FORMATS

__all__ = ["FORMATS"]
