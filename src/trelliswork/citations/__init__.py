"""Citation parsing, the flagship application: works, citation styles, labelled references."""

from trelliswork.citations.fresh import FRESH_REFERENCES
from trelliswork.citations.generate import (
    TOKENIZER,
    LabelledReference,
    Split,
    generate,
    split,
)
from trelliswork.citations.noise import Noise
from trelliswork.citations.render import FIELDS, Style, render
from trelliswork.citations.styles import STYLES
from trelliswork.citations.works import Name, Work, load_works

__all__ = [
    "FIELDS",
    "FRESH_REFERENCES",
    "STYLES",
    "TOKENIZER",
    "LabelledReference",
    "Name",
    "Noise",
    "Split",
    "Style",
    "Work",
    "generate",
    "load_works",
    "render",
    "split",
]
