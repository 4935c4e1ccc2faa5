"""The stub of the compiled core names exactly what the core has."""

from __future__ import annotations

import ast
from pathlib import Path

import trelliswork
from trelliswork import _core


def public(names) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_the_stub_matches_the_core():
    stub = Path(trelliswork.__file__).with_name("_core.pyi")
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert public([*classes, *functions]) == public(vars(_core))
    for name, node in classes.items():
        members = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        assert public(members) == public(vars(getattr(_core, name))), name
