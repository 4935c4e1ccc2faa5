"""Each folder of the C++ core includes only from the folders below it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "cpp"
BINDINGS = ROOT / "bindings"

# The folders that each folder may include from, besides itself. It stands after all of them.
ALLOWED = {
    "base": set(),
    "simd": set(),
    "automata": {"base", "simd"},
    "text": {"base"},
    "kernel": {"base", "simd", "automata"},
    "learn": {"base", "simd", "automata", "kernel"},
    "decoding": {"base", "simd", "automata", "kernel"},
    "graphs": {"base", "simd", "automata", "kernel"},
    "spans": {"base", "simd"},
}


def sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in {".hpp", ".cpp"})


def includes(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE)


def test_the_table_has_no_cycle():
    above = set(ALLOWED)
    for folder, below in ALLOWED.items():
        above.discard(folder)
        assert not below & above, f"{folder}: a folder may include only from those above it here"


def test_every_source_lies_in_a_folder_of_the_table():
    folders = {path.relative_to(CORE).parts[:-1] for path in sources(CORE)}
    assert folders == {(folder,) for folder in ALLOWED}


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_folder_includes_from_lower_ones(folder):
    for path in sources(CORE / folder):
        for name in includes(path):
            room = name.split("/")[0]
            assert (CORE / name).is_file(), f"{path}: {name}: write the path from cpp/"
            assert room == folder or room in ALLOWED[folder], f"{path}: may not include {name}"


def test_the_core_knows_nothing_of_python():
    for path in sources(CORE):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"#\s*include\s*<(nanobind|Python)", text), path


def test_bindings_include_by_path():
    for path in sources(BINDINGS):
        for name in includes(path):
            assert any((root / name).is_file() for root in (CORE, BINDINGS)), f"{path}: {name}"
            assert "/" in name, f"{path}: {name}: write the path from cpp/ or bindings/"
