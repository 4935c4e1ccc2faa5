"""Files that commands write: checked before the work, and never one that is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import trelliswork as tw
from commands import run
from trelliswork.cli.targets import check_targets

TEXT = "A. Lee. Rules in sequence models. Proceedings of ACL, 2014.\n"
CONLL = "Ann B-PER\nLee I-PER\n\nParis B-LOC\nsleeps O\n\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.conll").write_text(CONLL)
    Path("rules.txt").write_text("at_most(3, PER)\n")
    Path("raw.txt").write_text("Ann\n")
    Path("refs.txt").write_text(TEXT)
    corpus = tw.read_conll("train.conll")
    tw.CRFTagger(features="word[0]", max_iter=2).fit(corpus).save("m.tw")
    os.link("train.conll", "same.conll")
    Path("link.conll").symlink_to("train.conll")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        ("train train.conll --out train.conll", "train.conll"),
        ("train train.conll --out same.conll", "same.conll"),
        ("train train.conll --out link.conll", "link.conll"),
        ("train train.conll --dev same.conll --out same.conll", "same.conll"),
        ("train train.conll --rules rules.txt --out rules.txt", "rules.txt"),
        ("train train.conll --unlabelled raw.txt --out raw.txt", "raw.txt"),
        ("select train.conll --dev 0.5 --templates train.conll", "train.conll"),
        ("select train.conll --dev 0.5 --out a.tw --templates a.tw", "a.tw"),
        ("tag m.tw train.conll --output train.conll", "train.conll"),
        ("tag m.tw train.conll --output m.tw", "m.tw"),
        ("evaluate train.conll same.conll --plot train.conll", "train.conll"),
        ("cite refs.txt --output refs.txt", "refs.txt"),
        ("cite refs.txt --html refs.txt", "refs.txt"),
        ("cite refs.txt --to bibtex --html a --output ./a", "a"),
        ("cite review refs.txt --output refs.txt", "refs.txt"),
        ("cite adapt refs.txt --out refs.txt", "refs.txt"),
        ("cite train --add refs.txt --out refs.txt", "refs.txt"),
    ],
)
def test_no_command_overwrites_what_it_reads(folder, command, lost):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(*command.split())
    assert result.exit_code == 2
    assert lost in result.stderr
    assert "Name another" in result.stderr or "Name two files" in result.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_devices_and_other_files_are_fine(folder):
    check_targets({"--out": os.devnull, "--plot": os.devnull}, [os.devnull, None, "-"])
    check_targets({"--out": "new", "--plot": "other", "--html": None, "-o": "-"}, ["train.conll"])


def test_targets_that_cannot_be_written_are_named(folder):
    for target, message in ((folder, "got a directory"), ("no/m.tw", "no such directory")):
        with pytest.raises(OSError, match=message):
            check_targets({"--out": target})
    Path("dangling").symlink_to("nowhere/x")
    with pytest.raises(FileNotFoundError, match="make it first"):
        check_targets({"--out": "dangling"})
