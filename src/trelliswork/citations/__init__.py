"""Citation parsing, the flagship application.

`parse` reads references with the model that ships with the package, `write` writes them as BibTeX
and the like; most other names make labelled references to train such models on.
"""

# ruff: noqa: TC004
# `__all__` names what is imported for type checkers alone, and served when asked for.

from typing import TYPE_CHECKING

from trelliswork import on_demand

if TYPE_CHECKING:
    from trelliswork.citations.fields import FIELDS, LABELS, TOKENIZER
    from trelliswork.citations.fresh import FRESH_REFERENCES
    from trelliswork.citations.parser import Parser, parse
    from trelliswork.citations.records import Name, Work, load_works
    from trelliswork.citations.reference import Alternative, Field, Reference
    from trelliswork.citations.styles.csl import CslStyle, csl_styles
    from trelliswork.citations.styles.generate import LabelledReference, Split, generate, split
    from trelliswork.citations.styles.noise import Noise
    from trelliswork.citations.styles.own import STYLES
    from trelliswork.citations.styles.render import Style, render
    from trelliswork.citations.writing.formats import write

__all__ = [
    "FIELDS",
    "FRESH_REFERENCES",
    "LABELS",
    "STYLES",
    "TOKENIZER",
    "Alternative",
    "CslStyle",
    "Field",
    "LabelledReference",
    "Name",
    "Noise",
    "Parser",
    "Reference",
    "Split",
    "Style",
    "Work",
    "csl_styles",
    "generate",
    "load_works",
    "parse",
    "render",
    "split",
    "write",
]

# Where each name is. Whoever reads references must not wait for what makes them.
_NAMES = {
    "fields": ("FIELDS", "LABELS", "TOKENIZER"),
    "fresh": ("FRESH_REFERENCES",),
    "parser": ("Parser", "parse"),
    "records": ("Name", "Work", "load_works"),
    "reference": ("Alternative", "Field", "Reference"),
    "styles.csl": ("CslStyle", "csl_styles"),
    "styles.generate": ("LabelledReference", "Split", "generate", "split"),
    "styles.noise": ("Noise",),
    "styles.own": ("STYLES",),
    "styles.render": ("Style", "render"),
    "writing.formats": ("write",),
}
on_demand.serve(__name__, _NAMES)
