"""The plan: which constraint is compiled into what, and at what cost.

A position-wise constraint becomes a mask over the labels of each token, which costs nothing. Any
other becomes an automaton over labels, and the product of the model automaton with some of these is
what training sums over and decoding maximises over. Products grow with every constraint, so
training has a budget in arcs: constraints are added in the order given while the product fits, and
the others are left to decoding, which adds to a sequence only those that its best labelling breaks
(see `trelliswork.decoding.exact`). Soft constraints forbid nothing: the product counts their
violations, see `trelliswork.planning.terms_of_plan`.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from trelliswork.automata.automaton import Automaton
from trelliswork.automata.patterns import Patterns
from trelliswork.constraints.given import as_constraints
from trelliswork.constraints.monitors import MAX_TESTS
from trelliswork.constraints.predicates import as_predicates
from trelliswork.constraints.soft import Soft
from trelliswork.errors import InfeasibleError, TooLargeError
from trelliswork.labels.label_set import LabelSet
from trelliswork.planning.evidence import Evidence
from trelliswork.planning.placements import Placement, describe_placements
from trelliswork.planning.plan_predicates import PredicateMethods
from trelliswork.planning.products import MAX_STATES, CompiledProduct, ProductCompiler

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from trelliswork.constraints import Constraint
    from trelliswork.labels.segmentation import Segmentation
    from trelliswork.planning.placements import Where

__all__ = ["DECODING_BUDGET", "TRAINING_BUDGET", "Placement", "Plan", "as_constraints", "plan"]

TRAINING_BUDGET = 100_000  # planning and training stay a matter of seconds
DECODING_BUDGET = 5_000_000
USUAL_LENGTH = 32  # of sequences, where a size that depends on it is shown


class Plan(PredicateMethods):
    """What constraints over a label set compile into; made by `plan`.

    Everything is built when first asked for and kept. Pickles as its settings.

    Attributes
    ----------
    labels : LabelSet
        The labels of tokens.
    constraints : tuple of Constraint
        All constraints, in the order given: an index below is a place in this tuple. Those of a
        semi-Markov model read segments where they may read either. Masks, rules and products are
        those of the hard ones, unless they speak of items.
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
        as_predicates(rule for _, rule in self.functions(range(len(self.constraints))))
        self._compiler = ProductCompiler(
            labels, self.constraints, self.model, max_states, segmentation
        )
        self._penalties = np.array([_penalty(constraint) for constraint in self.constraints])

    @cached_property
    def automata(self) -> tuple[int, ...]:
        """Indices of the hard constraints that decoding knows as automata: those with a bit."""
        bits = {item.constraint for item in self.items if item.row is None}
        return tuple(i for i in self.rules if i in bits)

    @cached_property
    def beyond_tests(self) -> tuple[int, ...]:
        """Indices of the automata left out of training by the number of token tests they read."""
        trained = self.trained_rules
        return tuple(
            i
            for i in (self.rules if self.training_budget else ())
            if i not in trained
            and len(self._compiler.tests((*(j for j in trained if j < i), i))) > MAX_TESTS
        )

    @cached_property
    def n_tests(self) -> int:
        """Number of different token tests that the automata read."""
        return len(self._compiler.tests(self.rules))

    @property
    def training(self) -> CompiledProduct:
        """The product that training sums over."""
        if not self.trained_rules:
            return CompiledProduct(self.model)
        return self._compiler.product(self.trained_rules, self.training_budget)

    @property
    def decoding(self) -> CompiledProduct:
        """The product with all automata of hard constraints.

        Raises
        ------
        TooLargeError
            Where it has more arcs than `decoding_budget`.
        """
        return self.product(self.rules)

    @cached_property
    def compact(self) -> Automaton | None:
        """The language of all automata together, if small: those of subsets do not pay then."""
        if not self.rules or self.counted:
            return None
        return self._compiler.small_intersection(self.rules, self.compact_budget)

    @cached_property
    def placements(self) -> tuple[Placement, ...]:
        """Where each constraint went, in the order given."""
        return tuple(map(self._placement, range(len(self.constraints))))

    def _placement(self, index: int) -> Placement:
        constraint = self.constraints[index]
        if index in self.masks:
            return Placement(constraint, "mask", 0, 0, 0.0)
        if index in self.predicates:
            return Placement(constraint, "search", 0, 0, 0.0)
        if not self.items_of((index,)):
            return Placement(constraint, "scores", 0, 0, 0.0)
        by_items = constraint.is_soft or index in self.counted
        if not by_items:
            _ = self.language(index)  # where that is too large, the constraint is no use
        try:
            if by_items:
                states, arcs = self.item_size(self.items_of((index,)), USUAL_LENGTH)
            else:
                states, arcs = self._compiler.size(index, self.decoding_budget)
        except TooLargeError:  # not even alone: decoding says so where it is needed
            states, arcs = 0, self.decoding_budget
        trained = self.trained_constraints(USUAL_LENGTH) if by_items else self.trained_rules
        where: Where = "training" if index in trained else "decoding"
        return Placement(constraint, where, states, arcs, arcs / self.model.n_arcs)

    def language(self, index: int) -> Automaton:
        """Return the automaton of one constraint, over ``L * 2**k`` letters; see `compile`."""
        return self._compiler.language(index)

    def accepts(self, index: int, tags: NDArray[np.int32], evidence: Evidence) -> NDArray[np.bool_]:
        """Return which labellings of a batch satisfy one constraint, shape ``(B,)``.

        Parameters
        ----------
        index
            The constraint; one that became an automaton.
        tags
            Tags of all tokens, shape ``(N,)``.
        evidence
            What the constraints see of the batch.
        """
        if index in self.counted:
            own = list(self.items_of((index,)))
            broken = self.item_violations(tags, evidence, own)[:, own]
            return np.asarray(broken.sum(axis=1) == 0)
        tests = self._compiler.tests((index,))
        return self._compiler.accepts(self.language(index), tests, tags, evidence)

    def accepts_together(
        self, language: Automaton, tags: NDArray[np.int32], evidence: Evidence
    ) -> NDArray[np.bool_]:
        """Return which labellings of a batch satisfy all automata, given as `compact`."""
        tests = self._compiler.tests(self.rules)
        return self._compiler.accepts(language, tests, tags, evidence)

    def product(self, indices: Iterable[int], length: int | None = None) -> CompiledProduct:
        """Return the model times the automata of some hard constraints, from memory if possible.

        Parameters
        ----------
        indices
            The constraints.
        length
            Most tokens of a sequence to be run on it, which those that are `counted` need.

        Raises
        ------
        TooLargeError
            Where it has more arcs than `decoding_budget`.
        """
        chosen = tuple(sorted(set(indices)))
        if not set(chosen).intersection(self.counted):
            return self._compiler.product(chosen, self.decoding_budget)
        if length is None:
            raise ValueError("length: the automaton of a constraint depends on it. Give one.")
        made = self._items.product(
            self.items_of(chosen), length, self.decoding_budget, marked=False
        )
        return CompiledProduct(made.automaton, made.tests)

    def evidence(
        self,
        sentences: Sequence[Any],
        offsets: NDArray[np.int64],
        numbers: Sequence[int] | None = None,
    ) -> Evidence:
        """Return what the constraints see of a batch, whose sequences have these numbers."""
        return Evidence(self.labels, sentences, offsets, numbers)

    def tag_mask(self, token_mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return labels that tokens may have, ``(N, L)``, as the verbs of inference take them."""
        return token_mask if self.segmentation is None else self.segmentation.tag_mask(token_mask)

    def blank_scores(self, n_tokens: int) -> NDArray[np.float64]:
        """Return scores of 0 for all that the model can say, ``(N, L)`` or ``(N, D, L)``."""
        if self.segmentation is None:
            return np.zeros((n_tokens, self.model.n_labels))
        return self.segmentation.blank_scores(n_tokens)

    def names(self, tags: NDArray[np.int32]) -> list[str]:
        """Return the token labels of tags, by name; -1, no answer, is refused."""
        if (tags < 0).any():
            raise InfeasibleError("expected a labelling of every sequence: no labelling fits one.")
        names = self.tag_names
        return [names[tag] for tag in tags.tolist()]

    def masked(self, indices: Iterable[int]) -> tuple[Constraint, ...]:
        """Return the position-wise constraints among some."""
        return tuple(self.constraints[i] for i in indices if i in self.masks)

    def budgets(self) -> dict[str, int]:
        """Return the budgets, as `plan` takes them and as model files keep them."""
        return {
            "training_budget": int(self.training_budget),
            "decoding_budget": int(self.decoding_budget),
        }

    def describe(self) -> str:
        """Return a table of what went where; also ``str(plan)``."""
        trained = self.trained_constraints(USUAL_LENGTH)
        by_items = not set(trained) <= set(self.trained_rules)
        whole = self.training_product(trained, USUAL_LENGTH) if by_items else self.training
        return describe_placements(
            self.placements,
            self.model,
            whole.automaton,
            self.training_budget,
            beyond_tests=[self.constraints[i] for i in self.beyond_tests],
            n_tests=self.n_tests,
            penalties=[(self.constraints[i], self._penalties[i]) for i in self.soft],
            train_soft=self.train_soft,
            usual_length=USUAL_LENGTH if self.is_counted(range(len(self.items))) else None,
        )

    __str__ = describe

    def __repr__(self) -> str:
        return f"Plan({len(self.constraints)} constraints on {len(self.labels)} labels)"

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
    """Decide what constraints over a label set compile into. Print the result to see it.

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
        Most arcs of a product in training and in decoding. A training budget of 0 leaves all
        automata to decoding.
    train_soft
        Whether soft constraints count in training, as far as they fit.
    max_states
        Most states of an automaton on the way there.

    Raises
    ------
    LabelError
        Where a constraint names a label that is not there.
    RuleError
        Where one cannot be read off segments, in a semi-Markov model.
    TooLargeError
        Where one constraint alone has more than `max_states` states.

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
        for index in found.automata:
            found.language(index)  # where that is too large, the constraint is no use
    return found
