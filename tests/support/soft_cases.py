"""Models under hard, soft and linear constraints by enumeration, and small cases of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from constrained_cases import Case, cases
from rule_strategies import linear_rules

PENALTIES = st.sampled_from([0.0, 0.25, 1.0, 2.5])


class SoftCase(Case):
    """A case some constraints of which are soft."""

    def priced(self, b: int) -> dict[tuple[int, ...], float]:
        """Return P(y) of every labelling of one sentence that breaks no hard constraint."""
        hard = tuple(rule for rule in self.constraints if not rule.is_soft)
        found = self.paths(b, hard)
        for rule in self.constraints:
            if rule.is_soft:
                for ids in found:
                    names = [self.labels.names[y] for y in ids]
                    degree = rule.violations(names, self.sentences[b], scheme=self.labels)
                    found[ids] -= rule.penalty * degree
        return found


@st.composite
def soft_cases(draw: Any, longest: int = 4) -> SoftCase:
    case = draw(cases(longest=longest))
    names = list(case.labels.names)
    linear = draw(st.lists(linear_rules(names, names), max_size=2))
    rules = [
        rule if draw(st.integers(0, 3)) == 0 else rule.soft(draw(PENALTIES))
        for rule in (*case.constraints, *linear)
    ]
    return SoftCase(case.labels, tuple(rules), case.sentences, case.scores, case.transitions)
