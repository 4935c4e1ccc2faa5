"""Which model for references: schemes of labels, orders, segments.

  own           cross-validation of train, on the labels of each set itself
  generated     the training set of the shipped parser; scored on generated references in styles
                that are held out, and on the *train* parts of the real sets, in labels in common

Nothing here looks at dev or test.

    python experiments/citation_models.py --data DIR
    python experiments/citation_models.py --data DIR --quick
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from citation_scores import score_parser
from citation_sets import SETS
from common import Findings, ResultTable, options, read_part, settings_of

import trelliswork as tw
from trelliswork.citations.fields import to_plain, to_scheme
from trelliswork.citations.learning import generated_references, parser_templates

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from trelliswork.labels.schemes import Scheme


@dataclass(frozen=True)
class Variant:
    """A model to try: the scheme of its labels, its order, and whether it is over segments."""

    scheme: Scheme
    order: int = 1
    segments: bool = False

    @property
    def name(self) -> str:
        """What the table calls it."""
        kind = "semi-Markov" if self.segments else "chain"
        return f"{kind}, {self.scheme}, order {self.order}"

    def train(
        self, tokens: Sequence[Sequence[str]], labels: Sequence[Sequence[str]], **how: Any
    ) -> tw.CRFTagger:
        """Train on plain labels."""
        tagger = tw.CRFTagger(
            features=parser_templates(segments=self.segments),
            order=self.order,
            max_segment="auto" if self.segments else 1,
            scheme=self.scheme,
            **how,
        )
        wanted = [to_scheme(own, self.scheme) for own in labels]
        return tagger.fit([list(own) for own in tokens], wanted)


VARIANTS = (
    Variant("plain"),
    Variant("bio"),
    Variant("bioes"),
    Variant("plain", order=2, segments=True),
    Variant("bio", order=2),
)
PLAIN_SETS = ("cora", "anystyle")
FOLDS = 3


def cross_validate(name: str, given: Namespace) -> dict[str, list[float]]:
    """Return field F1 and token accuracy of each variant on folds of train."""
    references = list(read_part(given.data, name, "train"))[: 60 if given.quick else None]
    fold_of = np.random.default_rng(given.seed).permutation(len(references)) % FOLDS
    gold = [[str(label) for label in one.labels or ()] for one in references]
    found = {}
    for variant in VARIANTS:
        answers: dict[int, list[str]] = {}
        for fold in range(FOLDS):
            train = np.flatnonzero(fold_of != fold)
            tagger = variant.train(
                [references[i].tokens for i in train],
                [gold[i] for i in train],
                l1=0.1,
                l2=0.1,
                max_iter=10 if given.quick else 80,
            )
            held_out = np.flatnonzero(fold_of == fold).tolist()
            predicted = tagger.predict([list(references[i].tokens) for i in held_out])
            plain = (to_plain(labels, variant.scheme) for labels in predicted)
            answers.update(zip(held_out, plain, strict=True))
        report = tw.report(gold, [answers[i] for i in range(len(gold))], scheme="plain")
        found[variant.name] = [report.f1, report.token_accuracy]
    return found


def on_generated(given: Namespace) -> dict[str, dict[str, float]]:
    """Return the token accuracies of each variant that is trained on generated references."""
    made, held_out = generated_references(given.seed)
    if given.quick:
        made, held_out = made[:200], held_out[:50]
    real = [
        Random(given.seed).sample(
            list(read_part(given.data, kind.name, "train")), 20 if given.quick else 300
        )
        for kind in SETS
    ]
    found: dict[str, dict[str, float]] = {}
    for variant in VARIANTS:
        if variant.segments:
            continue  # hours, on so many references
        tagger = variant.train(
            [one.tokens for one in made],
            [one.labels for one in made],
            l1=0.7,
            l2=0.02,
            max_iter=10 if given.quick else 150,
        )
        answers = tagger.predict([list(one.tokens) for one in held_out])
        plain = [to_plain(labels, variant.scheme) for labels in answers]
        report = tw.report([list(one.labels) for one in held_out], plain, scheme="plain")
        own = {"held-out styles": report.token_accuracy}
        own |= {
            kind.name: score_parser(tagger, kind, some).tokens
            for kind, some in zip(SETS, real, strict=True)
        }
        found[variant.name] = own
    return found


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; it claims nothing, so it holds whenever it runs."""
    parser = options(__doc__, data=True)
    parser.add_argument("--seed", type=int, default=0, help="of folds and generated references")
    parser.add_argument("--quick", action="store_true", help="little data, for a check")
    given = parser.parse_args(arguments)
    findings = Findings("citation_models", given.output, settings_of(given))
    own = {name: cross_validate(name, given) for name in PLAIN_SETS}
    header = ("model", *(f"{name} {what}" for name in PLAIN_SETS for what in ("F1", "tokens %")))
    rows = [
        [variant.name, *(f"{100 * x:.2f}" for name in PLAIN_SETS for x in own[name][variant.name])]
        for variant in VARIANTS
    ]
    findings.table(ResultTable(f"Trained on the set itself: {FOLDS} folds of train", header, rows))
    generated = on_generated(given)
    columns = ("held-out styles", *(kind.name for kind in SETS))
    rows = [
        [name, *(f"{100 * values[column]:.2f}" for column in columns)]
        for name, values in generated.items()
    ]
    title = "Trained on generated references, without rules: tokens %, of train"
    findings.table(ResultTable(title, ("model", *columns), rows))
    findings.values |= {"own": own, "generated": generated}
    findings.write()
    return True


if __name__ == "__main__":
    raise SystemExit(not main())
