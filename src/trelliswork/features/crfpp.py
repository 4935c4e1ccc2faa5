r"""The parser of pattern files of CRF++ and Wapiti.

``U`` lines are features of tokens, ``B`` lines of transitions, ``*`` lines (Wapiti) of both. Each
macro in a line is replaced by a value:

=========================  ======================================================================
``%x[row,column]``         the column of the token ``row`` places away
``%t[row,column,"re"]``    ``true`` or ``false``: does the expression occur in it?  (Wapiti)
``%m[row,column,"re"]``    the part that the expression matches                     (Wapiti)
``%X``, ``%T``, ``%M``     the same, lower-cased afterwards                         (Wapiti)
=========================  ======================================================================

As in both programs, the text around the macros makes the feature: lines with the same text share
features, so ``U:%x[-1,0]`` and ``U:%x[0,0]`` are a bag of words while ``U1:…`` and ``U2:…`` know
the place. One difference: values of different columns are never confused, even under the same
text. A bare ``B`` asks for plain transitions, which the model has anyway.
"""

from __future__ import annotations

import re

from trelliswork.features.program import (
    MAX_OFFSET,
    Attribute,
    NamedPattern,
    Operation,
    Part,
    Source,
    Template,
    Term,
    compile_pattern,
)
from trelliswork.features.template_lexer import template_error
from trelliswork.features.template_parser import ParsedTemplates

_MACRO_START = re.compile(r"%[xXtTmM]\[")
_MACRO = re.compile(
    r"""%(?P<command>[xXtTmM])\[\s*(?P<row>[+-]?\d+)\s*,\s*(?P<column>\d+)\s*
        (?:,\s*"(?P<expression>(?:[^"\\]|\\.)*)"\s*)?\]""",
    re.VERBOSE,
)
_RULE_START = re.compile(r"\s*[UuBb*].*%[xXtTmM]\[")
# Inside a line only what follows a space is a comment: CRF++ takes "U#1" as text.
_COMMENT = re.compile(r"(^|\s)#.*")
_MAX_COLUMN = 1000


def is_pattern_file(text: str) -> bool:
    """Return whether a text is a pattern file: some ``U``, ``B`` or ``*`` line has a macro."""
    return any(_RULE_START.match(line) for line in text.split("\n"))


def parse_pattern_file(text: str, origin: str) -> tuple[ParsedTemplates, bool]:
    """Parse a pattern file; the second result is whether it asks for plain transitions."""
    parsed = ParsedTemplates()
    plain_transitions = False
    for number, line in enumerate(text.split("\n"), start=1):
        has_expression = '"' in line
        rule = (line if has_expression else _COMMENT.sub("", line)).strip()
        if not rule or rule.startswith("#"):
            continue
        if rule[0] not in "UuBb*":
            message = f"expected a line that starts with U, B or *, got {rule[0]!r}."
            raise template_error(origin, number, 1, message)
        terms, literals = _split(rule, number, origin, parsed)
        parsed.rules.append(rule)
        if rule[0] in "Uu*":
            parsed.templates.append(_template(terms, literals, "state"))
        if rule[0] in "Bb*":
            if terms:
                parsed.templates.append(_template(terms, literals, "edge"))
            else:
                plain_transitions = True
    return parsed, plain_transitions


def templates_of(rule: str) -> list[Template]:
    """Return the templates that one line makes."""
    return parse_pattern_file(rule, "")[0].templates


def _split(
    rule: str, line: int, origin: str, parsed: ParsedTemplates
) -> tuple[list[Term], list[str]]:
    """Split a rule into its macros and the text around them."""
    terms = []
    literals = []
    at = 0
    for start in _MACRO_START.finditer(rule):
        if start.start() < at:  # inside the expression of the macro before
            continue
        found = _MACRO.match(rule, start.start())
        if found is None:
            expected = "%x[row,column]" if start.group()[1] in "xX" else '%t[row,column,"re"]'
            message = f"expected {expected}, got {rule[start.start() :]!r}."
            raise template_error(origin, line, start.start() + 1, message)
        terms.append(_term(found, line, origin, parsed))
        literals.append(rule[at : found.start()])
        at = found.end()
    return terms, [*literals, rule[at:]]


def _term(found: re.Match[str], line: int, origin: str, parsed: ParsedTemplates) -> Term:
    command, expression = found["command"], found["expression"]
    row, column = int(found["row"]), int(found["column"])
    if abs(row) > MAX_OFFSET or column > _MAX_COLUMN:
        message = f"expected a row within ±{MAX_OFFSET} and a column up to {_MAX_COLUMN}."
        raise template_error(origin, line, found.start() + 1, message)
    if (expression is None) != (command in "xX"):
        message = (
            f"%{command} takes no expression."
            if command in "xX"
            else f'%{command} needs an expression: %{command}[{row},{column},"…"].'
        )
        raise template_error(origin, line, found.start() + 1, message)
    operations: list[tuple[Operation, int | str]] = []
    if expression is not None:
        name = f"wapiti.{expression}"
        pattern = NamedPattern(expression, wapiti=True)
        try:
            compile_pattern(pattern)
        except ValueError as error:
            message, shift = error.args
            raise template_error(
                origin, line, found.start("expression") + shift + 1, f"{message}."
            ) from None
        parsed.patterns[name] = pattern
        operations.append((Operation.TEST if command in "tT" else Operation.EXTRACT, name))
    if command.isupper():
        operations.append((Operation.LOWER, 0))
    return Term(Attribute(Source.COLUMN, column or None, tuple(operations)), row)


def _template(terms: list[Term], literals: list[str], part: Part) -> Template:
    # The text with the macros blanked: lines that agree in it make the same features.
    group = "\0".join(literals)
    if not terms:
        bias = Term(Attribute(Source.BIAS), 0)
        return Template((bias,), part, (literals[0], ""), group)
    return Template(tuple(terms), part, tuple(literals), group)
