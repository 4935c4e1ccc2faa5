"""The settings of a CRF learner, independent of the estimator that they come from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from trelliswork.learn.protocols import settle_protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trelliswork.features import Templates
    from trelliswork.labels.segmentation import MaxSegment
    from trelliswork.learn.optimizers.minimizer import Solver
    from trelliswork.learn.sparsity.group_lasso import GroupLasso

__all__ = ["CRFSettings"]


@dataclass(frozen=True, eq=False, kw_only=True)
class CRFSettings:
    """Settings of a `CRFLearner`: the parameters of `CRFTagger` that training depends on.

    `CRFTagger` documents each of them. The training protocol is already applied: it decides
    `constraints`, `penalties` and `constrained_training`.
    """

    # Structure
    order: int
    max_segment: MaxSegment
    adjacent: bool
    patterns: Sequence[Sequence[str]] | None
    min_pattern_count: int
    max_patterns: int | None
    edge_order: int
    transitions: str | None
    # Features and weights
    features: str | Templates | None
    min_count: int
    pairs: str
    class_weight: Mapping[str, float] | str | None
    # Objective
    l2: float | Mapping[int, float]
    l1: float
    regularizer: GroupLasso | None
    debias: bool
    # Optimiser
    solver: Solver
    max_iter: int
    tol: float
    gap_tol: float
    dev_every: int
    patience: int
    # Constraints
    constraints: Any
    penalties: Literal["likelihood", "counts", "perceptron", "ssvm"]
    held_out: float
    constrained_training: bool
    on_conflict: Literal["error", "skip"]
    training_budget: int
    decoding_budget: int
    # Execution
    n_jobs: int | None
    random_state: int | None

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> CRFSettings:
        """Return the settings among the parameters of a `CRFTagger`.

        Parameters
        ----------
        parameters
            The result of ``get_params``. `training` is applied first; the other parameters are
            ignored.

        Raises
        ------
        ValueError
            If `training` contradicts `constrained_training` or `penalties`.
        """
        settled = settle_protocol(parameters)
        return cls(**{field.name: settled[field.name] for field in fields(cls)})
