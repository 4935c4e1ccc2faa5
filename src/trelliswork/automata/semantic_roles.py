"""The language of semantic roles: the valid BIO labellings of one predicate.

Three rules on top of valid BIO: (1) a core role occurs at most once; (2) a continuation ``C-X`` has
its ``X`` earlier in the sentence; (3) a reference ``R-X`` has its ``X`` somewhere in the sentence.

The automaton remembers for each role ``X`` that some rule asks about whether it was *seen*, or is
*promised* because of an ``R-X`` before it. Its states are the ``M`` memories, in which no span is
open, and, for each role, the memories that can follow it, in which a span of that role goes on:

    m ──B-r──▶ m′        a span of one token        (r, m′) ──I-r──▶ m′        its last token
    m ──B-r──▶ (r, m′)   a longer span begins       (r, m′) ──I-r──▶ (r, m′)   goes on

Every labelling has one path: its labels decide the memories, its next label whether a span goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.automata.algebra import MAX_STATES
from trelliswork.automata.automaton import Automaton
from trelliswork.errors import LabelError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork._typing import IntArray

__all__ = ["srl_language"]

UNSEEN, SEEN, PROMISED = range(3)


@dataclass
class Roles:
    """The roles in the order of their labels, and the memory that each of them needs."""

    names: tuple[str, ...]
    core: frozenset[str]
    bases: dict[str, str] = field(default_factory=dict)  # of continuations and references
    references: frozenset[str] = frozenset()

    def levels(self) -> dict[str, int]:
        """Return the number of values of each role with a memory."""
        asked = self.core | set(self.bases.values())
        promised = {self.bases[role] for role in self.references}
        return {name: 2 + (name in promised) for name in self.names if name in asked}

    def n_states(self) -> int:
        """Return the size of the automaton before it is trimmed, without building it."""
        levels = self.levels()
        n_memories = prod(levels.values())
        total = n_memories
        for role in self.names:
            after = n_memories // levels.get(role, 1)  # seen, now
            base = self.bases.get(role)
            if base is not None:
                after = after * (2 if role in self.references else 1) // levels[base]
            total += after
        return total


def srl_language(
    core: Iterable[str],
    noncore: Iterable[str],
    continuation: Iterable[str] = (),
    reference: Iterable[str] = (),
    *,
    labels: Sequence[str] | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Return the language of valid semantic-role labellings of a predicate.

    Parameters
    ----------
    core
        Roles that occur at most once, such as ``ARG0``.
    noncore
        Roles that may occur any number of times.
    continuation
        Roles ``C-X``: only after the role ``X``, which is one of the other roles.
    reference
        Roles ``R-X``: only in a sentence with the role ``X``, before or after.
    labels
        The labels of the model in the order of their ids. Roles that only they name are treated as
        non-core. Default: ``O``, then ``B-r`` and ``I-r`` for every role in the order given.
    max_states
        The largest automaton to build.

    Returns
    -------
    Automaton
        Trimmed, and the smallest unambiguous one of three, see `Automaton.unambiguous`.

    Raises
    ------
    TooLargeError
        If the automaton would be larger: the size doubles with each core role or continuation and
        triples with each reference. Nothing is built then.

    Notes
    -----
    The first three groups are the rules of Papay, Klinger and Padó, *Constraining Linear-chain CRFs
    to Regular Languages* (ICLR 2022), appendix D.

    Examples
    --------
    >>> language = srl_language(["ARG0", "ARG1"], ["ARGM-TMP"], continuation=["C-ARG1"])
    >>> language.accepts(["B-ARG1", "I-ARG1", "O", "B-C-ARG1"])
    True
    >>> language.accepts(["B-C-ARG1", "B-ARG1"])
    False
    """
    groups = {"core": core, "noncore": noncore, "continuation": continuation}
    for group, given in {**groups, "reference": reference, "labels": labels}.items():
        if isinstance(given, str):
            raise TypeError(f"{group}: expected a list of names, got the string {given!r}.")
    roles = read_roles(tuple(core), tuple(noncore), tuple(continuation), tuple(reference), labels)
    if labels is None:
        labels = ["O", *(f"{tag}-{role}" for role in roles.names for tag in "BI")]
    size = roles.n_states()
    if size > max_states:
        raise TooLargeError(
            f"The language of these {len(roles.names)} roles needs {size:,} states; {max_states:,} "
            f"are allowed. It remembers {len(roles.levels())} roles, each of which doubles its "
            "size, or triples it if it has a reference. Leave out rare core roles, "
            "pass continuations and references as noncore, or raise max_states."
        )
    return build(roles, tuple(labels))


