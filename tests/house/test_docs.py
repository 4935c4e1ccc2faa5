"""Every Python snippet of the documentation runs, and prints the output that the page shows.

The ```` ```python ```` and ```` ```pycon ```` blocks of a page run from top to bottom in one
namespace and in an empty working directory. A block that begins with ``>>>`` is checked as doctest
does, except that a blank line inside an output stands for itself; any other block only has to run.
All other blocks (``text``, ``sh``, …) are left alone.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

import trelliswork

ROOT = Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>python|pycon)\b[^\n]*\n"
    r"(?P<source>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
INNER_BLANK = re.compile(r"\n[ ]*\n(?!>>>|\s*\Z)")


class Snippet(NamedTuple):
    line: int  # of the first line of code, counted from 0
    source: str


def snippets(page: Path) -> list[Snippet]:
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(text.count("\n", 0, block.start("source")), textwrap.dedent(block["source"]))
        for block in BLOCK.finditer(text)
    ]


def run(snippet: Snippet, page: Path, namespace: dict[str, object]) -> str:
    """Return the differences from the outputs of the snippet."""
    if not snippet.source.lstrip().startswith(">>>"):
        source = "\n" * snippet.line + snippet.source
        exec(compile(source, str(page), "exec"), namespace)
        return ""
    source = INNER_BLANK.sub("\n<BLANKLINE>\n", snippet.source)
    test = doctest.DocTestParser().get_doctest(
        source, namespace, page.name, str(page), snippet.line
    )
    messages: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=messages.append, clear_globs=False)
    namespace.update(test.globs)  # the parser ran on a copy
    return "".join(messages)


def pages() -> list[str]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
    return [str(p.relative_to(ROOT).as_posix()) for p in found if p.exists() and snippets(p)]


@pytest.mark.parametrize("page", pages())
def test_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.endswith("torch.md"):
        pytest.importorskip("torch", reason="needs the torch extra: make test-torch")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    messages = [run(snippet, ROOT / page, namespace) for snippet in snippets(ROOT / page)]
    if any(messages):
        pytest.fail("".join(messages), pytrace=False)


def modules() -> list[str]:
    found = pkgutil.walk_packages(trelliswork.__path__, "trelliswork.")
    names = [m.name for m in found if not m.name.endswith(("._core", ".__main__"))]
    # Packages with a dependency of their own are tested where it is installed.
    return ["trelliswork", *(n for n in names if not n.startswith("trelliswork.torch"))]


@pytest.mark.parametrize("name", modules())
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=FLAGS)
    assert result.failed == 0


def test_the_navigation_names_every_page() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"[\w/-]+\.md", text.partition("\nnav:")[2]))
    there = {str(p.relative_to(ROOT / "docs").as_posix()) for p in ROOT.glob("docs/**/*.md")}
    assert there <= listed


def test_references_to_the_code_lead_somewhere() -> None:
    """Of ``[…][trelliswork.x.y]``: x has an API page, and y is in it."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    text = {page: page.read_text(encoding="utf-8") for page in pages}
    shown = set(re.findall(r"^::: (trelliswork[\w.]*)$", "\n".join(text.values()), re.MULTILINE))
    lost = []
    for page, content in text.items():
        for target in re.findall(r"\]\[(trelliswork[\w.]*)\]", content):
            module = max(
                (m for m in shown if f"{target}.".startswith(f"{m}.")), key=len, default=""
            )
            if not module or not _leads_somewhere(module, target.removeprefix(module)):
                lost.append(f"{page.relative_to(ROOT)}: {target}")
    assert not lost


def _leads_somewhere(module: str, rest: str) -> bool:
    if module.startswith("trelliswork.torch") and importlib.util.find_spec("torch") is None:
        return True
    found: object = importlib.import_module(module)
    for name in rest.split(".")[1:]:
        if name in getattr(found, "__annotations__", {}):
            return True
        found = getattr(found, name, None)
    return found is not None
