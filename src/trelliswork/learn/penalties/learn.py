"""Learn the penalties of soft constraints for a trained tagger.

    P(y) = score(y) − Σ_c ρ_c v_c(y),    ρ_c ≥ 0

The weights of the tagger are fixed; only penalties that are not given are learned. Both methods
decode exactly: the structured perceptron
(`trelliswork.learn.penalties.perceptron`) and the structured support vector machine
(`trelliswork.learn.penalties.svm`). Both set the penalties of useless rules to exactly 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trelliswork._utils.arguments import check_number
from trelliswork.constraints.given import as_constraints
from trelliswork.errors import DataError
from trelliswork.evaluation.report import report
from trelliswork.features.inputs import as_labels, as_sequences
from trelliswork.learn.penalties.perceptron import learn_by_perceptron
from trelliswork.learn.penalties.problem import TaggerProblem, rules_to_learn
from trelliswork.learn.penalties.svm import learn_by_svm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trelliswork._typing import FloatArray
    from trelliswork.data.sentence import Label
    from trelliswork.learn.penalties.problem import PenaltyTagger
    from trelliswork.learn.penalties.run import PenaltyEpoch, PenaltyRun


__all__ = ["PenaltyMethod", "fit_penalties", "learn_penalties"]

PenaltyMethod: TypeAlias = Literal["perceptron", "ssvm"]
AnyTagger = TypeVar("AnyTagger", bound="PenaltyTagger")

EPOCHS: dict[str, int] = {"perceptron": 10, "ssvm": 100}


def learn_penalties(
    tagger: AnyTagger,
    X: Any,  # noqa: N803
    y: Any = None,
    *,
    constraints: Any = None,
    method: PenaltyMethod = "perceptron",
    n_epochs: int | None = None,
    learning_rate: float = 0.2,
    c: float = 1.0,
    l1: float = 0.0,
    average: bool = True,
    batch_size: int = 8,
    dev: Any = None,
    patience: int = 3,
    random_state: int | None = None,
    on_epoch: Callable[[PenaltyEpoch], object] | None = None,
    prune: bool = False,
) -> AnyTagger:
    """Learn the penalties of soft constraints, and return the tagger under them.

    Use sentences that the tagger was not trained on: on its training set it breaks few rules, and
    the penalties come out too small. The result shares the weights of the given tagger, which is
    not modified, as with `Tagger.with_constraints`. Hard constraints and given penalties are kept.

    Parameters
    ----------
    tagger
        A trained tagger.
    X, y
        Sequences and their labels, as for ``fit``. Sequences with labels unknown to the tagger are
        left out.
    constraints
        The constraints, hard and soft. Default: those of the tagger.
    method
        ``"perceptron"``, or ``"ssvm"`` for the structured support vector machine.
    n_epochs
        Maximum number of passes over the sequences. Default: 10, or 100 for the SVM, which stops
        when it is proven to be close to its optimum.
    learning_rate
        Step size of the perceptron: the change of a penalty for one mistake.
    c
        Weight of the loss of the SVM against the size of the penalties.
    l1
        Penalty on the penalties, so that rules of little use get exactly 0. For the perceptron: the
        number of violations that a rule must prevent in a pass over the sequences, less those of
        the gold labels. For the SVM: the coefficient of the sum of the penalties.
    average
        Whether the perceptron averages over the second half of the epochs.
    batch_size
        Number of sequences that the perceptron decodes with the same penalties, in one call; their
        updates are added.
    dev
        Development set of the perceptron, a corpus or ``(X, y)``, for early stopping by segment F1;
        the best penalties are kept.
    patience
        Number of epochs without improvement on `dev` before learning stops.
    random_state
        Seed of the order of sequences for the perceptron.
    on_epoch
        Called with a `PenaltyEpoch` after every epoch.
    prune
        Whether to drop constraints whose penalty is 0; they have no effect.

    Raises
    ------
    ValueError
        If no constraint has a penalty to learn.
    DataError
        If there is no sequence to learn from.

    Examples
    --------
    >>> import trelliswork as tw
    >>> tagger = tw.CRFTagger(features="word[0]", l2=0.1)
    >>> tagger = tagger.fit([["a", "t", "a"], ["t", "a"]], [["A", "T", "A"], ["T", "A"]])
    >>> tagger.predict([["t", "a", "t"]])
    [['T', 'A', 'T']]
    >>> rules = [tw.at_most(1, "T").soft(), tw.at_least(1, "A").soft()]
    >>> ruled = learn_penalties(tagger, [["t", "a", "t"]], [["T", "A", "A"]], constraints=rules)
    >>> ruled.predict([["t", "a", "t"]])
    [['T', 'A', 'A']]
    >>> [rule.penalty > 0 for rule in ruled.constraints]
    [True, False]
    """
    check_is_fitted(tagger)
    if constraints is not None:
        tagger = tagger.with_constraints(constraints)
    sequences = as_sequences(X)
    labels = as_labels(sequences, y)
    if not sequences:
        raise DataError("X: expected at least one labelled sequence, got none.")
    values = fit_penalties(
        tagger,
        sequences,
        labels,
        method=method,
        n_epochs=n_epochs,
        learning_rate=learning_rate,
        c=c,
        l1=l1,
        average=average,
        batch_size=batch_size,
        dev=dev,
        patience=patience,
        random_state=random_state,
        on_epoch=on_epoch,
    )
    return _with_penalties(tagger, values, prune=prune)


def fit_penalties(
    tagger: PenaltyTagger,
    sequences: list[Any],
    labels: Sequence[Sequence[Label]],
    *,
    method: PenaltyMethod = "perceptron",
    n_epochs: int | None = None,
    learning_rate: float = 0.2,
    c: float = 1.0,
    l1: float = 0.0,
    average: bool = True,
    batch_size: int = 8,
    dev: Any = None,
    patience: int = 3,
    random_state: int | None = None,
    on_epoch: Callable[[PenaltyEpoch], object] | None = None,
) -> FloatArray:
    """Return the penalties of all constraints of a tagger, shape ``(C,)``; ``inf`` for hard ones.

    The parameters are those of `learn_penalties`; the constraints are the tagger's own.
    """
    _check_options(tagger, method, n_epochs, learning_rate, c, l1, batch_size, dev)
    problem = TaggerProblem(tagger, sequences, labels)
    epochs = EPOCHS[method] if n_epochs is None else n_epochs
    run: PenaltyRun
    if method == "ssvm":
        run = learn_by_svm(problem, c=c, l1=l1, n_epochs=epochs, on_epoch=on_epoch)
    else:
        run = learn_by_perceptron(
            problem,
            n_epochs=epochs,
            learning_rate=learning_rate,
            l1=l1,
            average=average,
            batch_size=batch_size,
            rng=np.random.default_rng(random_state),
            dev_score=None if dev is None else _dev_score(tagger, problem, dev),
            patience=patience,
            on_epoch=on_epoch,
        )
    # Six digits exceed the precision of the data, and read better in rules and reports.
    rounded = [float(f"{penalty:.6g}") for penalty in run.penalties]
    return problem.all_penalties(np.array(rounded))


def _dev_score(
    tagger: PenaltyTagger, problem: TaggerProblem, dev: Any
) -> Callable[[FloatArray], float]:
    """Return the segment F1 on a development set as a function of the penalties."""
    X, y = dev if isinstance(dev, tuple) else (dev, None)  # noqa: N806
    sequences = as_sequences(X, "dev")
    gold = as_labels(sequences, y, "dev")
    labels = tagger.labels_

    def score(penalties: FloatArray) -> float:
        candidate = _with_penalties(tagger, problem.all_penalties(penalties))
        found = candidate.predict(sequences)
        return report(gold, found, scheme=labels.scheme, outside=labels.outside).f1

    return score


def _with_penalties(tagger: AnyTagger, values: FloatArray, *, prune: bool = False) -> AnyTagger:
    """Return the tagger with the learned penalties."""
    chosen = [
        rule.hard.soft(float(value)) if rule.is_soft else rule
        for rule, value in zip(as_constraints(tagger.constraints), values, strict=True)
        if not (prune and rule.is_soft and value == 0)
    ]
    return tagger.with_constraints(chosen)


def _check_options(
    tagger: PenaltyTagger,
    method: str,
    n_epochs: int | None,
    learning_rate: float,
    c: float,
    l1: float,
    batch_size: int,
    dev: Any,
) -> None:
    if method not in get_args(PenaltyMethod):
        raise ValueError(f"method: expected perceptron or ssvm, got {method!r}.")
    for name, value in (("learning_rate", learning_rate), ("c", c)):
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name}: expected a number above 0, got {value!r}.")
    check_number("l1", l1)
    for name, number in (("n_epochs", n_epochs), ("batch_size", batch_size)):
        if number is not None and number < 1:
            raise ValueError(f"{name}: expected 1 or more, got {number!r}.")
    if dev is not None and method == "ssvm":
        raise ValueError(
            "dev: the SVM has one optimum and does not stop early. Leave it out, and choose c by "
            "comparing taggers."
        )
    if not rules_to_learn(tagger).size:
        raise ValueError(
            "constraints: expected a soft rule without a penalty, such as at_most(1, "
            "'title').soft(); there is nothing to learn."
        )
