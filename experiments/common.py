"""What every experiment needs: options, data, tables with the paper's numbers, and result files."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import trelliswork as tw

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RESULTS = Path(__file__).parent / "results"
PAPER = "Papay, Klinger and Padó, Constraining Linear-chain CRFs to Regular Languages (ICLR 2022)"


def options(description: str | None, *, data: bool = False) -> argparse.ArgumentParser:
    """Return a parser with the options that all experiments share.

    Parameters
    ----------
    description
        The docstring of the script: what it shows and how.
    data
        Whether the experiment reads a data set.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=RESULTS,
        metavar="DIR",
        help="where JSON, Markdown and plots go (default: experiments/results)",
    )
    if data:
        parser.add_argument(
            "--data",
            type=Path,
            metavar="DIR",
            help="directory of the data sets (default: $TRELLISWORK_DATA, else ../shared/data)",
        )
        parser.add_argument(
            "--eval",
            choices=("dev", "test"),
            default="dev",
            help="the part to report on; never used for a choice (default: dev)",
        )
    return parser


def add_seeds(parser: argparse.ArgumentParser, default: int, what: str) -> None:
    """Add ``--seed`` and ``--seeds``: the first seed, and how many there are."""
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first seed")
    parser.add_argument("--seeds", type=int, default=default, metavar="N", help=what)


def find_data(given: Path | None) -> Path | None:
    """Return the directory of the data sets, if there is one."""
    candidates = [given] if given else [os.environ.get("TRELLISWORK_DATA"), "../shared/data"]
    for candidate in candidates:
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    return None


def read_part(data: Path | None, name: str, part: str) -> tw.Corpus:
    """Read one part of a data set in two columns, token and label."""
    directory = find_data(data)
    if directory is None:
        sys.exit("No data sets here: pass --data DIR or set TRELLISWORK_DATA.")
    for suffix in ("conll", "conll.gz"):
        path = directory / name / f"{part}.{suffix}"
        if path.exists():
            return tw.read_conll(path, ("word", "label"), "\t")
    sys.exit(f"{directory / name}: expected {part}.conll or {part}.conll.gz, found neither.")


def make_console() -> Console:
    """Return a console wide enough for our tables where the output is no terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=120)


def progress(console: Console) -> Progress:
    """Return a progress bar that leaves nothing behind."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )


@dataclass
class ResultTable:
    """A table that prints itself in the terminal and as Markdown.

    Attributes
    ----------
    title : str
        What the numbers are.
    header : sequence of str
        Names of the columns; the first holds the names of the rows.
    rows : list of list of str
        The cells.
    """

    title: str
    header: Sequence[str]
    rows: list[list[str]]

    def show(self, console: Console) -> None:
        """Print the table."""
        table = Table(title=self.title, title_justify="left")
        for i, name in enumerate(self.header):
            table.add_column(name, justify="right" if i else "left")
        for row in self.rows:
            table.add_row(*map(escape, row))
        console.print(table)

    def markdown(self) -> str:
        """Return the table in Markdown."""
        rule = ["---", *["---:"] * (len(self.header) - 1)]
        cells = [[cell.replace("|", r"\|") for cell in row] for row in self.rows]
        lines = ["| " + " | ".join(row) + " |" for row in (self.header, rule, *cells)]
        return f"**{self.title}**\n\n" + "\n".join(lines)


class Findings:
    """Collects what an experiment found; prints at once and writes on demand.

    Parameters
    ----------
    name
        Name of the result files.
    output
        Where they go.
    settings
        The options of the run.
    console
        Where to print.
    """

    def __init__(
        self, name: str, output: Path, settings: dict[str, Any], console: Console | None = None
    ) -> None:
        self.name = name
        self.output = output
        self.console = make_console() if console is None else console
        self.values: dict[str, Any] = {"settings": settings, "machine": machine()}
        self.parts: list[str] = []

    def table(self, table: ResultTable) -> None:
        """Print a table and keep it for the Markdown file."""
        table.show(self.console)
        self.parts.append(table.markdown())

    def note(self, text: str) -> None:
        """Print a sentence and keep it for the Markdown file."""
        self.console.print(text, highlight=False, markup=False)
        self.parts.append(text)

    def picture(self, path: Path) -> None:
        """Keep a plot for the Markdown file."""
        self.console.print(f"plot: {path}", highlight=False)
        self.parts.append(f"![{path.stem}]({path.name})")

    def write(self) -> Path:
        """Write NAME.json and NAME.md; returns the former."""
        self.output.mkdir(parents=True, exist_ok=True)
        path = self.output / f"{self.name}.json"
        path.write_text(json.dumps(self.values, indent=1, default=_plain) + "\n", encoding="utf-8")
        text = "\n\n".join([f"# {self.name}", *self.parts])
        path.with_suffix(".md").write_text(text + "\n", encoding="utf-8")
        return path


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure; needs the ``plots`` extra."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        sys.exit("Plots need matplotlib: pip install 'trelliswork[plots]'.")
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure, SVG or PNG by its name, as a file that is the same on every run."""
    import matplotlib as mpl

    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": path.stem, "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})


def machine() -> dict[str, Any]:
    """Describe where the numbers come from."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "trelliswork": tw.__version__,
    }


def settings_of(arguments: argparse.Namespace, *leave_out: str) -> dict[str, Any]:
    """Return the options of a run, without paths."""
    hidden = {"output", "data", *leave_out}
    return {name: value for name, value in vars(arguments).items() if name not in hidden}


def percentages(values: Iterable[float]) -> list[str]:
    """Format shares as percentages with two decimals."""
    return [f"{100 * value:.2f}" for value in values]


def _plain(value: Any) -> Any:
    """Turn NumPy numbers and arrays into what JSON knows."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"no JSON for {type(value).__name__}")
