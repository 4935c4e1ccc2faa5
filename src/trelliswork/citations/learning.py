"""Models of references: the one that ships with the package, and those that users make.

Nothing here has seen a reference that somebody labelled. Works (real ones and invented ones) are
written in hundreds of styles, with noise, and every character knows its field.

What the reference parser looks at: its templates, patterns and lexicons.

They stand in ``parser_features.txt``, in the template language, so that they can be read, changed
and given to a tagger of one's own. The lexicons are short lists of common knowledge: names of
people and places, publishers, the words of journals in full and abbreviated, and what announces
editors, theses, pages or notes in the languages references are mostly written in.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import resources
from random import Random
from typing import TYPE_CHECKING

from trelliswork.citations.fields import LABELS, SCHEME, to_scheme
from trelliswork.citations.invention import invent_works
from trelliswork.citations.records import load_works
from trelliswork.citations.styles.csl import CslStyle, csl_styles
from trelliswork.citations.styles.generate import generate
from trelliswork.citations.styles.noise import Noise
from trelliswork.citations.styles.own import STYLES
from trelliswork.constraints.text.parser import read_rules
from trelliswork.data.corpus import Corpus
from trelliswork.features import Templates
from trelliswork.features.bundles import with_segment_rules
from trelliswork.learn.penalties.learn import learn_penalties
from trelliswork.taggers.crf import CRFTagger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trelliswork.citations.records import Work
    from trelliswork.citations.styles.generate import LabelledReference
    from trelliswork.constraints import Constraint


HELD_OUT_STYLES = 100
"""CSL styles that no model here is trained on."""

INVENTED_WORKS = 5_000

TRAINING_STYLES = 600

NOISE = Noise(no_title=0.08)
"""What the references are written with."""

_OWN_SHARE = 0.2  # of references in our own styles, which are those of BibTeX and of LaTeX classes

_RULES = "rules.txt"

_FILE = "parser_features.txt"


def shipped_rules() -> list[Constraint]:
    """Return the rules that ship with the package, hard and soft."""
    with resources.as_file(resources.files(__package__).joinpath(_RULES)) as path:
        return list(read_rules(path))


@cache
def parser_templates(*, segments: bool = False) -> Templates:
    """Return the templates of the reference parser; they read the tokens only.

    Parameters
    ----------
    segments
        Whether they are for a model of segments (``max_segment`` above 1): it also reads the words
        at both ends of a segment, its text and its shape, and whether it is a phrase of a lexicon.

    Examples
    --------
    >>> "in(months, word[0])" in parser_templates().names
    True
    """
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    templates = Templates.parse(text, origin=_FILE)
    return with_segment_rules(templates) if segments else templates


def divided_styles(seed: int = 0) -> tuple[list[str], list[str]]:
    """Return the names of the CSL styles to train on, and of those that are held out."""
    names = list(csl_styles())
    Random(seed).shuffle(names)
    return names[HELD_OUT_STYLES:], names[:HELD_OUT_STYLES]


def make_references(
    works: Iterable[Work], styles: Sequence[str], *, per_work: int = 2, seed: int = 0
) -> Iterator[LabelledReference]:
    """Write works as labelled references, in CSL styles and in our own.

    Parameters
    ----------
    works : iterable of Work
        What is cited.
    styles : sequence of str
        Names of CSL styles. With none, all references are in our own styles, which need no extra.
    per_work : int
        References of each work.
    seed : int
        The same seed gives the same references.
    """
    load = lru_cache(maxsize=None)(CslStyle)
    for work in works:
        rng = Random(f"{seed}/{work.id}")
        for number in range(per_work):
            own = not styles or rng.random() < _OWN_SHARE
            style = rng.choice(STYLES) if own else load(rng.choice(styles))
            yield from generate([work], [style], noise=NOISE, seed=seed + number, fields="parser")


def as_corpus(references: Iterable[LabelledReference]) -> Corpus:
    """Return references as a corpus to train on, in the scheme of the models."""
    pairs = [(own.tokens, to_scheme(own.labels, SCHEME)) for own in references]
    return Corpus.from_lists([tokens for tokens, _ in pairs], [labels for _, labels in pairs])


def train_parser(
    references: Iterable[LabelledReference],
    held_out: Iterable[LabelledReference],
    *,
    l1: float = 0.7,
    l2: float = 0.02,
    max_iter: int = 150,
    verbose: bool = False,
) -> CRFTagger:
    """Train a tagger of references under the shipped rules.

    Parameters
    ----------
    references : iterable of LabelledReference
        What to learn from.
    held_out : iterable of LabelledReference
        What to learn the penalties of soft rules from: works and styles that are new to the tagger.
    l1, l2, max_iter
        As those of `CRFTagger`.
    verbose : bool
        Whether to show progress.
    """
    tagger = CRFTagger(
        features=parser_templates(),
        labels=[f"{tag}-{label}" for label in LABELS for tag in "BI"],
        scheme=SCHEME,
        l1=l1,
        l2=l2,
        max_iter=max_iter,
        verbose=verbose,
    )
    tagger.fit(as_corpus(references))
    return learn_penalties(
        tagger, as_corpus(held_out), constraints=shipped_rules(), random_state=0, prune=True
    )


def generated_references(
    seed: int = 0,
) -> tuple[list[LabelledReference], list[LabelledReference]]:
    """Write what the shipped model is trained on, and a held-out part.

    The shipped works and `INVENTED_WORKS` invented ones, in `TRAINING_STYLES` CSL styles and our
    own. The second part is of a tenth of the works, which the first has not, in styles that are
    held out.
    """
    known, new = divided_styles(seed)
    rng = Random(seed)
    works = [*load_works(), *invent_works(INVENTED_WORKS, seed)]
    rng.shuffle(works)
    cut = len(works) // 10
    styles = rng.sample(known, TRAINING_STYLES)
    return (
        list(make_references(works[cut:], styles, seed=seed)),
        list(make_references(works[:cut], new, per_work=1, seed=seed)),
    )


def train_default(
    seed: int = 0, *, say: Callable[[str], object] = lambda message: None
) -> CRFTagger:
    """Train the model that ships with the package, from the beginning.

    Parameters
    ----------
    seed : int
        The same seed gives the same model, and the same file to the byte.
    say : callable
        Told what is done.
    """
    say(f"writing {INVENTED_WORKS:,} invented and {len(load_works())} real works as references")
    references, held_out = generated_references(seed)
    say(f"training on {len(references):,} references, in about two minutes")
    tagger = train_parser(references, held_out)
    tagger.training_log_ = []  # holds seconds, which no two runs share
    return tagger
