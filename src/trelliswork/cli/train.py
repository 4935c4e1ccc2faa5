"""``trelliswork train``: from a labelled corpus to a model file."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from trelliswork.cli.data import (
    CorpusReader,
    Format,
    TokenizerKind,
    check_writable,
    choose_tokenizer,
    split_columns,
)
from trelliswork.cli.dev_option import hold_out, read_share
from trelliswork.cli.errors import placed, say
from trelliswork.cli.feature_option import FEATURES_HELP, resolve_features
from trelliswork.cli.options import (
    Alternatives,
    Comment,
    Jobs,
    Outside,
    RuleFile,
    RuleTexts,
    SchemeName,
    Separator,
    TokenPattern,
    Unknown,
)
from trelliswork.cli.rules import GivenRules
from trelliswork.cli.structure import (
    L2,
    Adjacent,
    EdgeOrder,
    MaxPatterns,
    MaxSegment,
    MinPatternCount,
    Order,
    read_l2,
    read_max_segment,
)
from trelliswork.cli.training_log import log_line, summarise
from trelliswork.constraints import find_contradiction
from trelliswork.corpus import Corpus
from trelliswork.errors import (
    RuleError,
    TooLargeError,
    TrellisworkError,
)
from trelliswork.estimators import CRFTagger
from trelliswork.labels import LabelSet
from trelliswork.loading import load
from trelliswork.schemes import check_scheme
from trelliswork.sentence import LABEL_COLUMN
from trelliswork.tables import shorten

__all__ = ["EXAMPLES", "train"]

EXAMPLES = """Examples:

- `trelliswork train train.conll --dev dev.conll --out m.tw --features chunking`

- `trelliswork train train.jsonl.gz --dev 0.1 --out m.tw --tokenizer words`

- `trelliswork train references.conll --out m.tw --features citation --order 2 --max-segment auto`

- `trelliswork train partial.conll --unknown "?" --init m.tw --out m2.tw`

