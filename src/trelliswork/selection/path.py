"""Regularisation paths: a sequence of models from small to large, each started from the last.

Along a path ``f(w) + strength × Ω(w)`` is minimised for decreasing strengths, with ``Ω`` the `l1`
and the `regularizer` of a tagger. The path begins at the smallest strength for which all penalised
weights are 0: with ``w₀`` the minimiser of ``f`` over the unpenalised weights, this is the dual
norm of ``Ω`` at ``−∇f(w₀)``. All points share one objective, without the weights that are 0 at
every optimum under the weakest strength.
"""

from __future__ import annotations

import logging
import time
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from trelliswork._utils.arguments import check_number, check_whole
from trelliswork._utils.progress import TrainingProgress
from trelliswork.errors import DataError
from trelliswork.evaluation.report import report
from trelliswork.features.inputs import as_dev, as_labels, as_sequences, infer_labels
from trelliswork.learn.settings_checks import warn_of_long_segments
from trelliswork.learn.train import train
from trelliswork.selection.path_points import PathPoint, RegularizationPath
from trelliswork.selection.template_sizes import template_names, template_sizes
from trelliswork.taggers.inspection import ModelSizes
from trelliswork.taggers.saving import file_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from trelliswork._typing import FloatArray
    from trelliswork.data.sentence import Label
    from trelliswork.learn.crf import CRFLearner, LearnedCRF
    from trelliswork.learn.sparsity.task import SparseTask
    from trelliswork.taggers.crf import CRFTagger

    Labelled = tuple[list[Any], Sequence[Sequence[Label]]]

__all__ = ["regularization_path"]

logger = logging.getLogger(__name__)

_SMALL = 1e-9  # tolerance for the unpenalised weights, from which the path starts
_MOST_ITERATIONS = 1000
_ABOVE = 1.001


def regularization_path(
    tagger: CRFTagger,
    X: Any,  # noqa: N803
    y: Any = None,
    *,
    strengths: Sequence[float] | None = None,
    n: int = 10,
    least: float = 0.01,
    sample_weight: ArrayLike | None = None,
    dev: Any = None,
    on_step: Callable[[PathPoint], object] | None = None,
) -> RegularizationPath:
    """Train a tagger along a path of decreasing regularisation.

    Every point starts from the previous one and is a separate fitted `CRFTagger`. With `debias` its
    nonzero weights are fitted again, while the path continues from the weights before that. Ctrl-C
    ends the path and returns the finished points. Before the first point is finished,
    ``KeyboardInterrupt`` is raised.

    Parameters
    ----------
    tagger
        An unfitted tagger. Its `l1` and the strengths of its `regularizer` are multiplied by each
        strength of the path.
    X, y, sample_weight
        The training set, as for ``fit``.
    strengths
        Factors of the regularisation, used in descending order. Default: `n` factors in a geometric
        series, from the smallest at which all penalised weights are 0 down to `least` times that.
    n, least
        See `strengths`.
    dev
        Development set, a labelled `Corpus` or a pair ``(X, y)``, for the F1 of every point. There
        is no early stopping.
    on_step
        Called with every point.

    Examples
    --------
    >>> from trelliswork import CRFTagger, GroupLasso
    >>> X, y = [["a", "b"], ["b", "a", "a"]], [["X", "Y"], ["Y", "X", "X"]]
    >>> tagger = CRFTagger(features="word[-1..1]", l2=0.1, regularizer=GroupLasso())
    >>> path = regularization_path(tagger, X, y, n=3, least=0.01)
    >>> [len(point.templates) for point in path]
    [0, 1, 3]
    """
    _check(tagger, strengths, n, least)
    sequences = as_sequences(X)
    names = as_labels(sequences, y)
    labels = infer_labels(names, tagger.scheme, tagger.outside, tagger.labels)
    learner = tagger._learner(labels, sequences, names)
    checked = None if dev is None else as_dev(dev, learner.structure.labels)
    if checked is not None:
        warn_of_long_segments(checked[1], learner.structure.segmentation)
    problem = replace(learner.make_problem(sequences, names, sample_weight), log=())
    strongest = None
    if strengths is None:
        start, strongest = _strongest(learner, problem.task)
        # Slightly larger, so that no weight is nonzero by rounding.
        falling = (_ABOVE * strongest * np.geomspace(1.0, least, n)).tolist()
    else:
        start = learner.start(problem)
        falling = sorted({float(value) for value in strengths}, reverse=True)
    n_weights = problem.task.objective.n_parameters
    alive = problem.task.may_be_nonzero(falling[-1])
    problem = replace(problem, task=problem.task.screened(falling[-1]))
    start = start[alive]
    points: list[PathPoint] = []
    interrupted = False
    bar = TrainingProgress(len(falling)) if tagger.verbose else nullcontext()
    with bar as shown:
        try:
            for strength in falling:
                began = time.perf_counter()
                weaker = replace(problem, task=problem.task.times(strength))
                found = learner.fit(weaker, start)
                if found.interrupted:
                    raise KeyboardInterrupt
                start = found.sparse_run.parameters
                seconds = time.perf_counter() - began
                point = _point(tagger, strength, len(points) + 1, found, seconds, checked)
                points.append(point)
                logger.info("strength %.4g: %s", strength, point.summary())
                if shown is not None:
                    shown.show(point)
                if on_step is not None:
                    on_step(point)
        except KeyboardInterrupt:
            if not points:
                raise
            interrupted = True
    return RegularizationPath(
        tuple(points), tuple(template_names(learner.encoder)), n_weights, strongest, interrupted
    )


