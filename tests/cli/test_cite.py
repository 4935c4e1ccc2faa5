"""``trelliswork cite``: from lists to records, pages, forms and models."""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess

import pytest

from commands import PROGRAM, fail, run
from trelliswork.citations.fresh import FRESH_REFERENCES

LIST = "\n".join(f"[{i}] {text}" for i, text in enumerate(FRESH_REFERENCES, start=1)) + "\n"


@pytest.fixture
def references(tmp_path):
    path = tmp_path / "refs.txt"
    path.write_text(LIST, encoding="utf-8")
    return path


def test_bibtex_is_the_default(references):
    result = run("cite", references)
    assert result.exit_code == 0, result.output
    assert result.stdout.count("\n@") == len(FRESH_REFERENCES) - 1
    assert "@inproceedings{vaswani2017attention," in result.stdout
    assert "12 references" in result.stderr


@pytest.mark.parametrize("name", ["bibtex", "csl-json", "ris", "jsonl", "conll"])
def test_every_format_from_standard_input(name):
    result = run("cite", "--to", name, stdin=LIST)
    assert result.exit_code == 0, result.output
    assert "Vaswani" in result.stdout


def test_json_lines_hold_everything(references):
    result = run("cite", references, "--to", "jsonl", "--alternatives", "1")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(records) == len(FRESH_REFERENCES)
    for record in records:
        assert len(record["alternatives"]) == 1
        for field in record["fields"]:
            assert LIST[field["start"] : field["end"]] == field["text"]
    assert [record["key"] for record in records] == [str(i) for i in range(1, 13)]


def test_a_page_alone_or_with_records(references, tmp_path):
    page, records = tmp_path / "refs.html", tmp_path / "refs.bib"
    result = run("cite", references, "--html", page)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "<html" in page.read_text(encoding="utf-8")
    assert str(page) in result.stderr.replace("\n", "")
    run("cite", references, "--html", page, "--output", records)
    assert records.read_text(encoding="utf-8").startswith("@")


def test_a_bbl_file(tmp_path):
    path = tmp_path / "paper.bbl"
    path.write_text(
        "\\begin{thebibliography}{1}\n\\bibitem{sh}\nC.~E. Shannon.\n\\newblock A mathematical "
        "theory of communication.\n\\newblock {\\em Bell System Technical Journal}, "
        "27(3):379--423, 1948.\n\\end{thebibliography}\n"
    )
    result = run("cite", path)
    assert "journal = {Bell System Technical Journal}" in result.stdout
    assert "pages = {379--423}" in result.stdout


def test_review_then_train(references, tmp_path):
    form, model = tmp_path / "review.txt", tmp_path / "mine.tw"
    result = run("cite", "review", references, "--most", "2", "--output", form)
    assert result.exit_code == 0, result.output
    text = form.read_text(encoding="utf-8")
    assert text.count("\n===") == 2
    result = run("cite", "train", "--add", form, "--out", model)
    assert result.exit_code == 0, result.output
    assert "2 references to learn from" in result.stderr
    assert run("cite", references, "--model", model).exit_code == 0


def test_corrections_that_no_record_can_have_are_named(references, tmp_path):
    form, model = tmp_path / "review.txt", tmp_path / "mine.tw"
    run("cite", "review", references, "--most", "1", "--output", form)
    lines = form.read_text(encoding="utf-8").splitlines()
    fields = [i for i, line in enumerate(lines) if line[:2] in ("  ", "? ") and ":" in line]
    for i in (fields[0], fields[-1]):
        lines[i] = "  title: " + lines[i][2:].partition(":")[2].strip()
    form.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run("cite", "train", "--add", form, "--out", model)
    assert result.exit_code == 0, result.output
    assert "1 of the corrected references break at_most(1, 'title')" in result.stderr


def test_unread_references_are_counted():
    result = run("cite", stdin="word " * 2000)
    assert "1 reference, 1 uncertain" in result.stderr
    assert "1 not read: more than 3,000 characters" in result.stderr


def test_adapt(references, tmp_path):
    model = tmp_path / "mine.tw"
    result = run("cite", "adapt", references, "--out", model)
    assert result.exit_code == 0, result.output
    assert "12 references are few" in result.stderr
    assert run("cite", references, "--model", model).stdout.startswith("@")


