"""Our side of the benchmark of span–role assignment, measured in a process of its own.

    python benchmarks/span_ours.py METHOD INSTANCES

INSTANCES is a pickled list of `span_instances.Instance`. Prints JSON: milliseconds an instance, on
one thread, with all that makes tables, constraints or graphs of plain arrays.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from span_models import outline

import trelliswork as tw

if TYPE_CHECKING:
    from collections.abc import Callable

    from span_instances import Instance

SECONDS = 0.3  # a batch is solved again and again for so long
VERIFIED = 20  # answers whose proof is checked, outside the timing


def table_and_rules(instance: Instance) -> tuple[tw.SpanTable, list[tw.Constraint]]:
    """Return an instance as `tw.assign` takes it."""
    roles = instance.roles
    return tw.SpanTable(instance.spans, roles, instance.scores), [
        tw.no_overlap(),
        *(tw.excludes(roles[a], roles[b]) for a, b in instance.excludes),
        *(tw.requires(roles[a], roles[b]) for a, b in instance.requires),
    ]


def assign(instances: list[Instance], method: str) -> list[tw.Assignment]:
    """Solve a batch with `tw.assign`."""
    given = [table_and_rules(instance) for instance in instances]
    tables, rules = zip(*given, strict=True)
    return tw.assign(list(tables), list(rules), method, n_jobs=1)


def assign_one_by_one(instances: list[Instance]) -> list[tw.Assignment]:
    """Solve instances with a call for each."""
    return [tw.assign(*table_and_rules(instance), n_jobs=1) for instance in instances]


def paper_graph(instance: Instance) -> tw.FactorGraph:
    """Return the paper's factor graph, on the variables that the rivals get."""
    model = outline(instance)
    graph = tw.FactorGraph()
    z = graph.binary(len(model.costs), scores=model.costs)
    empty = graph.binary(len(model.roles))
    factors = tw.factors
    for r, members in enumerate(model.roles):
        graph.add(factors.Xor([z[members], empty[r]]))
    for members in model.tokens:
        graph.add(factors.AtMostOne(z[members]))
    for a, b in model.excludes:
        graph.add(factors.Or([empty[a], empty[b]]))
    for a, b in model.requires:
        graph.add(factors.Imply([~empty[a]], ~empty[b]))
    return graph


def solve_graphs(instances: list[Instance], caching: bool) -> list[tw.Solution]:
    """Solve a batch of factor graphs exactly."""
    graphs = [paper_graph(instance) for instance in instances]
    return tw.solve(graphs, "branch", ad3=tw.AD3Options(caching=caching), n_jobs=1)


class Method(NamedTuple):
    """A way of ours to solve a batch, and what to call it."""

    title: str
    solve: Callable[[list[Instance]], list[Any]]
    cold: bool = True  # nothing is remembered from the batch before


METHODS = {
    "auto": Method("ours", lambda batch: assign(batch, "auto")),
    "again": Method("ours, rules seen before", lambda batch: assign(batch, "auto"), cold=False),
    "single": Method("ours, a call for each", assign_one_by_one),
    "branch": Method("ours, AD3 and branching", lambda batch: assign(batch, "branch")),
    "ad3": Method("ours, AD3 alone: a relaxation", lambda batch: assign(batch, "ad3")),
    "graph": Method("ours, as a factor graph", lambda batch: solve_graphs(batch, True)),
    "graph-uncached": Method(
        "ours, as a factor graph, no caching", lambda batch: solve_graphs(batch, False)
    ),
}


def chosen(instance: Instance, answer: Any) -> np.ndarray | None:
    """Return an answer as (S, R) bool."""
    if isinstance(answer, tw.Assignment):
        taken = {(span.start, span.end, span.name) for span in answer.spans}
        picked = np.zeros(instance.scores.shape, dtype=bool)
        for s, (start, end) in enumerate(instance.spans.tolist()):
            for r, role in enumerate(instance.roles):
                picked[s, r] = (start, end, role) in taken
        return picked
    return None if answer.values is None else outline(instance).chosen(answer.values)


def proven_again(instances: list[Instance], answers: list[Any]) -> float:
    """Return the share of answers, called optimal, that `tw.verify` proves."""
    proofs = []
    for instance, answer in list(zip(instances, answers, strict=True))[:VERIFIED]:
        if answer.status != "optimal":
            continue
        if isinstance(answer, tw.Assignment):
            proofs.append(bool(tw.verify(table_and_rules(instance)[0], answer)))
        else:
            proofs.append(bool(tw.verify(answer.graph, answer)))
    return float(np.mean(proofs)) if proofs else 0.0


def forget() -> None:
    """Empty every cache of the library: rivals build their models each time, and so do we."""
    for name, module in list(sys.modules.items()):
        if name.startswith("trelliswork"):
            for member in list(vars(module).values()):
                if callable(getattr(member, "cache_clear", None)):
                    member.cache_clear()


def timed(
    solve: Callable[[list[Instance]], list[Any]], instances: list[Instance], *, cold: bool
) -> tuple[float, float]:
    """Return milliseconds an instance, wall and processor, over passes of `SECONDS` in all."""
    passes, wall, processor = 0, 0.0, 0.0
    while not passes or wall < SECONDS:
        if cold:
            forget()
        began, used = time.perf_counter(), time.process_time()
        solve(instances)
        wall += time.perf_counter() - began
        processor += time.process_time() - used
        passes += 1
    share = 1e3 / (passes * len(instances))
    return share * wall, share * processor


def measure(name: str, instances: list[Instance]) -> dict[str, Any]:
    """Solve the batch for a while: milliseconds an instance, values, proofs."""
    method = METHODS[name]
    answers = method.solve(instances)
    wall, processor = timed(method.solve, instances, cold=method.cold)
    picked = [chosen(*pair) for pair in zip(instances, answers, strict=True)]
    return {
        "wall": [wall] * len(instances),  # of a batch only the mean is known
        "cpu": [processor] * len(instances),
        "values": [
            -np.inf if one is None else instance.value(one)
            for instance, one in zip(instances, picked, strict=True)
        ],
        "proven": [answer.status == "optimal" for answer in answers],
        "proven_again": proven_again(instances, answers),
        "version": f"trelliswork {tw.__version__}",
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], pickle.loads(Path(sys.argv[2]).read_bytes()))))
