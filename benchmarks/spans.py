"""Span–role assignment, exact, against integer programming solvers and the old AD3 package.

Random instances of three sizes (about 60, 300 and 900 variables) and, where experiments/framenet.py
has kept their scores, the targets of FrameNet's dev set. Everybody gets the same arrays, runs on
one thread in a process of its own, and has its model's building timed too; ours solves a set in one
call, and remembers nothing from the last. Solvers take turns, round after round, and the median of
the rounds counts. All answers are checked against the rules, and against each other.

    python benchmarks/spans.py                                     # all of it
    python benchmarks/spans.py --sizes small --rivals highs,ad3    # some of it
    python benchmarks/spans.py --sizes framenet --targets 0        # FrameNet alone, all its targets

The rivals come with `pip install trelliswork[bench]`, but for the old AD3 package, which has to be
built: `python benchmarks/install_old_ad3.py`. One that is not installed is left out, with a note.
"""

from __future__ import annotations

import argparse
import logging
import pickle
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, markdown_table, run_child, write_results
from span_instances import SIZES, Instance, random_instances
from span_ours import METHODS
from span_rivals import RIVALS

logger = logging.getLogger("spans")

HERE = Path(__file__).parent
TOLERANCE = 1e-6  # of values that should be equal
AS_IT_COMES, ANY = "the fastest rival as it comes", "the fastest rival, tuned by us"
TARGETS = {"HiGHS": 9.0, AS_IT_COMES: 3.0, ANY: 3.0}
TITLES = {f"our:{name}": method.title for name, method in METHODS.items()}
TITLES |= {name: rival.title for name, rival in RIVALS.items()}
OURS = "our:auto"


def read_tables(path: Path, most: int) -> list[Instance]:
    """Return instances of a file of `span_framenet`, at most so many, evenly chosen.

    Its pairs of roles that require each other become two rules of one direction.
    """
    tables = pickle.loads(path.read_bytes())
    count = min(most or len(tables), len(tables))
    instances = []
    for place in np.linspace(0, len(tables) - 1, count).round().astype(int).tolist():
        table = tables[place]
        index = {role: r for r, role in enumerate(table["roles"])}
        requires = [(index[a], index[b]) for a, b in table["requires"]]
        instances.append(
            Instance(
                np.asarray(table["spans"], dtype=np.int64).reshape(-1, 2),
                tuple(table["roles"]),
                np.asarray(table["scores"], dtype=float) - np.asarray(table["null"], dtype=float),
                tuple((index[a], index[b]) for a, b in table["excludes"]),
                (*requires, *((b, a) for a, b in requires)),
            )
        )
    return instances


def framenet_instances(options: argparse.Namespace) -> list[Instance]:
    """Return the targets of FrameNet's dev set; none, with a note, where they are not there."""
    if options.tables is not None:
        return read_tables(options.tables, options.targets)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tables.pkl")
        data = [str(options.data)] if options.data else []
        try:
            made = run_child(str(HERE / "span_framenet.py"), str(path), *data)
        except SystemExit as error:
            made = {"missing": str(error).strip().splitlines()[-1]}
        if "missing" not in made:
            return read_tables(path, options.targets)
    logger.warning("framenet: left out: %s; or pass --tables FILE", made["missing"])
    return []


def measure_once(name: str, stored: Path) -> dict[str, Any]:
    """Measure one solver on one file of instances, in a child."""
    script, solver = ("span_ours.py", name[4:]) if name.startswith("our:") else ("", name)
    try:
        return run_child(str(HERE / (script or "span_rivals.py")), solver, str(stored))
    except SystemExit as error:
        return {"missing": str(error)}


