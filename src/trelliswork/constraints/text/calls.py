"""Calls in the text of a rule, with errors that point at the wrong argument."""

from __future__ import annotations

import difflib
import inspect
import re
from typing import TYPE_CHECKING

from trelliswork.constraints.text.scanner import PlacedError
from trelliswork.constraints.text.values import Bare, Placed, plain
from trelliswork.constraints.text.vocabulary import BETWEEN, OFFERED, QUOTED, WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["call_word", "check_quoted", "find_word", "hint_for_label"]

_NUMBERS = {"inf", "-inf", "nan"}


def find_word(at: int, name: str) -> Callable[..., object]:
    """Return the function of a word; raise a `PlacedError` with the nearest words if unknown."""
    if name in WORDS:
        return WORDS[name]
    if name in BETWEEN:
        advice = f"Write author {name} title, or {BETWEEN[name].__name__}(author, title)."
    elif name.lower() in OFFERED:
        advice = f"Did you mean {name.lower()}?"
    elif close := difflib.get_close_matches(name.lower(), OFFERED, n=2):
        advice = f"Did you mean {' or '.join(close)}?"
    else:
        advice = f"Known: {', '.join(OFFERED)}."
    raise PlacedError(at, f"there is no word {name!r}. {advice}")


def hint_for_label(label: str, following: str) -> str | None:
    """Return a hint on a label that begins no sentence, if its meaning can be guessed."""
    if label.startswith("//"):
        return "Comments begin with #."
    for word in (f"{label}_{following}".lower(), label.lower()):
        if word in OFFERED:
            example = "1, title" if word in ("at_most", "at_least", "exactly") else "…"
            return f"Write {word}({example})."
    return None


def call_word(
    word: Placed,
    function: Callable[..., object],
    arguments: Sequence[Placed],
    options: Mapping[str, Placed],
) -> Placed:
    """Call the function of a word; raise a `PlacedError` at the argument that is wrong.

    Parameters
    ----------
    word
        The word.
    function
        Its function.
    arguments, options
        The arguments in parentheses, without names and with them.
    """
    if word.value in QUOTED:
        for argument in (*arguments, *(options[name] for name in options if name != "unit")):
            check_quoted(argument, str(word.value))
    if word.value == "soft":
        arguments = [_as_number(argument) for argument in arguments]
        if [type(argument.value) for argument in arguments] == [int, int]:
            whole, part = (argument.value for argument in arguments)
            raise PlacedError(
                arguments[0].at,
                f"soft: expected one penalty, got {whole} and {part}. Write a decimal point: "
                f"soft({whole}.{part}).",
            )
    given = [plain(argument.value) for argument in arguments]
    named = {name: plain(value.value) for name, value in options.items()}
    try:
        return Placed(function(*given, **named), word.at)
    except RecursionError:
        raise PlacedError(word.at, f"{word.value}: nested too deeply.") from None
    except (TypeError, ValueError, OverflowError) as error:
        _check_signature(word, function, arguments, options)
        at = _place_of(str(error), word.at, [*arguments, *options.values()])
        raise PlacedError(at, str(error)) from None


def check_quoted(found: Placed, where: str) -> None:
    """Raise a `PlacedError` for a name without quotes in place of a string."""
    if isinstance(found.value, Bare):
        name = str(found.value)
        raise PlacedError(found.at, f"{where}: expected a string, got {name}. Quote it: {name!r}.")


def _as_number(argument: Placed) -> Placed:
    """Return ``inf`` and ``nan`` as numbers, which penalties refuse with a message of their own."""
    if isinstance(argument.value, Bare) and argument.value in _NUMBERS:
        return Placed(float(argument.value), argument.at)
    return argument


def _check_signature(
    word: Placed,
    function: Callable[..., object],
    arguments: Sequence[Placed],
    options: Mapping[str, Placed],
) -> None:
    """Raise a `PlacedError` for arguments that are too many or too few, or have unknown names."""
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind != p.VAR_POSITIONAL]
    for name, value in options.items():
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            advice = f"Did you mean {close[0]}=?" if close else f"Known: {', '.join(names)}."
            raise PlacedError(value.at, f"{word.value}: there is no {name}=. {advice}")
    positional = [p for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
    any_number = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    most = len(positional)
    if len(arguments) > most and not any_number:
        what = "one value" if most == 1 else f"{most} values" if most else "nothing"
        raise PlacedError(
            arguments[most].at,
            f"{word.value}: expected {what} in parentheses, got {len(arguments)}.",
        )
    missing = [
        p.name
        for p in positional[len(arguments) :]
        if p.default is p.empty and p.name not in options
    ]
    if missing:
        raise PlacedError(word.at, f"{word.value}: expected {' and '.join(missing)} too.")


def _place_of(message: str, at: int, arguments: Sequence[Placed]) -> int:
    """Return the position of the argument that a message quotes; else that of the word."""
    if len(arguments) == 1:
        return arguments[0].at
    for argument in arguments:
        value = re.escape(repr(plain(argument.value)))
        if re.search(rf"got (?:\w+ )?{value}(?![\w'])", message):
            return argument.at
    return at
