"""Subsets of the templates of a text: their rules, and the patterns and lexicons they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.features import crfpp
from trelliswork.features.program import Source
from trelliswork.features.template_lexer import canonical, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.features.program import Template
    from trelliswork.features.segment_rules import SegmentRule


def template_names(templates: Iterable[Template], rules: Sequence[str]) -> tuple[str, ...]:
    """Return each template as text: a rule that produces it alone, windows expanded."""
    if crfpp.is_pattern_file("\n".join(rules)):
        lines = {t: rule for rule in reversed(rules) for t in crfpp.templates_of(rule)}
        return tuple(lines[template] for template in templates)
    return tuple(t.group if t.part == "state" else f"{t.part}: {t.group}" for t in templates)


def kept_rules(
    rules: Sequence[str], templates: Sequence[Template], segment_rules: Iterable[SegmentRule]
) -> tuple[tuple[str, ...], set[Template]]:
    """Return rules that produce these templates, and all templates that they produce.

    In our own language that is a rule for each. Lines of a pattern file stay as they are; one that
    makes two templates (``*``) stays where one of them does, because it is part of the names of its
    features.
    """
    if not crfpp.is_pattern_file("\n".join(rules)):
        lines = [*template_names(templates, ()), *(rule.name for rule in segment_rules)]
        written = (canonical(tokens) for line in lines for tokens in tokenize(line, ""))
        return tuple(written), set(templates)
    made = {rule: crfpp.templates_of(rule) for rule in rules}
    wanted = set(templates)
    kept = {rule for rule, own in made.items() if wanted.intersection(own)}
    if not any(map(crfpp.is_pattern_file, kept)):
        # Without a macro it would be no pattern file.
        kept.add(next(filter(crfpp.is_pattern_file, rules)))
    # A line for plain transitions has no macro; a "*" line also makes a template.
    plain = {rule for rule in rules if rule[0] in "Bb*" and not crfpp.is_pattern_file(rule)}
    lines = ["B" if rule in plain - kept else rule for rule in rules if rule in kept | plain]
    return tuple(dict.fromkeys(lines)), {t for rule in kept for t in made[rule]}


def patterns_used(templates: Iterable[Template]) -> set[object]:
    """Return the names of the patterns that templates read."""
    attributes = [term.attribute for template in templates for term in template.terms]
    starts = {name for a in attributes if a.source is Source.SEGMENT_START for name in a.arguments}
    return starts | {argument for a in attributes for _, argument in a.operations}


def lexicons_used(
    templates: Iterable[Template], segment_rules: Iterable[SegmentRule]
) -> set[object]:
    """Return the names of the lexicons that templates and rules of segments read."""
    attributes = [term.attribute for template in templates for term in template.terms]
    found = {name for a in attributes if a.source is Source.LEXICON for name in a.arguments}
    return found | {rule.lexicon for rule in segment_rules}
