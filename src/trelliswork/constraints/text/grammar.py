"""The grammar of rules: calls, arithmetic with counts, ``& | ~``, and plain sentences.

    line        = expression [":" ("soft" ["(" [number] ")"] | "hard")]
    expression  = operand {sign operand}                    signs and precedence as in Python
    operand     = word "(" arguments ")" {"." method "(" arguments ")"}
                | label ("before" | "requires" | "excludes") label
                | "(" expression ")" | "~" operand | "-" operand | string | number | list
    label       = string | name

No code is executed: only the words of this package can be called.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from trelliswork.constraints import on_tokens, token_tests
from trelliswork.constraints.base import Constraint
from trelliswork.constraints.linear import CountExpression
from trelliswork.constraints.text.calls import (
    call_word,
    check_quoted,
    find_word,
    hint_for_label,
)
from trelliswork.constraints.text.operators import compute, invert, join
from trelliswork.constraints.text.scanner import PlacedError, Scanner
from trelliswork.constraints.text.values import Bare, Placed, shown
from trelliswork.constraints.text.vocabulary import (
    BETWEEN,
    BINDING,
    BINDING_OF_ONE,
    CLOSING,
    CONSTANTS,
    MAX_DEPTH,
    METHODS,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trelliswork.constraints.predicates import Predicate

__all__ = ["Grammar"]


class Grammar:
    """A parser of one rule.

    Parameters
    ----------
    text
        The text of the rule.
    predicates
        The predicates for ``predicate(name)``.

    Attributes
    ----------
    labels : dict of str to int
        The first position of each string and name of the text, counted from 0.
    """

    def __init__(self, text: str, predicates: Mapping[str, Predicate] | None = None) -> None:
        self._scanner = Scanner(text)
        self._predicates = predicates or {}
        self._depth = 0
        self.labels: dict[str, int] = {}

    def rule(self) -> Constraint:
        """Return the rule of the text, or raise a `PlacedError`."""
        found = self._expression(0, inside=False)
        rule = self._suffixed(self._as_rule(found))
        if not self._scanner.is_done:
            raise self._scanner.unexpected("& or |, ': soft', or the end of the rule")
        return rule

    def _as_rule(self, found: Placed) -> Constraint:
        if isinstance(found.value, Constraint):
            return found.value
        match found.value:
            case token_tests.TokenTest():
                advice = (
                    "Say what it is for: where(test).allow(…), only_on(test, …) or "
                    "changes_only_at(test)."
                )
            case on_tokens.Where():
                advice = "Follow it with .allow(label, …)."
            case CountExpression():
                advice = "Compare it with a number: <= 1."
            case str() if not self._scanner.is_done:
                if hint := hint_for_label(found.value, self._scanner.word() or ""):
                    raise PlacedError(found.at, f"expected a rule. {hint}")
                raise self._scanner.unexpected(
                    f"before, requires or excludes after {shown(found.value)}"
                )
            case _:
                advice = "A rule is a word such as at_most(1, title), or says: author before title."
        raise PlacedError(found.at, f"expected a rule, got {shown(found.value)}. {advice}")

    def _suffixed(self, rule: Constraint) -> Constraint:
        """Read ``: soft`` or ``: hard``, if it comes next."""
        scanner = self._scanner
        if not scanner.take(":"):
            return rule
        start, word = scanner.at, scanner.word()
        if word not in ("soft", "hard"):
            raise scanner.unexpected("soft, soft(penalty) or hard after the colon")
        if rule.is_soft:
            raise PlacedError(start, f"expected a rule that is not soft yet, got {rule!r}.")
        scanner.take_word(word)
        if word == "hard":
            return rule
        arguments = self._arguments("soft") if scanner.sign() == "(" else ([], {})
        found = call_word(Placed(word, start), rule.soft, *arguments)
        assert isinstance(found.value, Constraint)
        return found.value

    def _expression(self, binding: int, *, inside: bool) -> Placed:
        """Read operands as long as the signs between them bind more closely than `binding`."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise PlacedError(
                self._scanner.at, "expected a simpler rule: this one is nested too deeply."
            )
        left = self._operand(inside=inside)
        if self._scanner.at_end_of_value:  # long lists are nothing but such values
            self._depth -= 1
            return left
        left = self._with_methods(left, inside=inside)
        while BINDING.get(sign := self._scanner.sign() or "", 0) > binding:
            at = self._scanner.at
            self._scanner.take(sign)
            right = self._expression(BINDING[sign], inside=inside)
            left = Placed(join(sign, at, left, right), left.at)
        if (word := self._scanner.word()) in ("and", "or"):
            sign = "&" if word == "and" else "|"
            raise PlacedError(self._scanner.at, f"expected {sign} instead of {word!r}.")
        self._depth -= 1
        return left

    def _operand(self, *, inside: bool) -> Placed:
        scanner = self._scanner
        start = scanner.at
        if (text := scanner.string()) is not None:
            self.labels.setdefault(text, start)
            return Placed(text, start)
        if (number := scanner.number()) is not None:
            return Placed(number, start)
        if scanner.take("~"):
            return Placed(invert(self._expression(BINDING_OF_ONE, inside=inside)), start)
        if (sign := scanner.sign()) in CLOSING:
            scanner.take(sign)
            return Placed(self._group(CLOSING[sign], start, is_list=sign != "("), start)
        if self._takes_minus():
            operand = self._expression(BINDING_OF_ONE, inside=inside)
            return Placed(compute(start, operator.neg, operand), start)
        name = scanner.name(inside=inside)
        if name is None:
            raise scanner.unexpected("a label or a number" if inside else "a rule")
        if name == "not":
            raise PlacedError(start, "expected ~ instead of 'not'.")
        if scanner.sign() == "(":
            word = self._predicate if name == "predicate" else find_word(start, name)
            return call_word(Placed(name, start), word, *self._arguments(name))
        if name in CONSTANTS:
            return Placed(CONSTANTS[name], start)
        self.labels.setdefault(name, start)
        return Placed(Bare(name), start)

    def _predicate(self, name: str) -> Predicate:
        """Return a predicate by its name."""
        if name in self._predicates:
            return self._predicates[name]
        raise ValueError(
            f"there is no predicate {name!r} here: a Python function cannot be read from text. "
            "Pass it as predicates=[...], or as a constraint."
        )

    def _takes_minus(self) -> bool:
        """Take a minus before counts; in a label such as ``-LRB-`` it is a part of the name."""
        scanner = self._scanner
        start, word = scanner.at, scanner.word() or ""
        scanner.take_word(word)
        is_minus = word == "-" or (word.startswith("-") and scanner.sign() == "(")
        scanner.at = start
        if is_minus:
            scanner.take_word("-")
        return is_minus

    def _with_methods(self, found: Placed, *, inside: bool) -> Placed:
        """Read the suffix of an operand: ``.soft(1.5)``, or ``before title``."""
        scanner = self._scanner
        while scanner.take("."):
            at = scanner.at
            method = scanner.name(inside=True) or ""
            if method not in METHODS:
                known = ", ".join(f".{name}" for name in METHODS)
                raise PlacedError(at, f"there is no .{method}. Known: {known}.")
            kind, expected = METHODS[method]
            if not isinstance(found.value, kind):
                what = shown(found.value)
                raise PlacedError(found.at, f"expected {expected} before .{method}, got {what}.")
            if scanner.sign() != "(":
                raise scanner.unexpected(f"( after .{method}")
            function = getattr(found.value, method)
            result = call_word(Placed(method, at), function, *self._arguments(method))
            found = Placed(result.value, found.at)
        word = scanner.word()
        if isinstance(found.value, str) and word in BETWEEN:
            scanner.take_word(word)
            if scanner.is_done:
                raise scanner.unexpected(f"a label after {word}")
            other = self._operand(inside=inside)
            if not isinstance(other.value, str):
                raise PlacedError(other.at, f"expected a label after {word}, got {other.value!r}.")
            return call_word(Placed(word, found.at), BETWEEN[word], [found, other], {})
        return found

    def _group(self, closing: str, start: int, *, is_list: bool) -> object:
        """Read a bracketed group: an expression in parentheses, or a list of values."""
        items, comma = [], False
        while not self._scanner.take(closing):
            items.append(self._expression(0, inside=True))
            if not (comma := self._scanner.take(",")) and self._scanner.sign() != closing:
                raise self._unclosed(closing, start)
        if len(items) == 1 and not comma and not is_list:
            return items[0].value
        for item in items:
            check_quoted(item, "a list")
        return [item.value for item in items]

    def _arguments(self, word: str) -> tuple[list[Placed], dict[str, Placed]]:
        """Read arguments in parentheses, which are known to come next."""
        scanner = self._scanner
        start = scanner.at
        scanner.take("(")
        arguments: list[Placed] = []
        options: dict[str, Placed] = {}
        while not scanner.take(")"):
            at, keyword = scanner.at, scanner.keyword()
            value = self._expression(0, inside=True)
            if keyword is None and options:
                raise PlacedError(
                    value.at, f"{word}: expected name=value after {list(options)[-1]}=."
                )
            if keyword is None:
                arguments.append(value)
            elif keyword in options:
                raise PlacedError(at, f"{word}: expected {keyword}= once, got it twice.")
            else:
                options[keyword] = value
            if not scanner.take(",") and scanner.sign() != ")":
                raise self._unclosed(")", start)
        return arguments, options

    def _unclosed(self, closing: str, start: int) -> PlacedError:
        if self._scanner.is_done:
            return PlacedError(start, f"expected a rule, but no {closing} closes this.")
        return self._scanner.unexpected(f"a comma or {closing}")
