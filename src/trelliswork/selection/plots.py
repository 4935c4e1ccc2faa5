"""Figures of regularisation paths. Needs the ``plots`` extra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.evaluation.plots import new_figure, save_figure

if TYPE_CHECKING:
    import os

    from trelliswork.selection.path_points import PathPoint, RegularizationPath

__all__ = ["plot_path"]


def plot_path(
    path: RegularizationPath, file: str | os.PathLike[str], chosen: PathPoint | None
) -> None:
    """Draw the score on the development set, or else the loss, against size as a PNG."""
    figure = new_figure(width=10, height=4.5)
    by_weights, by_templates = figure.subplots(1, 2, sharey=True)
    scored = all(point.dev_score is not None for point in path)
    # Points without templates have very low scores, which would compress the axis.
    shown = [point for point in path if point.templates or point is chosen] or list(path)
    heights = [100 * (p.dev_score or 0.0) if scored else p.loss for p in shown]
    # A logarithmic axis has no 0.
    weights = [max(1, point.weights) for point in shown]
    templates = [len(point.templates) for point in shown]
    for axes, sizes in ((by_weights, weights), (by_templates, templates)):
        axes.plot(sizes, heights, marker="o", color="#4878a8")
        if chosen is not None:
            at = next(i for i, point in enumerate(shown) if point is chosen)
            axes.plot(sizes[at], heights[at], "o", markersize=12, fillstyle="none", color="black")
        axes.grid(alpha=0.3)
    if chosen is not None:
        title = f"{len(chosen.templates):,} templates, {chosen.weights:,} weights"
        figure.suptitle(f"Circle: {title}", fontsize=10)
    by_templates.xaxis.get_major_locator().set_params(integer=True)
    by_weights.set(
        xscale="log",
        xlabel=f"weights that are not 0, of {path.n_weights:,}",
        ylabel="F1 on the development set (%)" if scored else "loss",
    )
    by_templates.set(xlabel=f"templates with a weight, of {len(path.templates):,}")
    save_figure(figure, file)
