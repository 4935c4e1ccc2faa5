"""Files of other formats: refused with what to do, and never read as columns."""

from __future__ import annotations

import gzip
import json
import pickle
import zipfile
import zlib

import pytest

import trelliswork as tw
from trelliswork.data.other_formats import text_format
from trelliswork.errors import DataError

BRAT = """\
T1\tPerson 0 5\tSteve
T2\tOrganization 16 21;23 25\tApple
R1\tWorks_for Arg1:T1 Arg2:T2
"""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (BRAT, "brat"),
        ("R1\tWorks_for Arg1:T1 Arg2:T2\n", "brat"),
        ("E1\tAttack:T1 Agent:T2\n", "brat"),
        ("#1\tAnnotatorNotes T1\tsure\n", "brat"),
        ('{"tokens": ["Ann"], "labels": ["B-PER"]}\n', "JSON"),
        ('[{"text": "Ann"}]\n', "JSON"),
        ('{"text":\n "Ann"}\n', "JSON"),
        ("{\n}\n", "JSON"),
        ('<?xml version="1.0"?>\n<TEI/>\n', "XML"),
        ("<!DOCTYPE html>\n", "XML"),
        ("<doc id=\"1\" url='x'>\n", "XML"),
    ],
)
def test_text_of_other_formats_is_refused(tmp_path, text, kind):
    path = tmp_path / "data.conll"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"data\.conll:1: expected columns, got {kind}"):
        tw.read_conll(path)
    path.write_text(f"\n  \n{text}")
    with pytest.raises(DataError, match=r"data\.conll:3: "):
        tw.read_conll(path)


@pytest.mark.parametrize(
    "line",
    ["Ann B-PER", "[ O", "{ O", "<s> O", "T1 O", "T1\tO", "1,000\tO", "<a>\tO", '"\tO', "[1]\tO"],
)
def test_columns_that_look_odd_are_columns(line, tmp_path):
    assert text_format(line) is None
    path = tmp_path / "data.conll"
    path.write_text(f"{line}\n")
    ((sentence),) = tw.read_conll(path)
    assert [*sentence.tokens, *sentence.labels] == line.split()


def spreadsheet(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "x" * 1000)


@pytest.mark.parametrize(
    ("write", "kind"),
    [
        (spreadsheet, "a zip archive, such as a spreadsheet"),
        (lambda path: path.write_bytes(zlib.compress(bytes(range(256)))), "spaCy"),
        (lambda path: path.write_bytes(pickle.dumps([b"\xff"])), "a Python pickle"),
        (lambda path: path.write_bytes(gzip.compress(b"Ann O\n")), "gzip data without .gz"),
        (lambda path: path.write_bytes(b"%PDF-1.7\n\xff\xfe"), "a PDF"),
        (lambda path: path.write_text("Ann O\n", encoding="utf-16"), "UTF-16"),
    ],
)
def test_binary_files_are_refused_by_name(tmp_path, write, kind):
    path = tmp_path / "data.conll"
    write(path)
    for read in (tw.read_conll, tw.read_jsonl):
        with pytest.raises(DataError, match=rf"data\.conll: expected text, got .*{kind}"):
            read(path)


def test_a_model_is_no_data(tmp_path):
    path = tmp_path / "m.tw"
    tw.CRFTagger(features="word[0]", max_iter=1).fit([["a", "b"]], [["X", "Y"]]).save(path)
    with pytest.raises(DataError, match="expected text, got a trelliswork model"):
        tw.read_conll(path)


def test_json_lines_are_read_by_their_reader(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({"tokens": ["Ann"], "labels": ["B-PER"]}) + "\n")
    assert tw.read_jsonl(path)[0].labels == ("B-PER",)
