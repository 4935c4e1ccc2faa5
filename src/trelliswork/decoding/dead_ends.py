"""Where a labelling that has to fit what is known of the labels cannot go on."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from trelliswork.inference.trellis import Trellis
from trelliswork.inference.verbs import log_partition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan


__all__ = ["dead_end"]


def dead_end(plan: Plan, evidence: Evidence, rules: Iterable[int], allowed: BoolArray) -> int:
    """Return the first token after which no labelling of one sequence can be completed.

    ``T`` where only the end is wrong.

    Parameters
    ----------
    plan
        The compiled constraints.
    evidence
        What they see of a batch of one sequence.
    rules
        Indices of the constraints that count; those that became automata.
    allowed
        Labels that each token may have, as `open_labels` gives them; no labelling fits them all.
    """
    compiled = plan.product(rules, evidence.longest)
    classes = evidence.classes(compiled.tests)
    if plan.segmentation is not None:
        return _dead_end_of_segments(plan, compiled.automaton, classes, allowed)
    automaton = compiled.automaton
    alive = np.isfinite(automaton.initial)
    for t in range(len(allowed)):
        usable = alive[automaton.source] & allowed[t, automaton.label]
        if classes is not None and automaton.guards is not None:
            usable &= (automaton.guards >> np.uint64(classes[t])) & np.uint64(1) > 0
        alive = np.zeros_like(alive)
        alive[automaton.target[usable]] = True
        if not alive.any():  # the automaton is trimmed: other states can be left towards the end
            return t
    return len(allowed)


def _dead_end_of_segments(
    plan: Plan, automaton: Automaton, classes: NDArray[np.uint8] | None, allowed: BoolArray
) -> int:
    """Return the first token that leaves no segmentation, if those after it are open."""
    trellis = Trellis(plan.blank_scores(len(allowed)), automaton, classes=classes)

    def is_dead(position: int) -> bool:
        first = allowed.copy()
        first[position + 1 :] = True
        return bool(np.isneginf(log_partition(trellis, allowed=first, n_jobs=1)[0]))

    return bisect_left(range(len(allowed)), True, key=is_dead)
