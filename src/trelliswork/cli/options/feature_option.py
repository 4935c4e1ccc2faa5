"""The option ``--features``: a bundle, a template file, or template text."""

from __future__ import annotations

from pathlib import Path

from trelliswork.errors import TemplateError
from trelliswork.features import BUNDLES, Templates, bundle

__all__ = ["FEATURES_HELP", "resolve_features"]

FEATURES_HELP = (
    f"Bundle of templates ({', '.join(BUNDLES)}), path of a template file (ours, CRF++ or Wapiti), "
    'or template text such as "word[-1..1]".'
)
BARE_TEMPLATES = ("word", "token", "bias")
TEMPLATE_PREFIXES = ("edge", "begin", "end", "segment")


def resolve_features(given: str) -> str | Templates:
    """Return the name of a bundle, or the templates of a file or of the text itself."""
    if given in BUNDLES:
        bundle(given)
        return given
    if Path(given).is_file():
        return Templates.from_file(given)
    # Every other template has a bracket or a prefix; paths rarely do.
    has_prefix = given.partition(":")[0].strip() in TEMPLATE_PREFIXES
    if given in BARE_TEMPLATES or has_prefix or any(mark in given for mark in "[(\n"):
        return Templates.parse(given, origin="--features")
    raise TemplateError(
        f"--features: expected a bundle ({', '.join(BUNDLES)}), the path of a template file, or "
        f"template text, got {given!r}, and there is no such file."
    )
