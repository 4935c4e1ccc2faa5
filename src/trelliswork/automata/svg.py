"""Pictures of automata as SVG, drawn without Graphviz.

States are placed in layers by their distance from the start. An edge bundles all arcs between two
states; it tries several bends and keeps the one that runs into the fewest states and labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.drawing import describe_labels, edges_of, names_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trelliswork._typing import FloatArray
    from trelliswork.automata.automaton import Automaton

__all__ = ["to_svg"]

MAX_STATES, MAX_EDGES = 40, 250  # a larger picture would be unreadable
RADIUS = 17.0
CHARACTER, LINE = 6.4, 15.0  # size of a letter of a label
WIDEST = 34  # letters of a label in a picture; the whole label is its tooltip
INK, PAPER, LABEL = "#1f2933", "#ffffff", "#0b6e6e"
ALONG = np.linspace(0.0, 1.0, 25)[:, None]  # sample points of a curve


def layers_of(automaton: Automaton, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the states by distance from the start; states out of reach come last."""
    following: dict[int, list[int]] = {}
    entering: dict[int, list[int]] = {}
    for source, target in edges:
        following.setdefault(source, []).append(target)
        entering.setdefault(target, []).append(source)
    layer = np.flatnonzero(np.isfinite(automaton.initial)).tolist()
    seen = set(layer)
    layers = []
    while layer:
        layers.append(layer)
        reached = dict.fromkeys(t for s in layer for t in following.get(s, ()) if t not in seen)
        layer = list(reached)
        seen.update(layer)
    lost = [state for state in automaton.states if state not in seen]
    if lost:
        layers.append(lost)
    # Put each state beside the states that lead to it.
    height = {s: i - (len(row) - 1) / 2 for row in layers for i, s in enumerate(row)}
    for row in layers[1:]:
        outside = {s: [height[p] for p in entering.get(s, ()) if p not in row] for s in row}
        wish = {s: sum(above) / len(above) if above else height[s] for s, above in outside.items()}
        row.sort(key=lambda s: wish[s])
        height.update({s: i - (len(row) - 1) / 2 for i, s in enumerate(row)})
    return layers


