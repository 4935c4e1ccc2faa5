"""The plan: which constraint is compiled into what, and at what cost.

A position-wise constraint becomes a mask over the labels of each token, which costs nothing. Any
other becomes an automaton over labels, and the product of the model automaton with some of these is
what training sums over and decoding maximises over. Products grow with every constraint, so
training has a budget in arcs: constraints are added in the order given while the product fits, and
the others are left to decoding, which adds to a sequence only those that its best labelling breaks
(see `trelliswork.decoding`).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from trelliswork.automaton import Automaton
from trelliswork.constraints import Constraint, as_constraint
from trelliswork.constraints.letters import MAX_TESTS, lift, union_of_tests
from trelliswork.errors import TooLargeError
from trelliswork.evidence import Evidence
from trelliswork.intersection import intersect_languages, product_size
from trelliswork.plan_cache import fingerprint, load_product, store_product
from trelliswork.product import product
from trelliswork.tables import text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trelliswork.constraints import TokenTest
    from trelliswork.labels import LabelSet

__all__ = [
    "CompiledProduct",
    "Placement",
    "Plan",
    "as_constraints",
    "join_names",
    "plan",
    "shorten",
]

TRAINING_BUDGET = 500_000
DECODING_BUDGET = 5_000_000
MAX_STATES = 200_000
PRODUCTS_KEPT = 32  # subsets of the constraints whose product stays in memory
SECONDS_WORTH_A_FILE = 0.2  # a product that is built faster is not kept on disk


@dataclass(frozen=True, eq=False)
class CompiledProduct:
    """The model automaton times the automata of some constraints.

    Attributes
    ----------
    automaton : Automaton
        The product; patterns are those of the model, guards tell token classes apart.
    tests : tuple of TokenTest
        Bit ``i`` of a token's class is the outcome of ``tests[i]``.
    """

    automaton: Automaton
    tests: tuple[TokenTest, ...] = ()


@dataclass(frozen=True)
class Placement:
    """Where one constraint went.

    Attributes
    ----------
    constraint : Constraint
        The constraint.
    where : str
        ``"mask"``, ``"training"`` (in the product of training, and in decoding) or ``"decoding"``
        (in decoding only).
    states, arcs : int
        Size of the model automaton times this constraint alone; 0 for a mask.
    cost : float
        Work a token on that product, as a multiple of the model's own.
    """

    constraint: Constraint
    where: Literal["mask", "training", "decoding"]
    states: int
    arcs: int
    cost: float


class Plan:
    """What constraints over a label set compile into; made by `plan`.

    Everything is built when first asked for and kept. Pickles as its settings.

    Attributes
    ----------
    labels : LabelSet
        The ``L`` labels.
    constraints : tuple of Constraint
        All constraints, in the order given: an index below is a place in this tuple.
    model : Automaton
        The automaton of the model, a chain unless told otherwise.
    """

    def __init__(
        self,
        labels: LabelSet,
        constraints: Sequence[Constraint],
        *,
        model: Automaton | None = None,
        training_budget: int = TRAINING_BUDGET,
        decoding_budget: int = DECODING_BUDGET,
        max_states: int = MAX_STATES,
    ) -> None:
        self.labels = labels
        self.constraints = tuple(constraints)
        self.model = Automaton.chain(len(labels)) if model is None else model
        self.training_budget = training_budget
        self.decoding_budget = decoding_budget
        self.max_states = max_states
        self._languages: dict[int, Automaton] = {}
        self._products: OrderedDict[tuple[int, ...], CompiledProduct] = OrderedDict()
        if self.model.n_labels != len(labels):
            raise ValueError(
                f"model: expected an automaton over {len(labels)} labels, got "
                f"{self.model.n_labels}."
            )
        for constraint in self.constraints:
            constraint.check(labels)

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """Indices of the position-wise constraints."""
        return tuple(
            i
            for i, constraint in enumerate(self.constraints)
            if constraint.allowed(self.labels, ()) is not None
        )

    @cached_property
    def rules(self) -> tuple[int, ...]:
        """Indices of the constraints that become automata."""
        return tuple(i for i in range(len(self.constraints)) if i not in self.masks)

    @cached_property
    def trained_rules(self) -> tuple[int, ...]:
        """Indices of the automata whose product fits the training budget, added greedily."""
        chosen: tuple[int, ...] = ()
        for i in self.rules:
            try:
                self._build((*chosen, i), self.training_budget)
            except TooLargeError:
                continue
            chosen = (*chosen, i)
        return chosen

    @property
    def training(self) -> CompiledProduct:
        """The product that training sums over."""
        return self.product(self.trained_rules)

    @property
    def decoding(self) -> CompiledProduct:
        """The product with all automata: what marginals, n-best and samples run on.

        Raises
        ------
        TooLargeError
            Where it has more arcs than `decoding_budget`.
        """
        return self.product(self.rules)

    @cached_property
    def placements(self) -> tuple[Placement, ...]:
        """Where each constraint went, in the order given."""
        found = []
        for i, constraint in enumerate(self.constraints):
            if i in self.masks:
                found.append(Placement(constraint, "mask", 0, 0, 0.0))
                continue
            states, arcs = product_size(self.model, self.language(i))
            where: Literal["training", "decoding"] = (
                "training" if i in self.trained_rules else "decoding"
            )
            found.append(Placement(constraint, where, states, arcs, arcs / self.model.n_arcs))
        return tuple(found)

    def language(self, index: int) -> Automaton:
        """Return the automaton of one constraint, over ``L * 2**k`` letters; see `compile`."""
        if index not in self._languages:
            self._languages[index] = self.constraints[index].compile(
                self.labels, max_states=self.max_states
            )
        return self._languages[index]

    def accepts(
        self, index: int, labels: NDArray[np.int32], evidence: Evidence
    ) -> NDArray[np.bool_]:
        """Return which labellings of a batch satisfy one constraint, shape ``(B,)``.

        Parameters
        ----------
        index
            The constraint; one that became an automaton.
        labels
            Label ids of all tokens, shape ``(N,)``.
        evidence
            What the constraints see of the batch.
        """
        classes = evidence.classes(self.constraints[index].tests)
        letters = (
            labels if classes is None else classes.astype(np.int32) * len(self.labels) + labels
        )
        return self.language(index).accepts_batch(letters, evidence.offsets)

    def product(self, indices: Iterable[int]) -> CompiledProduct:
        """Return the model times the automata of some constraints, from memory where possible.

        Raises
        ------
        TooLargeError
            Where it has more arcs than `decoding_budget`.
        """
        key = tuple(sorted(set(indices)))
        if key not in self._products:
            self._products[key] = self._build(key, self.decoding_budget)
            while len(self._products) > PRODUCTS_KEPT:
                self._products.popitem(last=False)
        self._products.move_to_end(key)
        return self._products[key]

    def tests(self, indices: Iterable[int]) -> tuple[TokenTest, ...]:
        """Return the token tests that the automata of some constraints read, each once."""
        return union_of_tests(self.constraints[i].tests for i in indices)

    def evidence(self, sentences: Sequence[Any], offsets: NDArray[np.int64]) -> Evidence:
        """Return what the constraints see of a batch."""
        return Evidence(self.labels, sentences, offsets)

    def masked(self, indices: Iterable[int]) -> tuple[Constraint, ...]:
        """Return the position-wise constraints among some."""
        return tuple(self.constraints[i] for i in indices if i in self.masks)

    def describe(self) -> str:
        """Return a table of what went where; also ``str(plan)``."""
        rows = [
            [
                shorten(repr(p.constraint)),
                p.where,
                *_sizes(p.states, p.arcs, p.cost, p.where == "mask"),
            ]
            for p in self.placements
        ]
        trained = self.training.automaton
        cost = trained.n_arcs / self.model.n_arcs
        rows.append(["training in all", "", *_sizes(trained.n_states, trained.n_arcs, cost, False)])
        table = text_table(("constraint", "where", "states", "arcs", "cost"), rows)
        lines = [
            table,
            f"Cost is work a token, the model without constraints being 1 "
            f"({self.model.n_states:,} states, {self.model.n_arcs:,} arcs).",
        ]
        left = [shorten(repr(p.constraint)) for p in self.placements if p.where == "decoding"]
        if left:
            lines.append(
                f"Left to decoding, beyond the {self.training_budget:,} arcs of the training "
                f"budget: {', '.join(left)}."
            )
        if self.rules:
            lines.append(
                "Decoding starts without automata and adds, sequence by sequence, those that the "
                "best labelling breaks."
            )
        return "\n".join(lines)

    __str__ = describe

    def __repr__(self) -> str:
        return f"Plan({len(self.constraints)} constraints on {len(self.labels)} labels)"

    def __reduce__(self) -> tuple[Any, ...]:
        model = None if self.model.is_chain else self.model
        budgets = (self.training_budget, self.decoding_budget, self.max_states)
        return _restore_plan, (self.labels, self.constraints, model, *budgets)

    def _build(self, indices: tuple[int, ...], budget: int) -> CompiledProduct:
        """Multiply the model with the automata of some constraints, unless a file has it."""
        tests = self.tests(indices)
        if not indices:
            return CompiledProduct(self.model)
        if len(tests) > MAX_TESTS:
            raise TooLargeError(
                f"{self._names(indices)}: expected at most {MAX_TESTS} token tests in one "
                f"product, got {len(tests)}. Merge tests, or use fewer constraints that read them."
            )
        name = fingerprint(self._identity(indices), self.model)
        stored = load_product(name)
        if stored is not None and stored.n_arcs <= budget:
            return CompiledProduct(stored, tests)
        begun = time.perf_counter()
        try:
            lifted = [
                lift(self.language(i), self.constraints[i].tests, tests, len(self.labels))
                for i in indices
            ]
            language = intersect_languages(lifted, max_states=self.max_states)
            if self.model.is_chain and product_size(self.model, language)[1] > budget:
                raise TooLargeError(f"more than {budget:,} arcs")
            automaton = product(
                self.model, language, n_classes=2 ** len(tests), max_arcs=budget
            ).automaton
        except TooLargeError as error:
            raise TooLargeError(
                f"The product of the model with {self._names(indices)} needs more than "
                f"{budget:,} arcs. Use fewer or simpler constraints, or a larger budget; "
                "decoding alone needs only those that an answer breaks."
            ) from error
        if time.perf_counter() - begun >= SECONDS_WORTH_A_FILE:
            store_product(name, automaton)
        return CompiledProduct(automaton, tests)

    def _identity(self, indices: tuple[int, ...]) -> list[Any]:
        from trelliswork import __version__

        rules = [repr(self.constraints[i]) for i in indices]
        return [__version__, self.labels.to_dict(), rules]

    def _names(self, indices: Iterable[int]) -> str:
        return join_names([shorten(repr(self.constraints[i])) for i in indices])


def plan(
    labels: LabelSet,
    constraints: Any,
    *,
    model: Automaton | None = None,
    training_budget: int = TRAINING_BUDGET,
    decoding_budget: int = DECODING_BUDGET,
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
    training_budget, decoding_budget
        Most arcs of a product in training and in decoding.
    max_states
        Most states of an automaton on the way there.

    Raises
    ------
    LabelError
        Where a constraint names a label that is not there.
    TooLargeError
        Where one constraint alone has more than `max_states` states.

    Examples
    --------
    >>> from trelliswork.constraints import at_most
    >>> from trelliswork.labels import LabelSet
    >>> found = plan(LabelSet(["author", "title"]), at_most(1, "title"))
    >>> [p.where for p in found.placements]
    ['training']
    """
    found = Plan(
        labels,
        as_constraints(constraints),
        model=model,
        training_budget=training_budget,
        decoding_budget=decoding_budget,
        max_states=max_states,
    )
    _ = found.placements  # compiles everything that training needs
    return found


def as_constraints(given: Any) -> tuple[Constraint, ...]:
    """Return one constraint, expression or automaton, or a sequence of these, as constraints."""
    if given is None:
        return ()
    if isinstance(given, str | Automaton | Constraint) or not isinstance(given, Iterable):
        return (as_constraint(given),)
    return tuple(map(as_constraint, given))


def shorten(text: str, width: int = 72) -> str:
    """Return a text that fits on a line: the automaton of a rule may print as a book."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def join_names(names: Sequence[str]) -> str:
    """Return names as English: ``a``, ``both a and b``, ``a, b and c``."""
    if len(names) == 2:
        return f"both {names[0]} and {names[1]}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _restore_plan(
    labels: LabelSet,
    constraints: tuple[Constraint, ...],
    model: Automaton | None,
    training_budget: int,
    decoding_budget: int,
    max_states: int,
) -> Plan:
    return Plan(
        labels,
        constraints,
        model=model,
        training_budget=training_budget,
        decoding_budget=decoding_budget,
        max_states=max_states,
    )


def _sizes(states: int, arcs: int, cost: float, is_mask: bool) -> list[str]:
    return ["", "", ""] if is_mask else [f"{states:,}", f"{arcs:,}", f"{cost:.1f}"]
