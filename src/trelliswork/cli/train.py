"""``trelliswork train``: learn a model from labelled sentences, rules and unlabelled text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from trelliswork._utils.tables import shorten
from trelliswork.cli.errors import placed
from trelliswork.cli.models import check_options, columns_needed, make_tagger, with_unlabelled
from trelliswork.cli.options.data import choose_tokenizer, split_names
from trelliswork.cli.options.training import (
    PenaltyMethod,
    Train,
    TrainingData,
    TrainingName,
    TrainOptions,
)
from trelliswork.cli.options.unlabelled import check_some_left, read_unlabelled
from trelliswork.cli.output import say
from trelliswork.cli.targets import check_targets
from trelliswork.cli.training_log import log_line, summarise
from trelliswork.constraints import find_contradiction
from trelliswork.data.corpus import Corpus
from trelliswork.data.sentence import LABEL_COLUMN
from trelliswork.errors import RuleError, TooLargeError, TrellisworkError
from trelliswork.features.inputs import infer_labels
from trelliswork.taggers.codl import CODLTagger
from trelliswork.taggers.hmm import HMMTagger

if TYPE_CHECKING:
    from trelliswork.cli.options.rules import GivenRules
    from trelliswork.cli.options.training import TrainingRuleOptions
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.taggers.base import Tagger

__all__ = ["EXAMPLES", "train"]

EXAMPLES = """Examples:

- `trelliswork train train.conll --dev dev.conll --out m.tw --features chunking`

- `trelliswork train train.jsonl.gz --dev 0.1 --out m.tw --tokenizer words`

- `trelliswork train references.conll --out m.tw --features citation --order 2 --max-segment auto`

- `trelliswork train train.conll --out m.tw --features chunking --group-lasso template:50 --debias`

- `trelliswork train partial.conll --unknown "?" --init m.tw --out m2.tw`

- `trelliswork train train.conll --out m.tw --rules rules.txt --rule "at_most(1, title)"`

- `trelliswork train twenty.conll --unlabelled raw.txt --tokenizer words --rules rules.txt
  --model hmm --training L+wCI --out m.tw`
