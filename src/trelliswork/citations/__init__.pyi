"""The names of `trelliswork.citations`: each is imported when it is asked for."""

from trelliswork.citations.fields import (
    FIELDS as FIELDS,
    LABELS as LABELS,
    TOKENIZER as TOKENIZER,
)
from trelliswork.citations.fresh import FRESH_REFERENCES as FRESH_REFERENCES
from trelliswork.citations.parser import (
    Parser as Parser,
    parse as parse,
)
from trelliswork.citations.records import (
    Name as Name,
    Work as Work,
    load_works as load_works,
)
from trelliswork.citations.reference import (
    Alternative as Alternative,
    Field as Field,
    Reference as Reference,
)
from trelliswork.citations.styles.csl import (
    CslStyle as CslStyle,
    csl_styles as csl_styles,
)
from trelliswork.citations.styles.generate import (
    LabelledReference as LabelledReference,
    Split as Split,
    generate as generate,
    split as split,
)
from trelliswork.citations.styles.noise import Noise as Noise
from trelliswork.citations.styles.own import STYLES as STYLES
from trelliswork.citations.styles.render import (
    Style as Style,
    render as render,
)
from trelliswork.citations.writing.formats import write as write
