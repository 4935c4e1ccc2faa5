"""From a model file back to the tagger that was saved."""

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
    from trelliswork.taggers.saving import SavedTagger

__all__ = ["load", "load_saved"]

# Where the taggers are: each brings its learner, and only the one saved is needed.
KINDS = {
    "CRFTagger": "trelliswork.taggers.crf",
    "HMMTagger": "trelliswork.taggers.hmm",
    "PerceptronTagger": "trelliswork.taggers.perceptron",
    "CODLTagger": "trelliswork.taggers.codl",
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
    from trelliswork.taggers.saving import restored

    given = as_predicates(predicates)
    settings, arrays = _read(path, given)
    name = settings["estimator"]
    kind: type[Tagger] = getattr(import_module(KINDS[name]), name)
    with _damage_named(path):
        return restored(kind, settings, arrays, given)


def load_saved(
    path: str | os.PathLike[str], *, predicates: Predicates | None = None
) -> SavedTagger:
    """Read a tagger for tagging alone, which starts sooner than `load`: scikit-learn stays out.

    The parameters and errors are those of `load`.
    """
    from trelliswork.taggers.saving import restored_model

    given = as_predicates(predicates)
    settings, arrays = _read(path, given)
    with _damage_named(path):
        return restored_model(settings, arrays, given)


def _read(
    path: str | os.PathLike[str], given: Mapping[str, Predicate]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the settings and the arrays of a model whose kind is known."""
    settings, arrays = read_model_file(path)
    if settings.get("estimator") not in KINDS:
        raise ModelFileError(
            f"{path}: expected a model of kind {' or '.join(KINDS)}, got "
            f"{settings.get('estimator')!r}."
        )
    _check_predicates(path, settings.get("predicates", []), given)
    return settings, arrays


@contextmanager
def _damage_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what a damaged file makes go wrong into an error that names it."""
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
    """Raise where a model was saved with predicates that are not given."""
    names = list(dict.fromkeys(named)) if isinstance(named, list) else []
    missing = [repr(name) for name in names if name not in given]
    if missing:
        raise ModelFileError(
            f"{path}: the model has constraints that are Python functions, which no file holds: "
            f"{join_names(missing)}. Load it in Python and pass them: "
            "tw.load(path, predicates=[...])."
        )
