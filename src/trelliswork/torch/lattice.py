"""What the layer's recursions run on: the chain of all tags, or its product with a language."""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import count
from operator import and_
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
import torch

from trelliswork.automaton import Automaton
from trelliswork.constraints import Constraint, as_constraint
from trelliswork.intersection import smallest_for
from trelliswork.labels import LabelSet, infer_scheme
from trelliswork.product import product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["Arcs", "Lattice", "chain_lattice", "find_lattice", "language_lattice"]

_keys = count()
_lattices: WeakValueDictionary[int, Lattice] = WeakValueDictionary()


class Lattice:
    """An automaton with one pattern a pair of tags, and the language that it accepts.

    Operators of torch take numbers, not objects: `key` stands for a lattice that is alive.

    Parameters
    ----------
    automaton
        The arcs; pattern ``i * K + j`` is the transition from tag ``i`` to tag ``j``.
    language
        The tag sequences it accepts, as an automaton without patterns. ``None``: all.
    """

    def __init__(self, automaton: Automaton, language: Automaton | None = None) -> None:
        self.automaton = automaton
        self.language = language
        self.is_chain = automaton.is_chain
        self.key = next(_keys)
        self._arcs: dict[torch.device, Arcs] = {}
        _lattices[self.key] = self

    def __deepcopy__(self, memo: dict[int, Any]) -> Lattice:
        return self  # it never changes

    def __reduce__(self) -> tuple[Any, ...]:
        if self.language is None:
            return chain_lattice, (self.automaton.n_labels,)
        return _restore, (_parts(self.language),)

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
    """Return the lattice that `key` stands for."""
    return _lattices[key]


@lru_cache(maxsize=64)
def chain_lattice(n_tags: int) -> Lattice:
    """Return the lattice on which every tag may follow every tag."""
    return Lattice(Automaton.chain(n_tags))


def language_lattice(
    n_tags: int,
    labels: Sequence[str] | LabelSet | None,
    rules: Sequence[Constraint | Automaton | str],
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
    return _multiply(names, tuple(rules)) if rules else chain_lattice(n_tags)


@lru_cache(maxsize=32)
def _multiply(labels: LabelSet, rules: tuple[Constraint | Automaton | str, ...]) -> Lattice:
    language = reduce(and_, (_compile(rule, labels) for rule in rules)).trim().unambiguous()
    return _on_chain(language)


def _on_chain(language: Automaton) -> Lattice:
    chain = Automaton.chain(language.n_labels)
    return Lattice(product(chain, smallest_for(chain, language)).automaton, language)


def _compile(rule: Constraint | Automaton | str, labels: LabelSet) -> Automaton:
    if isinstance(rule, Automaton) and rule.labels in (None, labels.names):
        if rule.n_labels != len(labels):
            raise ValueError(
                f"language: expected an automaton over {len(labels)} labels, got one over "
                f"{rule.n_labels}."
            )
        return Automaton(**_parts(rule) | {"labels": labels.names})
    constraint = as_constraint(rule)
    if constraint.tests:
        raise ValueError(
            f"language: {constraint!r} looks at tokens, which a layer does not see. Give the layer "
            "constraints on labels alone."
        )
    return constraint.compile(labels)


def _parts(language: Automaton) -> dict[str, Any]:
    """Return the arguments that make a language."""
    names = ("n_states", "n_labels", "source", "label", "target", "initial", "final", "labels")
    return {name: getattr(language, name) for name in names}


def _restore(language: dict[str, Any]) -> Lattice:
    return _on_chain(Automaton(**language))
