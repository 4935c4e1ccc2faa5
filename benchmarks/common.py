"""What every benchmark needs: data, children, medians, and a table."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def data_directory(given: Path | None) -> Path:
    """Return the directory of the data sets: the option, TRELLISWORK_DATA, or ../shared/data."""
    candidates = [given, os.environ.get("TRELLISWORK_DATA"), Path("../shared/data")]
    for candidate in candidates:
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    sys.exit("No data: pass --data DIR or set TRELLISWORK_DATA.")


def run_child(script: str, *arguments: str, threads: int = 1) -> dict[str, Any]:
    """Run one measurement in a process of its own and return the JSON it prints last."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, script, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    if done.returncode:
        sys.exit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def peak_megabytes() -> float:
    """Return the most memory this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def median_of(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the entry-wise median of several runs (the first where an entry is no number)."""
    return {
        key: statistics.median(run[key] for run in runs)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else value
        for key, value in runs[0].items()
    }


def machine(*packages: str) -> dict[str, Any]:
    """Describe where the numbers were measured."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [ln for ln in cpuinfo.read_text().splitlines() if ln.startswith("model name")]
        processor = models[0].split(":", 1)[1].strip() if models else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in packages},
    }


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table, numbers to the right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])


def write_results(name: str, results: dict[str, Any], markdown: str) -> None:
    """Write results/NAME.json and results/NAME.md."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=2) + "\n")
    (RESULTS / f"{name}.md").write_text(markdown + "\n")
    print(markdown)
