r"""Feature templates: a small language, compiled to a native extractor.

One rule a line; ``#`` starts a comment; an indented line continues the rule before it::

    word[-2..2]                      # five templates: the token and its neighbours
    word[-1] | word[0]               # an n-gram
    ngrams(pos[-2..2], 2..3)         # all bigrams and trigrams in a window
    lower(word)                      # word is short for word[0]
    suffix(lower(word), 1..4)        # counted in code points; shorter tokens have none
    shape(word[-1..1])               # Xxxx99: capitals X, letters x, digits 9, the rest as it is
    short_shape(word)                # Xx9: runs collapsed
    position(8)                      # which eighth of the sentence
    first()                          # on the first token
    pattern year = /(19|20)\d\d[a-z]?/
    match(year, word[-1..1])         # the whole token; search(year, …) looks anywhere in it
    lexicon months = "January" "February" "March"
    in(months, word)                 # B or I inside the longest phrase, case ignored
    segment_start()                  # after closing punctuation, or on words such as "in"
    bias
    edge: word[0]                    # a feature of the transition into the token
    begin: lower(word[-1..0])        # a feature of a segment that begins at the token
    end: lower(word[0..1])           # a feature of a segment that ends at the token
    segment: text                    # the whole segment in lower case
    segment: shape                   # the short shapes of its tokens
    segment: ends                    # its first and its last token in lower case
    segment: in(months)              # the whole segment is a phrase of the lexicon

Grammar::

    text     = { line }
    line     = "outside" ":" ( "pad" | "skip" )
             | "pattern" NAME "=" "/" regular expression "/"
             | [ "cased" ] "lexicon" NAME "=" STRING { STRING }
             | [ ( "edge" | "begin" | "end" ) ":" ] factor { "|" factor }
             | "segment" ":" ( "text" | "shape" | "ends" ) [ "(" column ")" ]
             | "segment" ":" "in" "(" NAME [ "," column ] ")"     NAME of a lexicon
    factor   = term | "ngrams" "(" term "," range ")"
    column   = NAME | STRING
    term     = column [ window ]
             | ( "lower" | "shape" | "short_shape" ) "(" term ")"
             | ( "prefix" | "suffix" ) "(" term "," range ")"
             | ( "match" | "search" ) "(" NAME "," term ")"       NAME of a pattern
             | "in" "(" NAME "," term ")"                         NAME of a lexicon
             | "segment_start" "(" [ NAME "," NAME ] ")" [ window ]
             | "position" "(" NUMBER ")" | "first" "(" ")" | "last" "(" ")" | "bias"
    window   = "[" range "]"
    range    = NUMBER [ ".." NUMBER ]

Ranges joined by ``|`` are combined each with each. ``word`` and ``token`` mean the tokens of the
sentence; every other name is a column. Places outside the sentence have values of their own
(``_B-1``, ``_B+1``, …) unless ``outside: skip`` is given: then a template that reaches outside
gives no feature. ``match``, ``search``, ``in`` and ``segment_start`` give a feature only where they
hold. Rules with ``begin:``, ``end:`` and ``segment:`` are for semi-Markov models, whose segments
have more than one token. Files of CRF++ and Wapiti are recognised by their macros
(:mod:`trelliswork.features.crfpp`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from trelliswork.errors import TemplateError
from trelliswork.features import crfpp
from trelliswork.features.lexicons import normalise, read_lexicon
from trelliswork.features.program import (
    Column,
    Part,
    Template,
    columns_of,
    compile_program,
)
from trelliswork.features.segment_rules import SegmentRule, compile_segment_rules
from trelliswork.features.subset import kept_rules, lexicons_used, patterns_used, template_names
from trelliswork.features.template_lexer import quote
from trelliswork.features.template_parser import parse_templates

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from trelliswork import _core
    from trelliswork.features.lexicons import LexiconSource
    from trelliswork.features.program import Lexicon, NamedPattern


class TemplatesDict(TypedDict):
    """Templates as JSON."""

    text: str


@dataclass(frozen=True)
class CompiledTemplates:
    """Native programs, and the columns that they read, in order.

    Attributes
    ----------
    columns : tuple of (str, int or None)
    tokens : _core.FeatureProgram
        Features of tokens and of transitions.
    begin, end : _core.FeatureProgram or None
        Features of a segment that begins or ends at a token.
    segment : _core.SegmentProgram or None
        Features of whole segments.
    """

    columns: tuple[Column, ...]
    tokens: _core.FeatureProgram
    begin: _core.FeatureProgram | None
    end: _core.FeatureProgram | None
    segment: _core.SegmentProgram | None


@dataclass(frozen=True)
class Templates:
    """Parsed feature templates; make them with :meth:`parse` or :meth:`from_file`.

    Attributes
    ----------
    templates : tuple of Template
        One entry for every n-gram that is a feature, windows expanded.
    segment_rules : tuple of SegmentRule
        The rules of whole segments.
    patterns : dict
        Regular expressions by name.
    lexicons : dict
        Phrases by name.
    pad : bool
        Whether positions outside the sentence have values of their own.
    plain_transitions : bool
        Whether a CRF++ file asked for transitions that do not depend on the observation (a bare
        ``B``). A model has them anyway.
    rules : tuple of str
        The rules as text, without the declarations of patterns and lexicons.
    """

    templates: tuple[Template, ...]
    patterns: Mapping[str, NamedPattern] = field(default_factory=dict)
    lexicons: Mapping[str, Lexicon] = field(default_factory=dict)
    pad: bool = True
    plain_transitions: bool = False
    segment_rules: tuple[SegmentRule, ...] = ()
    rules: tuple[str, ...] = field(default=(), compare=False)

    def __hash__(self) -> int:
        return hash((self.templates, self.segment_rules, self.pad))

    def __repr__(self) -> str:
        n_templates = len(self.templates) + len(self.segment_rules)
        return f"<Templates: {n_templates} of {len(self.rules)} rules>"

    def __getstate__(self) -> dict[str, object]:
        # The native program is compiled again where a copy needs it.
        return {name: value for name, value in self.__dict__.items() if name != "program"}

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        lexicons: Mapping[str, LexiconSource] | None = None,
        origin: str = "",
    ) -> Templates:
        """Parse template text, in the language above or in that of CRF++ and Wapiti.

        Parameters
        ----------
        text : str
        lexicons : mapping from names to phrases, optional
            Lexicons that the text uses but does not declare: an iterable of phrases, a path of a
            file with one phrase a line, or a :class:`Lexicon`. They become part of the templates.
        origin : str, optional
            Name of the text, put before ``line:column`` in messages.

        Raises
        ------
        TemplateError
            With line, column, the expected token and the one found.
        """
        given = {name: read_lexicon(source) for name, source in (lexicons or {}).items()}
        if crfpp.is_pattern_file(text):
            parsed, plain_transitions = crfpp.parse_pattern_file(text, origin)
        else:
            parsed, plain_transitions = parse_templates(text, given, origin), False
        if not parsed.templates and not parsed.segment_rules:
            raise TemplateError("expected at least one template, got none: the text has no rules.")
        used = lexicons_used(parsed.templates, parsed.segment_rules)
        return cls(
            templates=tuple(dict.fromkeys(parsed.templates)),
            segment_rules=tuple(dict.fromkeys(parsed.segment_rules)),
            patterns=parsed.patterns,
            # A lexicon given from outside is kept, and saved, only when some rule reads it.
            lexicons={
                name: normalise(lexicon)
                for name, lexicon in parsed.lexicons.items()
                if name in used or name not in given
            },
            pad=parsed.pad,
            plain_transitions=plain_transitions,
            rules=tuple(parsed.rules),
        )

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        lexicons: Mapping[str, LexiconSource] | None = None,
    ) -> Templates:
        """Parse a file: template language, CRF++ or Wapiti."""
        text = Path(path).read_text(encoding="utf-8")
        return cls.parse(text, lexicons=lexicons, origin=os.fspath(path))

    def __str__(self) -> str:
        lines = [] if self.pad else ["outside: skip"]
        for name, pattern in self.patterns.items():
            # Built-in patterns (with a dot) and those inside a Wapiti rule are not declared.
            if "." not in name:
                lines.append(f"pattern {name} = /{pattern.expression.replace('/', chr(92) + '/')}/")
        for name, lexicon in self.lexicons.items():
            kind = "cased lexicon" if lexicon.cased else "lexicon"
            lines.append(f"{kind} {name} = {' '.join(map(quote, lexicon.phrases))}")
        return "\n".join([*lines, *self.rules]) + "\n"

    def to_dict(self) -> TemplatesDict:
        """Return the templates as JSON values, for `from_dict`."""
        return {"text": str(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Templates:
        """Rebuild templates from :meth:`to_dict`."""
        text = data.get("text")
        if not isinstance(text, str):
            raise TemplateError(f"expected template text under 'text', got {type(text).__name__}.")
        return cls.parse(text)

    @property
    def names(self) -> tuple[str, ...]:
        """Each template as text: ``edge: word[0]``, or the line of a CRF++ file."""
        return template_names(self.templates, self.rules)

    def of(self, *parts: str) -> list[Template]:
        """Return the templates of some parts, in order."""
        return [template for template in self.templates if template.part in parts]

    def keep(
        self, templates: Set[Template], segment_rules: Set[SegmentRule] = frozenset()
    ) -> Templates:
        """Return these templates and rules of segments alone, in their present order.

        The text of the result lists them one a line, with the patterns and lexicons that they read.
        A text of no rules means nothing: where nothing is to be kept, the first template is (or the
        first rule of segments). In a file of CRF++ or Wapiti lines are kept: a ``*`` line with both
        of its templates, and at least one line with a macro, which is what makes it such a file.
        """
        chosen = [template for template in self.templates if template in templates]
        rules = [rule for rule in self.segment_rules if rule in segment_rules]
        if not chosen and not rules and not crfpp.is_pattern_file("\n".join(self.rules)):
            chosen, rules = [*self.templates[:1]], [*self.segment_rules[: not self.templates]]
        text, made = kept_rules(self.rules, chosen, rules)
        left = tuple(template for template in self.templates if template in made)
        if len(left) == len(self.templates) and len(rules) == len(self.segment_rules):
            return self
        patterns, lexicons = patterns_used(left), lexicons_used(left, rules)
        return replace(
            self,
            templates=left,
            segment_rules=tuple(rules),
            patterns={name: own for name, own in self.patterns.items() if name in patterns},
            lexicons={name: own for name, own in self.lexicons.items() if name in lexicons},
            rules=text,
        )

    @cached_property
    def has_edges(self) -> bool:
        """Whether some template describes transitions."""
        return any(template.part == "edge" for template in self.templates)

    @cached_property
    def has_segments(self) -> bool:
        """Whether some rule describes segments: ``begin:``, ``end:`` or ``segment:``."""
        on_segments = any(template.part in ("begin", "end") for template in self.templates)
        return on_segments or bool(self.segment_rules)

    @cached_property
    def program(self) -> CompiledTemplates:
        """The native programs and the columns that they read."""
        read = [*columns_of(self.templates), *(rule.column for rule in self.segment_rules)]
        columns = {column: i for i, column in enumerate(dict.fromkeys(read))}

        def compiled(*parts: Part) -> _core.FeatureProgram:
            chosen = self.of(*parts)
            return compile_program(chosen, columns, self.patterns, self.lexicons, pad=self.pad)

        parts = {template.part for template in self.templates}
        segment = None
        if self.segment_rules:
            segment = compile_segment_rules(self.segment_rules, columns, self.lexicons)
        return CompiledTemplates(
            tuple(columns),
            compiled("state", "edge"),
            compiled("begin") if "begin" in parts else None,
            compiled("end") if "end" in parts else None,
            segment,
        )
