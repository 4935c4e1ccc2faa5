"""Citation parsing, the flagship application.

`parse` reads references with the model that ships with the package; the other names make labelled
references to train such models on.
"""

from trelliswork.citations.csl_styles import CslStyle, csl_styles
from trelliswork.citations.fields import FIELDS, LABELS
from trelliswork.citations.fresh import FRESH_REFERENCES
from trelliswork.citations.generate import (
    TOKENIZER,
    LabelledReference,
    Split,
    generate,
    split,
)
from trelliswork.citations.noise import Noise
from trelliswork.citations.parser import Parser, parse
from trelliswork.citations.reference import Alternative, Field, Reference
from trelliswork.citations.render import Style, render
from trelliswork.citations.styles import STYLES
from trelliswork.citations.works import Name, Work, load_works

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
]
