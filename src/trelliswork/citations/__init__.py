"""Citation parsing, the flagship application.

`parse` reads references with the model that ships with the package: `documents` cuts a document
into references, a CRF labels their tokens under rules, and `meaning` turns the labelled fields into
typed values. `writing` writes references as BibTeX and other formats, `page` as HTML. Training data
come from bibliographic `records` and `invention`, written in citation `styles`. `adaptation` fits
the model to a user's references.

Imports `taggers`, `learn` and the floors below. The names are listed in the stub ``__init__.pyi``.
"""

from trelliswork._utils.lazy import attach_stub

# The names are listed in the stub, once.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
