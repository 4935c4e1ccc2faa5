"""Batches of problems: stacked scores, and the conversion to `Decoding` objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from trelliswork.decoding.answers import Decoding
from trelliswork.decoding.conflicts import feasible_rules, find_conflict, scores_forbid_all
from trelliswork.decoding.describe import prices_by_rule
from trelliswork.decoding.masks import open_labels
from trelliswork.errors import InfeasibleError, SearchLimitError, TooLargeError
from trelliswork.inference.trellis import Trellis

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from trelliswork._typing import BoolArray, IdArray
    from trelliswork.decoding.answers import Method
    from trelliswork.decoding.certificate import Certificate
    from trelliswork.decoding.problem import Problem
    from trelliswork.planning.evidence import Evidence
    from trelliswork.planning.plan import Plan
    from trelliswork.proofs.answer import Status


__all__ = ["ProblemBatch", "broken_rules", "group_problems"]


@dataclass(frozen=True, eq=False)
class ProblemBatch:
    """Problems with one plan and one model, stacked into one trellis."""

    problems: list[Problem]
    trellis: Trellis
    evidence: Evidence
    allowed: BoolArray | None

    @classmethod
    def stack(cls, numbers: list[int], problems: list[Problem]) -> ProblemBatch:
        """Stack problems; errors name them by these numbers."""
        first = problems[0]
        offsets = np.cumsum([0, *map(len, problems)])
        sentences = [problem.evidence.sentences[0] for problem in problems]
        position, allowed = None, None
        if first.trellis.position_weights is not None:
            position = np.concatenate([p.trellis.position_weights for p in problems])
        if any(problem.allowed is not None for problem in problems):
            everything = first.plan.tag_mask(np.ones((1, len(first.labels)), dtype=bool))
            allowed = np.concatenate(
                [
                    np.repeat(everything, len(p), axis=0) if p.allowed is None else p.allowed
                    for p in problems
                ]
            )
        trellis = Trellis(
            np.concatenate([problem.trellis.scores for problem in problems]),
            first.trellis.automaton,
            offsets=offsets,
            weights=first.trellis.weights,
            position_weights=position,
            start=first.trellis.start,
            end=first.trellis.end,
        )
        evidence = first.plan.evidence(sentences, trellis.offsets, numbers)
        return cls(problems, trellis, evidence, allowed)

    @property
    def plan(self) -> Plan:
        """The constraints of all of them."""
        return self.problems[0].plan

    def take(self, members: list[int]) -> ProblemBatch:
        """Return some of the problems."""
        numbers = [self.evidence.numbers[i] for i in members]
        return ProblemBatch.stack(numbers, [self.problems[i] for i in members])

    def open_labels(self) -> BoolArray | None:
        """Return the labels that position-wise constraints and known labels leave open."""
        everything = range(len(self.plan.constraints))
        return open_labels(self.plan, self.evidence, everything, self.allowed)

    def answer(
        self,
        member: int,
        tags: IdArray,
        bound: float,
        *,
        method: Method,
        certificate: Certificate | None,
        is_best: bool = True,
        iterations: int = 1,
    ) -> Decoding:
        """Return the answer to one problem.

        Parameters
        ----------
        member
            The index of the problem.
        tags
            Of all tokens of the batch, shape ``(N,)``.
        bound
            The upper bound of all labellings.
        method, certificate, iterations
            As those of `Decoding`.
        is_best
            Whether the labelling is proven to be the best.
        """
        first, last = self.trellis.offsets[member : member + 2]
        if bound == -np.inf or (tags[first:last] < 0).any():
            self.refuse(member)
        problem, labels = self.problems[member], self.plan.names(tags[first:last])
        value = problem.value(labels)
        if value == -np.inf and self._conflicts(member):
            self.refuse(member)
        status: Status = "relaxed" if value == -np.inf else "feasible"
        if is_best and status == "feasible":
            status = "optimal" if certificate is not None else "unverified"
        # Sums in another order differ in their last digits.
        bound = max(bound, value) if status in ("relaxed", "feasible") else value
        return Decoding(
            labels=labels,
            score=value,
            upper_bound=bound,
            status=status,
            violations=broken_rules(problem, labels),
            method=method,
            iterations=iterations,
            prices=prices_by_rule(self.plan, certificate),
            certificate=certificate,
        )

    def refuse_search(self, member: int, is_proven: bool) -> NoReturn:
        """Raise the error for a problem for which a search found no labelling.

        Parameters
        ----------
        member
            The index of the problem.
        is_proven
            Whether it is proven that there is none.
        """
        if is_proven:
            self.refuse(member)
        raise SearchLimitError(
            f"sequence {self.evidence.numbers[member]}: the search found no labelling that "
            "satisfies all hard constraints, and no proof that there is none. Set a larger width "
            "or time_limit, or make a constraint .soft()."
        )

    def refuse(self, member: int) -> NoReturn:
        """Raise the error for an infeasible problem, naming the constraints that conflict."""
        number = self.evidence.numbers[member]
        try:
            feasible_rules(self.plan, self.evidence, member, self.allowed, "error")
        except TooLargeError:
            raise InfeasibleError(
                f"sequence {number}: No labelling of {len(self.problems[member])} tokens satisfies "
                "all hard constraints. Which of them conflict is beyond decoding_budget."
            ) from None
        raise scores_forbid_all(self.plan, number)

    def _conflicts(self, member: int) -> bool:
        """Return whether hard constraints are known to conflict."""
        one = self.evidence.take(np.array([member]))
        try:
            everything = range(len(self.plan.constraints))
            known = self.problems[member].allowed
            return find_conflict(self.plan, one, everything, known) is not None
        except TooLargeError:
            return False


def group_problems(problems: Sequence[Problem]) -> list[list[int]]:
    """Return groups of problems that can be decoded together, by their indices."""
    groups: dict[Hashable, list[int]] = {}
    for index, problem in enumerate(problems):
        trellis = problem.trellis
        shared = (trellis.weights, trellis.start, trellis.end)
        width = None if trellis.position_weights is None else trellis.position_weights.shape[1]
        key = (
            id(problem.plan),
            trellis.scores.shape[1:],
            width,
            *(None if values is None else values.tobytes() for values in shared),
        )
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def broken_rules(problem: Problem, labels: Sequence[str]) -> dict[str, int]:
    """Return the violations of a labelling, by the expressions of the constraints."""
    broken = problem.violations(labels)
    return {repr(problem.constraints[i]): degree for i, degree in broken.items()}
