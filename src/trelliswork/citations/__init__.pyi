"""The names of `trelliswork.citations`: each is imported when it is asked for."""

from trelliswork.citations.fields import (
    FIELDS as FIELDS,
)
from trelliswork.citations.fields import (
    LABELS as LABELS,
)
from trelliswork.citations.fields import (
    TOKENIZER as TOKENIZER,
)
from trelliswork.citations.fresh import FRESH_REFERENCES as FRESH_REFERENCES
from trelliswork.citations.parser import (
    Parser as Parser,
)
from trelliswork.citations.parser import (
    parse as parse,
)
from trelliswork.citations.records import (
    Name as Name,
)
from trelliswork.citations.records import (
    Work as Work,
)
from trelliswork.citations.records import (
    load_works as load_works,
)
from trelliswork.citations.reference import (
    Alternative as Alternative,
)
from trelliswork.citations.reference import (
    Field as Field,
)
from trelliswork.citations.reference import (
    Reference as Reference,
)
from trelliswork.citations.styles.csl import (
    CslStyle as CslStyle,
)
from trelliswork.citations.styles.csl import (
    csl_styles as csl_styles,
)
from trelliswork.citations.styles.generate import (
    LabelledReference as LabelledReference,
)
from trelliswork.citations.styles.generate import (
    Split as Split,
)
from trelliswork.citations.styles.generate import (
    generate as generate,
)
from trelliswork.citations.styles.generate import (
    split as split,
)
from trelliswork.citations.styles.noise import Noise as Noise
from trelliswork.citations.styles.own import STYLES as STYLES
from trelliswork.citations.styles.render import (
    Style as Style,
)
from trelliswork.citations.styles.render import (
    render as render,
)
from trelliswork.citations.writing.formats import write as write
