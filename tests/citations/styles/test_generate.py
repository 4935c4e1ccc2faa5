import re
from dataclasses import fields
from random import Random

import pytest
from hypothesis import given, strategies as st

from trelliswork.citations import (
    FIELDS,
    STYLES,
    TOKENIZER,
    Noise,
    generate,
    load_works,
    render,
    split,
)
from trelliswork.citations.styles import noise as noises
from trelliswork.citations.styles.generate import label_tokens
from trelliswork.citations.styles.template import Piece

HEAVY = Noise(**{field.name: 0.3 for field in fields(Noise)})

pieces = st.lists(
    st.builds(Piece, st.text("abcdefghO01 .,;:-–()“'", min_size=1), st.sampled_from(FIELDS)),
    min_size=1,
    max_size=8,
)


def characters(pieces):
    return [(char, piece.label) for piece in pieces for char in piece.text]


@pytest.fixture(scope="module")
def references():
    return generate(load_works(), STYLES, seed=1, per_work=6)


@pytest.mark.parametrize("noise", [False, True, HEAVY], ids=["clean", "noisy", "heavy"])
def test_references_are_consistent(noise):
    for reference in generate(load_works(), STYLES, noise=noise, per_work=3):
        assert len(reference.tokens) == len(reference.labels) == len(reference.offsets)
        assert set(reference.labels) <= set(FIELDS)
        assert [reference.text[a:b] for a, b in reference.offsets] == list(reference.tokens)
        assert TOKENIZER.tokenize(reference.text).tokens == reference.tokens
        assert "date" in reference.labels
        assert "title" in reference.labels or (noise is HEAVY and "journal" in reference.labels)
        assert {"author", "editor"} & set(reference.labels)


def test_all_fields_and_all_styles_occur(references):
    assert {label for reference in references for label in reference.labels} == set(FIELDS)
    assert {reference.style for reference in references} == {style.name for style in STYLES}


def test_without_noise_the_text_is_the_rendering():
    work, style = load_works()[0], STYLES[0]
    (reference,) = generate([work], [style], noise=False)
    assert reference.text == "".join(piece.text for piece in render(work, style)).rstrip()
    assert (reference.work_id, reference.style) == (work.id, style.name)


def test_same_seed_same_references_in_any_company(references):
    works = load_works()[:40]
    assert generate(works, STYLES, seed=1, per_work=6) == references[: 40 * 6]
    assert generate(works, STYLES, seed=2, per_work=6) != references[: 40 * 6]
    alone = generate(works[7:8], STYLES, seed=1, per_work=6)
    assert alone == [reference for reference in references if reference.work_id == works[7].id]


@given(pieces, st.integers(0, 999))
def test_no_token_has_two_labels_after_noise(pieces, seed):
    noisy = noises.distort(pieces, HEAVY, Random(seed))
    owners = [label for _, label in characters(noisy)]
    reference = label_tokens(noisy, style="", work_id="", fields="parser")
    for (start, end), label in zip(reference.offsets, reference.labels, strict=True):
        assert set(owners[start:end]) == {label}


@given(pieces, st.integers(0, 999))
def test_noise_keeps_the_labels_of_what_it_leaves(pieces, seed):
    lost = noises.lose_marks(pieces, 0.5, Random(seed))
    remaining = iter(characters(pieces))
    assert all(character in remaining for character in characters(lost))
    broken = noises.break_words(pieces, 1.0, Random(seed))
    assert [piece.label for piece in broken] == [piece.label for piece in pieces]
    joined = [piece.text.replace("- ", "") for piece in broken]
    assert joined == [piece.text.replace("- ", "") for piece in pieces]


def test_each_noise_does_what_it_says():
    reference = [Piece("Cho, K. ", "author"), Piece("“Recognition.” ", "title")]

    def text(pieces):
        return "".join(piece.text for piece in pieces)

    rng = Random(0)
    assert text(noises.lose_marks(reference, 1.0, rng)) == "Cho K “Recognition” "
    assert text(noises.double_marks(reference, 1.0, rng)) == "Cho,, K.. “Recognition..” "
    assert text(noises.lose_spaces(reference, 1.0, rng)) == "Cho,K.“Recognition.” "
    assert re.search(r"Rec\w*- \w*ion", text(noises.break_words(reference, 1.0, rng)))
    assert noises.add_number(reference, rng)[0].label == "number"
    assert len({text(noises.change_marks(reference, rng)) for _ in range(20)}) == 3
    assert noises.keep_apart([Piece("a", "x"), Piece("b", "y")])[0].text == "a "
    assert text(noises.confuse_letters([Piece("modern", "title")] * 9, 1.0, rng)) != "modern" * 9


def test_noise_leaves_mandatory_fields():
    always = Noise(**{field.name: 100.0 for field in fields(Noise)})
    for work in load_works():
        varied = noises.vary_work(work, always, Random(0))
        if work.type == "article":
            assert varied.title == ""  # physicists do without
        else:
            assert varied.title.lower() == work.title.lower()
        assert varied.year.startswith(work.year)
        assert (varied.author or varied.editor) == (work.author or work.editor)
        assert not varied.doi


def test_line_break_hyphens_are_tokens_of_the_same_label():
    reference = label_tokens([Piece("recog- nition", "title")], style="", work_id="")
    assert reference.tokens == ("recog", "-", "nition")
    assert set(reference.labels) == {"title"}


def test_splits_share_no_work_and_no_style():
    works = load_works()
    parts = split(works, STYLES, seed=3, per_work=2)
    train, dev, new_works, new_styles = (
        {reference.work_id for reference in part}
        for part in (parts.train, parts.dev, parts.new_works, parts.new_styles)
    )
    assert new_works == new_styles
    assert not train & dev
    assert not train & new_works
    assert not dev & new_works
    assert train | dev | new_works == {work.id for work in works}
    known = {reference.style for reference in parts.train + parts.dev + parts.new_works}
    assert not known & {reference.style for reference in parts.new_styles}
    assert parts == split(works, STYLES, seed=3, per_work=2)
    assert parts != split(works, STYLES, seed=4, per_work=2)


def test_split_needs_something_to_train_on():
    with pytest.raises(ValueError, match="left to train on, got 3 and 4"):
        split(load_works()[:3], STYLES[:4])


def test_tokenize_splits_marks_off():
    text = "O'Brien, 27(3):379–423."
    assert list(TOKENIZER.tokenize(text).tokens) == [
        "O", "'", "Brien", ",", "27", "(", "3", ")", ":", "379", "–", "423", ".",
    ]  # fmt: skip
