"""Citation parsing, the flagship application: works, citation styles, labelled references."""

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
from trelliswork.citations.render import Style, render
from trelliswork.citations.styles import STYLES
from trelliswork.citations.works import Name, Work, load_works

__all__ = [
    "FIELDS",
    "FRESH_REFERENCES",
    "LABELS",
    "STYLES",
    "TOKENIZER",
    "CslStyle",
    "LabelledReference",
    "Name",
    "Noise",
    "Split",
    "Style",
    "Work",
    "csl_styles",
    "generate",
    "load_works",
    "render",
    "split",
]
