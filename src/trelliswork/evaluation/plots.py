"""Figures of reports. Needs the ``plots`` extra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trelliswork.data.files import open_binary_for_writing

if TYPE_CHECKING:
    import os

    from trelliswork.evaluation.calibration import Calibration
    from trelliswork.evaluation.report import Report

MAX_LABELS = 40  # larger confusion tables are illegible


def plot_report(report: Report, path: str | os.PathLike[str]) -> None:
    """Draw F1 by field, and the confusion table of the most frequent token labels, as a PNG."""
    figure = new_figure(width=13, height=max(4.0, 0.28 * max(len(report.fields), 12)))
    bars, table = figure.subplots(1, 2)
    names = [field.name for field in report.fields]
    bars.barh(names, [100 * field.f1 for field in report.fields], color="#4878a8")
    bars.axvline(100 * report.f1, color="black", linewidth=0.8, linestyle="--")
    bars.set(xlim=(0, 100), xlabel="F1 (%)", title=f"Fields; dashed: micro F1 {report.f1:.2%}")
    bars.invert_yaxis()

    labels, shares = _confusion_shares(report)
    image = table.imshow(shares, vmin=0.0, vmax=1.0, cmap="Blues")
    table.set_xticks(range(len(labels)), labels, rotation=90, fontsize=7)
    table.set_yticks(range(len(labels)), labels, fontsize=7)
    table.set(xlabel="predicted", ylabel="gold", title="Token labels, share of the gold label")
    figure.colorbar(image, ax=table, shrink=0.8)
    save_figure(figure, path)


def plot_calibration(calibration: Calibration, path: str | os.PathLike[str]) -> None:
    """Draw accuracy against confidence as a PNG."""
    figure = new_figure(width=5, height=5)
    axes = figure.subplots()
    filled = [b for b in calibration.bins if b.accuracy is not None]
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle="--")
    axes.plot([b.confidence for b in filled], [b.accuracy for b in filled], marker="o")
    axes.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel="mean confidence",
        ylabel="accuracy",
        title=f"Expected calibration error {calibration.expected_error:.2%}",
    )
    save_figure(figure, path)


def _confusion_shares(report: Report) -> tuple[list[str], list[list[float]]]:
    """Return the most frequent gold labels with their normalised rows."""
    confusion = report.confusion
    sizes = [sum(row) for row in confusion.counts]
    by_size = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    kept = sorted(by_size[:MAX_LABELS])
    shares = [[confusion.counts[i][j] / max(1, sizes[i]) for j in kept] for i in kept]
    return [confusion.labels[i] for i in kept], shares or [[0.0]]


def check_plots() -> None:
    """Raise an `ImportError` with installation advice if matplotlib is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError('Figures need matplotlib: pip install ".[plots]"') from error


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure; sizes are in inches."""
    check_plots()
    from matplotlib.figure import Figure

    # Not pyplot: it keeps global state and may look for a display.
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure as a PNG."""
    with open_binary_for_writing(path) as stream:
        figure.savefig(stream, format="png", dpi=120)
