"""Rules of a semi-Markov model: languages with one letter a segment of any length.

A rule about segments is compiled as it is, over one letter a segment. A rule about tokens is
compiled over token labels first. It can be read off segments exactly where the length of a segment
makes no difference to it: in every state ``q`` that segments lead to, and for every letter,

    δ(q, B I) = δ(q, B)

with ``B`` the first token of a segment and ``I`` the others, on tokens of any class. Otherwise the
rule is refused. Token tests are asked of the token at which a segment begins.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.constraints.combined import All, Joined, Not
from trelliswork.constraints.linear import Linear
from trelliswork.constraints.monitors import language, lift, union_of_tests
from trelliswork.constraints.on_tokens import ChangesOnlyAt
from trelliswork.constraints.token_tests import Before
from trelliswork.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trelliswork._typing import IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.constraints.base import Constraint
    from trelliswork.constraints.token_tests import TokenTest
    from trelliswork.labels.segmentation import Segmentation

__all__ = ["compile_on_segments", "tests_on_segments"]


def tests_on_segments(rule: Constraint) -> tuple[TokenTest, ...]:
    """Return the token tests of a rule at beginnings of segments; see `compile_on_segments`."""
    rule = rule.hard
    if isinstance(rule, ChangesOnlyAt):
        return (Before(rule.test),)
    if isinstance(rule, Joined):
        return union_of_tests(map(tests_on_segments, rule.parts))
    return tests_on_segments(rule.part) if isinstance(rule, Not) else rule.tests


@lru_cache(maxsize=1024)
def compile_on_segments(rule: Constraint, segmentation: Segmentation, max_states: int) -> Automaton:
    """Return the language of segmentations that satisfy a rule, as an unambiguous automaton.

    Parameters
    ----------
    rule
        The rule; names in it are segments, see `Constraint.in_segments`.
    segmentation
        The ``L`` letters.
    max_states
        Maximum number of states to try.

    Returns
    -------
    Automaton
        Over ``L * 2**k`` letters: letter ``c * L + y`` is a segment of letter ``y`` that begins at
        a token of class ``c``, of which bit ``i`` is the outcome of test ``i`` of
        `tests_on_segments`.

    Raises
    ------
    RuleError
        If the rule depends on the lengths of segments, or tests tokens inside them.
    TooLargeError
        If the automaton, or one on the way to it, has more than `max_states` states.
    """
    rule.check(segmentation.labels)
    rule = rule.hard
    if isinstance(rule, ChangesOnlyAt):
        return _ends_only_after(segmentation).minimise(max_states=max_states)
    if isinstance(rule, Not):
        part = compile_on_segments(rule.part, segmentation, max_states)
        return part.complement(max_states=max_states).minimise(max_states=max_states)
    if isinstance(rule, Joined):
        return _joined(rule, segmentation, max_states)
    if _reads_segments(rule) and not segmentation.is_hidden:
        return rule.compile(segmentation.letter_set, max_states=max_states)
    compiled = rule.compile(segmentation.labels, max_states=max_states)
    by_token = compiled.determinise(max_states=max_states).minimise(max_states=max_states)
    return _read_off_segments(rule, by_token, segmentation).minimise(max_states=max_states)


def _reads_segments(rule: Constraint) -> bool:
    if isinstance(rule, Linear):
        return all(unit == "segment" for _, _, unit in rule.terms)
    return getattr(rule, "unit", None) == "segment"


def _joined(rule: Joined, segmentation: Segmentation, max_states: int) -> Automaton:
    tests = tests_on_segments(rule)
    first, *rest = (
        lift(
            compile_on_segments(part, segmentation, max_states),
            tests_on_segments(part),
            tests,
            segmentation.n_letters,
        )
        for part in rule.parts
    )
    both = isinstance(rule, All)
    for other in rest:
        first = first.intersect(other, max_states=max_states) if both else first | other
    return first if both else first.unambiguous(max_states=max_states)


def _ends_only_after(segmentation: Segmentation) -> Automaton:
    """Return the language in which every segment ends on a token that passes a test.

    Where the next segment begins, the test of the token before is known. State 0 follows nothing
    or a token outside, state ``1 + y`` a segment of letter ``y``. Neighbours of one letter that
    labels do not tell apart are one segment.
    """
    letters = range(segmentation.n_letters)
    arcs = []
    for state in range(segmentation.n_letters + 1):
        for y in letters:
            after = 0 if segmentation.continues[y] else y + 1
            leaves = state > 0 and not (segmentation.is_hidden and after == state)
            classes = (1,) if leaves else (0, 1)
            arcs += [(state, c * segmentation.n_letters + y, after) for c in classes]
    every = range(segmentation.n_letters + 1)
    return language(len(every), segmentation.letter_set, arcs, [0], every, n_tests=1)


def _read_off_segments(
    rule: Constraint, by_token: Automaton, segmentation: Segmentation
) -> Automaton:
    """Return the language of segments for a minimal deterministic language of tokens."""
    n_letters, n_labels = segmentation.n_letters, len(segmentation.labels)
    n_classes = by_token.n_labels // n_labels
    steps = _step_table(by_token).reshape(by_token.n_states, n_classes, n_labels)
    first, rest = segmentation.token_of_tag.reshape(2, n_letters).tolist()
    ids = {int(np.argmax(by_token.initial == 0.0)): 0}
    arcs: list[tuple[int, int, int]] = []
    for state in _growing(ids):
        for y in range(n_letters):
            for token_class in range(n_classes):
                after = int(steps[state, token_class, first[y]])
                if after < 0:
                    continue
                if segmentation.limits[y] > 1 and (steps[after, :, rest[y]] != after).any():
                    raise _refused(rule, segmentation.names[y])
                target = ids.setdefault(after, len(ids))
                arcs.append((ids[state], token_class * n_letters + y, target))
    final = [place for state, place in ids.items() if by_token.final[state] == 0.0]
    n_tests = n_classes.bit_length() - 1
    return language(len(ids), segmentation.letter_set, arcs, [0], final, n_tests)


def _step_table(automaton: Automaton) -> IntArray:
    """Return the target of each letter, -1 without an arc; shape ``(S, n_letters)``."""
    steps = np.full((automaton.n_states, automaton.n_labels), -1, dtype=np.int64)
    steps[automaton.source, automaton.label] = automaton.target
    return steps


def _growing(ids: dict[int, int]) -> Iterator[int]:
    """Yield the states of a dictionary, including those added meanwhile."""
    done = 0
    while done < len(ids):
        waiting = list(ids)[done:]
        done = len(ids)
        yield from waiting


def _refused(rule: Constraint, name: str) -> RuleError:
    if rule.tests:
        return RuleError(
            f"{rule!r} stands inside another rule, where it asks tests of the tokens inside a "
            f"segment of {name!r}: a semi-Markov model reads segments as wholes. Give it as a rule "
            "of its own, or set max_segment=1."
        )
    return RuleError(
        f"{rule!r} depends on how many tokens a segment of {name!r} has, or on which of them comes "
        "where: a semi-Markov model reads one letter a segment. Use unit='segment' where the rule "
        "has one, or set max_segment=1."
    )
