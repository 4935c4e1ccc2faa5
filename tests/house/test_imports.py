"""Imports read from the source of a small package: which module, which kind, which cycles."""

from __future__ import annotations

import pytest

from imports import Package, components, cycles, importers, longest_chain

SOURCES = {
    "__init__.py": "from pack.a import thing\n",
    "a.py": """\
import numpy as np
from typing import TYPE_CHECKING
from pack import _core, b
if TYPE_CHECKING:
    from pack.room.c import Thing
else:
    import pack.b
def late():
    from pack import thing
    class Inner:
        from pack.room import d, shared
""",
    "b.py": "",
    "_core.pyi": "import numpy\n",
    "lazy/__init__.py": "",
    "lazy/__init__.pyi": "from pack.b import name as name\nfrom . import e as e\n",
    "lazy/e.py": "",
    "room/__init__.py": "from pack.room.d import shared\n",
    "room/c.py": "from . import d\nfrom .d import shared\nfrom ..b import name\n",
    "room/d.py": "from __future__ import annotations\n",
}


@pytest.fixture
def package(tmp_path):
    for name, source in SOURCES.items():
        path = tmp_path / "pack" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return Package(tmp_path / "pack")


def test_every_import_is_found_where_it_leads(package):
    found = {
        (edge.importer, edge.imported, edge.name, edge.kind, edge.line) for edge in package.imports
    }
    assert found == {
        ("pack", "pack.a", "thing", "import", 1),
        ("pack.a", "pack._core", None, "import", 3),
        ("pack.a", "pack.b", None, "import", 3),
        ("pack.a", "pack.room.c", "Thing", "type", 5),
        ("pack.a", "pack.b", None, "import", 7),
        ("pack.a", "pack", "thing", "deferred", 9),
        ("pack.a", "pack.room.d", None, "deferred", 11),
        ("pack.a", "pack.room", "shared", "deferred", 11),
        ("pack.lazy", "pack.b", "name", "deferred", 1),
        ("pack.lazy", "pack.lazy.e", None, "deferred", 2),
        ("pack.room", "pack.room.d", "shared", "import", 1),
        ("pack.room.c", "pack.room.d", None, "import", 1),
        ("pack.room.c", "pack.room.d", "shared", "import", 2),
        ("pack.room.c", "pack.b", "name", "import", 3),
    }


def test_graphs_count_some_kinds_and_leave_the_package_out(package):
    assert package.graph(("import",)) == {
        "pack._core": set(),
        "pack.a": {"pack._core", "pack.b"},
        "pack.b": set(),
        "pack.lazy": set(),
        "pack.lazy.e": set(),
        "pack.room": {"pack.room.d"},
        "pack.room.c": {"pack.room.d", "pack.b"},
        "pack.room.d": set(),
    }
    assert package.graph()["pack.a"] == {
        *("pack._core", "pack.b", "pack.room", "pack.room.c", "pack.room.d")
    }
    assert package.graph()["pack.lazy"] == {"pack.b", "pack.lazy.e"}
    assert cycles(package.graph()) == []
    assert cycles(package.graph(packages=True)) == [["pack", "pack.a"]]


def test_rooms_are_the_first_name_below_the_package(package):
    assert [package.room(name) for name in ("pack", "pack.a", "pack.room", "pack.room.c")] == [
        *("pack", "a", "room", "room")
    ]


def test_a_module_that_is_not_there_is_told(package):
    package.files["pack.b"].write_text("from pack.gone import x\n")
    with pytest.raises(ImportError, match=r"b\.py:1 imports from pack\.gone: no file"):
        _ = package.imports


def test_a_folder_that_is_no_package_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="is no Python package"):
        Package(tmp_path)


def test_components_chains_and_importers():
    graph = {"a": {"b", "c"}, "b": {"c"}, "c": {"d"}, "d": set(), "e": {"d"}}
    assert longest_chain(graph) == ["a", "b", "c", "d"]
    assert importers(graph) == {"b": {"a"}, "c": {"a", "b"}, "d": {"c", "e"}}
    graph["d"] = {"b"}
    assert sorted(map(sorted, components(graph))) == [["a"], ["b", "c", "d"], ["e"]]
    assert cycles(graph) == [["b", "c", "d"]]
    with pytest.raises(ValueError, match="expected a graph without cycles"):
        longest_chain(graph)