@dataclass
class Picture:
    """The parts of a picture drawn so far, and the space they take."""

    places: FloatArray  # of the states, (S, 2)
    edges: list[str] = field(default_factory=list)  # drawn first, under labels and states
    parts: list[str] = field(default_factory=list)
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)  # of the labels
    curves: list[FloatArray] = field(default_factory=list)

    def clash(self, box: tuple[float, float, float, float]) -> float:
        """Return a penalty for placing a label in a box (x, y, width, height)."""
        x, y, width, height = box
        inside = np.abs(self.places - (x + width / 2, y + height / 2))
        reach = np.array([width / 2 + RADIUS, height / 2 + RADIUS])
        found = float(np.sum(np.all(inside < reach, axis=1)))
        for left, top, wide, high in self.boxes:
            found += x < left + wide and left < x + width and y < top + high and top < y + height
        return found

    def cover(self, box: tuple[float, float, float, float]) -> float:
        """Return the number of curves that run through a box."""
        x, y, width, height = box
        hit = 0.0
        for curve in self.curves:
            inside = (curve > (x, y)) & (curve < (x + width, y + height))
            hit += bool(np.any(np.all(inside, axis=1)))
        return hit

    def draw_label(self, text: str, box: tuple[float, float, float, float]) -> None:
        """Write a label into its box."""
        x, y, width, height = box
        shown = text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
        title = "" if shown == text else f"<title>{escape(text)}</title>"
        self.boxes.append(box)
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3" '
            f'fill="{PAPER}" fill-opacity="0.85"/>'
            f'<text x="{x + width / 2:.1f}" y="{y + height - 4:.1f}" text-anchor="middle" '
            f'class="tw-label">{escape(shown)}{title}</text>'
        )

    def draw_path(self, path: str, tip: FloatArray, towards: FloatArray) -> None:
        """Draw a line and the head of its arrow; heads are drawn by hand, markers vary."""
        along = unit(towards)
        across = 3.2 * np.array([-along[1], along[0]])
        corners = [tip, tip - 8.5 * along + across, tip - 8.5 * along - across]
        head = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        self.edges.append(
            f'<path d="{path}" class="tw-edge"/><polygon points="{head}" fill="{INK}"/>'
        )

    def draw_loop(self, state: int, text: str) -> None:
        """Draw an edge from a state to itself, above it."""
        x, y = self.places[state]
        foot = y - RADIUS + 2.5
        path = (
            f"M{x - 9:.1f},{foot:.1f} C{x - 24:.1f},{y - 52:.1f} {x + 24:.1f},{y - 52:.1f} "
            f"{x + 9:.1f},{foot:.1f}"
        )
        self.draw_path(path, np.array([x + 9, foot]), np.array([-12.0, 37.0]))
        wide = width_of(text)
        self.draw_label(text, (x - wide / 2, y - 44 - LINE, wide, LINE))

    def draw_edge(self, source: int, target: int, text: str, bends: list[float]) -> None:
        """Draw an edge between two states along the best of several bends."""
        start, end = self.places[source], self.places[target]
        others = np.delete(self.places, [source, target], axis=0)
        wide = width_of(text)
        best: tuple[float, FloatArray, tuple[float, float, float, float]] | None = None
        for order, bend in enumerate(bends):
            middle = control_point(start, end, bend)
            curve = (1 - ALONG) ** 2 * start + 2 * ALONG * (1 - ALONG) * middle + ALONG**2 * end
            gaps = np.linalg.norm(curve[:, None] - others[None], axis=2)
            hits = float(np.sum(np.any(gaps < RADIUS + 5, axis=0)))
            for rank, at in enumerate((12, 10, 14, 8, 16, 6, 18)):
                x, y = curve[at]
                box = (float(x - wide / 2), float(y - LINE / 2), wide, LINE)
                cost = 20 * hits + 8 * self.clash(box) + 2 * self.cover(box) + order + 0.3 * rank
                if best is None or cost < best[0]:
                    best = cost, middle, box
        assert best is not None
        _, middle, box = best
        first = start + RADIUS * unit(middle - start)
        last = end + (RADIUS + 1) * unit(middle - end)
        self.curves.append(
            (1 - ALONG) ** 2 * first + 2 * ALONG * (1 - ALONG) * middle + ALONG**2 * last
        )
        path = (
            f"M{first[0]:.1f},{first[1]:.1f} Q{middle[0]:.1f},{middle[1]:.1f} "
            f"{last[0]:.1f},{last[1]:.1f}"
        )
        self.draw_path(path, last, end - middle)
        self.draw_label(text, box)

    def draw_state(self, state: int, *, initial: bool, final: bool) -> None:
        """Draw a circle, a double one if final, with an arrow from nowhere if initial."""
        x, y = self.places[state]
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" class="tw-state"/>')
        if final:
            inner = RADIUS - 3.5
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{inner}" class="tw-state"/>')
        if initial:
            begin, end = x - RADIUS - 26, x - RADIUS - 1
            path = f"M{begin:.1f},{y:.1f} L{end:.1f},{y:.1f}"
            self.draw_path(path, np.array([end, y]), np.array([1.0, 0.0]))
        self.parts.append(
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" class="tw-name">{state}</text>'
        )


def width_of(text: str) -> float:
    """Return the width of a label in the picture."""
    return CHARACTER * min(len(text), WIDEST) + 6


def unit(vector: FloatArray) -> FloatArray:
    """Return the direction of a vector."""
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def control_point(start: FloatArray, end: FloatArray, bend: float) -> FloatArray:
    """Return the control point of a curve that leaves the straight line by `bend`."""
    along = unit(end - start)
    return (start + end) / 2 + 2 * bend * np.array([-along[1], along[0]])


