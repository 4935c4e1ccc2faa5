"""Rivals of span–role assignment: each solves an instance exactly, on one thread.

Run as a script, it measures one rival in a process of its own (highspy and ortools cannot be
imported together): milliseconds an instance, the model's building included.

    python benchmarks/span_rivals.py RIVAL INSTANCES

INSTANCES is a pickled list of `span_instances.Instance`. Prints JSON. A rival comes with its
default settings, exactness apart, and as `NAME-tuned`: with the settings that we found fastest, and
without variables that no optimum needs.
"""

from __future__ import annotations

import importlib.metadata
import json
import pickle
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from span_models import outline, program

if TYPE_CHECKING:
    from collections.abc import Callable

    from span_instances import Instance

SCALE = 1e8  # of CP-SAT's scores, which are whole numbers
UNTIMED = 3  # instances that are solved once before the clock starts

# (S, R) bool, or None where the solver gave no answer; and whether it calls it the optimum.
Answer = tuple[np.ndarray | None, bool]


def highs(*, tuned: bool = False) -> Callable[[Instance], Answer]:
    """Return HiGHS through highspy, its model passed in one call."""
    import highspy

    settings: dict[str, bool | int | float | str] = {
        "output_flag": False,
        "threads": 1,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 1e-7,
    }
    if tuned:
        heuristics = ("feasibility_jump", "rins", "rens", "root_reduced_cost")
        settings |= {f"mip_heuristic_run_{name}": False for name in heuristics}
        settings |= {"presolve": "off", "mip_detect_symmetry": False}

    def solve(instance: Instance) -> Answer:
        model = outline(instance, trim=tuned)
        if not len(model.costs):
            return model.chosen(model.costs), True
        whole = program(model, empty=tuned)  # each as it is faster
        n = len(whole.costs)
        solver = highspy.Highs()
        for name, value in settings.items():
            assert solver.setOptionValue(name, value) == highspy.HighsStatus.kOk, name
        solver.passModel(
            n,
            len(whole.lower),
            len(whole.values),
            int(highspy.MatrixFormat.kRowwise),
            int(highspy.ObjSense.kMaximize),
            0.0,
            whole.costs,
            np.zeros(n),
            np.ones(n),
            whole.lower,
            whole.upper,
            whole.starts,
            whole.columns,
            whole.values,
            np.ones(n, dtype=np.int32),
        )
        solver.run()
        done = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return model.chosen(np.array(solver.getSolution().col_value)), done

    return solve


def milp() -> Callable[[Instance], Answer]:
    """Return HiGHS through scipy.optimize.milp."""
    from scipy.optimize import Bounds, LinearConstraint, milp as solve_milp
    from scipy.sparse import csr_array

    def solve(instance: Instance) -> Answer:
        model = outline(instance)
        if not len(model.costs):
            return model.chosen(model.costs), True
        whole = program(model, empty=False)
        shape = len(whole.lower), len(whole.costs)
        matrix = csr_array((whole.values, whole.columns, whole.starts), shape=shape)
        found = solve_milp(
            -whole.costs,
            integrality=np.ones(shape[1]),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(matrix, whole.lower, whole.upper),
            options={"mip_rel_gap": 0.0},
        )
        return (None if found.x is None else model.chosen(found.x)), found.status == 0

    return solve


