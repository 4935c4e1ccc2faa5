"""The imports of a package, read from its source: nothing is imported or run.

An import is counted at the module that it names: ``from trelliswork.labels import convert`` leads
to ``trelliswork.labels``, even where that package only hands on the name, and to
``trelliswork.labels.convert`` where that is a module.

There are three kinds: ``"import"`` runs when the module is imported, ``"type"`` stands under
``if TYPE_CHECKING``, for readers and type checkers, and ``"deferred"`` stands in a function, or in
the stub of a package, which imports the names of its stub when they are asked for.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Mapping
    from pathlib import Path

Kind = Literal["import", "type", "deferred"]
KINDS: tuple[Kind, ...] = ("import", "type", "deferred")
Graph = dict[str, set[str]]


@dataclass(frozen=True)
class Import:
    """One import of a module of the package by another.

    Attributes
    ----------
    importer, imported
        The two modules, with their full names.
    name
        What is taken from the module, or None for the module itself.
    kind
        When it is imported.
    file, line
        Where the import stands.
    """

    importer: str
    imported: str
    name: str | None
    kind: Kind
    file: Path
    line: int


class Package:
    """The modules of a package and the imports between them.

    Parameters
    ----------
    folder
        The folder of the package, such as ``src/trelliswork``.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / "__init__.py").is_file():
            raise FileNotFoundError(f"{folder} is no Python package: it has no __init__.py")
        self.folder = folder
        self.name = folder.name
        self.files = {self._module(path): path for path in sorted(folder.rglob("*.py"))}
        stubs = {self._module(path): path for path in sorted(folder.rglob("*.pyi"))}
        # The compiled core has a stub in place of a source.
        self.modules = {*self.files, *stubs}
        # The stub of the package itself is left out: its public names lead everywhere.
        inner = self.files.keys() - {self.name}
        self.stubs = {module: path for module, path in stubs.items() if module in inner}

    def _module(self, path: Path) -> str:
        parts = path.relative_to(self.folder.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """The syntax tree of every module with a source."""
        return {module: _parsed(path) for module, path in self.files.items()}

    @cached_property
    def imports(self) -> list[Import]:
        """All imports of modules of the package by modules of the package."""
        sources: list[tuple[str, Path, ast.Module, Kind]] = [
            *((module, self.files[module], tree, "import") for module, tree in self.trees.items()),
            *((module, path, _parsed(path), "deferred") for module, path in self.stubs.items()),
        ]
        return [
            Import(module, imported, name, kind, path, node.lineno)
            for module, path, tree, outermost in sources
            for node, kind in _import_nodes(tree, outermost)
            for imported, name in self._targets(module, path, node)
            if imported != module
        ]

    def _targets(
        self, module: str, path: Path, node: ast.Import | ast.ImportFrom
    ) -> Iterator[tuple[str, str | None]]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in self.modules:
                    yield alias.name, None
            return
        base = node.module or ""
        if node.level:
            inside = module.split(".")
            if path.stem != "__init__":
                inside.pop()
            base = ".".join([*inside[: len(inside) + 1 - node.level], *filter(None, [base])])
        for alias in node.names:
            if f"{base}.{alias.name}" in self.modules:
                yield f"{base}.{alias.name}", None
            elif base in self.modules:
                yield base, alias.name
            elif base.split(".")[0] == self.name:
                raise ImportError(f"{path}:{node.lineno} imports from {base}: no file")

    def graph(self, kinds: Container[Kind] = KINDS, *, packages: bool = False) -> Graph:
        """Return the modules that each module imports.

        The package itself stands for its public names, which lead everywhere: it is left out.

        Parameters
        ----------
        kinds
            Which imports count.
        packages
            Count ``from package import module`` at the package as well, and keep the package
            itself.
        """
        graph: Graph = {module: set() for module in self.modules}
        for edge in self.imports:
            if edge.kind in kinds:
                graph[edge.importer].add(edge.imported)
                if packages and edge.name is None and edge.imported != self.name:
                    graph[edge.importer].add(edge.imported.rpartition(".")[0])
        if not packages:
            del graph[self.name]
        return {
            module: found - {module, *(() if packages else [self.name])}
            for module, found in graph.items()
        }

    def room(self, module: str) -> str:
        """Return the room of a module, or the file at the top: the name below the package."""
        return module.split(".")[1] if "." in module else self.name


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _import_nodes(node: ast.AST, kind: Kind) -> Iterator[tuple[ast.Import | ast.ImportFrom, Kind]]:
    """Yield the imports below a node with their kinds; `kind` is that of its children."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, kind
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _import_nodes(child, "deferred")
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from _import_nodes(ast.Module(child.body, []), "type")
            yield from _import_nodes(ast.Module(child.orelse, []), kind)
        else:
            yield from _import_nodes(child, kind)


def array_aliases(tree: ast.Module) -> list[tuple[int, str]]:
    """Return the lines and names of aliases such as ``FloatArray = NDArray[np.float64]``."""
    return [
        (node.lineno, name)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Subscript)
        if ast.unparse(node.value.value).split(".")[-1] == "NDArray"
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if (name := ast.unparse(target)).endswith("Array")
    ]


def spelled_out_arrays(tree: ast.Module, aliased: Collection[str]) -> list[tuple[int, str]]:
    """Return the lines and types of arrays, ``NDArray[np.float64]``, that have an alias."""
    return [
        (node.lineno, text)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and (text := ast.unparse(node)) in aliased
    ]


def components(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of a graph, those that others lead to first."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:  # Tarjan; packages are far from deep enough for the stack
        index[node] = lowest[node] = len(index)
        stack.append(node)
        for following in sorted(graph[node]):
            if following not in index:
                visit(following)
                lowest[node] = min(lowest[node], lowest[following])
            elif following in stack:
                lowest[node] = min(lowest[node], index[following])
        if lowest[node] == index[node]:
            start = stack.index(node)
            found.append(sorted(stack[start:]))
            del stack[start:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the components of more than one node: each holds a cycle."""
    return [component for component in components(graph) if len(component) > 1]


def longest_chain(graph: Mapping[str, set[str]]) -> list[str]:
    """Return the longest path of a graph without cycles."""
    best: dict[str, list[str]] = {}
    for node, *others in components(graph):
        if others:
            raise ValueError(f"expected a graph without cycles, but there is one: {node}, {others}")
        best[node] = [node, *max((best[later] for later in graph[node]), key=len, default=[])]
    return max(best.values(), key=len, default=[])


def importers(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the modules that import each module that any module imports."""
    backwards: dict[str, set[str]] = defaultdict(set)
    for node, imported in graph.items():
        for other in imported:
            backwards[other].add(node)
    return dict(backwards)
