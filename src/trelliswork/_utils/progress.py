"""A progress bar for training, on standard error."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console

__all__ = ["LoggedStep", "TrainingProgress", "TrainingStep"]


class LoggedStep(Protocol):
    """A training step as the progress bar shows it, for any kind of training."""

    @property
    def iteration(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def dev_score(self) -> float | None: ...

    def summary(self) -> str:
        """Return the result of the step in a few words."""


@dataclass(frozen=True)
class TrainingStep:
    """One line of a training log.

    Attributes
    ----------
    iteration : int
        Counted from 1.
    loss : float
        The regularised objective.
    gradient_norm : float
        Euclidean norm of its gradient.
    seconds : float
        Since training began.
    dev_score : float or None
        Segment F1 on the development set; ``None`` if not measured.
    nonzero : int or None
        Weights that are not 0, where training makes some of them 0.
    """

    iteration: int
    loss: float
    gradient_norm: float
    seconds: float
    dev_score: float | None = None
    nonzero: int | None = None

    def summary(self) -> str:
        """Return the loss, its gradient norm and the number of nonzero weights."""
        weights = "" if self.nonzero is None else f" weights {self.nonzero:,}"
        return f"loss {self.loss:,.1f} gradient {self.gradient_norm:.3g}{weights}"

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON values, without `nonzero` if that is not counted."""
        found = asdict(self)
        if self.nonzero is None:
            del found["nonzero"]
        return found


class TrainingProgress:
    """Shows the steps of one training run; a context manager.

    Parameters
    ----------
    max_iter
        Maximum number of iterations: the length of the bar.
    console
        Where to draw; standard error by default, so that output can be piped.
    measure
        Name of the score on the development set.
    """

    def __init__(
        self, max_iter: int, console: Console | None = None, measure: str = "dev F1"
    ) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("{task.fields[summary]}"),
            TextColumn("{task.fields[dev]}"),
            TimeElapsedColumn(),
            console=console or Console(stderr=True),
        )
        self._task = self._progress.add_task("training", total=max_iter, summary="…", dev="")
        self._measure, self._dev = measure, ""

    def __enter__(self) -> TrainingProgress:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def show(self, step: LoggedStep) -> None:
        """Move the bar to a step."""
        if step.dev_score is not None:
            self._dev = f"{self._measure} {100 * step.dev_score:.2f}"
        self._progress.update(
            self._task,
            completed=step.iteration,
            summary=step.summary(),
            dev=self._dev,
        )
