"""Labelled references: works rendered in citation styles, with noise, cut into tokens."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias

from trelliswork.citations.fields import TOKENIZER, to_cora
from trelliswork.citations.styles.noise import Noise, distort, vary_style, vary_work
from trelliswork.citations.styles.render import Style, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trelliswork.citations.records import Work
    from trelliswork.citations.styles.csl import CslStyle
    from trelliswork.citations.styles.template import Piece

Fields: TypeAlias = Literal["cora", "parser"]


@dataclass(frozen=True)
class LabelledReference:
    """A reference with a label for every token.

    Attributes
    ----------
    tokens, labels : tuple of str
        Two lists of the same length; the labels are among `FIELDS` or `LABELS`.
    text : str
        The reference as it is written.
    offsets : tuple of (int, int)
        `text[start:end]` is the token.
    style, work_id : str
        Its style and its work.
    """

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    text: str
    offsets: tuple[tuple[int, int], ...]
    style: str
    work_id: str


@dataclass(frozen=True)
class Split:
    """References for training, and references for testing that share no work with them.

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
    styles: Sequence[Style | CslStyle],
    *,
    noise: bool | Noise = True,
    seed: int = 0,
    per_work: int | None = None,
    fields: Fields = "cora",
) -> list[LabelledReference]:
    """Render works in styles.

    Parameters
    ----------
    works : iterable of Work
        The cited works.
    styles : sequence of Style or CslStyle
        Styles to render them in.
    noise : bool or Noise
        Whether, or how often, references are distorted.
    seed : int
        The same seed gives the same references, whatever other works or styles there are.
    per_work : int, optional
        Render each work in so many styles, drawn at random; in all of them by default.
    fields : {"cora", "parser"}
        Label tokens with the 13 `FIELDS` of the Cora references, or with the `LABELS` of the
        parser.

    Returns
    -------
    list of LabelledReference
        Work after work, without those that a style writes nothing of.
    """
    strength = Noise() if noise is True else noise
    references = []
    for work in works:
        chosen: Sequence[Style | CslStyle] = styles
        if per_work is not None and per_work < len(styles):
            chosen = Random(f"{seed}/{work.id}").sample(styles, per_work)
        for style in chosen:
            reference = _reference(work, style, strength, seed, fields)
            if reference.tokens:
                references.append(reference)
    return references


def split(
    works: Sequence[Work],
    styles: Sequence[Style | CslStyle],
    seed: int = 0,
    *,
    per_work: int | None = 6,
    noise: bool | Noise = True,
    held_out_works: float = 0.2,
    held_out_styles: int = 4,
    fields: Fields = "cora",
) -> Split:
    """Divide works and styles at random, and generate references from each part.

    Parameters
    ----------
    works, styles : sequence
        All there are.
    seed : int
        Seed of the division and of the references.
    per_work : int, optional
        References of each work in each part.
    noise : bool or Noise
        As in `generate`.
    held_out_works : float
        The share of works to test on; half as many are for `dev`.
    held_out_styles : int
        Number of styles for `new_styles` only.
    fields : {"cora", "parser"}
        As in `generate`.
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

    def part(
        of_works: Sequence[Work], in_styles: Sequence[Style | CslStyle]
    ) -> tuple[LabelledReference, ...]:
        return tuple(
            generate(of_works, in_styles, noise=noise, seed=seed, per_work=per_work, fields=fields)
        )

    return Split(
        train=part(works[n_test + n_dev :], known_styles),
        dev=part(dev_works, known_styles),
        new_works=part(test_works, known_styles),
        new_styles=part(test_works, new_styles),
    )


def label_tokens(
    pieces: Iterable[Piece], *, style: str, work_id: str, fields: Fields = "cora"
) -> LabelledReference:
    """Join pieces to a text and give each token the label of its piece."""
    text, owners = "", []
    for piece in pieces:
        text += piece.text
        owners += [piece.label] * len(piece.text)
    text = text.rstrip()
    sentence = TOKENIZER.tokenize(text)
    offsets = sentence.offsets or ()
    labels = [owners[start] for start, _ in offsets]
    return LabelledReference(
        tokens=sentence.tokens,
        labels=tuple(labels if fields == "parser" else to_cora(labels)),
        text=text,
        offsets=offsets,
        style=style,
        work_id=work_id,
    )


def _reference(
    work: Work, style: Style | CslStyle, noise: bool | Noise, seed: int, fields: Fields
) -> LabelledReference:
    # A generator of its own, so that a reference does not depend on those before it.
    rng = Random(f"{seed}/{work.id}/{style.name}")
    number = rng.randint(1, 99)
    varied, habits = work, style
    if isinstance(noise, Noise):
        varied = vary_work(work, noise, rng)
        habits = vary_style(style, noise, rng) if isinstance(style, Style) else style
    if isinstance(habits, Style):
        pieces = render(varied, habits, number=number)
    else:
        pieces = habits.render(varied, number=number)
    if isinstance(noise, Noise) and pieces:
        pieces = distort(pieces, noise, rng)
    return label_tokens(pieces, style=style.name, work_id=work.id, fields=fields)