- `trelliswork train train.conll --out m.tw --rules rules.txt --rule "at_most(1, title)"`
"""


class OnConflict(StrEnum):
    """What to do with training sentences whose labels break a rule."""

    ERROR = "error"
    SKIP = "skip"


class PenaltyMethod(StrEnum):
    """How penalties of soft rules are learned."""

    LIKELIHOOD = "likelihood"
    PERCEPTRON = "perceptron"
    SSVM = "ssvm"


class Which(StrEnum):
    """Which weights a model has."""

    OBSERVED = "observed"
    ALL = "all"


def train(
    corpus: Annotated[
        str,
        typer.Argument(
            metavar="TRAIN",
            help="Labelled sentences: CoNLL columns or JSON lines, .gz too; - is standard input.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the model.")],
    features: Annotated[
        str,
        typer.Option(help=FEATURES_HELP),
    ] = "ner",
    order: Order = 1,
    max_segment: MaxSegment = "1",
    adjacent: Adjacent = False,
    min_pattern_count: MinPatternCount = 1,
    max_patterns: MaxPatterns = None,
    edge_order: EdgeOrder = 1,
    columns: Annotated[
        str | None,
        typer.Option(
            help="Names of the columns. Default: the first is word, the last is label; one "
            "between them is pos, more are col1, col2, …",
            metavar="word,pos,label",
        ),
    ] = None,
    data_format: Annotated[
        Format | None,
        typer.Option("--format", help="Format of TRAIN. Default: by its name (.jsonl, .conll)."),
    ] = None,
    dev: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|SHARE",
            help="Development set, for early stopping: a file, or a share of TRAIN to hold out "
            "(0.1).",
        ),
    ] = None,
    dev_every: Annotated[
        int, typer.Option(min=1, help="Iterations between two looks at the development set.")
    ] = 5,
    patience: Annotated[
        int, typer.Option(min=1, help="Stop after so many looks without a better score.")
    ] = 10,
    l2: L2 = "1.0",
    min_count: Annotated[int, typer.Option(min=1, help="Leave out features seen fewer times.")] = 1,
    pairs: Annotated[
        Which, typer.Option(help="(feature, label) pairs with a weight.")
    ] = Which.OBSERVED,
    transitions: Annotated[
        Which | None,
        typer.Option(
            help="(label, label) pairs with a weight: in a chain those observed, with segments all."
        ),
    ] = None,
    max_iter: Annotated[int, typer.Option(min=0, help="Most iterations.")] = 200,
    tol: Annotated[
        float,
        typer.Option(min=0.0, help="Stop when ten iterations change the loss by less than this."),
    ] = 1e-5,
    init: Annotated[Path | None, typer.Option(help="Start from the weights of this model.")] = None,
    rules: RuleFile = None,
    rule: RuleTexts = None,
    penalties: Annotated[
        PenaltyMethod,
        typer.Option(
            help="How to learn what soft rules without a penalty cost: with the weights, or by "
            "decoding sentences that were held out."
        ),
    ] = PenaltyMethod.LIKELIHOOD,
    held_out: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Share of TRAIN that perceptron and ssvm learn penalties on."
        ),
    ] = 0.2,
    on_conflict: Annotated[
        OnConflict, typer.Option(help="What to do with sentences of TRAIN that break a rule.")
    ] = OnConflict.ERROR,
    decode_only_rules: Annotated[
        bool,
        typer.Option("--decode-only-rules", help="Train without the rules; apply them in `tag`."),
    ] = False,
    scheme: SchemeName = None,
    outside: Outside = None,
    separator: Separator = None,
    comment: Comment = None,
    unknown: Unknown = None,
    alternatives: Alternatives = None,
    tokenizer: Annotated[
        TokenizerKind | None,
        typer.Option(help="How TRAIN was cut into tokens: kept for `tag --raw`."),
    ] = None,
    token_pattern: TokenPattern = None,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="Seed of what --dev SHARE holds out.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")] = False,
) -> None:
    """Train a CRF, over tokens or segments, and write it to a file.

    Ctrl-C ends training early and still writes the model reached so far, if any.
    """
    # Whatever can fail is tried before the long work.
    check_writable(out)
    declared = choose_tokenizer(tokenizer, token_pattern)
    given = GivenRules.read(rules, rule)
    if decode_only_rules and not given.constraints:
        raise ValueError("--decode-only-rules: expected rules, from --rules or --rule.")
    if not given.to_learn and penalties is not PenaltyMethod.LIKELIHOOD:
        say(f"warning: --penalties {penalties.value}: no rule ends in ': soft'; nothing to learn")
    if given.to_learn and decode_only_rules and penalties is PenaltyMethod.LIKELIHOOD:
        open_rule = given.to_learn[0]
        raise RuleError(
            f"{open_rule.place}: {shorten(repr(open_rule.rule))} has no penalty, and training "
            "without the rules learns none. Say what to break it costs, as in ': soft(1.5)'; add "
            "--penalties perceptron; or leave --decode-only-rules out."
        )
    tagger = CRFTagger(
        order=order,
        max_segment=read_max_segment(max_segment),
        adjacent=adjacent,
        min_pattern_count=min_pattern_count,
        max_patterns=max_patterns,
        edge_order=edge_order,
        l2=read_l2(l2),
        features=resolve_features(features),
        min_count=min_count,
        pairs=pairs.value,
        transitions=None if transitions is None else transitions.value,
        max_iter=max_iter,
        tol=tol,
        init=None if init is None else load(init),
        dev_every=dev_every,
        patience=patience,
        scheme=None if scheme is None else check_scheme(scheme),
        outside=outside,
        constraints=given.constraints,
        penalties=penalties.value,
        held_out=held_out,
        constrained_training=not decode_only_rules,
        on_conflict=on_conflict.value,
        n_jobs=jobs,
        random_state=seed,
        verbose=not quiet and sys.stderr.isatty(),
    )

    reader = CorpusReader(
        data_format, split_columns(columns), separator, comment, unknown, alternatives
    )
    training = everything = reader.read(corpus)
    dev_corpus: Corpus | None = None
    if dev is not None:
        share = read_share(dev)
        if share is None:
            dev_corpus = replace(reader, data_format=None).read(dev)
        else:
            training, dev_corpus = hold_out(training, share, seed)
    lines = not quiet and not tagger.verbose
    if given.constraints:
        labels = LabelSet.infer(training, tagger.scheme, outside=outside)
        given.check(labels)
        # Without the option, the gold labels show it.
        if decode_only_rules and (wrong := find_contradiction(given.constraints, labels)):
            raise RuleError(str(wrong))
    try:
        tagger.fit(training, dev=dev_corpus, on_step=log_line if lines else None)
    except TooLargeError as error:
        labels = LabelSet.infer(training, tagger.scheme, outside=outside)
        raise given.too_large(error, labels) from error
    except TrellisworkError as error:
        if error.sequence is None:
            raise
        broken = training[error.sequence]
        index = next(i for i, sentence in enumerate(everything) if sentence is broken)
        raise placed(error, reader.place(corpus, index)) from error
    tagger.metadata_ = {
        "columns": [*training.column_names, LABEL_COLUMN],
        "separator": separator,
        "tokenizer": None if declared is None else declared.to_dict(),
    }
    tagger.save(out)
    if tagger.stop_reason_ == "interrupted":
        say(f"training was interrupted; {out} holds the model reached so far")
    if not quiet:
        summarise(tagger, training, dev_corpus, out)
