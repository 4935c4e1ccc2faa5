"""Measure how the house is built: files, imports, families, and the ways through it.

    python tests/house/measure.py [CHECKOUT] [--walks] [--json]

The source is read and not run, except for the walks: these need the package to be importable, from
the checkout or from the environment of the interpreter. What each number counts is said by --help.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from walks import walks  # noqa: E402

from imports import Package, array_aliases, components, importers, longest_chain  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MEANINGS = """\
files at the top      Python files of the package; sources and headers of cpp/; Python files of
                      tests/ without the folders in them
deepest chain         modules that import one another when they are imported, the longest such chain
component             the largest set of modules of which each leads to all others, type-only and
                      deferred imports counted; the package's own public names lead everywhere and
                      are left out
component, package    the same where "from package import module" leads to the package as well
array aliases         names given to types of arrays, such as FloatArray = NDArray[np.float64]
longest binding       most parameters of a function of _core.pyi, without self
answer classes        classes that write out upper_bound, status and certificate
status definitions    Python: assignments and enumerations of statuses, "optimal" one of them;
                      C++: enumerations called Status
verification drivers  functions that catch WrongError
priority queues       C++ files that keep a queue of nodes they own
walks                 files of the package whose functions are called
"""
FIELDS = {"upper_bound", "status", "certificate"}
Report = dict[str, Any]


def count(folder: Path, *patterns: str) -> int:
    """Return the number of files at the top of a folder."""
    return sum(1 for pattern in patterns for _ in folder.glob(pattern))


def lines(path: Path) -> int:
    """Return the number of lines of a file, 0 where there is none."""
    return len(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else 0


def structure(package: Package) -> Report:
    """Return the numbers of modules and imports."""
    chain = longest_chain(package.graph(("import",)))
    largest = max(components(package.graph()), key=len)
    everything = package.graph(packages=True)
    aliases = {module: array_aliases(tree) for module, tree in package.trees.items()}
    return {
        "modules": len(package.files),
        "largest module, lines": max(map(lines, package.files.values())),
        "deepest chain": len(chain),
        "deepest chain, modules": chain,
        "component": len(largest),
        "component, modules": largest,
        "component, rooms": sorted({package.room(module) for module in largest}),
        "component, package": max(map(len, components(everything))),
        "modules with one importer": sum(
            len(of) == 1 for of in importers(package.graph()).values()
        ),
        "array aliases": sum(map(len, aliases.values())),
        "array aliases, files": sum(map(bool, aliases.values())),
    }


def longest_binding(stub: Path) -> tuple[int, str]:
    """Return most parameters of a function of a stub, overloads one by one, and its name."""

    def functions(body: Iterable[ast.stmt], prefix: str = "") -> Iterator[tuple[int, str]]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield from functions(node.body, f"{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                given = node.args
                every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
                yield sum(one.arg != "self" for one in every), prefix + node.name

    return max(functions(ast.parse(stub.read_text(encoding="utf-8")).body))


def answer_classes(tree: ast.Module) -> list[str]:
    """Return the classes that write out the fields of an answer."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and {ast.unparse(item.target) for item in node.body if isinstance(item, ast.AnnAssign)}
        >= FIELDS
    ]


def status_definitions(tree: ast.Module) -> list[str]:
    """Return the names at the top of a module that say which statuses there are."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            assigned = [item for item in node.body if isinstance(item, ast.Assign)]
            if {ast.unparse(item.targets[0]) for item in assigned} & {"OPTIMAL", "optimal"}:
                found.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inner = [part for target in targets for part in ast.walk(target)]
            names = {part.id for part in inner if isinstance(part, ast.Name)}
            words = {one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)}
            if "OPTIMAL" in names or "optimal" in words:
                found.append(", ".join(sorted(names)))
    return found


def drivers(tree: ast.Module) -> list[str]:
    """Return the functions that turn a WrongError into a verdict."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any(
            isinstance(inner, ast.ExceptHandler)
            and inner.type is not None
            and ast.unparse(inner.type).split(".")[-1] == "WrongError"
            for inner in ast.walk(node)
        )
    ]


def families(package: Package, sources: dict[str, str]) -> Report:
    """Return definitions that stand in several places, with these places."""
    report: Report = {}
    kinds = (
        ("answer classes", answer_classes),
        ("status definitions, Python", status_definitions),
        ("verification drivers", drivers),
    )
    for kind, find in kinds:
        report[kind] = [
            f"{module.removeprefix(package.name + '.')}: {name}"
            for module, tree in package.trees.items()
            for name in find(tree)
        ]
    for kind, pattern in (
        ("status definitions, C++", r"enum (?:class |struct )?\w*Status\b[^;]*\{"),
        ("priority queues of nodes, C++", r"priority_queue<\s*std::unique_ptr<"),
    ):
        report[kind] = [name for name, text in sources.items() if re.search(pattern, text)]
    return report


def measure(checkout: Path) -> Report:
    """Return all numbers that are read from the source of a checkout."""
    package = Package(checkout / "src" / "trelliswork")
    cpp = checkout / "cpp"
    sources = {
        str(path.relative_to(cpp)): path.read_text(encoding="utf-8")
        for path in sorted([*cpp.rglob("*.hpp"), *cpp.rglob("*.cpp")])
    }
    parameters, name = longest_binding(package.folder / "_core.pyi")
    return {
        "files at the top of the package": count(package.folder, "*.py"),
        "files at the top of cpp": count(cpp, "*.cpp", "*.hpp"),
        "files of cpp": len(sources),
        "files at the top of tests": count(checkout / "tests", "*.py"),
        **structure(package),
        "longest binding": parameters,
        "longest binding, name": name,
        "lines of README": lines(checkout / "README.md"),
        "lines of ARCHITECTURE": lines(checkout / "ARCHITECTURE.md"),
        **families(package, sources),
    }


def walked(checkout: Path) -> Report:
    """Return the files entered by each walk."""
    source = checkout / "src"
    if any((source / "trelliswork").glob("_core*.so")):
        sys.path.insert(0, str(source))
    import trelliswork

    if Path(trelliswork.__file__).resolve().parents[1] != source:
        raise SystemExit(
            f"expected to import trelliswork from {source}, got {trelliswork.__file__}. "
            "Run this with the interpreter in which that checkout is installed."
        )
    return {f"walk: {name}": files for name, files in walks().items()}


def table(report: Report) -> str:
    """Return a report as lines of a name, a number, and the counted things where these are few."""
    shown = []
    for name, value in report.items():
        if isinstance(value, list) and name.startswith(("walk", "deepest", "component, modules")):
            separator = " > " if not name.startswith("component") else ", "
            names = [item.removeprefix("trelliswork.").removesuffix(".py") for item in value]
            row = f"{len(value)}  {separator.join(names)}"
        elif isinstance(value, list):
            row = f"{len(value)}  {', '.join(value)}"
        else:
            row = str(value)
        shown.append(f"{name:<56}{row}")
    return "\n".join(shown)


def main() -> None:
    """Measure a checkout and print the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=MEANINGS, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "checkout", nargs="?", type=Path, default=HERE.parents[1], help="default: this one"
    )
    parser.add_argument("--walks", action="store_true", help="run a few tasks and count the files")
    parser.add_argument("--json", action="store_true", help="print all there is, as JSON")
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    report = measure(checkout)
    if options.walks:
        report |= walked(checkout)
    print(json.dumps(report, indent=1) if options.json else table(report))


if __name__ == "__main__":
    main()
