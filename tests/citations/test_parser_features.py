"""The templates of the reference parser: their features, their use, and their place in files."""

from __future__ import annotations

import pytest

import trelliswork as tw
from trelliswork.citations.learning import parser_templates
from trelliswork.data.tokenizer import Tokenizer
from trelliswork.features import TemplateEncoder

TEXT = (
    "Knuth, D. E. (1984). “Literate programming.” The Computer Journal, 27(2), 97-111. "
    "Oxford University Press"
)
REFERENCE = list(Tokenizer("words").tokenize(TEXT).tokens)


def features_of(tokens: list[str]) -> list[set[str]]:
    """Return the names of the features of every token."""
    encoder = TemplateEncoder(parser_templates())
    rows = encoder.fit([tokens]).state.to_scipy().tocsr()
    names = encoder.feature_names()
    return [{names[i] for i in rows[[t]].indices} for t in range(len(tokens))]


@pytest.mark.parametrize(
    ("token", "feature"),
    [
        ("Knuth", "match(name_like, word[0])|match(name_like, word[1])"),
        ("1984", "match(year, word[0])"),
        ("“", "match(quote, word[0])"),
        ("Journal", "in(journalwords, word[0])=B"),
        ("Press", "in(publishers, word[0])=I"),
    ],
)
def test_tokens_have_the_features_of_their_kind(token: str, feature: str) -> None:
    tokens = [*REFERENCE[:1], "Donald", *REFERENCE[1:]]
    found = features_of(tokens)
    assert feature in found[tokens.index(token)]


def test_every_lexicon_and_pattern_is_read_by_a_rule() -> None:
    templates = parser_templates()
    rules = "\n".join(templates.names)
    declared = [*templates.lexicons, *(name for name in templates.patterns if "." not in name)]
    assert [name for name in declared if f"({name}, " not in rules] == []


def test_lexicons_are_folded_and_free_of_repetitions() -> None:
    for name, lexicon in parser_templates().lexicons.items():
        assert len(set(lexicon.phrases)) == len(lexicon.phrases), name
        if not lexicon.cased:
            assert list(lexicon.phrases) == [phrase.lower() for phrase in lexicon.phrases], name


def test_a_phrase_is_found_with_and_without_its_marks_split_off() -> None:
    split, joined = features_of(["Springer", "-", "Verlag"]), features_of(["Springer-Verlag"])
    assert "in(publishers, word[0])=I" in split[2]
    assert "in(publishers, word[0])=B" in joined[0]


def test_templates_are_read_once() -> None:
    assert parser_templates() is parser_templates()


def test_segment_rules_are_added_for_models_of_segments_only() -> None:
    assert not parser_templates().has_segments
    assert parser_templates(segments=True).has_segments


@pytest.mark.parametrize("max_segment", [1, "auto"])
def test_taggers_learn_with_them(max_segment: int | str) -> None:
    labels = (
        ["author"] * 6
        + ["date"] * 4
        + ["title"] * 5
        + ["journal"] * 4
        + ["volume"] * 5
        + ["pages"] * 4
        + ["publisher"] * 3
    )
    templates = parser_templates(segments=max_segment != 1)
    tagger = tw.CRFTagger(features=templates, max_segment=max_segment, max_iter=30)
    tagger.fit([REFERENCE], [labels])
    assert tagger.predict([REFERENCE]) == [labels]
