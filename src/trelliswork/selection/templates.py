"""Template selection: a group lasso over templates, and a rule to choose a point of its path.

Along a regularisation path templates enter one by one, the most useful first. Each point is scored
on a development set, and a rule chooses one:

- ``"best"``: the highest F1;
- ``"within"``: the smallest model whose F1 is at most `tolerance` below the best;
- ``"one_se"``: the same with the standard error of the best F1 as the tolerance, estimated by the
  bootstrap over the sentences of the development set (the rule of Breiman et al. 1984 for trees).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from sklearn.base import clone

from trelliswork._utils.arguments import check_number
from trelliswork.errors import DataError
from trelliswork.evaluation.significance import f1_standard_error
from trelliswork.features import TemplateEncoder
from trelliswork.features.inputs import as_labels, as_sequences
from trelliswork.learn.sparsity.group_lasso import GroupLasso
from trelliswork.selection.path import regularization_path
from trelliswork.taggers.crf import CRFTagger

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from trelliswork.data.sentence import Label
    from trelliswork.features import Templates
    from trelliswork.selection.path_points import PathPoint, RegularizationPath

    Labelled = tuple[list[Any], Sequence[Sequence[Label]]]

__all__ = ["SelectionRule", "TemplateSelection", "select_templates"]

logger = logging.getLogger(__name__)

SelectionRule: TypeAlias = Literal["best", "within", "one_se"]


@dataclass(frozen=True, eq=False)
class TemplateSelection:
    """Result of `select_templates`. Print it for the path and the templates of each point.

    Attributes
    ----------
    path : RegularizationPath
        The path, the strongest point first.
    chosen : PathPoint
        The chosen point.
    rule : str
        The selection rule.
    tolerance : float
        Allowed difference from the best F1: 0 for ``"best"``, the standard error for
        ``"one_se"``.
    """

    path: RegularizationPath
    chosen: PathPoint
    rule: SelectionRule
    tolerance: float

    @property
    def tagger(self) -> CRFTagger:
        """The chosen tagger, trained."""
        return self.chosen.tagger

    @property
    def templates(self) -> Templates | None:
        """The templates of the chosen tagger, for ``CRFTagger(features=…)``.

        Never empty: if no template has a weight, the first one is kept. None for feature dicts and
        matrices, which have no templates; see `kept`.
        """
        encoder = self.tagger.model_.encoder
        return encoder.templates if isinstance(encoder, TemplateEncoder) else None

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of the templates with a nonzero weight."""
        return self.chosen.templates

    @property
    def dropped(self) -> tuple[str, ...]:
        """Names of the other templates."""
        kept = set(self.kept)
        return tuple(name for name in self.path.templates if name not in kept)

    def sentence(self) -> str:
        """Return the result in one line."""
        best = self.path.best
        assert best is not None
        return (
            f"kept {len(self.kept):,} of {len(self.path.templates):,} templates: dev F1 "
            f"{_percent(self.chosen)} (best {_percent(best)}) with {self.chosen.weights:,} of "
            f"{self.path.n_weights:,} weights"
        )

    def __str__(self) -> str:
        return "\n\n".join([self.sentence(), self.path.table(self.chosen), self.path.survival()])

    def __repr__(self) -> str:
        return f"<TemplateSelection: {self.sentence()}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the taggers as JSON values."""
        return {
            "rule": self.rule,
            "tolerance": self.tolerance,
            "chosen": self.chosen.iteration - 1,
            "kept": list(self.kept),
            "dropped": list(self.dropped),
            "templates": None if self.templates is None else str(self.templates),
            "path": self.path.to_dict(),
        }

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw the F1 on the development set against size as a PNG, with the chosen point marked.

        Needs the ``plots`` extra.
        """
        self.path.plot(path, self.chosen)


def select_templates(
    train: Any,
    dev: Any = 0.2,
    features: str | Templates | None = None,
    *,
    strengths: Sequence[float] | None = None,
    n: int = 15,
    least: float = 0.001,
    rule: SelectionRule = "within",
    tolerance: float = 0.003,
    debias: bool = True,
    tagger: CRFTagger | None = None,
    random_state: int = 0,
    on_step: Callable[[PathPoint], object] | None = None,
) -> TemplateSelection:
    """Select feature templates by a group lasso along a regularisation path.

    Parameters
    ----------
    train
        A labelled `Corpus`, or a pair ``(X, y)``.
    dev
        Development set in the same form; or a share of `train` to hold out.
    features
        The templates to select from: the name of a bundle, template text, or `Templates`. Default:
        those of `tagger`. None for feature dicts, whose keys are the templates.
    strengths, n, least
        The points of the path; see `trelliswork.regularization_path`.
    rule
        The selection rule: ``"best"``, the highest F1 on `dev`; ``"within"``, the fewest weights
        among points at most `tolerance` below it; ``"one_se"``, among points at most one standard
        error below it.
    tolerance
        See `rule`; 0.003 is 0.3 points of F1.
    debias
        Whether to fit the weights of each point again under l2 alone. Otherwise strong
        regularisation makes small models look worse than they are.
    tagger
        The tagger to train, with its order, l2, constraints and so on. Default: ``CRFTagger()``. If
        it has no `regularizer`, ``GroupLasso(by="template", adaptive=True)`` is used, not adaptive
        if `l2` is 0; a given one must have a level of templates.
    random_state
        Seed of the held-out share and of the standard error.
    on_step
        Called with every point of the path.

    Examples
    --------
    >>> X = [["a", "b"], ["b", "a", "a"], ["a"], ["b", "b"]]
    >>> y = [["X", "Y"], ["Y", "X", "X"], ["X"], ["Y", "Y"]]
    >>> found = select_templates((X, y), (X, y), "word[-1..1]", tagger=CRFTagger(l2=0.1))
    >>> found.kept
    ('word[0]',)
    >>> found.templates
    <Templates: 1 of 1 rules>
    """
    if rule not in get_args(SelectionRule):
        raise ValueError(f"rule: expected 'best', 'within' or 'one_se', got {rule!r}.")
    check_number("tolerance", tolerance)
    if tolerance > 1:
        raise ValueError(
            "tolerance: expected a share of at most 1 (0.003 is 0.3 points of F1), got "
            f"{tolerance!r}."
        )
    base = _base(tagger, features, debias)
    sequences, names = _labelled(train)
    if isinstance(dev, int | float):
        (sequences, names), measured = hold_out(sequences, names, dev, random_state)
    else:
        measured = _labelled(dev, "dev")
    if not measured[0]:
        raise DataError("dev: expected at least one sentence to choose on, got none.")
    path = regularization_path(
        base,
        sequences,
        names,
        strengths=strengths,
        n=n,
        least=least,
        dev=measured,
        on_step=on_step,
    )
    best = path.best
    assert best is not None
    assert best.dev_report is not None
    if best is path[-1] and len(best.templates) < len(path.templates) and not path.interrupted:
        logger.warning(
            "the best model is the last of the path, the one with the weakest penalty, and has %d "
            "of %d templates: more of them may do better. Go on beyond least=%g to see.",
            len(best.templates),
            len(path.templates),
            least,
        )
    slack = {"best": 0.0, "within": float(tolerance)}.get(rule)
    if slack is None:
        slack = f1_standard_error(best.dev_report.sentence_counts, random_state=random_state)
    return TemplateSelection(path, _smallest(path, slack), rule, slack)


def hold_out(
    sequences: list[Any], names: Sequence[Sequence[Label]], share: float, seed: int
) -> tuple[Labelled, Labelled]:
    """Hold out a random share of the sequences, at least one. The order is kept.

    Examples
    --------
    >>> hold_out([["a"], ["b"], ["c"]], [["X"], ["Y"], ["Z"]], 0.3, 0)
    (([['a'], ['b']], [['X'], ['Y']]), ([['c']], [['Z']]))
    """
    check_number("dev", share)
    if isinstance(share, bool) or not 0.0 < share < 1.0:
        raise ValueError(
            f"dev: expected a labelled corpus, a pair (X, y) or a share between 0 and 1, got "
            f"{share!r}."
        )
    size = max(1, round(share * len(sequences)))
    if size >= len(sequences):
        raise DataError(
            f"train: expected more sequences than the {size} to hold out, got {len(sequences)}. "
            "Pass a development set as dev, or a smaller share."
        )
    chosen = set(np.random.default_rng(seed).permutation(len(sequences))[:size].tolist())
    parts = [[i for i in range(len(sequences)) if (i in chosen) == held] for held in (False, True)]
    left, held = (([sequences[i] for i in own], [names[i] for i in own]) for own in parts)
    return left, held


def _base(tagger: CRFTagger | None, features: str | Templates | None, debias: bool) -> CRFTagger:
    """Return the tagger for the path."""
    if tagger is not None and not isinstance(tagger, CRFTagger):
        raise TypeError(f"tagger: expected a CRFTagger, got {type(tagger).__name__}.")
    base: CRFTagger = CRFTagger() if tagger is None else clone(tagger)
    groups = base.regularizer
    if groups is None:
        # An initial fit without any penalty would not converge.
        adaptive = min(base.l2.values()) > 0 if isinstance(base.l2, Mapping) else base.l2 > 0
        base.set_params(regularizer=GroupLasso(by="template", adaptive=adaptive))
    elif isinstance(groups, GroupLasso) and "template" not in groups.names:
        raise ValueError(
            f"tagger: expected a regularizer with groups by template, got {groups!r}. Leave it "
            "out, or add a level: GroupLasso(by=('template', 'feature'))."
        )
    if features is not None:
        base.set_params(features=features)
    return base.set_params(debias=debias)  # type: ignore[no-any-return]


def _labelled(given: Any, name: str = "train") -> Labelled:
    if isinstance(given, tuple) and len(given) != 2:
        raise DataError(
            f"{name}: expected a labelled corpus or a pair (X, y), got {len(given)} values."
        )
    X, y = given if isinstance(given, tuple) else (given, None)  # noqa: N806
    sequences = as_sequences(X, name)
    return sequences, as_labels(sequences, y, name)


def _smallest(path: RegularizationPath, slack: float) -> PathPoint:
    """Return the point with the fewest weights whose score is at most `slack` below the best."""
    best = path.best
    assert best is not None
    # Equal scores may differ in the last bit after the subtraction.
    good = [p for p in path if _score(p) >= _score(best) - slack - 1e-12]
    return min(good, key=lambda p: (p.weights, -_score(p)))


def _score(point: PathPoint) -> float:
    assert point.dev_score is not None
    return point.dev_score


def _percent(point: PathPoint) -> str:
    return f"{100 * _score(point):.1f}"