def place_states(
    layers: list[list[int]], n_states: int, texts: dict[tuple[int, int], str]
) -> FloatArray:
    """Return the centre of every state; layers stand apart as far as their labels are wide."""
    places = np.zeros((n_states, 2))
    x = 0.0
    for index, row in enumerate(layers):
        if index:
            before = layers[index - 1]
            wide = [width_of(t) for (s, u), t in texts.items() if s in before and u in row]
            back = [width_of(t) for (s, u), t in texts.items() if s in row and u in before]
            loops = [
                width_of(texts[s, s]) / 2 for side in (before, row) for s in side if (s, s) in texts
            ]
            crowd = 12 * max(len(row), len(before))  # room for many edges to fan out
            x += max([*wide, *back, 1.2 * sum(sorted(loops)[-2:]), 60]) + 2 * RADIUS + 30 + crowd
        for i, state in enumerate(row):
            places[state] = x, (i - (len(row) - 1) / 2) * 105
    return places


def bends_of(start: FloatArray, end: FloatArray, has_return: bool) -> list[float]:
    """Return the bends that an edge tries, best first."""
    distance = float(np.linalg.norm(end - start))
    step = 26 + 0.06 * distance
    if end[0] > start[0]:
        straight = [-16.0] if has_return else [0.0, -14.0, 14.0]
        return [*straight, -step, step, -2 * step, 2 * step]
    return [k * side * step for k in (1.0, 1.8, 2.8, 4.0) for side in (1, -1)]


def to_svg(automaton: Automaton) -> str:
    """Return a picture of the automaton as an SVG document."""
    size = f"{automaton.n_states:,} states, {automaton.n_arcs:,} arcs"
    edges = edges_of(automaton) if automaton.n_states <= MAX_STATES else {}
    if automaton.n_states > MAX_STATES or len(edges) > MAX_EDGES:
        text = f'<text x="12" y="24" class="tw-name">{size}: too many to draw</text>'
        return document([text], (0.0, 0.0, 24 + 7.0 * (len(size) + 18), 38.0), size)
    names = names_of(automaton)
    texts = {pair: describe_labels(ids, names) for pair, ids in edges.items()}
    layers = layers_of(automaton, edges)
    picture = Picture(place_states(layers, automaton.n_states, texts))
    for state in automaton.states:
        if (state, state) in texts:
            picture.draw_loop(state, texts[state, state])
    places = picture.places
    # Short edges first: they have the least choice.
    lengths = {pair: float(np.linalg.norm(places[pair[0]] - places[pair[1]])) for pair in texts}
    for source, target in sorted(lengths, key=lambda pair: (lengths[pair], pair)):
        if source != target:
            bends = bends_of(places[source], places[target], (target, source) in texts)
            picture.draw_edge(source, target, texts[source, target], bends)
    for state in automaton.states:
        initial, final = np.isfinite([automaton.initial[state], automaton.final[state]])
        picture.draw_state(state, initial=bool(initial), final=bool(final))
    points = [places - (RADIUS + 30, RADIUS), places + RADIUS, *picture.curves]
    for x, y, width, height in picture.boxes:
        points.append(np.array([(x, y), (x + width, y + height)]))
    low, high = np.min(np.concatenate(points), axis=0), np.max(np.concatenate(points), axis=0)
    (left, top), (right, bottom) = (low - 10).tolist(), (high + 10).tolist()
    return document(picture.edges + picture.parts, (left, top, right - left, bottom - top), size)


def document(parts: list[str], box: tuple[float, float, float, float], title: str) -> str:
    """Return an SVG document around parts of a picture."""
    left, top, width, height = box
    # Class names of our own: in a notebook the style holds for the whole page.
    style = (
        ".tw-label,.tw-name{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
        f".tw-label{{font-size:10.5px;fill:{LABEL}}}.tw-name{{fill:{INK}}}"
        f".tw-state{{fill:{PAPER};stroke:{INK};stroke-width:1.4}}"
        f".tw-edge{{fill:none;stroke:{INK};stroke-width:1.2}}"
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}" role="img">'
        f"<title>{escape(title)}</title><style>{style}</style>"
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6" '
        f'fill="{PAPER}"/>'
    )
    return "\n".join([head, *parts, "</svg>", ""])
