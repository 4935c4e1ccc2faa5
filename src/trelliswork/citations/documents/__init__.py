"""Documents cut into single references.

A list in a paper, or a ``.bbl`` file, is cut into entries. Words broken at line ends are joined,
and every character keeps its place in the document. `latex` converts LaTeX to plain text and back.
"""

from trelliswork.citations.documents.entry import Entry
from trelliswork.citations.documents.split import split_references

__all__ = ["Entry", "split_references"]
