"""From a model file back to the tagger that was saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trelliswork.codl import CODLTagger
from trelliswork.errors import ModelFileError
from trelliswork.estimators import CRFTagger
from trelliswork.hmm import HMMTagger
from trelliswork.perceptron import PerceptronTagger
from trelliswork.persist import read_model_file
from trelliswork.tagger_files import restored

if TYPE_CHECKING:
    import os

    from trelliswork.tagger import Tagger

__all__ = ["load"]

KINDS: dict[str, type[Tagger]] = {
    kind.__name__: kind for kind in (CRFTagger, HMMTagger, PerceptronTagger, CODLTagger)
}


def load(path: str | os.PathLike[str]) -> Tagger:
    """Read a tagger that ``save`` wrote. Runs no code from the file.

    Raises
    ------
    ModelFileError
        For a file that is no model, is cut short, is damaged, or comes from a newer version.
    """
    settings, arrays = read_model_file(path)
    kind = KINDS.get(settings.get("estimator", ""))
    if kind is None:
        raise ModelFileError(
            f"{path}: expected a model of kind {' or '.join(KINDS)}, got "
            f"{settings.get('estimator')!r}."
        )
    try:
        return restored(kind, settings, arrays)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{Path(path)}: the model file is damaged: {error}. Copy it again, or train the model "
            "again."
        ) from error
