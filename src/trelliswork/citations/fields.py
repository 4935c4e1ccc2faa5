"""The labels of the tokens of a reference, as the parser knows them.

Punctuation belongs to the field it follows, "In" to the editors or the booktitle it introduces,
"pp." to the pages, "vol." to the volume, "(Eds.)" to the editors.
"""

LABELS = (
    "author",
    "editor",
    "translator",
    "title",
    "journal",
    "booktitle",
    "series",
    "volume",
    "issue",
    "pages",
    "date",
    "edition",
    "publisher",
    "location",
    "institution",
    "tech",
    "doi",
    "url",
    "arxiv",
    "isbn",
    "note",
    "number",
)
"""What a token may be.

``tech`` is the kind and the number of a report, a thesis, a standard or a preprint ("Tech. Rep.
CS-94-12", "PhD thesis"), ``institution`` who issued it, ``isbn`` an ISBN or ISSN, ``number`` the
number or key a list puts in front of a reference ("[12]").
"""
