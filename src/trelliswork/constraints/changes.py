"""The word about where segments may end: ``changes_only_at``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trelliswork.constraints.base import Constraint
from trelliswork.constraints.letters import Symbols, build
from trelliswork.constraints.positions import check_test
from trelliswork.constraints.words import places

if TYPE_CHECKING:
    from collections.abc import Hashable

    from trelliswork.automaton import Automaton
    from trelliswork.constraints.reading import Reading
    from trelliswork.constraints.tokens import TokenTest
    from trelliswork.labels import LabelSet


@dataclass(frozen=True, repr=False)
class ChangesOnlyAt(Constraint):
    """See `changes_only_at`."""

    word = "changes_only_at"
    test: TokenTest

    @property
    def tests(self) -> tuple[TokenTest, ...]:
        """The token tests that the rule asks."""
        return (self.test,)

    def _broken(self, reading: Reading) -> list[int]:
        """Return the last tokens of segments that are left although the test fails there."""
        passes = reading.passes(self.test)
        ends = sorted({span.end for span in reading.spans if span.end < len(reading)})
        return [end - 1 for end in ends if not passes[end - 1]]

    def _degree(self, reading: Reading) -> int:
        return int(bool(self._broken(reading)))

    def _faults(self, reading: Reading) -> list[str]:
        broken = self._broken(reading)
        verb = "ends" if len(broken) == 1 else "end"
        return [
            f"{'a segment' if len(broken) == 1 else 'segments'} {verb} at {places(broken)}, "
            f"where {self.test!r} does not pass; expected changes only where it does."
        ]

    def _build(self, labels: LabelSet, max_states: int) -> Automaton:
        def step(may_leave: bool, leaves: Hashable, token_class: int) -> bool | None:
            return None if leaves and not may_leave else token_class == 1

        return build(
            labels,
            Symbols.of_leaves(labels),
            True,
            step,
            lambda _: True,
            n_tests=1,
            max_states=max_states,
        )

    def __repr__(self) -> str:
        return f"changes_only_at({self.test!r})"


def changes_only_at(test: TokenTest) -> Constraint:
    """Ask that every segment that is left ends on a token that passes a test.

    A segment is left where it ends before the sequence does: at ``t``, if token ``t + 1`` begins
    another or is outside. Coming from outside leaves nothing, and neither does the end of the
    sequence.

    Parameters
    ----------
    test
        A token test; see `token`. It reads the last token of the segment being left.

    Examples
    --------
    >>> from trelliswork.constraints import token
    >>> rule = changes_only_at(token(regex=".*[.,;:]"))
    >>> rule.violations(["author", "author", "title"], ["Lee", ",", "Cats"])
    0
    >>> rule.violations(["author", "title", "title"], ["Lee", ",", "Cats"])
    1
    """
    return ChangesOnlyAt(check_test("changes_only_at", test))
