"""The parser that ships with the package: readings, places, and text that is no reference."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import trelliswork as tw
from trelliswork.citations import LABELS, Parser, parse
from trelliswork.citations.fresh import FRESH_REFERENCES
from trelliswork.citations.parser import LONGEST, default_parser, model_path
from trelliswork.constraints.reading import Reading
from trelliswork.errors import DataError
from trelliswork.taggers.load import load_saved

SHANNON = (
    "Shannon, C. E. (1948). A mathematical theory of communication. Bell System Technical Journal, "
    "27(3), 379–423. https://doi.org/10.1002/j.1538-7305.1948.tb01338.x"
)
LIST = f"""References

[1] {SHANNON[:100]}
    {SHANNON[100:]}
[2] J. Lafferty, A. McCallum, and F. Pereira. Conditional random fields: Probabilistic models
    for segmenting and labeling sequence data. In Proc. 18th International Conf. on Machine
    Learning, pages 282–289. Morgan Kaufmann, San Francisco, CA, 2001.
"""


def hard_rules():
    return [rule for rule in default_parser().tagger.plan_.constraints if not rule.is_soft]


def test_an_article_as_typed_values():
    (reference,) = parse(SHANNON)
    assert reference.type == "article"
    assert [(name.family, name.given) for name in reference.authors] == [("Shannon", "C. E.")]
    assert reference.title == "A mathematical theory of communication"
    assert reference.container == "Bell System Technical Journal"
    assert (reference.volume, reference.issue, reference.pages) == ("27", "3", "379-423")
    assert reference.year == "1948"
    assert reference.doi == "10.1002/j.1538-7305.1948.tb01338.x"
    assert 0.5 < reference.confidence <= 1.0


def test_fields_say_where_they_stand_in_the_document():
    first, second = parse(LIST)
    assert (first.key, second.key) == ("1", "2")
    assert LIST[first.start : first.end].startswith("Shannon")
    for reference in (first, second):
        for field in reference.fields:
            written = " ".join(LIST[field.start : field.end].split())
            assert written == field.text
            assert 0.0 <= field.confidence <= 1.0
    assert second.container.startswith("Proc. 18th International Conf")


def test_references_one_a_string_have_places_of_their_own():
    references = parse([SHANNON, FRESH_REFERENCES[3]])
    for text, reference in zip((SHANNON, FRESH_REFERENCES[3]), references, strict=True):
        assert (reference.start, reference.end) == (0, len(text))
        for field in reference.fields:
            assert text[field.start : field.end] == field.text


def test_a_string_is_read_as_it_would_be_in_a_document():
    wrapped = (
        "  Shannon, C. E. (1948). A mathe-\n   matical  theory of\tcommunication. Bell System "
    )
    wrapped += "Technical Journal,\n27(3), 379–\n423. "
    (alone,), (within,) = parse([wrapped]), parse(wrapped)
    assert alone == within
    assert alone.title == "A mathematical theory of communication"
    assert (alone.start, alone.end) == (2, len(wrapped) - 1)
    title = next(field for field in alone.fields if field.label == "title")
    assert wrapped[title.start : title.end].startswith("A mathe-\n")
    assert wrapped[title.start : title.end].endswith("communication")
    blank, last = parse([" \n ", SHANNON])
    assert (blank.text, blank.fields, blank.confidence) == ("", (), 0.0)
    assert last.year == "1948"


def test_alternatives_of_what_is_not_believed_are_not_believed():
    (reference,) = parse(["The quick brown fox jumps over the lazy dog."], alternatives=2)
    assert reference.alternatives
    for other in reference.alternatives:
        assert {other.confidence, *(field.confidence for field in other.fields)} == {0.0}


def test_many_references_in_one_string_are_one_uncertain_reference():
    (reference,) = parse([" ".join(FRESH_REFERENCES[:8])])
    assert reference.labels
    assert reference.confidence < 0.2


def test_works_that_the_model_has_not_seen():
    references = parse(FRESH_REFERENCES)
    years = "2017 2001 1989 1970 1953 1999 1940 2014 1997 1999 1992 1987"
    assert " ".join(reference.year for reference in references) == years
    titles = [reference.title for reference in references]
    assert sum(title in text for title, text in zip(titles, FRESH_REFERENCES, strict=True)) >= 10
    assert all(reference.authors for reference in references)


def test_every_record_is_possible():
    texts = [*FRESH_REFERENCES, SHANNON + " " + SHANNON, "Ann. Title. Ann. Title. 1999, 2000."]
    for reference in parse(texts):
        reading = Reading(reference.labels, None, "plain")
        assert not any(rule.degree(reading) for rule in hard_rules())


def test_fields_changed_by_rules_are_reported():
    references = [
        r for r in parse([SHANNON + " " + text for text in FRESH_REFERENCES]) if r.unruled
    ]
    assert references  # two references in one break rules
    for reference in references:
        assert reference.broken_rules
        assert [f.label for f in reference.unruled] != [f.label for f in reference.fields]


def test_alternatives():
    (reference,) = parse(SHANNON, alternatives=3)
    assert len(reference.alternatives) == 3
    chances = [reference.confidence, *(one.confidence for one in reference.alternatives)]
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) <= 1.0 + 1e-9


def test_exact_confidences_are_higher():
    (lazy,) = parse(SHANNON)
    (exact,) = parse(SHANNON, exact=True)
    assert exact.labels == lazy.labels
    # More rules take more away from the readings that break them.
    assert lazy.confidence - 1e-9 <= exact.confidence <= 1.0 + 1e-9


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog.",
        "def f(x): return x + 1",
        "12 13 14 15",
        "!!! ??? ...",
        "שלום עולם, זהו טקסט בעברית ואין בו שום הפניה",
    ],
)
def test_prose_gets_no_confidence(text):
    (reference,) = parse(text)
    assert reference.confidence == 0.0
    assert all(field.confidence == 0.0 for field in reference.fields)


@pytest.mark.parametrize("text", ["", " \n\t\n", [], [""]])
def test_empty_texts(text):
    assert [reference.fields for reference in parse(text)] in ([], [()])


def test_a_line_that_is_too_long_is_not_read():
    (reference,) = parse("word " * 20_000)
    assert reference.fields == ()
    assert reference.confidence == 0.0
    assert len(reference.text) <= LONGEST


@given(st.text(max_size=200))
@settings(max_examples=60)
def test_any_text_is_parsed(text):
    for reference in parse(text):
        assert set(reference.labels) <= set(LABELS)
        for field in reference.fields:
            assert 0 <= reference.start <= field.start <= field.end <= len(text)


def test_a_reference_without_a_title_may_be_one():
    (reference,) = parse("P. W. Anderson, Phys. Rev. 109, 1492 (1958).")
    assert reference.title == ""
    assert reference.confidence > 0.3


def test_wrong_input_is_named():
    with pytest.raises(DataError, match="a document as a string, or a list of strings, got int"):
        parse(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="alternatives: expected 0 or more, got -1"):
        parse("x", alternatives=-1)
    with pytest.raises(DataError, match="expected strings, got bytes at 1"):
        parse(["a", b"b"])  # type: ignore[list-item]


def test_other_models_are_refused():
    tagger = tw.CRFTagger(features="word[0]").fit([["a", "b"]], [["X", "Y"]])
    with pytest.raises(DataError, match=r"got one with X, Y\. `trelliswork cite train`"):
        Parser(tagger)


def test_the_model_is_small_and_under_the_shipped_rules():
    with model_path(None) as path:
        assert Path(path).stat().st_size < 1_000_000
        assert set(load_saved(path).labels_.segment_names) == set(LABELS)
    names = {repr(rule) for rule in hard_rules()}
    assert {"at_most(1, 'title')", "excludes('booktitle', 'journal')"} <= names
