from collections import Counter

import pytest
from hypothesis import given, strategies as st

from reference_cases import all_rendered
from trelliswork.citations.fields import LABELS
from trelliswork.citations.meaning.entry_types import guess_type
from trelliswork.citations.records import WORK_TYPES

A, T = {"author": "J. Smith"}, {"title": "On Nets"}


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (A | T | {"journal": "Nature"}, "article"),
        (T | {"journal": "Proceedings of the IEEE"}, "article"),
        (A | T | {"journal": "arXiv preprint arXiv:1706.03762"}, "preprint"),
        (A | T | {"booktitle": "Proceedings of ICML"}, "inproceedings"),
        (A | T | {"booktitle": "In 3rd Int. Conf. on Nets"}, "inproceedings"),
        (A | T | {"booktitle": "Actes du colloque"}, "inproceedings"),
        (A | T | {"booktitle": "Tagungsband"}, "inproceedings"),
        (A | T | {"booktitle": "ICML '94"}, "inproceedings"),
        (A | T | {"booktitle": "Essays 1999", "pages": "3-9"}, "incollection"),
        (A | T | {"booktitle": "Handbook of Nets", "editor": "B. Jones"}, "incollection"),
        (A | T | {"booktitle": "Studies in Nets", "publisher": "Springer"}, "book"),
        (A | T | {"tech": "PhD thesis", "institution": "MIT"}, "phdthesis"),
        (A | T | {"tech": "Dissertation"}, "phdthesis"),
        (A | T | {"tech": "thèse de doctorat"}, "phdthesis"),
        (A | T | {"tech": "Diplomarbeit"}, "mastersthesis"),
        (A | T | {"tech": "M.S. thesis"}, "mastersthesis"),
        (A | T | {"note": "Unpublished doctoral dissertation", "publisher": "MIT"}, "phdthesis"),
        (A | T | {"tech": "Tech. Rep. CS-94-12"}, "techreport"),
        (A | T | {"institution": "RAND Corporation"}, "techreport"),
        (A | T | {"tech": "RFC 2616", "institution": "IETF"}, "standard"),
        (A | T | {"tech": "[Computer software]", "url": "https://x.org"}, "software"),
        (A | T | {"url": "https://github.com/a/b"}, "software"),
        (A | T | {"arxiv": "1706.03762"}, "preprint"),
        (A | T | {"url": "https://www.w3.org"}, "webpage"),
        ({"editor": "J. Smith"} | T | {"publisher": "Springer"}, "collection"),
        (A | {"title": "Engineering Software", "publisher": "Springer"}, "book"),
        (A | T | {"edition": "2nd ed."}, "book"),
        (A | T, "misc"),
        ({}, "misc"),
    ],
)
def test_types(texts, kind):
    assert guess_type(texts) == kind


@given(st.dictionaries(st.sampled_from(LABELS), st.text(max_size=20)))
def test_any_fields_have_a_type(texts):
    assert guess_type(texts) in (*WORK_TYPES, "misc")


def test_types_of_the_shipped_works_in_all_styles():
    right, seen = Counter(), Counter()
    for work, _, reference in all_rendered():
        seen[work.type] += 1
        right[work.type] += reference.type == work.type
    # Some styles say nowhere that a program is one, or that a book with a title of its own holds
    # the papers of a conference.
    floors = dict.fromkeys(WORK_TYPES, 0.99) | {
        "inproceedings": 0.95,
        "webpage": 0.85,
        "software": 0.45,
    }
    assert {
        kind: right[kind] / seen[kind] for kind in seen if right[kind] < floors[kind] * seen[kind]
    } == {}
    assert sum(right.values()) >= 0.98 * sum(seen.values())
