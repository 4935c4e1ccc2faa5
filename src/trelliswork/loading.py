"""From a model file back to the tagger that was saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from trelliswork.codl import CODLTagger
from trelliswork.constraints.predicates import as_predicates
from trelliswork.errors import ModelFileError
from trelliswork.estimators import CRFTagger
from trelliswork.hmm import HMMTagger
from trelliswork.perceptron import PerceptronTagger
from trelliswork.persist import read_model_file
from trelliswork.tables import join_names
from trelliswork.tagger_files import restored

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from trelliswork.constraints.predicates import Predicate, Predicates
    from trelliswork.tagger import Tagger

__all__ = ["load"]

KINDS: dict[str, type[Tagger]] = {
    kind.__name__: kind for kind in (CRFTagger, HMMTagger, PerceptronTagger, CODLTagger)
}


def load(path: str | os.PathLike[str], *, predicates: Predicates | None = None) -> Tagger:
    """Read a tagger that ``save`` wrote. Runs no code from the file.

    Parameters
    ----------
    path
        The file.
    predicates
        The Python functions among its constraints, which no file holds: what `predicate` made, in a
        list or by their names.

    Raises
    ------
    ModelFileError
        For a file that is no model, is cut short, is damaged, or comes from a newer version; and
        where predicates are missing, naming them.
    """
    given = as_predicates(predicates)
    settings, arrays = read_model_file(path)
    kind = KINDS.get(settings.get("estimator", ""))
    if kind is None:
        raise ModelFileError(
            f"{path}: expected a model of kind {' or '.join(KINDS)}, got "
            f"{settings.get('estimator')!r}."
        )
    _check_predicates(path, settings.get("predicates", []), given)
    try:
        return restored(kind, settings, arrays, given)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{Path(path)}: the model file is damaged: {error}. Copy it again, or train the model "
            "again."
        ) from error


def _check_predicates(
    path: str | os.PathLike[str], named: Any, given: Mapping[str, Predicate]
) -> None:
    """Raise where a model was saved with predicates that are not given."""
    names = list(dict.fromkeys(named)) if isinstance(named, list) else []
    missing = [repr(name) for name in names if name not in given]
    if missing:
        raise ModelFileError(
            f"{path}: the model has constraints that are Python functions, which no file holds: "
            f"{join_names(missing)}. Load it in Python and pass them: "
            "tw.load(path, predicates=[...])."
        )
