"""The errors that Trelliswork raises for its users.

Every message says what was expected, what came, where, and what to do.
"""

from __future__ import annotations


class TrellisworkError(Exception):
    """Base of all errors raised on purpose by this package.

    Attributes
    ----------
    sequence : int or None
        The index of the training sequence that it is about, where there is one.
    """

    sequence: int | None = None


class DataError(TrellisworkError, ValueError):
    """A file or an array holds something that cannot be read as asked."""


class LabelError(TrellisworkError, ValueError):
    """A label is unknown or breaks its scheme."""


class TemplateError(TrellisworkError, ValueError):
    """A feature template cannot be parsed or does not fit the data."""


class ModelFileError(TrellisworkError, ValueError):
    """A model file is truncated, corrupted, too new or no model at all."""


class NotInLanguageError(TrellisworkError, ValueError):
    """Gold labels break a constraint that the model is trained under."""


class InfeasibleError(TrellisworkError, ValueError):
    """No labelling of a sequence satisfies all constraints."""


class SearchLimitError(TrellisworkError, RuntimeError):
    """Neither a labelling nor a proof that there is none was found within the limits."""


class PrecisionError(TrellisworkError, ArithmeticError):
    """A result has too few digits to be returned: the scores are too large."""


class RegexError(TrellisworkError, ValueError):
    """A regular expression over labels cannot be read."""


class TooLargeError(TrellisworkError, ValueError):
    """An automaton would have more states than allowed."""


class RuleError(TrellisworkError, ValueError):
    """A rule cannot be read."""