def _strongest(learner: CRFLearner, task: SparseTask) -> tuple[FloatArray, float]:
    """Return the optimum over unpenalised weights, and the strength at which the others are 0."""
    regularizer = task.regularizer
    assert regularizer is not None
    parameters = np.zeros(task.objective.n_parameters)
    free = regularizer.unpenalised
    if free.any():
        objective, _ = task.survivors(free.astype(np.float64))
        exact = replace(learner.minimizer(), solver="auto", tol=_SMALL, max_iter=_MOST_ITERATIONS)
        run = train(objective, np.zeros(int(free.sum())), exact)
        if run.reason == "interrupted":
            raise KeyboardInterrupt
        parameters[free] = run.parameters
    gradient = np.empty(parameters.size)
    task.objective.value_and_grad(parameters, gradient, n_jobs=learner.minimizer().n_jobs)
    strongest = regularizer.dual_norm(np.where(free, 0.0, -gradient))
    if not 0.0 < strongest < np.inf:
        raise DataError(
            "X: expected features that distinguish labels: the model fits as well without any. "
            "Are there two labels, and features beside a bias?"
        )
    return parameters, strongest


def _point(
    tagger: CRFTagger,
    strength: float,
    number: int,
    found: LearnedCRF,
    seconds: float,
    dev: Labelled | None,
) -> PathPoint:
    """Return a point with a fitted tagger that has the parameters of the point."""
    groups = tagger.regularizer
    fitted: CRFTagger = clone(tagger).set_params(
        l1=strength * tagger.l1, regularizer=None if groups is None else groups.times(strength)
    )
    fitted._keep_learned(found)
    scores = None
    if dev is not None:
        labels = fitted.labels_
        answers = fitted.model_.decode(dev[0], fitted.plan_, n_jobs=tagger.n_jobs)
        scores = report(dev[1], answers, scheme=labels.scheme, outside=labels.outside)
        fitted.dev_score_ = scores.f1
    sizes = ModelSizes.of(fitted)
    return PathPoint(
        strength=strength,
        iteration=number,
        tagger=fitted,
        loss=found.sparse_run.loss,
        gap=found.sparse_run.gap,
        stop_reason=found.sparse_run.reason,
        weights=sizes.nonzero,
        features=sizes.features + sizes.edge_features + sizes.segment_features,
        templates=tuple(size.name for size in template_sizes(fitted.model_)),
        bytes=file_size(fitted),
        seconds=seconds,
        dev_report=scores,
    )


def _check(tagger: CRFTagger, strengths: Sequence[float] | None, n: int, least: float) -> None:
    from trelliswork.taggers.crf import CRFTagger  # deferred, as it imports the learners

    if not isinstance(tagger, CRFTagger):
        raise TypeError(f"tagger: expected a CRFTagger, got {type(tagger).__name__}.")
    groups = tagger.regularizer
    if tagger.l1 == 0 and (groups is None or not any(groups.strengths)):
        raise ValueError(
            "tagger: expected one with l1 or a regularizer, such as "
            "CRFTagger(regularizer=GroupLasso()), got one without either."
        )
    if strengths is not None:
        if isinstance(strengths, str) or not np.ndim(strengths) == 1 or not len(strengths):
            raise ValueError(f"strengths: expected a list of numbers, got {strengths!r}.")
        for value in strengths:
            check_number("strengths", value)
            if value == 0:
                raise ValueError("strengths: expected numbers above 0, got 0.")
    check_whole("n", n, 2)
    check_number("least", least)
    if not 0.0 < least < 1.0:
        raise ValueError(f"least: expected a share between 0 and 1, got {least!r}.")