"""


def train(context: typer.Context, corpus: Train, options: TrainOptions) -> None:
    """Train a tagger and write it to a file: a CRF over tokens or segments, an HMM, a perceptron.

    With `--unlabelled` or `--labelled-size`, training also uses sentences without labels: in each
    cycle it labels them under the rules and learns from the result (constraint-driven learning).

    Ctrl-C ends training early and writes the model reached so far, if there is one.
    """
    # Everything that can fail is tried before the long work.
    out = options.output.out
    few, settings = options.few_labels, options.data
    inputs = [corpus, settings.dev, options.rules.rules, *(few.unlabelled or ())]
    check_targets({"--out": out}, inputs)
    rest_is_used = few.labelled_size is not None and not few.leave_out_rest
    if few.leave_out_rest and few.labelled_size is None:
        raise ValueError("--leave-out-rest: expected with --labelled-size only.")
    learns_more = bool(few.unlabelled) or rest_is_used
    check_options(context, options, unlabelled=learns_more)
    declared = choose_tokenizer(settings.tokenizer, settings.token_pattern)
    given = options.rules.read()
    _check_penalties(given, options.rules)
    more = split_names(settings.labels)
    tagger = make_tagger(options, given.constraints, more)
    reader = settings.reader
    data = TrainingData(reader.read(corpus), reader, corpus)
    if not settings.allow_single_label and more is None:
        data.check_several_labels()
    if settings.dev is not None:
        data.hold_out(settings.dev, options.run.seed)
    if few.labelled_size is not None:
        data.keep_labels_of(few.labelled_size, options.run.seed, rest_is_used)
        # The names of all labels are part of the task, not of the labelled sentences drawn.
        tagger.set_params(labels=[*data.label_names(), *(more or ())])
    for path in few.unlabelled or ():
        data.unlabelled += read_unlabelled(
            path,
            few.unlabelled_format,
            data.training.column_names,
            columns_needed(tagger),
            separator=reader.separator,
            comment=reader.comment,
            tokenizer=declared,
        )
    if rest_is_used:
        check_some_left(few.labelled_size, data.training, len(data.unlabelled))
    known = _labels_of(data.training, tagger)
    if given.constraints:
        given.check(known, more=True)
        # With rules in training, the gold labels show a contradiction.
        if options.rules.decode_only_rules and (
            wrong := find_contradiction(given.constraints, known)
        ):
            raise RuleError(str(wrong))
    if options.rules.training is not None:
        _warn_of_training(given, options.rules.training)
    if learns_more:
        tagger = with_unlabelled(tagger, options)
    fitted = _fit(tagger, data, given, known, log=not options.run.quiet and not tagger.verbose)
    fitted.metadata_ = {
        "columns": [*data.training.column_names, LABEL_COLUMN],
        "separator": reader.separator,
        "tokenizer": None if declared is None else declared.to_dict(),
    }
    fitted.save(out)
    if getattr(fitted, "stop_reason_", None) == "interrupted":
        say(f"training was interrupted; {out} holds the model reached so far")
    if not options.run.quiet:
        summarise(fitted, data.training, data.dev, out, n_unlabelled=len(data.unlabelled))


def _check_penalties(given: GivenRules, options: TrainingRuleOptions) -> None:
    """Raise an error, or warn, if penalties of rules cannot be learned as the options ask."""
    penalties, decode_only = options.penalties, options.decode_only_rules
    if decode_only and not given.constraints:
        raise ValueError("--decode-only-rules: expected rules, from --rules or --rule.")
    if not given.to_learn and penalties is not PenaltyMethod.LIKELIHOOD:
        say(f"warning: --penalties {penalties.value}: no rule ends in ': soft'; nothing to learn")
    by_likelihood = penalties is PenaltyMethod.LIKELIHOOD and options.training is None
    if given.to_learn and decode_only and by_likelihood:
        open_rule = given.to_learn[0]
        raise RuleError(
            f"{open_rule.place}: {shorten(repr(open_rule.rule))} has no penalty, and training "
            "without the rules learns none. Give the penalty, as in ': soft(1.5)'; add --penalties "
            "perceptron; or leave out --decode-only-rules."
        )


def _warn_of_training(given: GivenRules, training: TrainingName) -> None:
    """Warn if the protocol ignores the rules, or if it needs rules and there are none."""
    n_rules = len(given.constraints)
    if n_rules and training is TrainingName.L:
        rules = "1 rule is" if n_rules == 1 else f"{n_rules:,} rules are"
        say(f"warning: --training L: {rules} not used, neither in training nor in `tag`")
    if not n_rules and training is not TrainingName.L:
        say(f"warning: --training {training}: there are no rules; add --rules or --rule")


def _labels_of(training: Corpus, tagger: Any) -> LabelSet:
    labels = [sentence.labels or () for sentence in training]
    return infer_labels(labels, tagger.scheme, tagger.outside, tagger.labels)


def _fit(
    tagger: Any, data: TrainingData, given: GivenRules, labels: LabelSet, *, log: bool
) -> Tagger:
    """Train, and name rules and sentences in errors by their places."""
    tell = log_line if log else None
    try:
        if isinstance(tagger, CODLTagger):
            return tagger.fit(
                data.training, unlabelled=data.unlabelled, dev=data.dev, on_cycle=tell
            )
        if isinstance(tagger, HMMTagger):  # counted in one step
            return tagger.fit(data.training)
        fitted: Tagger = tagger.fit(data.training, dev=data.dev, on_step=tell)
    except TooLargeError as error:
        raise given.too_large(error, labels) from error
    except TrellisworkError as error:
        if error.sequence is None:
            raise
        raise placed(error, data.place(error.sequence)) from error
    return fitted
