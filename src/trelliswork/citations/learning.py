"""Training of reference models: the one that ships with the package, and those of users.

No model here is trained on references labelled by hand. Works, real and invented ones, are written
in hundreds of styles, with noise, and every character keeps its field.

The features of the models are in ``parser_features.txt``, in the template language, so that users
can read, change and reuse them. Its lexicons are short lists of common knowledge: names of people
and places, publishers, words of journals in full and abbreviated, and the words that announce
editors, theses, pages or notes in the usual languages of references.
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
"""Number of CSL styles that no model here is trained on."""

INVENTED_WORKS = 5_000

TRAINING_STYLES = 600

NOISE = Noise(no_title=0.08)
"""The noise of generated references."""

_OWN_SHARE = 0.2  # of references in the package's own styles, those of BibTeX and LaTeX classes

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
        Whether to add the rules of a semi-Markov model (``max_segment`` above 1): the words at both
        ends of a segment, its text and its shape, and whether it is a phrase of a lexicon.

    Examples
    --------
    >>> "in(months, word[0])" in parser_templates().names
    True
    """
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    templates = Templates.parse(text, origin=_FILE)
    return with_segment_rules(templates) if segments else templates


def divided_styles(seed: int = 0) -> tuple[list[str], list[str]]:
    """Return the names of the CSL styles for training, and of the held-out ones."""
    names = list(csl_styles())
    Random(seed).shuffle(names)
    return names[HELD_OUT_STYLES:], names[:HELD_OUT_STYLES]


def make_references(
    works: Iterable[Work], styles: Sequence[str], *, per_work: int = 2, seed: int = 0
) -> Iterator[LabelledReference]:
    """Yield works as labelled references, in CSL styles and in the package's own.

    Parameters
    ----------
    works : iterable of Work
        The cited works.
    styles : sequence of str
        Names of CSL styles. If empty, all references are in the package's own styles, which need no
        extra.
    per_work : int
        Number of references of each work.
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
    """Return references as a training corpus in the scheme of the models."""
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
        The training data.
    held_out : iterable of LabelledReference
        Data for the penalties of soft rules: works and styles that are new to the tagger.
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
    """Return the training data of the shipped model, and a held-out part.

    The works are the shipped ones and `INVENTED_WORKS` invented ones, in `TRAINING_STYLES` CSL
    styles and the package's own. A tenth of the works is held out, and written in held-out styles.
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
    """Train the model that ships with the package, from scratch.

    Parameters
    ----------
    seed : int
        The same seed gives the same model, and the same file to the byte.
    say : callable
        Called with a message at each step.
    """
    say(f"writing {INVENTED_WORKS:,} invented and {len(load_works())} real works as references")
    references, held_out = generated_references(seed)
    say(f"training on {len(references):,} references, in about two minutes")
    tagger = train_parser(references, held_out)
    tagger.training_log_ = []  # its seconds differ from run to run
    return tagger
