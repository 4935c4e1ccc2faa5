"""The labellings that the likelihood sums over: those that satisfy the constraints."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork._utils.tables import join_names, shorten
from trelliswork.constraints.monitors import MAX_TESTS
from trelliswork.decoding.masks import open_labels
from trelliswork.errors import DataError, RuleError
from trelliswork.labels.gold import GoldLabels
from trelliswork.learn.gold import conflict_error, find_conflicting_gold
from trelliswork.learn.objective.soft_terms import SoftTerms
from trelliswork.planning.placements import tests_warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.data.sentence import Label
    from trelliswork.planning.plan import Plan
    from trelliswork.planning.rule_product import RuleProduct

__all__ = ["Denominator"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Denominator:
    """The labellings that the likelihood is normalised over.

    Attributes
    ----------
    automaton : Automaton
        The product of the model with the constraints that fit the training budget.
    classes : numpy.ndarray or None
        Class of each token of the training sequences, shape ``(N,)``.
    open_labels : numpy.ndarray or None
        Labels that position-wise constraints allow at each token, shape ``(N, L)``; in a
        semi-Markov model ``(N, 2, L)``, for segments that begin and that continue there.
    kept : numpy.ndarray
        Mask of the sequences to train on, shape ``(B,)``.
    soft : SoftTerms or None
        The soft constraints whose violations the automaton counts, with those of the gold labels.
    """

    automaton: Automaton
    classes: NDArray[np.uint8] | None
    open_labels: BoolArray | None
    kept: BoolArray
    soft: SoftTerms | None = None

    @property
    def n_skipped(self) -> int:
        """Number of sequences left out because their labels break a constraint."""
        return int((~self.kept).sum())

    @classmethod
    def choose(
        cls,
        plan: Plan,
        sequences: Sequence[Any],
        labels: Sequence[Sequence[Label]],
        *,
        trained: bool,
        on_conflict: str,
    ) -> Denominator:
        """Compile the constraints for training, and check the gold labels against them.

        Parameters
        ----------
        plan
            The constraints.
        sequences, labels
            The training set.
        trained
            Whether constraints apply in training.
        on_conflict
            ``"error"`` or ``"skip"``, for sequences whose labels break a constraint.

        Raises
        ------
        RuleError
            If the penalty of a soft constraint cannot be learned, because the constraint exceeds
            the training budget or training ignores it.
        NotInLanguageError
            With ``"error"``, for the first sequence whose labels break a constraint.
        """
        kept = np.ones(len(sequences), dtype=bool)
        if not plan.constraints and plan.segmentation is None:
            return cls(plan.model, None, None, kept)
        lengths = [len(names) for names in labels]
        evidence = plan.evidence(sequences, np.cumsum([0, *lengths]))
        if plan.segmentation is None:
            gold = GoldLabels.encode(plan.labels, labels)
        else:
            gold = plan.segmentation.encode(labels)
        all_evidence = evidence
        everything = range(len(plan.constraints))
        chosen = plan.training.constraints(evidence.longest) if trained else ()
        counted = sorted({*plan.masks, *chosen}) if trained else []
        left = [i for i in everything if i not in counted]
        if not plan.train_soft:  # training without soft constraints is intended
            left = [i for i in left if i not in plan.soft]
        _check_learnable(plan, left, trained)
        outside = {charge.constraint for charge in plan.terms.token_charges}.union(plan.predicates)
        left = [i for i in left if i not in outside]
        if trained:
            by_tests = [i for i in left if i in plan.training.beyond_tests]
            by_arcs = [i for i in left if i not in by_tests]
            _warn_of_left_out(plan, by_arcs, f"its budget of {plan.training_budget:,} arcs")
            _warn_of_left_out(plan, by_tests, f"{MAX_TESTS} token tests")
        if plan.training.n_tests > MAX_TESTS:
            logger.warning("%s", tests_warning(plan.training.n_tests))
        lost = find_conflicting_gold(plan, gold, evidence, left, partial_too=False)
        if lost.any():
            logger.warning(
                "%d of %d training sequences have labels that decoding under constraints rules out",
                lost.sum(),
                lost.size,
            )
        if not trained and (plan.segmentation is None or gold.allowed is None):
            return cls(plan.model, None, None, kept)
        # Even without constraints, no segmentation may agree with partial labels.
        ruled_out = find_conflicting_gold(plan, gold, evidence, counted)
        if ruled_out.any():
            first = int(ruled_out.argmax())
            if on_conflict == "error":
                raise conflict_error(plan, labels[first], evidence, first, counted)
            logger.warning(
                "%d of %d training sequences break a constraint and are left out, sequence %d for "
                "example",
                ruled_out.sum(),
                ruled_out.size,
                first,
            )
            if ruled_out.all():
                example = conflict_error(
                    plan, labels[first], evidence, first, counted, may_skip=False
                )
                raise DataError(
                    "y: expected sequences whose labels satisfy the constraints, but all "
                    f"{ruled_out.size} break one. {example}"
                )
            evidence = evidence.take(np.flatnonzero(~ruled_out))
        compiled: RuleProduct = plan.hard.product(())
        soft = None
        if trained and set(chosen) <= set(plan.training.hard_rules):
            compiled = plan.training.hard_product
        elif trained:
            compiled = plan.training.product_of(chosen, evidence.longest)
            if not set(chosen).isdisjoint(plan.soft):
                degrees = plan.terms.violations(gold.tags(plan.model.n_labels), all_evidence)
                soft = SoftTerms.of(plan, chosen, degrees[~ruled_out])
        return cls(
            compiled.automaton,
            evidence.classes(compiled.tests),
            open_labels(plan, evidence, counted),
            ~ruled_out,
            soft,
        )


def _check_learnable(plan: Plan, left: Sequence[int], trained: bool) -> None:
    """Raise if the penalty of a constraint that training leaves out is unknown."""
    unknown = [i for i in left if np.isnan(plan.penalties[i])]
    if not unknown:
        return
    learn = (
        "Count penalties with training='L+wCI'; or leave training= out and set "
        "penalties='counts' or penalties='perceptron'; or give numbers, as in .soft(2.0)"
    )
    reasons = (
        (
            {charge.constraint for charge in plan.terms.token_charges},
            "as tokens are counted one by one",
        ),
        (set(plan.predicates), "as Python functions cannot be summed over"),
    )
    for those, why in reasons:
        if at_fault := [i for i in unknown if i in those]:
            names = _rule_names(plan, at_fault)
            raise RuleError(
                f"penalties: the likelihood does not learn the penalties of {names}, {why}. "
                f"{learn}."
            )
    names = _rule_names(plan, unknown)
    if trained and plan.training_budget:
        largest = max(plan.placements, key=lambda placement: placement.arcs)
        raise RuleError(
            f"penalties: expected soft constraints that fit the training budget of "
            f"{plan.training_budget:,} arcs together, which {names} do not. The largest of all "
            f"constraints is {shorten(repr(largest.constraint))}, {largest.arcs:,} arcs by itself. "
            f"{learn}; or raise training_budget."
        )
    raise RuleError(
        f"penalties: the likelihood cannot learn the penalties of {names} if training leaves out "
        f"the constraints. {learn}; or set constrained_training=True and a training_budget."
    )


def _rule_names(plan: Plan, constraints: Sequence[int]) -> str:
    return join_names([shorten(repr(plan.constraints[i])) for i in constraints], limit=3)


def _warn_of_left_out(plan: Plan, constraints: Sequence[int], limit: str) -> None:
    if constraints:
        logger.warning(
            "training leaves out %d constraints beyond %s: %s",
            len(constraints),
            limit,
            join_names([shorten(repr(plan.constraints[i])) for i in constraints]),
        )
