"""Verification of assignments of spans to roles."""

from __future__ import annotations

from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from trelliswork.errors import TrellisworkError
from trelliswork.graphs.certificate import GraphCertificate, GraphLeaf
from trelliswork.graphs.verify import GraphLeaves
from trelliswork.labels.segments import Span
from trelliswork.proofs.certificate import WrongError
from trelliswork.proofs.verification import Claim, check_violations
from trelliswork.spans.answers import broken_rules, value
from trelliswork.spans.bounds import leaf_bound
from trelliswork.spans.certificate import SpanCertificate, SpanLeaf
from trelliswork.spans.graph import SpanGraph
from trelliswork.spans.rules import compile_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trelliswork.proofs.answer import Status
    from trelliswork.spans.answers import Assignment, Choices
    from trelliswork.spans.rules import SpanRulebook
    from trelliswork.spans.table import SpanTable

__all__ = ["SpanClaim"]


class SpanClaim(Claim):
    """The claim of an `Assignment`: the best one under its own constraints.

    Parameters
    ----------
    table, answer
        The table and its answer.
    """

    whole, parts = "assignment", "spans"
    excuses: ClassVar[Mapping[Status, str]] = {
        "fractional": "It is rounded, and breaks a hard constraint."
    }

    def __init__(self, table: SpanTable, answer: Assignment) -> None:
        self.table = table
        self.answer: Assignment = answer

    def value(self) -> float:
        """Return ``P(y)``, if spans, roles and violations follow from the choices."""
        choices = self._choices()
        worth = value(self.table, self.book, choices)
        check_violations(broken_rules(self.table, self.book, choices), self.answer.violations)
        return worth

    def leaves(self, certificate: Any) -> list[SpanLeaf] | list[GraphLeaf]:
        """Return the leaves, if decisions and multipliers are those of the table."""
        if isinstance(certificate, GraphCertificate):
            return self._of_graph.read(certificate)
        if not isinstance(certificate, SpanCertificate):
            raise WrongError(
                f"certificate: expected a SpanCertificate, got {type(certificate).__name__}."
            )
        if not self.book.chains(self.table):
            raise WrongError("certificate: prices prove nothing under rules that are not linear.")
        return [self._read(leaf) for leaf in certificate.leaves]

    def bound(self, leaves: Sequence[SpanLeaf] | Sequence[GraphLeaf], value: float) -> float:
        """Return the largest ``max G(y)`` of the leaves, or ``D(θ)`` of the graph of the table."""
        of_graph = [leaf for leaf in leaves if isinstance(leaf, GraphLeaf)]
        if of_graph:
            return self._of_graph.bound(of_graph)
        of_chain = [leaf for leaf in leaves if isinstance(leaf, SpanLeaf)]
        return max(leaf_bound(self.table, self.book, leaf) for leaf in of_chain)

    @cached_property
    def book(self) -> SpanRulebook:
        """The constraints of the answer, compiled for the table."""
        try:
            return compile_rules(self.table.roles, self.answer.constraints)
        except TrellisworkError as error:
            raise WrongError(f"constraints: they do not fit the table: {error}") from error

    @cached_property
    def _of_graph(self) -> GraphLeaves:
        return GraphLeaves(SpanGraph.of(self.table, self.book).graph)

    def _choices(self) -> Choices:
        """Return the pairs of spans and roles, after comparing spans and roles with them."""
        table, answer = self.table, self.answer
        choices = list(answer.choices)
        for s, r in choices:
            if not (0 <= s < len(table.spans) and 0 <= r < len(table.roles)):
                raise WrongError(f"choices: the table has no span {s} with role {r}.")
        if len(set(choices)) < len(choices):
            raise WrongError("choices: a span fills a role twice.")
        edges = table.spans.tolist()
        spans = [Span(edges[s][0], edges[s][1], table.roles[r]) for s, r in choices]
        if spans != list(answer.spans):
            raise WrongError(f"spans: the choices are {spans}, not {list(answer.spans)}.")
        first: dict[str, tuple[int, int] | None] = dict.fromkeys(table.roles)
        for start, end, role in spans:
            first[role] = first[role] or (start, end)
        if first != answer.roles:
            raise WrongError(f"roles: the spans fill {first}, not {answer.roles}.")
        return choices

    def _read(self, leaf: SpanLeaf) -> SpanLeaf:
        """Return a leaf with valid decisions and prices."""
        table, rules = self.table, self.book.rules
        decisions = [(int(s), int(r), taken) for s, r, taken in leaf.decisions]
        prices = [float(price) for price in leaf.prices]
        if len(prices) != len(rules):
            raise WrongError(f"certificate: expected {len(rules)} prices, got {len(prices)}.")
        for rule, price in zip(rules, prices, strict=True):
            if not isfinite(price) or not 0.0 <= price <= rule.penalty:
                raise WrongError(
                    f"certificate: a price is {price}; expected a finite number from 0 to "
                    f"{rule.penalty}."
                )
        for span, role, taken in decisions:
            known = 0 <= span < len(table.spans) and 0 <= role < len(table.roles)
            if not known or not isinstance(taken, bool):
                raise WrongError(
                    "certificate: expected decisions about a span and a role of the table, got "
                    f"{(span, role, taken)}."
                )
        return SpanLeaf(tuple(decisions), prices)
