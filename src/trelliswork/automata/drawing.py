"""Automata as text: Graphviz source, or one line a state. Pictures are in `svg`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork.automata.automaton import Automaton

__all__ = ["describe", "describe_labels", "edges_of", "names_of", "to_dot"]


def edges_of(automaton: Automaton) -> dict[tuple[int, int], list[int]]:
    """Return the label ids on the arcs between each pair of states."""
    edges: dict[tuple[int, int], list[int]] = {}
    columns = automaton.source.tolist(), automaton.target.tolist(), automaton.label.tolist()
    for source, target, label in sorted(zip(*columns, strict=True)):
        edges.setdefault((source, target), []).append(label)
    return edges


def describe_labels(ids: Iterable[int], names: tuple[str, ...]) -> str:
    """Return labels as text: ``a, b``, or ``any but c`` if that is shorter, or ``any``."""
    chosen = set(ids)
    rest = [name for y, name in enumerate(names) if y not in chosen]
    listed = ", ".join(name for y, name in enumerate(names) if y in chosen)
    if not rest:
        return "any" if len(names) > 1 else listed
    but = "any but " + ", ".join(rest)
    return but if len(but) < len(listed) and len(chosen) > 2 else listed


def describe(automaton: Automaton) -> str:
    """Return the arcs as text, one line a state.

    Examples
    --------
    >>> from trelliswork.automata.automaton import Automaton
    >>> print(describe(Automaton.from_regex("O* B I*", ["O", "B", "I"])))
      -> 0        O -> 0; B -> 1
         1 final  I -> 1
    """
    names = names_of(automaton)
    leaving: dict[int, list[str]] = {state: [] for state in automaton.states}
    for (source, target), ids in edges_of(automaton).items():
        leaving[source].append(f"{describe_labels(ids, names)} -> {target}")
    lines = []
    for state, steps in leaving.items():
        mark = "->" if np.isfinite(automaton.initial[state]) else "  "
        final = "final" if np.isfinite(automaton.final[state]) else ""
        lines.append(f"  {mark} {state} {final:<5}  {'; '.join(steps)}".rstrip())
    return "\n".join(lines)


def names_of(automaton: Automaton) -> tuple[str, ...]:
    """Return the label names, or the ids as names."""
    return automaton.labels or tuple(map(str, range(automaton.n_labels)))


def to_dot(automaton: Automaton) -> str:
    """Return the automaton in the language of Graphviz."""
    names = names_of(automaton)
    lines = ["digraph automaton {", "  rankdir=LR;", "  node [shape=circle];"]
    for state in automaton.states:
        if np.isfinite(automaton.final[state]):
            lines.append(f"  {state} [shape=doublecircle];")
        if np.isfinite(automaton.initial[state]):
            lines.append(f'  start{state} [shape=point, label=""];')
            lines.append(f"  start{state} -> {state};")
    for (source, target), ids in edges_of(automaton).items():
        text = describe_labels(ids, names).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  {source} -> {target} [label="{text}"];')
    return "\n".join([*lines, "}", ""])
