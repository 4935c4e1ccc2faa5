"""Trelliswork: sequence labelling that obeys rules.

>>> import trelliswork as tw
>>> tagger = tw.CRFTagger(features="word[0]").fit([["a", "b"]], [["X", "Y"]])
>>> tagger.predict([["b", "a"]])
[['Y', 'X']]
"""

from trelliswork._utils.lazy import attach_stub

__version__ = "0.1.0"

# The names are listed in the stub, once.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
