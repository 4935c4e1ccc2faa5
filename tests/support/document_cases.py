"""Common parts of the tests of documents."""

from __future__ import annotations

from trelliswork.citations.documents.list_lines import BLANKS


def assert_located(document, entry):
    """Each character is where the entry says; a blank may be any white space there."""
    assert entry.locate(0, len(entry.text)) == (entry.start, entry.end)
    for place, character in enumerate(entry.text):
        start, end = entry.locate(place, place + 1)
        assert end == start + 1
        assert document[start] == character or (character == " " and document[start] in BLANKS)
