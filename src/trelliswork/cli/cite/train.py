"""``trelliswork cite train``: train a model on corrections, on records, or from scratch."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trelliswork.cli.cite.input import Model, load_trainable, read_document
from trelliswork.cli.output import say
from trelliswork.cli.targets import check_targets
from trelliswork.errors import DataError

if TYPE_CHECKING:
    from trelliswork.citations.records import Work
    from trelliswork.taggers.crf import CRFTagger

__all__ = ["EXAMPLES", "train"]

EXAMPLES = """Examples:

- `trelliswork cite train --add review.txt --out mine.tw`

- `trelliswork cite train --from my.bib --out mine.tw`

- `trelliswork cite train --from zotero.json --add review.txt --model mine.tw --out better.tw`

- `trelliswork cite train --out default.tw`: rebuild the model of the package
"""


def train(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Model file to write.")],
    add: Annotated[
        list[Path] | None,
        typer.Option(
            "--add",
            metavar="FILE",
            help="References written by `cite review` and corrected by you. May be repeated.",
        ),
    ] = None,
    records: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Records to format as references in hundreds of styles: a .bib file, or CSL-JSON "
            "as exported by Zotero. Needs the cite extra. May be repeated.",
        ),
    ] = None,
    model: Model = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
) -> None:
    """Train a model on corrected references, on your own bibliography, or from scratch.

    With `--add` or `--from`, training starts from the model of the package, or from `--model`, and
    takes seconds. With neither, it rebuilds the model of the package from real and invented works
    in hundreds of CSL styles. That takes minutes and needs the cite extra; the same seed gives the
    same model.
    """
    began = time.perf_counter()
    check_targets({"--out": out}, [*(add or ()), *(records or ())])
    if not add and not records:
        _train_default(out, model, seed)
    else:
        from trelliswork.citations.adaptation import learn_labelled

        corrected = [pair for path in add or [] for pair in _corrected(path)]
        works = [work for path in records or [] for work in _works(path)]
        before = load_trainable(model)
        _warn_of_broken_rules(before, [labels for _, labels in corrected])
        tagger = learn_labelled(before, corrected, works, seed=seed)
        tagger.save(out)
    say(f"{out}: {out.stat().st_size / 1000:,.0f} kB, {time.perf_counter() - began:.1f} s.")


def _warn_of_broken_rules(tagger: CRFTagger, labels: list[tuple[str, ...]]) -> None:
    """Warn of corrections that break a hard rule: they are learned from, but never predicted."""
    for rule in tagger.plan_.constraints:
        count = 0 if rule.is_soft else sum(rule.violations(y, scheme="plain") > 0 for y in labels)
        if count:
            say(f"{count} of the corrected references break {rule}, which no prediction may.")


def _corrected(path: Path) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    from trelliswork.citations.review import read_review

    found = read_review(read_document(str(path)).text, source=str(path))
    say(f"{path}: {len(found)} references to learn from.")
    return [(reference.tokens, reference.labels) for reference in found]


def _works(path: Path) -> list[Work]:
    from trelliswork.citations.records.read_bibtex import read_bibtex
    from trelliswork.citations.records.read_csl import read_csl

    readers = {".bib": read_bibtex, ".json": read_csl, ".jsonl": read_csl}
    if path.suffix.lower() not in readers:
        raise DataError(
            f"{path}: expected a name that ends in {', '.join(readers)}, which says how to read it."
        )
    found = readers[path.suffix.lower()](read_document(str(path)).text, source=str(path))
    skipped = f", {len(found.skipped)} skipped: {found.skipped[0]}" if found.skipped else ""
    say(f"{path}: {len(found.works)} records{skipped}")
    return list(found.works)


def _train_default(out: Path, model: Path | None, seed: int) -> None:
    from trelliswork.citations.learning import train_default

    if model is not None:
        raise DataError("--model: expected --add or --from with it, or neither of the three.")
    train_default(seed, say=say).save(out)
