"""The package's own citation styles: twenty, each with five templates over shared fields.

The names say whom a style resembles; none claims to be the letter of a manual. How templates are
read is explained in `trelliswork.citations.styles.template`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trelliswork.citations.styles.by_author import BY_AUTHOR
from trelliswork.citations.styles.by_number import BY_NUMBER

if TYPE_CHECKING:
    from trelliswork.citations.styles.render import Style

STYLES: tuple[Style, ...] = BY_AUTHOR + BY_NUMBER
