"""Random regular languages over one-letter labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

ALPHABET = "abcd"


def random_letters(generator: random.Random) -> str:
    """Draw an alphabet of two to four labels."""
    return ALPHABET[: generator.randint(2, len(ALPHABET))]


def random_expression(generator: random.Random, letters: str, depth: int = 4) -> str:
    """Draw a regular expression that our syntax and Python's read alike, spaces aside."""
    if depth == 0 or generator.random() < 0.1:
        return generator.choice(f"{letters}.")
    first, second = (random_expression(generator, letters, depth - 1) for _ in range(2))
    forms = (
        f"({first} | {second})",
        f"({first} | {second})*",
        f"{first} {second}",
        f"({first} {second})*",
        f"({first} {second})+",
        f"({first})? {second}",
    )
    return generator.choice(forms)
