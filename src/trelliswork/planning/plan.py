"""The plan: the compiled form and the cost of each rule.

A position-wise rule becomes a mask over the labels of each token, which costs nothing. Most others
become automata over labels, and the product of the model automaton with some of these is what
training sums over and decoding maximises over. Products grow with every rule, so training has a
budget in arcs: rules are added greedily (see `trelliswork.planning.training`), and the others are
left to decoding, which adds to a sequence only those that its best labelling breaks (see
`trelliswork.decoding.prices`). Soft rules forbid nothing: a product counts their violations. Where
each rule goes is the table in `trelliswork.planning.placements`.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.automata.automaton import Automaton
from trelliswork.automata.patterns import Patterns
from trelliswork.constraints.given import as_constraints
from trelliswork.constraints.predicates import as_predicates
from trelliswork.constraints.soft import Soft
from trelliswork.errors import InfeasibleError
from trelliswork.labels.label_set import LabelSet
from trelliswork.planning.costs import Costs, check_penalties
from trelliswork.planning.evidence import Evidence
from trelliswork.planning.hard_rules import HardRules
from trelliswork.planning.placements import (
    Placement,
    describe_placements,
    first_place,
    not_placed_before,
    place,
)
from trelliswork.planning.predicates import predicate_violations, predicates_of
from trelliswork.planning.pricing import Pricing
from trelliswork.planning.products import MAX_STATES, RuleCompiler
from trelliswork.planning.splitting import split_rules
from trelliswork.planning.terms import Terms
from trelliswork.planning.token_charges import count_broken
from trelliswork.planning.training import USUAL_LENGTH, Training

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.constraints import Constraint
    from trelliswork.labels.segmentation import Segmentation
    from trelliswork.planning.placements import Where

__all__ = ["DECODING_BUDGET", "TRAINING_BUDGET", "Placement", "Plan", "plan"]

TRAINING_BUDGET = 100_000  # planning and training stay a matter of seconds
DECODING_BUDGET = 5_000_000


class Plan:
    """The compiled form of rules over a label set; made by `plan`.

    Every part is built when first asked for and kept. A pickle holds the settings only. ``C``
    rules, ``B`` sequences, ``N`` tokens, ``L`` labels.

    Attributes
    ----------
    labels : LabelSet
        The labels of tokens.
    constraints : tuple of Constraint
        All rules, in the order given: an index below is a place in this tuple. In a semi-Markov
        model, rules that can read either tokens or segments read segments.
    model : Automaton
        The automaton of the model, over ``L`` letters; a chain over the labels unless told
        otherwise.
    segmentation : Segmentation or None
        How labels are read as segments, in a semi-Markov model. A labelling is then given by its
        tags, see `trelliswork.labels.segmentation`; in a chain tags are labels.
    """

    def __init__(
        self,
        labels: LabelSet,
        constraints: Sequence[Constraint],
        *,
        model: Automaton | None = None,
        segmentation: Segmentation | None = None,
        training_budget: int = TRAINING_BUDGET,
        decoding_budget: int = DECODING_BUDGET,
        train_soft: bool = True,
        max_states: int = MAX_STATES,
    ) -> None:
        self.labels = labels
        self.segmentation = segmentation
        self.constraints = tuple(
            given if segmentation is None else given.in_segments() for given in constraints
        )
        n_letters = len(labels) if segmentation is None else segmentation.n_letters
        self.model = _first_order(n_letters, segmentation) if model is None else model
        self.training_budget = training_budget
        self.decoding_budget = decoding_budget
        self.train_soft = train_soft
        self.max_states = max_states
        if self.model.n_labels != n_letters:
            raise ValueError(
                f"model: expected an automaton over {n_letters} labels, got {self.model.n_labels}."
            )
        if segmentation is not None and segmentation.labels != labels:
            raise ValueError("segmentation: expected one of the labels of the plan.")
        for constraint in self.constraints:
            constraint.check(labels)
        everything = range(len(self.constraints))
        as_predicates(rule for _, rule in predicates_of(self.constraints, everything))
        self._compiler = RuleCompiler(
            labels, self.constraints, self.model, max_states, segmentation
        )
        self._penalties = np.array([_penalty(constraint) for constraint in self.constraints])

    # Where rules go, by the table of placements.

    def _at(self, where: Where) -> tuple[int, ...]:
        everything = range(len(self.constraints))
        return tuple(i for i in everything if first_place(self, i, last=where) == where)

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """Indices of the hard position-wise rules."""
        return self._at("mask")

    @cached_property
    def predicates(self) -> tuple[int, ...]:
        """Indices of the Python functions, hard and soft, which only a search decodes under."""
        return self._at("search")

    @cached_property
    def hard_rules(self) -> tuple[int, ...]:
        """Indices of the hard rules that become automata."""
        return tuple(
            i for i in not_placed_before(self, "scores") if not self.constraints[i].is_soft
        )

    @cached_property
    def soft(self) -> tuple[int, ...]:
        """Indices of the soft rules."""
        return tuple(i for i, constraint in enumerate(self.constraints) if constraint.is_soft)

    @cached_property
    def placements(self) -> tuple[Placement, ...]:
        """Where each rule went, in the order given."""
        return tuple(place(self, i) for i in range(len(self.constraints)))

    # Parts.

    @cached_property
    def terms(self) -> Terms:
        """The terms of the violation sum: of all rules but masks and predicates, in order."""
        left = [(i, self.constraints[i]) for i in not_placed_before(self, "scores")]
        terms, token_charges = split_rules(left, self.labels, self.segmentation)
        return Terms(terms, token_charges, self._compiler, self.decoding_budget)

    @cached_property
    def hard(self) -> HardRules:
        """The hard rules as automata, and products of the model with them."""
        return HardRules(self.hard_rules, self.terms, self._compiler, self.decoding_budget)

    @cached_property
    def training(self) -> Training:
        """The rules that training sums over, and their product."""
        outside = {charge.constraint for charge in self.terms.token_charges}
        outside.update(self.predicates)
        soft = tuple(i for i in self.soft if self.train_soft and i not in outside)
        return Training(self.hard, soft, self.terms, self._compiler, self.training_budget)

    @cached_property
    def pricing(self) -> Pricing:
        """Marked automata and the charges of rules, for decoding with prices."""
        return Pricing(self.terms)

    @cached_property
    def costs(self) -> Costs:
        """The penalties of rules and terms, and the weights that follow from them."""
        return Costs(self.constraints, self._penalties, self.terms)

    # Penalties.

    @property
    def penalties(self) -> FloatArray:
        """``ρ`` of each rule, shape ``(C,)``: infinite for hard ones, nan until learned."""
        return self._penalties.copy()

    def with_penalties(self, values: ArrayLike) -> Plan:
        """Return the plan with other penalties; compiled parts are shared.

        Parameters
        ----------
        values
            Shape ``(C,)``: infinite for hard rules, and for soft ones 0 or more, or nan for those
            that are to be learned.
        """
        given = check_penalties(self.constraints, values)
        _ = self.pricing, self.training  # made before, so that both have the same
        made = copy(self)
        made._penalties = given
        made.costs = Costs(made.constraints, given, made.terms)
        return made

    def with_penalties_of(self, earlier: Plan) -> Plan:
        """Return the plan with penalties that another plan has learned for the same rules."""
        known = dict(zip(earlier.constraints, earlier._penalties.tolist(), strict=True))
        values = self.penalties
        for i in np.flatnonzero(np.isnan(values)).tolist():
            values[i] = known.get(self.constraints[i], np.nan)
        return self.with_penalties(values)

    # Labellings.

    def evidence(
        self,
        sentences: Sequence[Any],
        offsets: IntArray,
        numbers: Sequence[int] | None = None,
    ) -> Evidence:
        """Return the evidence of a batch; `numbers` name its sequences in messages."""
        return Evidence(self.labels, sentences, offsets, numbers)

    def violations(self, tags: IdArray, evidence: Evidence) -> IntArray:
        """Return ``v_c(y)`` of the rules that are no masks, 0 for masks, shape ``(B, C)``."""
        by_term = self.terms.violations(tags, evidence)
        found = predicate_violations(self, tags, evidence, self.predicates)
        for i, term in enumerate(self.terms):
            found[:, term.constraint] += by_term[:, i]
        for charge in self.terms.token_charges:
            ids = self.label_of_tag[tags]
            found[:, charge.constraint] += count_broken(charge.rule, ids, evidence)
        return found

    def masked(self, indices: Iterable[int]) -> tuple[Constraint, ...]:
        """Return the position-wise rules among some."""
        return tuple(self.constraints[i] for i in indices if i in self.masks)

    def tag_mask(self, token_mask: BoolArray) -> BoolArray:
        """Return labels that tokens may have, ``(N, L)``, as the verbs of inference take them."""
        return token_mask if self.segmentation is None else self.segmentation.tag_mask(token_mask)

    def blank_scores(self, n_tokens: int) -> FloatArray:
        """Return scores of 0 for all labels or segments, ``(N, L)`` or ``(N, D, L)``."""
        if self.segmentation is None:
            return np.zeros((n_tokens, self.model.n_labels))
        return self.segmentation.blank_scores(n_tokens)

    @property
    def tag_names(self) -> Sequence[str]:
        """The token label of each tag, by name."""
        return self.labels.names if self.segmentation is None else self.segmentation.tag_names

    @cached_property
    def label_of_tag(self) -> IdArray:
        """The token label of each tag, shape ``(2 L,)``; see `trelliswork.labels.segmentation`."""
        if self.segmentation is not None:
            return np.ascontiguousarray(self.segmentation.token_of_tag, dtype=np.int32)
        return np.tile(np.arange(len(self.labels), dtype=np.int32), 2)

    def names(self, tags: IdArray) -> list[str]:
        """Return the token labels of tags, by name; raise `InfeasibleError` for -1, no answer."""
        if (tags < 0).any():
            raise InfeasibleError("expected a labelling of every sequence: no labelling fits one.")
        names = self.tag_names
        return [names[tag] for tag in tags.tolist()]

    # The plan itself.

    def budgets(self) -> dict[str, int]:
        """Return the budgets, as `plan` takes them and as model files keep them."""
        return {
            "training_budget": int(self.training_budget),
            "decoding_budget": int(self.decoding_budget),
        }

    def describe(self) -> str:
        """Return a table of the places of rules; also ``str(plan)``."""
        everything = range(len(self.terms))
        return describe_placements(
            self.placements,
            self.model,
            self.training.product().automaton,
            self.training_budget,
            beyond_tests=[self.constraints[i] for i in self.training.beyond_tests],
            n_tests=self.training.n_tests,
            penalties=[(self.constraints[i], self._penalties[i]) for i in self.soft],
            train_soft=self.train_soft,
            usual_length=USUAL_LENGTH if self.terms.depend_on_length(everything) else None,
        )

    __str__ = describe

    def __repr__(self) -> str:
        return f"Plan({len(self.constraints)} constraints on {len(self.labels)} labels)"

    def __copy__(self) -> Plan:
        # By default a copy is made as pickles are, from the settings: all would be compiled again.
        made = type(self).__new__(type(self))
        vars(made).update(vars(self))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        options: dict[str, Any] = {
            "model": None if self.model.is_chain else self.model,
            "segmentation": self.segmentation,
            "train_soft": self.train_soft,
            "max_states": self.max_states,
            **self.budgets(),
        }
        # Penalties follow the settings as the state of the pickle.
        made = partial(Plan, **options), (self.labels, self.constraints)
        return *made, {"_penalties": self._penalties}


def _penalty(constraint: Constraint) -> float:
    if not isinstance(constraint, Soft):
        return np.inf
    return np.nan if constraint.penalty is None else constraint.penalty


def _first_order(n_letters: int, segmentation: Segmentation | None) -> Automaton:
    if segmentation is None:
        return Automaton.chain(n_letters)
    pairs = Patterns.chain(n_letters)
    return pairs.automaton(repeats=segmentation.repeats, continues=segmentation.continues)


def plan(
    labels: LabelSet,
    constraints: Any,
    *,
    model: Automaton | None = None,
    segmentation: Segmentation | None = None,
    training_budget: int = TRAINING_BUDGET,
    decoding_budget: int = DECODING_BUDGET,
    train_soft: bool = True,
    max_states: int = MAX_STATES,
) -> Plan:
    """Return the plan of constraints over a label set: their compiled forms. Print it to see it.

    Parameters
    ----------
    labels
        The labels.
    constraints
        A constraint, a regular expression, an automaton, or a sequence of these.
    model
        Automaton of the model. Default: the first-order chain.
    segmentation
        How the labels are read as segments, for a semi-Markov model.
    training_budget, decoding_budget
        Maximum number of arcs of a product in training and in decoding. A training budget of 0
        leaves all automata to decoding.
    train_soft
        Whether soft constraints count in training, as far as they fit.
    max_states
        Maximum number of states of any intermediate automaton.

    Raises
    ------
    LabelError
        If a constraint names an unknown label.
    RuleError
        If one cannot be computed from segments, in a semi-Markov model.
    TooLargeError
        If one constraint alone has more than `max_states` states.

    Examples
    --------
    >>> from trelliswork.constraints import at_most
    >>> from trelliswork.labels.label_set import LabelSet
    >>> found = plan(LabelSet(["author", "title"]), at_most(1, "title"))
    >>> [p.where for p in found.placements]
    ['training']
    """
    if not isinstance(labels, LabelSet):
        raise TypeError(
            f"labels: expected a LabelSet, got {type(labels).__name__}. The labels come first: "
            "plan(labels, constraints)."
        )
    found = Plan(
        labels,
        as_constraints(constraints),
        model=model,
        segmentation=segmentation,
        training_budget=training_budget,
        decoding_budget=decoding_budget,
        train_soft=train_soft,
        max_states=max_states,
    )
    if training_budget:
        _ = found.placements  # compiles everything that training needs
    else:
        for index in found.hard.automata:
            found.hard.language(index)  # raises here if a rule alone is too large
    return found
