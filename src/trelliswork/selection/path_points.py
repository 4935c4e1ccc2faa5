"""The points of a regularisation path, as a sequence that prints as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from trelliswork._utils.tables import percent, text_table

if TYPE_CHECKING:
    import os

    from trelliswork.evaluation.report import Report
    from trelliswork.taggers.crf import CRFTagger

__all__ = ["PathPoint", "RegularizationPath"]

HEADER = ("strength", "templates", "features", "weights", "bytes", "loss", "gap", "stopped")


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One point of a path: a trained tagger with its size and scores.

    Attributes
    ----------
    strength
        The factor of `l1` and of the strengths of the `regularizer`.
    iteration
        Number of the point, from 1.
    tagger
        The fitted tagger, without weights of 0; its parameters include `strength`.
    loss, gap, stop_reason
        The objective with the regularizer, its duality gap (None if unknown), and the stop reason;
        all before debiasing.
    weights, features
        Number of nonzero weights, including label patterns, and of features that have one.
    templates
        Names of the templates with a nonzero weight.
    bytes
        Size of the model file.
    seconds
        Training time of this point.
    dev_report
        Scores on the development set; None without one.
    """

    strength: float
    iteration: int
    tagger: CRFTagger
    loss: float
    gap: float | None
    stop_reason: str
    weights: int
    features: int
    templates: tuple[str, ...]
    bytes: int
    seconds: float
    dev_report: Report | None = None

    @property
    def dev_score(self) -> float | None:
        """F1 on the development set; None without one."""
        return None if self.dev_report is None else self.dev_report.f1

    def summary(self) -> str:
        """Return a summary of the point in a few words."""
        return (
            f"strength {self.strength:.4g} templates {len(self.templates):,} "
            f"weights {self.weights:,}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON values, without the tagger."""
        return {
            "strength": self.strength,
            "loss": self.loss,
            "gap": self.gap,
            "stop_reason": self.stop_reason,
            "weights": self.weights,
            "features": self.features,
            "templates": list(self.templates),
            "bytes": self.bytes,
            "seconds": self.seconds,
            "dev_score": self.dev_score,
        }


@dataclass(frozen=True, eq=False)
class RegularizationPath(Sequence[PathPoint]):
    """Result of `regularization_path`, the strongest first. Print it for a table.

    Attributes
    ----------
    points
        The points.
    templates
        Names of all templates.
    n_weights
        Number of all weights, including zeros.
    strongest
        The smallest strength at which all penalised weights are 0; None if strengths were given.
    interrupted
        Whether Ctrl-C ended the path early.
    """

    points: tuple[PathPoint, ...]
    templates: tuple[str, ...]
    n_weights: int
    strongest: float | None = None
    interrupted: bool = False

    @overload
    def __getitem__(self, index: int) -> PathPoint: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PathPoint, ...]: ...
    def __getitem__(self, index: int | slice) -> PathPoint | tuple[PathPoint, ...]:
        return self.points[index]

    def __len__(self) -> int:
        return len(self.points)

    @property
    def best(self) -> PathPoint | None:
        """The point with the best score on the development set; of equal ones, the smallest.

        None without a development set.
        """
        scored = [point for point in self.points if point.dev_score is not None]
        return max(scored, key=lambda p: (p.dev_score, -p.weights), default=None)

    def table(self, chosen: PathPoint | None = None) -> str:
        """Return the points as a plain-text table; also ``str(path)``.

        Parameters
        ----------
        chosen
            The point to mark with an arrow. Default: none.
        """
        with_dev = self.best is not None
        header = [*HEADER, "seconds", *(["dev F1"] if with_dev else [])]
        rows = []
        for point in self.points:
            row = [
                f"{point.strength:.4g}",
                f"{len(point.templates):,}",
                f"{point.features:,}",
                f"{point.weights:,}",
                f"{point.bytes:,}",
                f"{point.loss:,.2f}",
                "-" if point.gap is None else f"{point.gap:.2g}",
                point.stop_reason,
                f"{point.seconds:.1f}",
            ]
            if with_dev:
                row.append("-" if point.dev_score is None else percent(point.dev_score))
            rows.append([*row, "←" if point is chosen else ""] if chosen else row)
        shown = text_table([*header, ""] if chosen else header, rows)
        return f"{shown}\ninterrupted: weaker strengths are missing" if self.interrupted else shown

    __str__ = table

    def survival(self) -> str:
        """Return the templates with nonzero weights at each point, as a plain-text table.

        One mark per point, strongest first: ``●`` if the template has a nonzero weight. Templates
        are sorted by the number of such points.
        """
        kept = [set(point.templates) for point in self.points]
        lives = {name: [name in own for own in kept] for name in self.templates}
        rows = []
        for name in sorted(lives, key=lambda name: -sum(lives[name])):
            marks = "".join("●" if alive else "·" for alive in lives[name])
            first = self.points[marks.index("●")].strength if "●" in marks else None
            rows.append([name, marks, "-" if first is None else f"{first:.4g}"])
        return text_table(("template", "strong → weak", "lives from"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the taggers as JSON values."""
        return {
            "templates": list(self.templates),
            "n_weights": self.n_weights,
            "strongest": self.strongest,
            "interrupted": self.interrupted,
            "points": [point.to_dict() for point in self.points],
        }

    def plot(self, path: str | os.PathLike[str], chosen: PathPoint | None = None) -> None:
        """Draw score, or loss, against size as a PNG; needs the ``plots`` extra.

        Parameters
        ----------
        path
            Path of the PNG file.
        chosen
            The point to mark. Default: the best one.
        """
        from trelliswork.selection.plots import plot_path

        plot_path(self, path, self.best if chosen is None else chosen)

    def __repr__(self) -> str:
        ends = f"{self[0].strength:.4g} to {self[-1].strength:.4g}" if self.points else "none"
        return f"<RegularizationPath: {len(self)} points, strengths {ends}>"
