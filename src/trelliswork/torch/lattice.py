"""`Lattice`: the automaton of the layer, the chain of all tags or its product with a language."""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
import torch

from trelliswork.automata.automaton import Automaton
from trelliswork.automata.product import product
from trelliswork.automata.product_size import smallest_for
from trelliswork.labels.label_set import LabelSet, infer_scheme
from trelliswork.torch.rules import compile_rules, describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from trelliswork.torch.rules import Rule

__all__ = ["Arcs", "Lattice", "chain_lattice", "find_lattice", "language_lattice"]

_keys = count()
_lattices: WeakValueDictionary[int, Lattice] = WeakValueDictionary()


class Lattice:
    """An automaton with one pattern a pair of tags, and the language that it accepts.

    Operators of torch take numbers, not objects: `key` identifies a lattice in use.

    Parameters
    ----------
    automaton
        The arcs; pattern ``i * K + j`` is the transition from tag ``i`` to tag ``j``.
    language
        The tag sequences it accepts, as an automaton without patterns. ``None``: all.
    rules
        The rules that make the language, as error messages name them.
    """

    def __init__(
        self, automaton: Automaton, language: Automaton | None = None, rules: str = ""
    ) -> None:
        self.automaton = automaton
        self.language = language
        self.rules = rules
        self.is_chain = automaton.is_chain
        self.key = next(_keys)
        self._arcs: dict[torch.device, Arcs] = {}
        _lattices[self.key] = self

    def __deepcopy__(self, memo: dict[int, Any]) -> Lattice:
        return self  # it never changes

    def __reduce__(self) -> tuple[Any, ...]:
        if self.language is None:
            return chain_lattice, (self.automaton.n_labels,)
        return _on_chain, (self.language, self.rules)

    def arcs(self, device: torch.device) -> Arcs:
        """Return the arcs as tensors on `device`, made once."""
        if device not in self._arcs:
            self._arcs[device] = Arcs(self.automaton, device)
        return self._arcs[device]


class Arcs:
    """The arcs of an automaton as tensors: ``A`` arcs, ``S`` states.

    Attributes
    ----------
    source, label, target
        Shape ``(A,)``.
    fired_by, pattern
        Pattern ``pattern[i]`` is fired by arc ``fired_by[i]``.
    initial, final
        Log weights, shape ``(S,)``.
    """

    def __init__(self, automaton: Automaton, device: torch.device) -> None:
        def put(array: Any, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.tensor(array, dtype=dtype, device=device)

        self.n_states = automaton.n_states
        self.source, self.label, self.target = (
            put(column) for column in (automaton.source, automaton.label, automaton.target)
        )
        fired = np.diff(automaton.pattern_offsets)
        self.fired_by = put(np.repeat(np.arange(automaton.n_arcs), fired))
        self.pattern = put(automaton.pattern_ids)
        self.initial = put(automaton.initial, torch.float64)
        self.final = put(automaton.final, torch.float64)


def find_lattice(key: int) -> Lattice:
    """Return the lattice of a key."""
    return _lattices[key]


@lru_cache(maxsize=64)
def chain_lattice(n_tags: int) -> Lattice:
    """Return the lattice on which every tag may follow every tag."""
    return Lattice(Automaton.chain(n_tags))


def language_lattice(
    n_tags: int,
    labels: Sequence[str] | LabelSet | None,
    rules: tuple[Rule, ...],
) -> Lattice:
    """Return the chain of all tags, multiplied with the language of `rules`.

    Parameters
    ----------
    n_tags
        ``K``.
    labels
        Names of the tags; ``None``: their ids, as text.
    rules
        Constraints, automata, regular expressions; none: the chain itself.
    """
    if isinstance(labels, LabelSet):
        names = labels
    elif labels is None:
        names = LabelSet(map(str, range(n_tags)))
    else:
        names = LabelSet(labels, infer_scheme([], labels))
    if len(names) != n_tags:
        raise ValueError(f"labels: expected {n_tags} names, one a tag, got {len(names)}.")
    return _multiply(names, rules) if rules else chain_lattice(n_tags)


@lru_cache(maxsize=32)
def _multiply(labels: LabelSet, rules: tuple[Rule, ...]) -> Lattice:
    return _on_chain(compile_rules(rules, labels), describe(rules))


def _on_chain(language: Automaton, rules: str) -> Lattice:
    chain = Automaton.chain(language.n_labels)
    return Lattice(product(chain, smallest_for(chain, language)).automaton, language, rules)
