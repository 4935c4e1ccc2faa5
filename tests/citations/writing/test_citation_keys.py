import re

import pytest
from hypothesis import given, strategies as st

from reference_cases import REFERENCES, all_rendered
from trelliswork.citations import Name
from trelliswork.citations.reference import Reference
from trelliswork.citations.writing.citation_keys import citation_keys


def reference(*authors, title="", year="", **values):
    return Reference("", 0, 0, (), 1.0, authors=authors, title=title, year=year, **values)


SHANNON = reference(
    Name("Shannon", "C. E."), title="A Mathematical Theory of Communication", year="1948"
)


@pytest.mark.parametrize(
    ("cited", "key"),
    [
        (SHANNON, "shannon1948mathematical"),
        (reference(Name("Neumann", particle="von"), year="1945a"), "vonneumann1945"),
        (reference(Name("Gödel"), title="Über formal unentscheidbare Sätze"), "godelformal"),
        (reference(Name("Łukasiewicz"), Name("Tarski"), year="1930"), "lukasiewicz1930"),
        (reference(Name("O'Brien"), title="Kant’s World"), "obrienkants"),
        (reference(Name(literal="The ATLAS Collaboration"), year="2012"), "atlas2012"),
        (reference(title="The", year="1999"), "ref1999the"),
        (reference(editors=(Name("Fellbaum"),), title="WordNet"), "fellbaumwordnet"),
        (reference(container="Nature", year="1953"), "ref1953nature"),
        (reference(Name("王伟"), title="论文"), "ref"),
        (reference(), "ref"),
        (reference(Name("Shannon"), year="1948", key="Sha48"), "Sha48"),
        (
            reference(Name("Shannon"), year="1948", key="dblp:conf/it/Shannon48"),
            "dblp:conf/it/Shannon48",
        ),
        (reference(Name("Shannon"), year="1948", key="12"), "shannon1948"),
        (reference(Name("Shannon"), year="1948", key="Smith et al., 2003"), "shannon1948"),
    ],
)
def test_keys_say_who_when_and_what(cited, key):
    assert citation_keys([cited]) == [key]


def test_equal_keys_get_letters():
    keys = citation_keys([SHANNON] * 29)
    assert keys[:3] == ["shannon1948mathematical" + letter for letter in ("", "a", "b")]
    assert keys[26:] == ["shannon1948mathematical" + letter for letter in ("z", "aa", "ab")]


def test_a_letter_does_not_make_another_key():
    a, b = reference(Name("Ref")), reference(Name("Refa"))
    assert citation_keys([a, b, a, a]) == ["ref", "refa", "refb", "refc"]
    assert citation_keys([a, a, b]) == ["ref", "refa", "refaa"]


@given(st.lists(REFERENCES, max_size=5))
def test_keys_are_safe_and_differ(references):
    keys = citation_keys(references + references)
    assert len(set(keys)) == len(keys) == 2 * len(references)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_:.+/-]*", key) for key in keys)
    generated = [key for key, own in zip(keys, references + references, strict=True) if not own.key]
    assert all(re.fullmatch(r"[a-z][a-z0-9]*", key) for key in generated)


def test_many_references_have_keys():
    keys = citation_keys([reference for *_, reference in all_rendered()] + [SHANNON] * 5000)
    assert len(set(keys)) == len(keys)
