"""The stub of the compiled core has the names of the core, and no others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import trelliswork
from trelliswork import _core


def public(names) -> set[str]:
    return {name for name in names if not name.startswith("_")}


STUB = Path(trelliswork.__file__).with_name("_core.pyi")
TREE = ast.parse(STUB.read_text(encoding="utf-8"))
MAX_PARAMETERS = 12  # beyond that, related parameters go into an object of their own


def signatures() -> dict[str, ast.FunctionDef]:
    """Return all functions and methods of the stub, by qualified name."""
    found = {}
    for node in TREE.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            members = (item for item in node.body if isinstance(item, ast.FunctionDef))
            found |= {f"{node.name}.{item.name}": item for item in members}
    return found


def parameters(node: ast.FunctionDef) -> list[str]:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [argument.arg for argument in arguments if argument.arg != "self"]


def bound_parameters(name: str) -> list[str]:
    """Return the names of the parameters of a function of the core."""
    found = _core
    for part in name.split("."):
        found = getattr(found, part)
    ((text, *_),) = found.__nb_signature__  # no function has overloads
    while re.search(r"\[[^][]*\]", text):  # types hold commas and colons, in brackets
        text = re.sub(r"\[[^][]*\]", "", text)
    return re.findall(r"(\w+): ", text.split(" -> ")[0])


def test_the_stub_matches_the_core():
    classes = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in TREE.body if isinstance(node, ast.FunctionDef)}
    assert public([*classes, *functions]) == public(vars(_core))
    for name, node in classes.items():
        members = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        assert public(members) == public(vars(getattr(_core, name))), name


@pytest.mark.parametrize("name", signatures())
def test_no_signature_is_long(name):
    assert len(parameters(signatures()[name])) <= MAX_PARAMETERS


@pytest.mark.parametrize("name", signatures())
def test_parameters_have_the_names_that_the_core_takes(name):
    node = signatures()[name]
    if any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list):
        return
    stub, bound = parameters(node), bound_parameters(name)
    assert len(stub) == len(bound)
    if not node.args.posonlyargs:
        assert stub == bound