def cpsat(*, tuned: bool = False) -> Callable[[Instance], Answer]:
    """Return OR-tools' CP-SAT, on scores rounded to whole multiples of 1e-8."""
    from ortools.sat.python import cp_model

    def solve(instance: Instance) -> Answer:
        outlined = outline(instance, trim=tuned)
        model = cp_model.CpModel()
        z = [model.new_bool_var("") for _ in range(len(outlined.costs))]
        roles = [[z[i] for i in members] for members in outlined.roles]
        for members in roles:
            model.add_at_most_one(members)
        for members in outlined.tokens:
            model.add_at_most_one([z[i] for i in members])
        for a, b in outlined.excludes:
            model.add_at_most_one(roles[a] + roles[b])
        for a, b in outlined.requires:
            model.add(cp_model.LinearExpr.sum(roles[a]) <= cp_model.LinearExpr.sum(roles[b]))
        whole = np.rint(SCALE * outlined.costs).astype(np.int64)
        model.maximize(cp_model.LinearExpr.weighted_sum(z, whole))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        if tuned:
            solver.parameters.linearization_level = 2
            solver.parameters.cp_model_probing_level = 0
            solver.parameters.symmetry_level = 0
            solver.parameters.max_presolve_iterations = 1
        status = solver.solve(model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None, False
        on = np.array([solver.value(variable) for variable in z])
        return outlined.chosen(on), status == cp_model.OPTIMAL

    return solve


def scip(*, tuned: bool = False) -> Callable[[Instance], Answer]:
    """Return SCIP through PySCIPOpt, without its slow algebra of expressions where it can be."""
    from pyscipopt import SCIP_PARAMSETTING, Model
    from pyscipopt.scip import Expr, ExprCons, Term

    def solve(instance: Instance) -> Answer:
        outlined = outline(instance, trim=tuned)
        model = Model()
        model.hideOutput()
        if tuned:
            model.setPresolve(SCIP_PARAMSETTING.OFF)
            model.setSeparating(SCIP_PARAMSETTING.OFF)
            model.setHeuristics(SCIP_PARAMSETTING.OFF)
        z = [model.addVar(vtype="B", obj=cost) for cost in outlined.costs.tolist()]
        empty = [model.addVar(vtype="B") for _ in outlined.roles]
        for r, members in enumerate(outlined.roles):
            terms = {Term(z[i]): 1.0 for i in members} | {Term(empty[r]): 1.0}
            model.addCons(ExprCons(Expr(terms), 1.0, 1.0))
        for members in outlined.tokens:
            model.addConsKnapsack([z[i] for i in members], [1] * len(members), 1)
        for a, b in outlined.excludes:
            model.addConsLogicor([empty[a], empty[b]])
        for a, b in outlined.requires:
            model.addCons(ExprCons(Expr({Term(empty[a]): 1.0, Term(empty[b]): -1.0}), 0.0))
        model.setMaximize()
        model.optimize()
        if not model.getNSols():
            return None, False
        best = model.getBestSol()
        on = np.array([best[variable] for variable in z])
        return outlined.chosen(on), model.getStatus() == "optimal"

    return solve


def old_ad3(*, tuned: bool = False) -> Callable[[Instance], Answer]:
    """Return the old AD3 package's exact mode: branching to depth 5 at most."""
    from ad3.factor_graph import PFactorGraph

    def solve(instance: Instance) -> Answer:
        model = outline(instance, trim=tuned)
        graph = PFactorGraph()
        graph.set_verbosity(0)
        if tuned:
            graph.set_eta_ad3(1.0)
        z = []
        for cost in (*model.costs.tolist(), *[0.0] * len(model.roles)):
            variable = graph.create_binary_variable()
            variable.set_log_potential(cost)
            z.append(variable)
        empty = z[len(model.costs) :]
        for r, members in enumerate(model.roles):
            graph.create_factor_logic("XOR", [*(z[i] for i in members), empty[r]])
        for members in model.tokens:
            graph.create_factor_logic("ATMOSTONE", [z[i] for i in members])
        for a, b in model.excludes:
            graph.create_factor_logic("OR", [empty[a], empty[b]])
        for a, b in model.requires:
            graph.create_factor_logic("OR", [empty[a], empty[b]], [False, True])
        _, values, _, status = graph.solve_exact_map_ad3()
        return (model.chosen(np.array(values)) if len(values) else None), status == 0

    return solve


def cbc() -> Callable[[Instance], Answer]:
    """Return CBC through python-mip."""
    import mip

    def solve(instance: Instance) -> Answer:
        outlined = outline(instance)
        model = mip.Model(sense=mip.MAXIMIZE, solver_name=mip.CBC)
        model.verbose, model.threads = 0, 1
        model.max_mip_gap = model.max_mip_gap_abs = 1e-9
        z = [model.add_var(obj=cost, var_type=mip.BINARY) for cost in outlined.costs.tolist()]
        filled = [mip.LinExpr([z[i] for i in m], [1.0] * len(m)) for m in outlined.roles]
        for total in filled:
            model.add_constr(total <= 1)
        for members in outlined.tokens:
            model.add_constr(mip.LinExpr([z[i] for i in members], [1.0] * len(members)) <= 1)
        for a, b in outlined.excludes:
            model.add_constr(filled[a] + filled[b] <= 1)
        for a, b in outlined.requires:
            model.add_constr(filled[a] - filled[b] <= 0)
        status = model.optimize()
        if not model.num_solutions:
            return None, False
        on = np.array([variable.x for variable in z])
        return outlined.chosen(on), status == mip.OptimizationStatus.OPTIMAL

    return solve


def pulp_cbc() -> Callable[[Instance], Answer]:
    """Return CBC through PuLP, which writes a file and starts a process for each instance."""
    import pulp

    def solve(instance: Instance) -> Answer:
        outlined = outline(instance)
        model = pulp.LpProblem("spans", pulp.LpMaximize)
        z = [pulp.LpVariable(f"z{i}", cat="Binary") for i in range(len(outlined.costs))]
        model += pulp.LpAffineExpression(zip(z, outlined.costs.tolist(), strict=True))
        filled = [pulp.lpSum(z[i] for i in members) for members in outlined.roles]
        for total in filled:
            model += total <= 1
        for members in outlined.tokens:
            model += pulp.lpSum(z[i] for i in members) <= 1
        for a, b in outlined.excludes:
            model += filled[a] + filled[b] <= 1
        for a, b in outlined.requires:
            model += filled[a] - filled[b] <= 0
        status = model.solve(pulp.PULP_CBC_CMD(msg=False, threads=1, gapRel=0.0, gapAbs=1e-9))
        on = np.array([variable.value() or 0.0 for variable in z])
        return outlined.chosen(on), status == pulp.LpStatusOptimal

    return solve


class Rival(NamedTuple):
    """A solver, what to call it, and the package it comes in."""

    title: str
    package: str
    make: Callable[[], Callable[[Instance], Answer]]


RIVALS = {
    "highs": Rival("HiGHS", "highspy", highs),
    "highs-tuned": Rival("HiGHS, tuned", "highspy", lambda: highs(tuned=True)),
    "milp": Rival("HiGHS through SciPy", "scipy", milp),
    "cpsat": Rival("CP-SAT", "ortools", cpsat),
    "cpsat-tuned": Rival("CP-SAT, tuned", "ortools", lambda: cpsat(tuned=True)),
    "scip": Rival("SCIP", "pyscipopt", scip),
    "scip-tuned": Rival("SCIP, tuned", "pyscipopt", lambda: scip(tuned=True)),
    "ad3": Rival("the old AD3 package", "ad3", old_ad3),
    "ad3-tuned": Rival("the old AD3 package, tuned", "ad3", lambda: old_ad3(tuned=True)),
    "cbc": Rival("CBC through python-mip", "mip", cbc),
    "pulp": Rival("CBC through PuLP", "pulp", pulp_cbc),
}


def measure(name: str, instances: list[Instance]) -> dict[str, object]:
    """Solve every instance once: milliseconds and values, in order."""
    rival = RIVALS[name]
    try:
        solve = rival.make()
    except ImportError as error:
        return {"missing": f"{rival.package} is not installed ({error})"}
    for instance in instances[:UNTIMED]:
        solve(instance)
    wall, processor, values, proven = [], [], [], []
    for instance in instances:
        began, used = time.perf_counter(), time.process_time()
        chosen, done = solve(instance)
        wall.append(1e3 * (time.perf_counter() - began))
        processor.append(1e3 * (time.process_time() - used))
        values.append(-np.inf if chosen is None else instance.value(chosen))
        proven.append(done)
    version = importlib.metadata.version(rival.package)
    return {
        "wall": wall,
        "cpu": processor,
        "values": values,
        "proven": proven,
        "version": f"{rival.package} {version}",
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], pickle.loads(Path(sys.argv[2]).read_bytes()))))
