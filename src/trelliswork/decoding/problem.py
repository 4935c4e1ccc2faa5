"""Problems: one sequence to decode, with its scores and constraints.

    P(y) = score(y) − Σ_c ρ_c v_c(y)

`trelliswork.solve` finds the labelling ``y`` with the largest value ``P(y)``, and
`trelliswork.verify` checks such an answer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.constraints.base import Constraint
from trelliswork.constraints.given import HasConstraint, as_constraints
from trelliswork.constraints.reading import Reading
from trelliswork.decoding.masks import open_labels
from trelliswork.features.inputs import sequence_length
from trelliswork.inference.trellis import Trellis
from trelliswork.inference.verbs import viterbi
from trelliswork.labels.label_set import LabelSet
from trelliswork.planning.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, IdArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.data.sentence import Label
    from trelliswork.planning.evidence import Evidence


__all__ = ["Problem"]

PLANS_KEPT = 32


class Problem:
    """One sequence to decode, with its scores and constraints.

    Parameters
    ----------
    scores
        Scores of the labels, shape ``(T, L)``; of segments, ``(T, D, L)``; or a
        `trelliswork.Trellis` of one sequence, which brings its automaton and weights.
    model
        Transition scores, shape ``(L, L)``, rows = label before; or a `trelliswork.Plan`, which
        brings labels, constraints and the automaton that the scores are on.
    constraints
        A constraint, a regular expression, an automaton, or a sequence of these, hard or soft.
        Problems with equal labels and constraints on a chain share one plan.
    sentence
        The ``T`` tokens, for constraints that look at them.
    labels
        The ``L`` labels: a `LabelSet`, or names, which are read as plain labels.
    start, end
        Scores of the first and of the last label, shape ``(L,)``.
    known
        Labels known beforehand: for each token a label, a set of labels, or None.

    Attributes
    ----------
    plan : Plan
        The compiled constraints.
    trellis : Trellis
        The scores on the automaton of the model, without constraints.
    evidence : Evidence
        The outcomes of token tests on the batch.

    Raises
    ------
    ValueError
        For arrays of other shapes, NaN or ``+inf`` in them, and a sentence that is missing or has
        another length.
    RuleError
        For soft constraints whose penalties are still to be learned.
    LabelError
        For labels in constraints or `known` that are not in the label set.

    Examples
    --------
    >>> from trelliswork.constraints import at_most
    >>> scores = [[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]]
    >>> rule = at_most(1, "author").soft(1.5)
    >>> problem = Problem(scores, constraints=rule, labels=["author", "title"])
    >>> problem.value(["author", "title", "author"])
    3.5
    """

    def __init__(
        self,
        scores: ArrayLike | Trellis,
        model: ArrayLike | Plan | None = None,
        constraints: Any = (),
        sentence: Any = None,
        *,
        labels: LabelSet | Sequence[str] | None = None,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        known: Sequence[Label] | None = None,
    ) -> None:
        if isinstance(model, Plan):
            self.trellis = _one_sequence(scores, model.model, None, start, end)
            self.plan = _checked_plan(model, self.trellis, constraints, labels)
        else:
            _check_transitions(scores, model)
            self.trellis = _one_sequence(scores, None, model, start, end)
            self.plan = _planned(self.trellis, constraints, labels)
        self.plan.costs.check()
        self.sentence = _checked_sentence(sentence, self.plan, len(self))
        tokens = [""] * len(self) if sentence is None else self.sentence
        self.evidence: Evidence = self.plan.evidence([tokens], self.trellis.offsets)
        self._known = None if known is None else self._known_mask(known)

    @property
    def allowed(self) -> BoolArray | None:
        """The labels that `known` leaves open, ``(T, L)``; in segments ``(T, 2, L)``."""
        return None if self._known is None else self.plan.tag_mask(self._known)

    @property
    def labels(self) -> LabelSet:
        """The labels of tokens."""
        return self.plan.labels

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints, in the order given."""
        return self.plan.constraints

    def score(self, labels: Sequence[str]) -> float:
        """Return the score of a labelling under the model alone; ``-inf`` if it has no path.

        If several segmentations read as these labels, the score of the best one.
        """
        ids = self._ids(labels)
        only = self.plan.tag_mask(np.arange(len(self.labels)) == ids[:, None])
        return float(viterbi(self.trellis, allowed=only, n_jobs=1).scores[0])

    def violations(self, labels: Sequence[str]) -> dict[int, int]:
        """Return the degree of violation of each violated constraint, by its index."""
        self._ids(labels)
        reading = Reading(labels, self.evidence.sentences[0], self.labels)
        degrees = (constraint.degree(reading) for constraint in self.constraints)
        return {i: degree for i, degree in enumerate(degrees) if degree}

    def value(self, labels: Sequence[str]) -> float:
        """Return ``P(y)``, the score less the penalties of the violated constraints.

        ``-inf`` if it violates a hard constraint or a known label.
        """
        ids = self._ids(labels)
        if self._known is not None and not self._known[np.arange(len(self)), ids].all():
            return -np.inf
        penalties = self.plan.penalties
        cost = sum(float(penalties[i]) * v for i, v in self.violations(labels).items())
        return self.score(labels) - cost

    def open_labels(self) -> BoolArray | None:
        """Return the labels that position-wise constraints and known labels leave open."""
        everything = range(len(self.constraints))
        return open_labels(self.plan, self.evidence, everything, self.allowed)

    def __len__(self) -> int:
        return self.trellis.n_tokens

    def __repr__(self) -> str:
        return (
            f"Problem({len(self)} tokens, {len(self.labels)} labels, "
            f"{len(self.constraints)} constraints)"
        )

    def _known_mask(self, known: Sequence[Label]) -> BoolArray:
        if len(known) != len(self):
            raise ValueError(
                f"known: expected a label, a set or None for each of the {len(self)} tokens, got "
                f"{len(known)}."
            )
        return self.labels.allowed(known)

    def _ids(self, labels: Sequence[str]) -> IdArray:
        if isinstance(labels, str):
            raise TypeError(f"labels: expected a list of names, got the string {labels!r}.")
        if len(labels) != len(self):
            raise ValueError(
                f"labels: expected {len(self)} labels, one a token, got {len(labels)}."
            )
        return self.labels.encode(labels)


