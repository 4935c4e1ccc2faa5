"""The house: which room of the package may import which, read from the source.

A room is a folder of the package, or a file at its top. It imports from lower floors only, for type
checkers and inside functions as well, as a reader follows these too.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import trelliswork
from imports import Import, Package, array_aliases, cycles, spelled_out_arrays

# A room that is needed below its floor has to move down, or hand down the part that is needed.
# Rooms of one floor know nothing of each other.
FLOORS = {
    "errors": 0,
    "_typing": 0,
    "_core": 0,
    "_utils": 1,
    "proofs": 1.5,
    "automata": 2,
    "data": 2,
    "labels": 3,
    "graphs": 3,
    "factors": 3.5,  # the public door to graphs.factors
    "features": 4,
    "inference": 4,
    "constraints": 5,
    "planning": 6,
    "torch": 6,
    "decoding": 7,
    "evaluation": 7,
    "spans": 8,
    "models": 8,
    "solving": 9,
    "learn": 9,
    "taggers": 10,
    "selection": 11,
    "mining": 11,
    "citations": 11,
    "cli": 12,
    "__main__": 13,
}
FILES_AT_TOP = 8


@pytest.fixture(scope="module")
def package() -> Package:
    return Package(Path(trelliswork.__file__).parent)


def tell(problems: list[str], advice: str) -> None:
    """Fail with all problems, one a line, and advice."""
    if problems:
        pytest.fail("\n  ".join([f"{len(problems)} found. {advice}", *problems]), pytrace=False)


def shown(package: Package, edge: Import) -> str:
    """Return the place of an import, and the module or name that it imports."""
    what = edge.imported if edge.name is None else f"{edge.name} from {edge.imported}"
    when = {"import": "", "type": " (type only)", "deferred": " (deferred)"}[edge.kind]
    return f"{edge.file.relative_to(package.folder.parent)}:{edge.line} imports {what}{when}"


def floor(room: str) -> str:
    return f"{room} (floor {FLOORS.get(room, 'none: it is not in FLOORS')})"


def doors(package: Package) -> list[tuple[str, str, Import]]:
    """Return the imports from one room by another. The package itself may import all of them."""
    return [
        (importer, imported, edge)
        for edge in package.imports
        if edge.importer != package.name and edge.imported != package.name
        for importer, imported in [(package.room(edge.importer), package.room(edge.imported))]
        if importer != imported
    ]


def test_every_room_has_a_floor_and_every_floor_a_room(package):
    rooms = {package.room(module) for module in package.modules} - {package.name}
    problems = [f"{room}: not in FLOORS" for room in sorted(rooms - FLOORS.keys())]
    problems += [f"{room}: in FLOORS, but not there" for room in sorted(FLOORS.keys() - rooms)]
    tell(problems, "Name every folder and every file at the top of the package in FLOORS.")


def test_a_room_imports_from_lower_floors_alone(package):
    problems = [
        f"{shown(package, edge)}: from {floor(importer)} to {floor(imported)}"
        for importer, imported, edge in doors(package)
        if FLOORS.get(imported, 99) > FLOORS.get(importer, -1)
    ]
    tell(problems, "Move what both need to the lower room, or let the upper one hand it in.")


def test_rooms_of_one_floor_do_not_know_each_other(package):
    problems = [
        f"{shown(package, edge)}: {importer} and {imported} are both on floor {FLOORS[importer]}"
        for importer, imported, edge in doors(package)
        if importer in FLOORS and FLOORS[importer] == FLOORS.get(imported)
    ]
    tell(problems, "Move what both need to a lower floor, or one of the rooms to another floor.")


def test_no_cycle_between_rooms(package):
    graph: dict[str, set[str]] = {package.room(module): set() for module in package.modules}
    for importer, imported, _ in doors(package):
        graph[importer].add(imported)
    problems = [" and ".join(component) for component in cycles(graph)]
    tell(problems, "These rooms lead to each other; the test of the floors names the imports.")


def test_no_cycle_between_modules_at_import_time(package):
    problems = [" and ".join(component) for component in cycles(package.graph(("import",)))]
    tell(problems, "These modules import each other: give what they share a module of its own.")


def test_modules_are_asked_for_what_they_hold_and_not_the_package(package):
    problems = [
        shown(package, edge)
        for edge in package.imports
        if edge.imported == package.name and edge.name != "__version__"
    ]
    tell(problems, "Import from the module that defines the name: the package leads everywhere.")


def test_few_files_at_the_top(package):
    files = sorted(path.name for path in package.folder.glob("*.py"))
    assert len(files) <= FILES_AT_TOP, (
        f"expected at most {FILES_AT_TOP} files at the top of {package.name}, got {len(files)}; "
        f"give each a room: {', '.join(files)}"
    )


def test_every_room_says_what_it_is_for(package):
    problems = []
    for module, path in package.files.items():
        if path.name != "__init__.py" or module == package.name:
            continue
        said = ast.get_docstring(package.trees[module]) or ""
        where, n_lines = path.relative_to(package.folder.parent), len(said.splitlines())
        if not 5 <= n_lines <= 20:
            problems.append(f"{where}: a docstring of {n_lines} lines, not 5 to 20")
        if "Imports" not in said and "may be imported" not in said:
            problems.append(f"{where}: no word on imports")
    tell(problems, "Say what lives there, what may be imported and which formula it computes.")


def test_array_aliases_are_defined_once(package):
    problems = [
        f"{package.files[module].relative_to(package.folder.parent)}:{line} {name}"
        for module, tree in package.trees.items()
        if module != f"{package.name}._typing"
        for line, name in array_aliases(tree)
    ]
    tell(problems, f"Import them: from {package.name}._typing import FloatArray.")


def test_types_of_arrays_go_by_their_aliases(package):
    aliases = package.trees[f"{package.name}._typing"]
    aliased = {ast.unparse(node.value) for node in aliases.body if isinstance(node, ast.Assign)}
    problems = [
        f"{package.files[module].relative_to(package.folder.parent)}:{line} {text}"
        for module, tree in package.trees.items()
        if module != f"{package.name}._typing"
        for line, text in spelled_out_arrays(tree, aliased)
    ]
    tell(problems, f"Import the alias: from {package.name}._typing import FloatArray.")
