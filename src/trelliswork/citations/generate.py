"""Labelled references: works rendered in citation styles, with noise, cut into tokens."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from trelliswork.citations.noise import Noise, distort, vary_style, vary_work
from trelliswork.citations.render import render
from trelliswork.text import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.citations.render import Style
    from trelliswork.citations.template import Piece
    from trelliswork.citations.works import Work

TOKENIZER = Tokenizer("words")
"""A run of letters and digits, or a single mark: the tokens of the Cora references."""


@dataclass(frozen=True)
class LabelledReference:
    """A reference with a label for every token.

    Attributes
    ----------
    tokens, labels : tuple of str
        Of the same length; the labels are among `FIELDS`.
    text : str
        The reference as it is written.
    offsets : tuple of (int, int)
        `text[start:end]` is the token.
    style, work_id : str
        Where it comes from.
    """

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    text: str
    offsets: tuple[tuple[int, int], ...]
    style: str
    work_id: str


@dataclass(frozen=True)
class Split:
    """References to train on, and references to test on that share no work with them.

    Attributes
    ----------
    train : tuple of LabelledReference
        Works and styles to learn from.
    dev : tuple of LabelledReference
        Other works in the styles of `train`, to choose settings with.
    new_works : tuple of LabelledReference
        Yet other works in the styles of `train`.
    new_styles : tuple of LabelledReference
        The works of `new_works` in styles that occur nowhere else.
    """

    train: tuple[LabelledReference, ...]
    dev: tuple[LabelledReference, ...]
    new_works: tuple[LabelledReference, ...]
    new_styles: tuple[LabelledReference, ...]


def generate(
    works: Iterable[Work],
    styles: Sequence[Style],
    *,
    noise: bool | Noise = True,
    seed: int = 0,
    per_work: int | None = None,
) -> list[LabelledReference]:
    """Render works in styles.

    Parameters
    ----------
    works : iterable of Work
        What is cited.
    styles : sequence of Style
        Styles to render them in.
    noise : bool or Noise
        Whether, or how often, references are distorted.
    seed : int
        The same seed gives the same references, whatever other works or styles there are.
    per_work : int, optional
        Render each work in so many styles, drawn at random; in all of them by default.

    Returns
    -------
    list of LabelledReference
        Work after work.
    """
    strength = Noise() if noise is True else noise
    references = []
    for work in works:
        chosen: Sequence[Style] = styles
        if per_work is not None and per_work < len(styles):
            chosen = Random(f"{seed}/{work.id}").sample(styles, per_work)
        references += [_reference(work, style, strength, seed) for style in chosen]
    return references


def split(
    works: Sequence[Work],
    styles: Sequence[Style],
    seed: int = 0,
    *,
    per_work: int | None = 6,
    noise: bool | Noise = True,
    held_out_works: float = 0.2,
    held_out_styles: int = 4,
) -> Split:
    """Divide works and styles at random, and generate references from each part.

    Parameters
    ----------
    works, styles : sequence
        All there are.
    seed : int
        Of the division and of the references.
    per_work : int, optional
        References of each work in each part.
    noise : bool or Noise
        As in `generate`.
    held_out_works : float
        The share of works to test on; half as many are for `dev`.
    held_out_styles : int
        How many styles are for `new_styles` only.
    """
    rng = Random(seed)
    works = rng.sample(works, len(works))
    styles = rng.sample(styles, len(styles))
    n_test = max(1, round(len(works) * held_out_works))
    n_dev = max(1, n_test // 2)
    if len(works) <= n_test + n_dev or len(styles) <= held_out_styles:
        raise ValueError(
            f"expected more than {n_test + n_dev} works and {held_out_styles} styles, so that some "
            f"are left to train on, got {len(works)} and {len(styles)}"
        )
    test_works, dev_works = works[:n_test], works[n_test : n_test + n_dev]
    new_styles, known_styles = styles[:held_out_styles], styles[held_out_styles:]

    def part(of_works: Sequence[Work], in_styles: Sequence[Style]) -> tuple[LabelledReference, ...]:
        return tuple(generate(of_works, in_styles, noise=noise, seed=seed, per_work=per_work))

    return Split(
        train=part(works[n_test + n_dev :], known_styles),
        dev=part(dev_works, known_styles),
        new_works=part(test_works, known_styles),
        new_styles=part(test_works, new_styles),
    )


def label_tokens(pieces: Iterable[Piece], *, style: str, work_id: str) -> LabelledReference:
    """Join pieces to a text and give each token the label of the piece it lies in."""
    text, owners = "", []
    for piece in pieces:
        text += piece.text
        owners += [piece.label] * len(piece.text)
    text = text.rstrip()
    sentence = TOKENIZER.tokenize(text)
    offsets = sentence.offsets or ()
    return LabelledReference(
        tokens=sentence.tokens,
        labels=tuple(owners[start] for start, _ in offsets),
        text=text,
        offsets=offsets,
        style=style,
        work_id=work_id,
    )


def _reference(work: Work, style: Style, noise: bool | Noise, seed: int) -> LabelledReference:
    # A generator of its own, so that a reference does not depend on those before it.
    rng = Random(f"{seed}/{work.id}/{style.name}")
    number = rng.randint(1, 99)
    if not isinstance(noise, Noise):
        return label_tokens(render(work, style, number=number), style=style.name, work_id=work.id)
    varied = vary_style(style, noise, rng)
    pieces = render(vary_work(work, noise, rng), varied, number=number)
    return label_tokens(distort(pieces, noise, rng), style=style.name, work_id=work.id)
