"""Hypothesis strategies: small trellises of every kind."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from trelliswork.automata.automaton import Automaton
from trelliswork.automata.patterns import Patterns
from trelliswork.automata.product import product
from trelliswork.inference.verbs import Trellis

# Ordinary scores, hopeless ones, forbidden ones, and ties.
ordinary = st.floats(-5, 5, allow_nan=False).map(lambda x: round(x, 3))
scores = st.one_of(ordinary, st.sampled_from([0.0, 1.0, -np.inf, -800.0, 800.0]))
# Of any size that a double has, and forbidden ones.
large_scores = st.one_of(
    ordinary,
    st.just(-np.inf),
    st.builds(
        lambda digits, exponent: digits * 10.0**exponent, st.integers(-9, 9), st.integers(0, 299)
    ),
    st.sampled_from([1e12, 1e16, 1e17, 1e20, 0.3, -1e9, -1e17, -1e30, 1e300, -1e300]),
)


def arrays(shape: tuple[int, ...], elements: st.SearchStrategy[float]) -> st.SearchStrategy:
    size = int(np.prod(shape))
    return st.lists(elements, min_size=size, max_size=size).map(
        lambda values: np.array(values, dtype=float).reshape(shape)
    )


def sparse_chain(n_labels: int) -> Automaton:
    """The chain with one idle pattern more, which sends it down the sparse path."""
    chain = Automaton.chain(n_labels)
    fired = np.full(chain.n_arcs, -1)
    fired[np.diff(chain.pattern_offsets) > 0] = chain.pattern_ids
    return Automaton(
        chain.n_states,
        n_labels,
        chain.source,
        chain.label,
        chain.target,
        n_patterns=chain.n_patterns + 1,
        patterns=fired,
    )


@st.composite
def automata(draw, n_labels: int) -> Automaton:
    """Any automaton, deterministic or not, with several patterns on an arc."""
    n_states = draw(st.integers(1, 3))
    n_patterns = draw(st.integers(0, 4))
    every = [(s, y, t) for s in range(n_states) for y in range(n_labels) for t in range(n_states)]
    arcs = draw(st.lists(st.sampled_from(every), unique=True, max_size=10))
    fired = [
        draw(st.lists(st.integers(0, n_patterns - 1), max_size=3)) if n_patterns else []
        for _ in arcs
    ]
    weight = st.sampled_from([0.0, 0.0, 1.5, 800.0, -800.0, -np.inf])
    return Automaton(
        n_states,
        n_labels,
        [s for s, _, _ in arcs],
        [y for _, y, _ in arcs],
        [t for _, _, t in arcs],
        n_patterns=n_patterns,
        patterns=fired,
        initial=draw(arrays((n_states,), weight)),
        final=draw(arrays((n_states,), weight)),
    )


@st.composite
def products(draw, n_labels: int) -> Automaton:
    """The product of the chain and any automaton over letters, of one to three token classes."""
    n_classes = draw(st.integers(1, 3))
    n_states = draw(st.integers(1, 3))
    steps = st.tuples(
        st.integers(0, n_states - 1),
        st.integers(0, n_classes * n_labels - 1),
        st.integers(0, n_states - 1),
    )
    arcs = draw(st.lists(steps, unique=True, min_size=1, max_size=20))
    language = Automaton(n_states, n_classes * n_labels, *zip(*arcs, strict=True))
    return product(Automaton.chain(n_labels), language, n_classes=n_classes).automaton


@st.composite
def trellises(draw, dense: bool | None = None, elements=scores) -> Trellis:
    """A batch of up to three short sequences; `dense` forces or forbids the chain path."""
    if dense is None:
        dense = draw(st.booleans())
    n_labels = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    n_tokens = sum(lengths)
    if dense:
        automaton, longest, positional = Automaton.chain(n_labels), 1, False
    else:
        chain = st.just(Automaton.chain(n_labels))
        automaton = draw(st.one_of(chain, automata(n_labels), products(n_labels)))
        longest = draw(st.integers(1, 5))
        positional = draw(st.booleans())
    n_patterns = automaton.n_patterns

    def maybe(shape: tuple[int, ...]) -> np.ndarray | None:
        return draw(st.one_of(st.none(), arrays(shape, elements)))

    return Trellis(
        draw(arrays((n_tokens, longest, n_labels), elements)),
        automaton,
        offsets=np.cumsum([0, *lengths]),
        weights=maybe((n_patterns,)),
        position_weights=draw(arrays((n_tokens, n_patterns), elements)) if positional else None,
        start=maybe((n_labels,)),
        end=maybe((n_labels,)),
        classes=draw(
            st.lists(st.integers(0, automaton.n_classes - 1), min_size=n_tokens, max_size=n_tokens)
        ),
        # Small enough that some sequences are checkpointed.
        memory_limit=draw(st.sampled_from([0, 100, 2**20])),
    )


@st.composite
def pattern_sets(draw, n_labels: int | None = None) -> Patterns:
    """Patterns of one to five labels; some sets have with a pattern all its suffixes."""
    if n_labels is None:
        n_labels = draw(st.integers(1, 3))
    pattern = st.lists(st.integers(0, n_labels - 1), min_size=1, max_size=5).map(tuple)
    given = draw(st.sets(pattern, max_size=6))
    if draw(st.booleans()):
        given = {z[i:] for z in given for i in range(len(z))}
    return Patterns.of(given, n_labels)


def expressions(letters: str) -> st.SearchStrategy[str]:
    """Regular expressions over one-letter labels, ambiguous ones among them."""

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        pairs = st.tuples(inner, inner)
        return st.one_of(
            pairs.map(lambda p: f"{p[0]} {p[1]}"),
            pairs.map(lambda p: f"({p[0]} | {p[1]})"),
            inner.map(lambda e: f"({e})*"),
            inner.map(lambda e: f"({e})?"),
            inner.map(lambda e: f"({e}){{1,2}}"),
            inner.map(lambda e: f"~({e})"),
        )

    return st.recursive(st.sampled_from([*letters, "."]), larger, max_leaves=6)