def measure_set(
    instances: list[Instance], names: list[str], rounds: int
) -> dict[str, dict[str, Any]]:
    """Measure every solver on one set, in turns: medians over the rounds."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder, "instances.pkl")
        stored.write_bytes(pickle.dumps(instances))
        for turn in range(rounds):
            for name in names:
                if runs[name] and "missing" in runs[name][0]:
                    continue
                run = measure_once(name, stored)
                runs[name].append(run)
                outcome = run.get("missing") or f"{np.mean(run['wall']):.3f} ms"
                logger.info("round %d of %d: %s: %s", turn + 1, rounds, TITLES[name], outcome)
    return {name: summary(taken) for name, taken in runs.items()}


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of the rounds of one solver."""
    first = runs[0]
    if "missing" in first:
        return first
    return {
        "milliseconds": statistics.median(float(np.mean(run["wall"])) for run in runs),
        "median_instance": statistics.median(float(np.median(run["wall"])) for run in runs),
        "cpu_milliseconds": statistics.median(float(np.mean(run["cpu"])) for run in runs),
        "rounds": [float(np.mean(run["wall"])) for run in runs],
        "unproven": sum(not done for done in first["proven"]),
        "values": first["values"],
        "proven": first["proven"],
        "proven_again": first.get("proven_again"),
        "version": first["version"],
    }


def disagreements(found: dict[str, dict[str, Any]]) -> dict[str, list[int]]:
    """Return, for each solver, the instances it calls solved with a value that is not the best.

    An answer that breaks a rule is worth -inf, so it is found here too, even if all share it.
    """
    present = {name: one for name, one in found.items() if "missing" not in one}
    if not present:
        return {}
    best = np.max([one["values"] for one in present.values()], axis=0)
    wrong = {}
    for name, one in present.items():
        with np.errstate(invalid="ignore"):  # -inf less -inf is NaN, and that is not equal
            equal = np.abs(np.array(one["values"]) - best) <= TOLERANCE
        claimed = np.array(one["proven"])
        wrong[name] = np.flatnonzero(claimed & ~equal).tolist()
    return {name: places for name, places in wrong.items() if places}


def ratios(found: dict[str, dict[str, Any]]) -> dict[str, tuple[str, float]]:
    """Return how many times slower than ours HiGHS and the fastest rivals are, and who they are."""
    if "missing" in found.get(OURS, {"missing": ""}):
        return {}
    ours = found[OURS]["milliseconds"]
    times = {
        name: one["milliseconds"]
        for name, one in found.items()
        if not name.startswith("our:") and "missing" not in one
    }
    result = {}
    if "highs" in times:
        result["HiGHS"] = ("highs", times["highs"] / ours)
    untouched = {name: spent for name, spent in times.items() if not name.endswith("-tuned")}
    for against, among in ((AS_IT_COMES, untouched), (ANY, times)):
        if among:
            fastest = min(among, key=lambda name: among[name])
            result[against] = (fastest, among[fastest] / ours)
    return result


def cell(found: dict[str, dict[str, Any]], name: str) -> str:
    """Return the milliseconds of a solver on one set, and how often ours goes into that."""
    one = found[name]
    if "missing" in one:
        return "–"
    ours = found.get(OURS, {"missing": ""})
    times = "" if "missing" in ours else f" ({one['milliseconds'] / ours['milliseconds']:.1f}×)"
    unproven = f", {one['unproven']} unproven" if one["unproven"] else ""
    return f"{one['milliseconds']:.3f}{times}{unproven}"


def notes(sets: dict[str, dict[str, dict[str, Any]]], wrong: dict[str, Any]) -> list[str]:
    """Return what the table leaves out."""
    lines = []
    for name, found in sets.items():
        for against, (who, times) in ratios(found).items():
            met = "at least" if times >= TARGETS[against] else "**below**"
            lines.append(
                f"{name}: ours is {times:.1f}× faster than {against} ({TITLES[who]}), "
                f"{met} the {TARGETS[against]:.0f}× it should be."
            )
    missing = {
        TITLES[name]: one["missing"].splitlines()[0]
        for found in sets.values()
        for name, one in found.items()
        if "missing" in one
    }
    lines += [f"Left out: {title}: {why}." for title, why in missing.items()]
    proofs = [
        f"{name} {100 * found[OURS]['proven_again']:.0f}%"
        for name, found in sets.items()
        if "missing" not in found.get(OURS, {"missing": ""})
    ]
    if proofs:
        lines.append(f"Our answers, a sample, proven again by `tw.verify`: {', '.join(proofs)}.")
    lines += [
        f"**DISAGREEMENT**: {name}: {TITLES[who]} calls {len(places)} answers optimal that are "
        f"not the best or break a rule, instances {places[:10]}."
        for name, who_is_wrong in wrong.items()
        for who, places in who_is_wrong.items()
    ]
    for name, found in sets.items():
        count = sum("missing" not in one for one in found.values())
        if name not in wrong and count > 1:
            lines.append(
                f"{name}: what {count} solvers call optimal obeys the rules and is worth the same, "
                f"to {TOLERANCE:.0e}."
            )
    return lines


