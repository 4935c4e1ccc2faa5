"""Citation parsing, the flagship application.

`parse` reads references with the model that ships with the package, `write` writes them as BibTeX
and the like; most other names make labelled references to train such models on.
"""

from trelliswork._utils.lazy import attach_stub

# The names are listed in the stub, once.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
