"""Fixtures of the tests of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

RULES = """# what the labels must be
valid_scheme()
at_most(1, 'PER')

only_on(token(regex='[A-Z].*'), 'PER')   # names have a capital
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Return a file of rules."""
    path = tmp_path / "rules.txt"
    path.write_text(RULES)
    return path
