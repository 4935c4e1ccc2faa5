from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
from hypothesis import given

import trelliswork as tw
from language_oracle import languages
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.drawing import describe_labels

SVG = "{http://www.w3.org/2000/svg}"
BIO = Automaton.from_regex("(O | B-PER I-PER*)*", ["O", "B-PER", "I-PER"])


def test_labels_are_bundled():
    names = ("a", "b", "c", "a long name")
    assert describe_labels([1, 0], names) == "a, b"
    assert describe_labels([0, 1, 2, 3], names) == "any"
    assert describe_labels([1, 2, 3], names) == "any but a"
    assert describe_labels([0, 1, 2], names) == "a, b, c"
    assert describe_labels([0], ("a",)) == "a"


def test_dot():
    assert BIO.to_dot().splitlines() == [
        "digraph automaton {",
        "  rankdir=LR;",
        "  node [shape=circle];",
        "  0 [shape=doublecircle];",
        '  start0 [shape=point, label=""];',
        "  start0 -> 0;",
        "  1 [shape=doublecircle];",
        '  0 -> 0 [label="O"];',
        '  0 -> 1 [label="B-PER"];',
        '  1 -> 0 [label="O"];',
        '  1 -> 1 [label="B-PER, I-PER"];',
        "}",
    ]
    assert '[label="\\"\\\\"]' in Automaton(1, 1, [0], [0], [0], labels=['"\\']).to_dot()


@given(languages(n_labels=3))
def test_every_state_and_edge_is_in_the_picture(a):
    root = ElementTree.fromstring(a.to_svg())
    assert a._repr_svg_() == a.to_svg()
    texts = [(t.get("class"), t.text) for t in root.iter(f"{SVG}text")]
    assert [text for kind, text in texts if kind == "tw-name"] == [str(s) for s in a.states]
    n_edges = len(set(zip(a.source.tolist(), a.target.tolist(), strict=True)))
    assert sum(kind == "tw-label" for kind, _ in texts) == n_edges
    n_initial, n_final = np.isfinite(a.initial).sum(), np.isfinite(a.final).sum()
    assert len(list(root.iter(f"{SVG}path"))) == n_edges + n_initial
    assert len(list(root.iter(f"{SVG}circle"))) == a.n_states + n_final


def test_everything_lies_inside_the_picture():
    picture = tw.srl_language(["A0", "A1"], ["TMP"], ["C-A1"]).to_svg()
    root = ElementTree.fromstring(picture)
    left, top, width, height = map(float, (root.get("viewBox") or "").split())
    for circle in root.iter(f"{SVG}circle"):
        x, y, r = (float(circle.get(key) or 0) for key in ("cx", "cy", "r"))
        assert left <= x - r <= x + r <= left + width
        assert top <= y - r <= y + r <= top + height
    for box in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(box.get(key) or 0) for key in ("x", "y", "width", "height"))
        assert left - 0.1 <= x <= x + w <= left + width + 0.1
        assert top - 0.1 <= y <= y + h <= top + height + 0.1


def test_odd_and_long_labels():
    a = Automaton(2, 2, [0, 0], [0, 1], [1, 0], labels=["<&>", "x" * 50])
    root = ElementTree.fromstring(a.to_svg())
    labels = [t for t in root.iter(f"{SVG}text") if t.get("class") == "tw-label"]
    assert sorted(str(t.text) for t in labels) == ["<&>", "x" * 33 + "…"]
    assert [t.text for t in root.iter(f"{SVG}title")] == ["2 states, 2 arcs", "x" * 50]


def test_large_automata_only_say_their_size():
    a = tw.srl_language([f"A{i}" for i in range(5)], ["M"])
    assert re.search(r">\d+ states, \d+ arcs: too many to draw<", a.to_svg())
    dense = Automaton(20, 1, np.repeat(range(20), 20), np.zeros(400), np.tile(range(20), 20))
    assert "too many to draw" in dense.to_svg()


def test_repr_spells_out_small_languages():
    assert repr(BIO).splitlines() == [
        "Automaton(states=2, labels=3, arcs=5)",
        "  -> 0 final  O -> 0; B-PER -> 1",
        "     1 final  O -> 0; B-PER, I-PER -> 1",
    ]
    large = Automaton.from_regex("a{9}", ["a"])
    assert repr(large) == "Automaton(states=10, labels=1, arcs=9, patterns=0)"
