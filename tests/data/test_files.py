import errno
import gzip
import io
import os
import stat
import sys
from functools import partial
from pathlib import Path

import pytest

from trelliswork.data.corpus import (
    Sentence,
    read_conll,
    write_conll,
)
from trelliswork.data.files import open_binary_for_writing
from trelliswork.errors import DataError
from trelliswork.taggers.crf import CRFTagger


def test_wrong_bytes_are_named(tmp_path):
    path = tmp_path / "latin.conll"
    path.write_bytes(b"a X\nGen\xe8ve X\n")
    with pytest.raises(DataError, match=r"latin.conll:2: expected UTF-8, got byte 0xe8"):
        read_conll(path)
    with path.open(encoding="latin-1") as stream:
        assert read_conll(stream)[0].tokens == ("a", "Genève")
    with path.open(encoding="utf-8") as stream, pytest.raises(DataError, match="expected UTF-8"):
        read_conll(stream)


def test_damaged_gzip_is_named(tmp_path):
    path = tmp_path / "cut.conll.gz"
    path.write_bytes(gzip.compress(os.urandom(4000).hex().encode() + b" X\n")[:-100])
    with pytest.raises(DataError, match="damaged gzip"):
        read_conll(path, separator=" ")
    path.write_text("a X\n")
    with pytest.raises(DataError, match="damaged gzip"):
        read_conll(path)


def test_writing_is_atomic(tmp_path):
    path = tmp_path / "x.conll"
    path.write_text("old")
    path.chmod(0o640)

    def broken():
        yield Sentence(["a"])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_conll(broken(), path)
    assert path.read_text() == "old"
    write_conll([Sentence(["a"])], path)
    assert path.read_text() == "a\n\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["x.conll"]


def test_failed_writes_name_what_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for write in (partial(write_conll, [Sentence(["a"])]), CRFTagger().fit([["a"]], [["X"]]).save):
        with pytest.raises(FileNotFoundError, match="make it first") as missing:
            write("nowhere/x")
        assert missing.value.filename == "nowhere"
    (tmp_path / "link").symlink_to("nowhere/x")
    with pytest.raises(FileNotFoundError, match="make it first") as missing:
        write_conll([Sentence(["a"])], "link")
    assert missing.value.filename == str(tmp_path / "nowhere")

    def refuse(path, *more):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError) as refused:
        write_conll([Sentence(["a"])], "x")
    assert refused.value.filename == "x"


def test_a_private_file_is_private_while_it_is_written(tmp_path):
    path = tmp_path / "secret"
    path.touch(0o600)
    path.chmod(0o600)
    with open_binary_for_writing(path) as raw:
        raw.write(b"half")
        raw.flush()
        (partial,) = tmp_path.glob(".secret.*.part")
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """Else a power failure might leave an empty file under the name of a full one."""
    done = []
    fsync, replace = os.fsync, Path.replace

    def noted_fsync(descriptor):
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append("folder" if is_folder else os.fstat(descriptor).st_size)
        fsync(descriptor)

    def noted_replace(path, target):
        done.append("renamed")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    with open_binary_for_writing(tmp_path / "x") as raw:
        raw.write(b"four")
    assert done == [4, "renamed", "folder"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("n_tokens", [1, 100_000])
def test_a_full_disk_is_named(n_tokens):
    with pytest.raises(OSError, match="No space left") as full:
        write_conll([Sentence(["a"] * n_tokens)], "/dev/full")
    assert full.value.filename == "/dev/full"


def test_errors_of_reading_keep_their_names_while_a_file_is_written(tmp_path):
    def sentences():
        yield Sentence(["a"])
        raise OSError(errno.EIO, "Input/output error", "elsewhere")

    with pytest.raises(OSError, match="Input") as broken:
        write_conll(sentences(), tmp_path / "x")
    assert broken.value.filename == "elsewhere"


def test_writing_follows_links_and_spares_devices(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_conll([Sentence(["a"])], tmp_path / "link")
    assert (tmp_path / "real").read_text() == "a\n\n"
    assert (tmp_path / "link").is_symlink()
    write_conll([Sentence(["a"])], os.devnull)
    assert not os.path.isfile(os.devnull)  # noqa: PTH113


def test_standard_streams(monkeypatch, capsys):
    raw = io.BytesIO("é X\n".encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw, encoding="ascii"))
    corpus = read_conll("-")
    assert corpus.source == "<stdin>"
    write_conll(corpus, "-")
    print("still open")
    assert capsys.readouterr().out == "é\tX\n\nstill open\n"


def test_a_closed_standard_input_is_said(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    from trelliswork.data.files import read_lines

    with pytest.raises(OSError, match="standard input is closed"):
        list(read_lines("-"))