def sets_of(options: argparse.Namespace) -> dict[str, list[Instance]]:
    """Return the sets that were asked for and are there."""
    sets = {}
    for name in options.sizes:
        if name != "framenet":
            sets[name] = random_instances(name, options.instances, options.seed)
        elif found := framenet_instances(options):
            sets[name] = found
    return sets


def names_from(text: str, known: list[str], what: str) -> list[str]:
    """Return the names of a list with commas; `all` and `none` are short for these."""
    names = {"all": known, "none": []}.get(text, [name for name in text.split(",") if name])
    for name in names:
        if name not in known:
            sys.exit(f"--{what}: expected some of {', '.join(known)}, got {name}.")
    return names


def arguments() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sizes, ours, rivals = [*SIZES, "framenet"], list(METHODS), list(RIVALS)
    lists = "several with commas; all; none"
    parser.add_argument("--sizes", default="all", help=f"of {', '.join(sizes)}: {lists}")
    parser.add_argument("--rivals", default="all", help=f"of {', '.join(rivals)}: {lists}")
    parser.add_argument("--ours", default="all", help=f"of {', '.join(ours)}: {lists}")
    parser.add_argument("--instances", type=int, default=100, help="of each size (100)")
    parser.add_argument("--seed", type=int, default=0, help="of the random instances (0)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of every solver (3)")
    parser.add_argument("--targets", type=int, default=500, help="of FrameNet (500); 0: all")
    parser.add_argument("--tables", type=Path, help="tables of FrameNet, by span_framenet.py")
    parser.add_argument("--data", type=Path, help="directory of the data sets, for FrameNet")
    options = parser.parse_args()
    options.sizes = names_from(options.sizes, sizes, "sizes")
    options.rivals = names_from(options.rivals, rivals, "rivals")
    options.ours = names_from(options.ours, ours, "ours")
    return options


def main() -> None:
    """Run everything and write the results."""
    options = arguments()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", stream=sys.stderr)
    names = [*(f"our:{name}" for name in options.ours), *options.rivals]
    given, sets = sets_of(options), {}
    if not given or not names:
        sys.exit("Nothing to measure: no instances, or no solvers.")
    for name, instances in given.items():
        logger.info("%s: %d instances", name, len(instances))
        sets[name] = measure_set(instances, names, options.rounds)
    wrong = {name: places for name, found in sets.items() if (places := disagreements(found))}
    heads = [f"{name}: ms an instance (× ours)" for name in sets]
    rows = [[TITLES[who], *(cell(found, who) for found in sets.values())] for who in names]
    text = "\n\n".join([markdown_table(["", *heads], rows), *notes(sets, wrong)])
    for found in sets.values():
        for one in found.values():  # an entry for each instance is too much to keep
            one.pop("values", None), one.pop("proven", None)
    results = {
        "sets": sets,
        "instances": {name: len(instances) for name, instances in given.items()},
        "seed": options.seed,
        "rounds": options.rounds,
        "disagreements": wrong,
        "ratios": {name: ratios(found) for name, found in sets.items()},
        "machine": machine("trelliswork", "numpy", "scipy"),
    }
    write_results("spans", results, text)
    if wrong:
        sys.exit("Solvers disagree: see the table's notes.")


if __name__ == "__main__":
    main()
