"""The trie of label patterns, and the Aho–Corasick automaton built from it.

A *node* is a letter or a prefix of a pattern; node 0 is the empty one. Nodes are sorted by
(length, letters), so the children of all nodes, one after another, are the nodes themselves: the
keys ``parent * L + letter`` rise, and a child is found by binary search. Letters: ``V`` nodes,
``L`` labels, ``P`` patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.arrays import Arrays
from trelliswork.automata.automaton import Automaton

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, IdArray, IntArray


__all__ = ["Trie"]


@dataclass(frozen=True, eq=False)
class Trie:
    """The trie of patterns: all letters and all prefixes of patterns.

    Attributes
    ----------
    n_labels, n_patterns : int
        ``L`` and ``P``.
    levels : numpy.ndarray
        The nodes of length ``k`` are ``levels[k]`` to ``levels[k + 1]``.
    parent, letter : numpy.ndarray
        The node without its last letter, and that letter, shape ``(V,)``; ``-1`` for node 0.
    pattern : numpy.ndarray
        The pattern that a node spells, ``-1`` for none, shape ``(V,)``.
    """

    n_labels: int
    n_patterns: int
    levels: IntArray
    parent: IntArray
    letter: IntArray
    pattern: IntArray

    @classmethod
    def of(cls, letters: IdArray, offsets: IntArray, n_labels: int, repeats: BoolArray) -> Trie:
        """Build the trie of the patterns that can occur; the others keep their ids.

        Parameters
        ----------
        letters, offsets
            Pattern ``z`` is ``letters[offsets[z]:offsets[z + 1]]``.
        n_labels
            ``L``.
        repeats
            Which letters may follow themselves, shape ``(L,)``.
        """
        lengths = np.diff(offsets)
        again = np.zeros(letters.size, dtype=np.int64)
        again[1:] = (letters[1:] == letters[:-1]) & ~repeats[letters[1:]]
        again[offsets[:-1]] = 0
        so_far = np.concatenate([[0], np.cumsum(again)])
        kept = so_far[offsets[1:]] == so_far[offsets[:-1]]
        parents, own = [np.array([-1])], [np.array([-1])]
        levels = [0, 1]
        node = np.zeros(lengths.size, dtype=np.int64)  # of each pattern's prefix, so far
        pattern_at = []
        for length in range(1, 1 + int(lengths[kept].max(initial=1))):
            longer = np.flatnonzero(kept & (lengths >= length))
            keys = node[longer] * n_labels + letters[offsets[longer] + length - 1]
            if length == 1:
                found, place = np.arange(n_labels, dtype=np.int64), keys
            else:
                found, place = np.unique(keys, return_inverse=True)
            node[longer] = levels[-1] + place
            parents.append(found // n_labels)
            own.append(found % n_labels)
            levels.append(levels[-1] + found.size)
            pattern_at.append(longer[lengths[longer] == length])
        complete = np.concatenate(pattern_at)
        pattern = np.full(levels[-1], -1, dtype=np.int64)
        pattern[node[complete]] = complete
        return cls(
            n_labels,
            lengths.size,
            np.array(levels, dtype=np.int64),
            np.concatenate(parents),
            np.concatenate(own),
            pattern,
        )

    @cached_property
    def keys(self) -> IntArray:
        """``parent * L + letter`` of nodes 1, 2, …: they rise, shape ``(V - 1,)``."""
        return self.parent[1:] * self.n_labels + self.letter[1:]

    @cached_property
    def is_state(self) -> BoolArray:
        """Whether a node is a state: empty, a letter, or a proper prefix; shape ``(V,)``."""
        states = np.zeros(self.parent.size, dtype=bool)
        states[: self.levels[2]] = True
        states[self.parent[1:]] = True
        return states

    def children(self, nodes: IntArray, letters: NDArray[np.integer]) -> IntArray:
        """Return the child of each node by a letter, ``-1`` if it has no such child."""
        wanted = nodes * self.n_labels + letters
        place = np.searchsorted(self.keys, wanted)
        place[place == self.keys.size] = 0
        return np.where(self.keys[place] == wanted, place + 1, -1)

    @cached_property
    def _steps(self) -> tuple[IntArray, IntArray, IdArray]:
        """Failure links of nodes ``(V,)``, of states ``(S,)``, and the steps ``(S, L)``.

        The step of a state by a letter is the longest node that ends what was read. A state takes
        the steps of its failure state wherever it has no child of its own. Failure links of states
        are states; node and state ids differ.
        """
        n_labels, is_state = self.n_labels, self.is_state
        state_of = np.cumsum(is_state) - 1
        failure = np.zeros(self.parent.size, dtype=np.int64)
        link = np.full(int(is_state.sum()), -1, dtype=np.int64)
        steps = np.zeros((link.size, n_labels), dtype=np.int32)
        steps[0] = 1 + np.arange(n_labels)
        ending = np.arange(self.parent.size)  # longest state that is a suffix of the node
        for length in range(1, self.levels.size - 1):
            nodes = np.arange(self.levels[length], self.levels[length + 1])
            if length > 1:
                suffix = link[state_of[self.parent[nodes]]]
                failure[nodes] = steps[suffix, self.letter[nodes]]
            ending[nodes] = np.where(is_state[nodes], nodes, ending[failure[nodes]])
            nodes = nodes[is_state[nodes]]
            states = state_of[nodes]
            link[states] = state_of[ending[failure[nodes]]]
            steps[states] = steps[link[states]]
            if nodes.size and length + 2 < self.levels.size:
                below = np.arange(self.levels[length + 1], self.levels[length + 2])
                steps[state_of[self.parent[below]], self.letter[below]] = below
        return failure, link, steps

    @cached_property
    def _endings(self) -> tuple[IntArray, IntArray]:
        """Offsets ``(V + 1,)`` and ids of the patterns that end each node, shortest first."""
        failure = self._steps[0]
        owners, ids = [], []
        node = owner = np.arange(self.parent.size)
        while node.size:
            fires = self.pattern[node] >= 0
            owners.append(owner[fires])
            ids.append(self.pattern[node[fires]])
            node = failure[node]
            owner, node = owner[node > 0], node[node > 0]
        every, patterns = np.concatenate(owners), np.concatenate(ids)
        order = np.lexsort((patterns, every))
        counts = np.bincount(every, minlength=self.parent.size)
        return np.concatenate([[0], np.cumsum(counts)]), patterns[order]

    def find(self, letters: IntArray, begins: BoolArray) -> tuple[IntArray, IdArray]:
        """Find the patterns that end at each segment: offsets ``(M + 1,)`` and ids."""
        node = letters + 1  # of the n letters that end at each segment; 0 for none
        ends = np.flatnonzero(node > 0)
        hits = []
        for _ in range(1, self.levels.size - 1):
            spelled = self.pattern[node[ends]]
            hits.append((ends[spelled >= 0], spelled[spelled >= 0]))
            # One letter more: what ended at the segment before, and this one's letter.
            ends = ends[ends < letters.size - 1] + 1
            ends = ends[~begins[ends] & (letters[ends] >= 0)]
            longer = self.children(node[ends - 1], letters[ends])
            ends, longer = ends[longer >= 0], longer[longer >= 0]
            node = np.zeros_like(node)
            node[ends] = longer
        counts = sum(np.bincount(places, minlength=letters.size) for places, _ in hits)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        ids = np.empty(offsets[-1], dtype=np.int32)
        free = offsets[:-1].copy()
        for places, patterns in hits:
            ids[free[places]] = patterns
            free[places] += 1
        return offsets, ids

    def automaton(self, repeats: BoolArray, continues: BoolArray) -> Automaton:
        """Return the automaton of the patterns; see `Patterns.automaton`."""
        failure, parents, steps = self._steps
        states = np.flatnonzero(self.is_state)
        state_of = np.cumsum(self.is_state) - 1
        # A node that is no state is a whole pattern: its failure links lead to the next state.
        ending = np.arange(self.parent.size)
        while not self.is_state[ending].all():
            ending = np.where(self.is_state[ending], ending, failure[ending])
        last = self.letter[states]
        source, label = (axis.ravel() for axis in np.mgrid[: states.size, : self.n_labels])
        node = steps.ravel()
        target = state_of[ending[node]]
        again = last[source] == label
        stays = again & continues[label]
        target[stays] = source[stays]
        kept = np.flatnonzero(stays | ~again | repeats[label])
        # States with one last letter lie side by side: the kernel reads them as vectors.
        order = np.argsort(np.where(states > self.n_labels, last, -1), kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        source, target = rank[source], rank[target]
        links = np.where(parents < 0, -1, rank[parents])[order]
        arcs = kept[np.lexsort((source[kept], label[kept], target[kept]))]
        offsets, ids = self._endings
        counts = np.where(stays, 0, np.diff(offsets)[node])[arcs]
        ends = np.cumsum(counts)
        first = np.repeat(offsets[node[arcs]] - ends + counts, counts)
        initial = np.full(states.size, -np.inf)
        initial[0] = 0.0
        return Automaton._from_arrays(
            Arrays(
                n_states=states.size,
                n_labels=self.n_labels,
                n_patterns=self.n_patterns,
                source=source[arcs].astype(np.int32),
                label=label[arcs].astype(np.int32),
                target=target[arcs].astype(np.int32),
                pattern_offsets=np.concatenate([[0], ends]),
                pattern_ids=ids[first + np.arange(first.size)].astype(np.int32),
                initial=initial,
                final=np.zeros(states.size),
                parents=links.astype(np.int32),
            )
        )
