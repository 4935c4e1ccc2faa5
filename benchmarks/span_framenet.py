"""The targets of FrameNet's dev set as tables, with the scores that experiments/framenet.py kept.

    python benchmarks/span_framenet.py TABLES [DATA]

Writes a pickled list of dicts to TABLES: ``spans``, ``roles``, ``scores``, ``null``, ``excludes``
and ``requires``, both of these symmetric pairs of roles. A script of its own, since experiments and
benchmarks both have a module `common`.
"""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import numpy as np

EXPERIMENTS = Path(__file__).parents[1] / "experiments"
MARGIN = 1.0  # what an empty role loses, as in the experiment


def write_tables(path: Path, data: Path | None) -> dict[str, object]:
    """Write the tables; returns how many, or why there are none."""
    sys.path.insert(0, str(EXPERIMENTS))
    from framenet_cases import Settings, read_cases
    from rich.console import Console

    settings, cache = Settings("dev"), EXPERIMENTS / "results" / "framenet_trials"
    # Training takes minutes: it is not done here.
    if not (cache / f"dev-{settings.digest}.npz").exists():
        return {"missing": "no scores were kept; run experiments/framenet.py first"}
    tables = [
        {
            "spans": case.spans,
            "roles": case.target.frame.roles,
            "scores": case.scores,
            "null": np.asarray(case.empty) - MARGIN,
            "excludes": case.target.frame.excludes,
            "requires": case.target.frame.requires,
        }
        for case in read_cases(data, settings, cache, Console(stderr=True))
    ]
    path.write_bytes(pickle.dumps(tables))
    return {"tables": len(tables)}


if __name__ == "__main__":
    given = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    print(json.dumps(write_tables(Path(sys.argv[1]), given)))
