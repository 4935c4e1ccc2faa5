"""The option ``--dev``: a file, or the share of the training sentences to hold out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trelliswork.data.corpus import Corpus
from trelliswork.errors import DataError

__all__ = ["hold_out", "read_share"]


def read_share(dev: str) -> float | None:
    """Return the share given with ``--dev``; ``None`` if it names a file."""
    try:
        share = float(dev)
    except ValueError:
        return None
    if Path(dev).is_file():
        return None
    if not 0.0 < share < 1.0:
        raise ValueError(f"--dev: expected a file or a share between 0 and 1, got {dev}.")
    return share


def hold_out(corpus: Corpus, share: float, seed: int) -> tuple[Corpus, Corpus]:
    """Hold out a random share of the sentences, at least one; both parts keep their order."""
    size = max(1, round(share * len(corpus)))
    if size >= len(corpus):
        raise DataError(
            f"{corpus.source}: expected more sentences than the {size} to hold out, got "
            f"{len(corpus)}. Give --dev a file, or a smaller share."
        )
    chosen = set(np.random.default_rng(seed).permutation(len(corpus))[:size].tolist())
    kept = [sentence for i, sentence in enumerate(corpus) if i not in chosen]
    held_out = [sentence for i, sentence in enumerate(corpus) if i in chosen]
    return Corpus(kept, corpus.source), Corpus(held_out, corpus.source)
