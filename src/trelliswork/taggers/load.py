"""Load a tagger from a model file."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trelliswork._utils.tables import join_names
from trelliswork.constraints.predicates import as_predicates
from trelliswork.errors import ModelFileError
from trelliswork.taggers.model_file import read_model_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from trelliswork.constraints.predicates import Predicate, Predicates
    from trelliswork.taggers.base import Tagger
    from trelliswork.taggers.restoring import SavedTagger

__all__ = ["load", "load_saved"]

# The modules of the taggers. Each imports its learner, so only the one needed is imported.
KINDS = {
    "CRFTagger": "trelliswork.taggers.crf",
    "HMMTagger": "trelliswork.taggers.hmm",
    "PerceptronTagger": "trelliswork.taggers.perceptron",
    "CODLTagger": "trelliswork.taggers.codl",
}


def load(path: str | os.PathLike[str], *, predicates: Predicates | None = None) -> Tagger:
    """Load a tagger that ``save`` wrote. No code from the file is executed.

    Parameters
    ----------
    path
        Path of the model file.
    predicates
        The predicates among its constraints, as a list or by name. Model files do not contain
        Python functions.

    Raises
    ------
    ModelFileError
        If the file is not a model, is truncated or damaged, or comes from a newer version; or if
        predicates are missing, with their names.
    """
    from trelliswork.taggers.restoring import restore_tagger

    given = as_predicates(predicates)
    settings, arrays = _read(path, given)
    name = settings["estimator"]
    kind: type[Tagger] = getattr(import_module(KINDS[name]), name)
    with _damage_as_error(path):
        return restore_tagger(kind, settings, arrays, given)


def load_saved(
    path: str | os.PathLike[str], *, predicates: Predicates | None = None
) -> SavedTagger:
    """Load a tagger for tagging alone. Starts faster than `load`: scikit-learn is not imported.

    Parameters and errors are those of `load`.
    """
    from trelliswork.taggers.restoring import restore_saved_tagger

    given = as_predicates(predicates)
    settings, arrays = _read(path, given)
    with _damage_as_error(path):
        return restore_saved_tagger(settings, arrays, given)


def _read(
    path: str | os.PathLike[str], given: Mapping[str, Predicate]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the settings and arrays of a model file whose estimator is known."""
    settings, arrays = read_model_file(path)
    if settings.get("estimator") not in KINDS:
        raise ModelFileError(
            f"{path}: expected a model of kind {' or '.join(KINDS)}, got "
            f"{settings.get('estimator')!r}."
        )
    _check_predicates(path, settings.get("predicates", []), given)
    return settings, arrays


@contextmanager
def _damage_as_error(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors caused by a damaged file into a `ModelFileError` that names the file."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{Path(path)}: the model file is damaged: {error}. Copy it again, or train the model "
            "again."
        ) from error


def _check_predicates(
    path: str | os.PathLike[str], named: Any, given: Mapping[str, Predicate]
) -> None:
    """Raise if the model was saved with predicates that are not given."""
    names = list(dict.fromkeys(named)) if isinstance(named, list) else []
    missing = [repr(name) for name in names if name not in given]
    if missing:
        raise ModelFileError(
            f"{path}: the model has constraints that are Python functions, which no file holds: "
            f"{join_names(missing)}. Load it in Python and pass them: "
            "tw.load(path, predicates=[...])."
        )
