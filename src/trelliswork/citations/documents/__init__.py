"""Documents cut into single references.

`split` cuts a list in a paper or a ``.bbl`` file into entries (`entry`): words broken at line ends
are joined, and every character keeps its place in the document. `bbl` reads ``.bbl`` files. For
lists, `list_beginning` finds the heading, `list_lines` leaves out `running_heads` and page numbers,
`list_marks` reads numbers and keys, `list_breaks` weighs line ends by the words of `list_words`.
`latex` converts LaTeX to plain text and back.

Imports `errors` alone.
"""

from trelliswork.citations.documents.entry import Entry
from trelliswork.citations.documents.split import split_references

__all__ = ["Entry", "split_references"]
