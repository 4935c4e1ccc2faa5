"""Answers of decoding: the labelling of one sequence, and a batch of labellings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from trelliswork.decoding.certificate import Certificate
from trelliswork.proofs.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trelliswork._typing import FloatArray, IdArray, IntArray
    from trelliswork.decoding.priced_answers import PricedAnswers
    from trelliswork.proofs.answer import Status


__all__ = ["METHODS", "DecodedBatch", "Decoding", "Method"]

Method = Literal["chain", "lazy", "product", "dual", "astar", "branch", "milp", "beam"]

METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, kw_only=True)
class Decoding(Answer[Certificate]):
    """The answer to one sequence: a labelling, its value and its proof.

    Attributes
    ----------
    labels : list of str
        The labelling, one name a token.
    score : float
        ``P(y)``: its score under the model less the penalties of violated soft constraints.
    upper_bound : float
        No labelling that satisfies the constraints scores more; in an n-best list, no labelling
        outside the earlier answers scores more.
    status : str
        ``"optimal"`` (without a certificate in an n-best list); ``"feasible"`` (not proven: a limit
        was reached first, or a beam pruned a prefix that may be better); ``"unverified"`` (the
        best, by a solver that leaves no certificate); ``"relaxed"`` (best under some of the
        constraints: all together conflict, or need a product beyond the budget) or
        ``"unconstrained"`` (best under none, for the same reasons).
    violations : dict
        The degree to which each violated constraint is violated, by its expression.
    method : str
        ``"chain"`` (the best labelling of the model violated nothing), ``"lazy"`` or ``"product"``
        (some or all constraints became automata), ``"dual"``, ``"astar"`` or ``"branch"`` (prices,
        and the method that closed their gap; with predicates ``"astar"`` is a search over
        prefixes), ``"beam"``, ``"milp"``. `trelliswork.solve` never says ``"chain"``: it names the
        method that ran, ``"dual"`` even if no price was needed.
    iterations : int
        Viterbi passes; of a search over prefixes, the hypotheses that it expanded.
    prices : dict
        ``λ > 0``, the multipliers of the proof, by the expressions of linear constraints: the
        charge for each unit of the count, up to the penalty. At the penalty the constraint may be
        violated and paid for, or exactly reached.
    certificate : Certificate or None
        The proof that `trelliswork.verify` evaluates. None in an n-best list.
    """

    labels: list[str]
    violations: Mapping[str, int]
    prices: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class DecodedBatch:
    """Best labellings of a batch under constraints.

    Attributes
    ----------
    tags : numpy.ndarray
        Tags of all tokens, shape ``(N,)``; labels in a chain.
    scores : numpy.ndarray
        ``P(y)``, shape ``(B,)``.
    iterations : numpy.ndarray
        Viterbi passes, shape ``(B,)``.
    methods : numpy.ndarray
        Index of the method in `METHODS`, shape ``(B,)``.
    kept : dict
        For each sequence that was decoded under fewer constraints, as all together conflict or
        need a product beyond the budget: the indices of those that were kept.
    fallback : str
        The status of those sequences.
    priced : PricedAnswers or None
        The proofs of the answers; None for n-best lists.
    """

    tags: IdArray
    scores: FloatArray
    iterations: IntArray
    methods: IntArray
    kept: dict[int, tuple[int, ...]] = field(default_factory=dict)
    fallback: Status = "relaxed"
    priced: PricedAnswers | None = None