def read_roles(
    core: tuple[str, ...],
    noncore: tuple[str, ...],
    continuation: tuple[str, ...],
    reference: tuple[str, ...],
    labels: Sequence[str] | None,
) -> Roles:
    """Check the roles and find the roles that continuations and references point at."""
    names = core + noncore + continuation + reference
    for i, name in enumerate(names):
        if name in names[:i]:
            raise LabelError(f"Expected each role once, got {name!r} twice.")
    if labels is not None:
        of_labels = [role_of(label) for label in labels]
        named = tuple(dict.fromkeys(role for role in of_labels if role))
        missing = [name for name in names if name not in named]
        if missing:
            raise LabelError(f"labels: expected B-{missing[0]} among them, for a role given.")
        names = named
    bases = {}
    for group, prefix in ((continuation, "C-"), (reference, "R-")):
        for name in group:
            base = name.removeprefix(prefix)
            if base == name or base not in names:
                raise LabelError(
                    f"Expected {prefix}X for a role X given, got {name!r}. Roles: "
                    f"{', '.join(names)}. Pass it as noncore if it has no such role."
                )
            bases[name] = base
    return Roles(names, frozenset(core), bases, frozenset(reference))


def role_of(label: str) -> str | None:
    """Return the role of a BIO label, ``None`` for ``O``."""
    if label == "O":
        return None
    if label[:2] not in ("B-", "I-") or len(label) == 2:
        raise LabelError(f"labels: expected O, B-role or I-role, got {label!r}.")
    return label[2:]


def build(roles: Roles, labels: tuple[str, ...]) -> Automaton:
    """Return the automaton; memories are numbered as digits of mixed radix."""
    ids = {label: i for i, label in enumerate(labels)}
    levels = roles.levels()
    n_memories = prod(levels.values())
    memories = np.arange(n_memories)
    place: dict[str, int] = {}
    value: dict[str, IntArray] = {}  # of a role in each memory, (M,)
    for name, n_values in levels.items():
        place[name] = prod(levels[other] for other in place)
        value[name] = memories // place[name] % n_values
    arcs: list[tuple[IntArray, str, IntArray]] = [(memories, "O", memories)]
    n_states = n_memories
    for role in roles.names:
        open_to = np.ones(n_memories, dtype=np.bool_)
        after = memories.copy()
        if role in roles.core:
            open_to &= value[role] != SEEN
        if role in levels:
            after += (SEEN - value[role]) * place[role]
        base = roles.bases.get(role)
        if base is not None and role in roles.references:
            after += np.where(value[base] == UNSEEN, PROMISED, 0) * place[base]
        elif base is not None:
            open_to &= value[base] == SEEN
        before, after = memories[open_to], after[open_to]
        reached, which = np.unique(after, return_inverse=True)
        inside = n_states + np.arange(reached.size)
        n_states += reached.size
        begin, go_on = f"B-{role}", f"I-{role}"
        arcs += [(before, begin, after), (before, begin, inside[which])]
        arcs += [(inside, go_on, inside), (inside, go_on, reached)]
    known = [arc for arc in arcs if arc[1] in ids]
    final = np.full(n_states, -np.inf)
    promises = [value[name] == PROMISED for name in levels]
    final[:n_memories] = np.where(np.any(promises, axis=0), -np.inf, 0.0) if promises else 0.0
    return Automaton(
        n_states,
        len(labels),
        np.concatenate([source for source, _, _ in known]),
        np.concatenate([np.full(source.size, ids[label]) for source, label, _ in known]),
        np.concatenate([target for _, _, target in known]),
        final=final,
        labels=labels,
    ).unambiguous(max_states=n_states)
