"""From documents to single references: where each one begins and ends.

A list as it stands in a paper, or a ``.bbl`` file, is cut into entries whose words are joined again
where lines broke them, and which know where they stood. LaTeX is read and written here, too.
"""

from trelliswork.citations.documents.entry import Entry
from trelliswork.citations.documents.split import split_references

__all__ = ["Entry", "split_references"]