def test_train_from_records(tmp_path):
    records, model = tmp_path / "my.bib", tmp_path / "mine.tw"
    records.write_text(
        "@article{a, author={Ann Lee}, title={Nets}, journal={J. Nets}, year=1999, volume=3}\n"
        "@misc{b, note={nothing}}\n"
    )
    result = run("cite", "train", "--from", records, "--out", model)
    assert result.exit_code == 0, result.output
    assert "1 records, 1 skipped" in result.stderr
    assert model.exists()


def test_help_teaches():
    for arguments in (["cite", "--help"], ["cite", "parse", "--help"], ["cite", "train", "-h"]):
        result = run(*arguments)
        assert result.exit_code == 0
        assert "trelliswork cite" in result.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"%PDF-1.7\n...", "pdftotext"),
        (b"abc\xff\xfe\xfa def", "expected UTF-8, got byte 0xff"),
        (b"abc\0def", "NUL"),
    ],
)
def test_binary_input_is_refused(tmp_path, content, message):
    path = tmp_path / "refs.txt"
    path.write_bytes(content)
    assert message in fail("cite", path)


def test_other_mistakes_are_named(tmp_path, references):
    assert "No such file" in fail("cite", tmp_path / "missing.txt")
    assert "labels among" in fail("cite", references, "--model", _other_model(tmp_path))
    wrong = tmp_path / "records.txt"
    wrong.write_text("x")
    assert ".bib, .json" in fail("cite", "train", "--from", wrong, "--out", tmp_path / "m.tw")
    assert "--add or --from" in fail("cite", "train", "--model", wrong, "--out", tmp_path / "m.tw")


@pytest.mark.parametrize(
    "command", [["train"], ["adapt", "refs.txt"], ["parse", "refs.txt"], ["review", "refs.txt"]]
)
def test_unwritable_outputs_fail_before_any_work(tmp_path, references, command):
    command = [str(references) if word == "refs.txt" else word for word in command]
    option = "--out" if command[0] in ("train", "adapt") else "--output"
    missing = tmp_path / "missing" / "m.tw"
    assert "no such directory" in fail("cite", *command, option, missing)
    assert "expected a file, got a directory" in fail("cite", *command, option, tmp_path)


def test_compressed_files(tmp_path, references):
    packed = tmp_path / "refs.txt.gz"
    packed.write_bytes(gzip.compress(references.read_bytes()))
    assert run("cite", packed).stdout == run("cite", references).stdout
    packed.write_bytes(packed.read_bytes()[:-20])
    assert "damaged gzip data" in fail("cite", packed)


def test_forms_and_records_that_are_no_text_are_named(tmp_path):
    for option, name in (("--add", "review.txt"), ("--from", "my.bib")):
        path = tmp_path / name
        path.write_bytes(b"=== 1\n\xff\xfe")
        message = fail("cite", "train", option, path, "--out", tmp_path / "m.tw")
        assert f"{name}:2: expected UTF-8, got byte 0xff" in message.replace("\n", "")


def test_a_file_with_the_name_of_a_command(references, monkeypatch):
    monkeypatch.chdir(references.parent)
    references.rename("train")
    assert run("cite", "./train").stdout.startswith("@")
    assert run("cite", "--", "train").stdout.startswith("@")


def test_references_that_were_not_read_are_not_counted_for_review(tmp_path):
    path = tmp_path / "refs.txt"
    path.write_text("word " * 3000 + "\n\n" + FRESH_REFERENCES[0] + "\n", encoding="utf-8")
    result = run("cite", "review", path)
    assert result.stdout.count("\n===") == 1
    assert "1 of 1 references to review" in result.stderr


def test_empty_input():
    result = run("cite", stdin="\n\n")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "No references" in result.stderr


def _other_model(directory):
    import trelliswork as tw

    path = directory / "other.tw"
    tw.CRFTagger(features="word[0]").fit([["a", "b"]], [["X", "Y"]]).save(path)
    return path


@pytest.mark.parametrize(
    ("closed", "said"),
    [
        ("<&-", "standard input is closed"),
        (">&-", "standard output is closed"),
        ("2>&-", ""),
    ],
)
def test_closed_streams(references, tmp_path, closed, said):
    source = "-" if closed == "<&-" else references
    out = tmp_path / "out.bib"
    target = f'> "{out}"' if closed == "2>&-" else ""
    command = f'{shlex.join(PROGRAM)} cite parse "{source}" {target} {closed}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, encoding="utf-8", check=False)
    if said:
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    else:
        assert done.returncode == 0
        assert out.read_text(encoding="utf-8").startswith("@")


def test_a_page_wants_a_file(references):
    assert "expected a file to write the page to" in run("cite", references, "--html", "-").stderr