def _one_sequence(
    scores: ArrayLike | Trellis,
    automaton: Automaton | None,
    weights: ArrayLike | None,
    start: ArrayLike | None,
    end: ArrayLike | None,
) -> Trellis:
    if not isinstance(scores, Trellis):
        return Trellis(scores, automaton, weights=weights, start=start, end=end)
    if weights is not None or start is not None or end is not None:
        raise ValueError(
            "scores: a Trellis brings its weights, start and end. Leave model, start and end out, "
            "or pass the scores as an array."
        )
    if scores.n_sequences != 1:
        raise ValueError(
            f"scores: expected a Trellis of one sequence, got {scores.n_sequences}. Make a problem "
            "of each and pass the list to solve."
        )
    if scores.automaton.guards is not None:
        raise ValueError(
            "scores: expected a Trellis on the automaton of a model, got one with token classes, "
            "as constraints make them. Pass the scores without constraints, or use "
            "tagger.problem(x)."
        )
    return scores


def _check_transitions(scores: ArrayLike | Trellis, model: Any) -> None:
    """Raise if the model that was given is no matrix of transitions."""
    rules = model if isinstance(model, list | tuple) else [model]
    if any(isinstance(rule, Constraint | HasConstraint | str) for rule in rules):
        raise TypeError(
            "model: expected transitions of shape (L, L) or a Plan, got constraints. Pass them as "
            "constraints=."
        )
    if model is None or isinstance(scores, Trellis) or np.ndim(scores) < 2:
        return
    n_labels, shape = np.shape(scores)[-1], np.shape(model)
    if shape not in ((n_labels, n_labels), (n_labels**2,)):
        raise ValueError(
            "model: expected transitions of shape (L, L), here "
            f"{(n_labels, n_labels)}, got {shape}."
        )


def _planned(trellis: Trellis, constraints: Any, labels: LabelSet | Sequence[str] | None) -> Plan:
    """Return the plan of constraints on the automaton of a trellis."""
    n_labels = trellis.automaton.n_labels
    if labels is None:
        raise ValueError(
            f"labels: expected the names of the {n_labels} labels, or a LabelSet: constraints call "
            "labels by name."
        )
    if isinstance(labels, str):
        raise TypeError(f"labels: expected a sequence of names, got the string {labels!r}.")
    known = labels if isinstance(labels, LabelSet) else LabelSet(labels)
    if len(known) != n_labels:
        raise ValueError(
            f"labels: expected {n_labels} labels, as the scores have, got {len(known)}."
        )
    if trellis.scores.shape[1] > 1:
        raise ValueError(
            "scores: scores of segments need a Plan with a segmentation as the model; see "
            "trelliswork.plan. A trained tagger makes such problems: tagger.problem(x)."
        )
    rules = as_constraints(constraints)
    if trellis.automaton.is_chain:
        return _chain_plan(known, rules)
    return Plan(known, rules, model=trellis.automaton, training_budget=0)


@lru_cache(maxsize=PLANS_KEPT)
def _chain_plan(labels: LabelSet, constraints: tuple[Constraint, ...]) -> Plan:
    return Plan(labels, constraints, training_budget=0)


def _checked_plan(plan: Plan, trellis: Trellis, constraints: Any, labels: Any) -> Plan:
    """Return the given plan, after checking that it fits the other arguments."""
    if as_constraints(constraints) or labels is not None:
        raise ValueError(
            "model: a Plan brings its labels and constraints. Leave those out, or make the plan "
            "with them: tw.plan(labels, constraints)."
        )
    own = trellis.automaton
    if own is not plan.model and not _is_same_automaton(own, plan.model):
        raise ValueError(
            f"scores: expected scores on the automaton of the plan, {plan.model!r}, got {own!r}."
        )
    return plan


def _is_same_automaton(one: Automaton, other: Automaton) -> bool:
    """Return whether two automata have the same states, arcs and patterns."""
    if one.is_chain and other.is_chain:
        return one.n_labels == other.n_labels
    parts = zip(one._arrays(), other._arrays(), strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in parts)


def _checked_sentence(sentence: Any, plan: Plan, n_tokens: int) -> Any:
    if isinstance(sentence, str):
        raise TypeError(f"sentence: expected a list of tokens, got the string {sentence[:40]!r}.")
    if sentence is None:
        looking = [rule for rule in plan.constraints if rule.tests]
        if looking and n_tokens:
            raise ValueError(f"sentence: {looking[0]!r} looks at the input. Pass the tokens.")
    elif sequence_length(sentence) != n_tokens:
        raise ValueError(
            f"sentence: expected {n_tokens} tokens, as the scores have, got "
            f"{sequence_length(sentence)}."
        )
    return sentence
