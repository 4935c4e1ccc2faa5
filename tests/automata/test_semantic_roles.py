from __future__ import annotations

import itertools

import numpy as np
import pytest

import trelliswork as tw
from trelliswork.automata.automaton import Automaton
from trelliswork.automata.semantic_roles import read_roles
from trelliswork.errors import LabelError, TooLargeError


def obeys(labels, core=(), noncore=(), continuation=(), reference=()) -> bool:
    """The rules, as one would say them."""
    begun: list[str] = []  # the role of every span, in order
    previous = "O"
    for label in labels:
        tag, _, role = label.partition("-")
        if tag == "B":
            begun.append(role)
        elif tag == "I" and previous not in (f"B-{role}", f"I-{role}"):
            return False
        previous = label
    if any(begun.count(role) > 1 for role in core):
        return False
    for i, role in enumerate(begun):
        if role in continuation and role.removeprefix("C-") not in begun[:i]:
            return False
        if role in reference and role.removeprefix("R-") not in begun:
            return False
    return True


@pytest.mark.parametrize(
    "roles",
    [
        {"core": ["A"], "noncore": []},
        {"core": [], "noncore": ["M"]},
        {"core": ["A"], "noncore": ["M"], "continuation": ["C-A"]},
        {"core": ["A", "B"], "noncore": [], "continuation": ["C-B"], "reference": ["R-A"]},
        {"core": [], "noncore": ["M"], "continuation": ["C-M"], "reference": ["R-M"]},
        {"core": ["A"], "noncore": ["M"], "continuation": ["C-M"], "reference": ["R-A"]},
        {"core": ["A"], "noncore": [], "continuation": ["C-R-A"], "reference": ["R-A"]},
    ],
)
def test_it_accepts_what_the_rules_allow(roles):
    language = tw.srl_language(**roles)
    assert language.is_unambiguous
    assert language.n_states == language.trim().n_states
    assert language.n_arcs == language.unambiguous().n_arcs
    groups = (tuple(roles.get(g, ())) for g in ("core", "noncore", "continuation", "reference"))
    assert language.n_states <= read_roles(*groups, None).n_states()
    labels = language.labels
    assert labels is not None
    for length in range(5):
        strings = list(itertools.product(range(len(labels)), repeat=length))
        offsets = np.arange(len(strings) + 1) * length
        found = language.accepts_batch(np.array(strings, dtype=int).ravel(), offsets)
        expected = [obeys([labels[y] for y in string], **roles) for string in strings]
        assert found.tolist() == expected


def papers_automaton(core, noncore, continuation, labels) -> Automaton:
    """Algorithm 1 of the paper, with its (r, (INSIDE, r), …) arcs leaving from state s."""
    states: dict[object, int] = {}
    arcs = set()

    def add(source, label, target):
        pair = [states.setdefault(state, len(states)) for state in (source, target)]
        arcs.add((pair[0], labels.index(label), pair[1]))

    subsets = [
        frozenset(subset)
        for size in range(len(core) + 1)
        for subset in itertools.combinations(core, size)
    ]
    for p in subsets:
        add(p, "O", p)
        kept = [*noncore, *(r for r in continuation if r.removeprefix("C-") in p)]
        for r, after in [*((r, p) for r in kept), *((r, p | {r}) for r in core if r not in p)]:
            s = (r, p)
            add(p, f"B-{r}", after)
            add(p, f"B-{r}", s)
            add(s, f"I-{r}", s)
            add(s, f"I-{r}", after)
    final = np.full(len(states), -np.inf)
    final[[states[p] for p in subsets]] = 0.0
    columns = zip(*sorted(arcs), strict=True)
    return Automaton(len(states), len(labels), *map(list, columns), final=final, labels=labels)


def test_the_papers_role_set():
    core = [f"ARG{i}" for i in range(5)]
    noncore = [f"ARGM-{i}" for i in range(17)]
    language = tw.srl_language(core, noncore, ["C-ARG1"])
    assert language.labels is not None
    assert len(language.labels) == 47
    assert language.labels[:3] == ("O", "B-ARG0", "I-ARG0")
    paper = papers_automaton(core, noncore, ["C-ARG1"], language.labels)
    assert language.equivalent(paper)
    # The numbers of the paper: 672 states, 2592 tags (arcs).
    assert (language.n_states, language.n_arcs) == (paper.n_states, paper.n_arcs) == (672, 2592)


def test_labels_of_a_model():
    labels = ["I-A", "B-A", "B-X", "O", "I-X", "B-Y"]
    language = tw.srl_language(["A"], [], labels=labels)
    assert language.labels == tuple(labels)
    assert language.accepts(["B-A", "I-A", "B-X", "I-X", "B-X", "B-Y", "B-Y"])
    assert not language.accepts(["B-A", "B-A"])
    with pytest.raises(LabelError, match="expected B-B among them"):
        tw.srl_language(["B"], [], labels=labels)
    with pytest.raises(LabelError, match="expected O, B-role or I-role, got 'S-A'"):
        tw.srl_language([], [], labels=["O", "S-A"])


def test_bad_roles_are_refused():
    with pytest.raises(TypeError, match="core: expected a list of names, got the string 'ARG0'"):
        tw.srl_language("ARG0", [])
    with pytest.raises(TypeError, match="reference: expected a list of names"):
        tw.srl_language(["A"], [], reference="R-A")
    with pytest.raises(LabelError, match="got 'A' twice"):
        tw.srl_language(["A"], ["A"])
    with pytest.raises(LabelError, match="Expected C-X for a role X given, got 'C-B'"):
        tw.srl_language(["A"], [], ["C-B"])
    with pytest.raises(LabelError, match="Expected R-X for a role X given, got 'C-A'"):
        tw.srl_language(["A"], [], reference=["C-A"])


def test_large_role_sets_are_refused_before_they_are_built():
    # The role inventory of OntoNotes: the paper speaks of more than 2² · 3¹⁹ states.
    core = [f"ARG{i}" for i in range(7)]
    noncore = [f"ARGM-{i}" for i in range(21)]
    used = [*core[:5], *noncore[:14]]
    with pytest.raises(TooLargeError, match=r"66 roles needs [\d,]+ states") as caught:
        tw.srl_language(core, noncore, [f"C-{r}" for r in used], [f"R-{r}" for r in used])
    size = int(str(caught.value).split(" needs ")[1].split(" states")[0].replace(",", ""))
    assert size > 2**2 * 3**19
