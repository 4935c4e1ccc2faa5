"""``trelliswork train``: from a labelled corpus, and perhaps unlabelled text, to a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from trelliswork._utils.tables import shorten
from trelliswork.cli.errors import placed, say
from trelliswork.cli.models import check_options, columns_needed, make_tagger, with_unlabelled
from trelliswork.cli.options.data import (
    CorpusReader,
    check_writable,
    choose_tokenizer,
    split_columns,
    split_names,
)
from trelliswork.cli.options.rules import GivenRules
from trelliswork.cli.options.shared import (
    Alternatives,
    Comment,
    Jobs,
    LabelNames,
    OnInfeasible,
    Outside,
    RuleFile,
    RuleTexts,
    SchemeName,
    Separator,
    TokenPattern,
    Unknown,
)
from trelliswork.cli.options.sparsity import (
    L1,
    Adaptive,
    Debias,
    GapTol,
    GroupLassoTexts,
    NormName,
    NormOption,
    SolverOption,
)
from trelliswork.cli.options.structure import (
    L2,
    Adjacent,
    EdgeOrder,
    MaxPatterns,
    MaxSegment,
    MinPatternCount,
    Order,
)
from trelliswork.cli.options.training import (
    Columns,
    DataFormat,
    DecodeOnlyRules,
    Dev,
    DevEvery,
    Epochs,
    Features,
    HeldOut,
    Init,
    MaxIter,
    MinCount,
    Model,
    ModelKind,
    OnConflict,
    OnConflictOption,
    OnInfeasibleOption,
    Out,
    Pairs,
    Patience,
    Penalties,
    PenaltyMethod,
    Quiet,
    Seed,
    Smoothing,
    Tokenizer,
    Tol,
    Train,
    Training,
    TrainingName,
    Transitions,
    Which,
)
from trelliswork.cli.options.training_data import TrainingData
from trelliswork.cli.options.unlabelled import (
    Cycles,
    Gamma,
    IncludeLabelled,
    LabelledSize,
    Labelling,
    LabellingName,
    LeaveOutRest,
    TopK,
    Unlabelled,
    UnlabelledFormatOption,
    check_some_left,
    read_unlabelled,
)
from trelliswork.cli.training_log import log_line, summarise
from trelliswork.constraints import find_contradiction
from trelliswork.data.corpus import Corpus
from trelliswork.data.sentence import LABEL_COLUMN
from trelliswork.errors import RuleError, TooLargeError, TrellisworkError
from trelliswork.features.inputs import infer_labels
from trelliswork.taggers.codl import CODLTagger
from trelliswork.taggers.hmm import HMMTagger

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def train(
    context: typer.Context,
    corpus: Train,
    out: Out,
    model: Model = ModelKind.CRF,
    training: Training = None,
    features: Features = "ner",
    order: Order = 1,
    max_segment: MaxSegment = "1",
    adjacent: Adjacent = False,
    min_pattern_count: MinPatternCount = 1,
    max_patterns: MaxPatterns = None,
    edge_order: EdgeOrder = 1,
    columns: Columns = None,
    data_format: DataFormat = None,
    dev: Dev = None,
    dev_every: DevEvery = 5,
    patience: Patience = None,
    l2: L2 = "1.0",
    l1: L1 = 0.0,
    group_lasso: GroupLassoTexts = None,
    norm: NormOption = NormName.L2,
    adaptive: Adaptive = False,
    debias: Debias = False,
    min_count: MinCount = 1,
    pairs: Pairs = Which.OBSERVED,
    transitions: Transitions = None,
    max_iter: MaxIter = 200,
    tol: Tol = 1e-5,
    gap_tol: GapTol = 1e-4,
    solver: SolverOption = "auto",
    epochs: Epochs = 20,
    smoothing: Smoothing = 1.0,
    init: Init = None,
    rules: RuleFile = None,
    rule: RuleTexts = None,
    penalties: Penalties = PenaltyMethod.LIKELIHOOD,
    held_out: HeldOut = 0.2,
    on_conflict: OnConflictOption = OnConflict.ERROR,
    on_infeasible: OnInfeasibleOption = OnInfeasible.ERROR,
    decode_only_rules: DecodeOnlyRules = False,
    unlabelled: Unlabelled = None,
    unlabelled_format: UnlabelledFormatOption = None,
    labelled_size: LabelledSize = None,
    leave_out_rest: LeaveOutRest = False,
    gamma: Gamma = 0.9,
    cycles: Cycles = 10,
    labelling: Labelling = LabellingName.TOP1,
    top_k: TopK = 10,
    include_labelled: IncludeLabelled = False,
    labels: LabelNames = None,
    scheme: SchemeName = None,
    outside: Outside = None,
    separator: Separator = None,
    comment: Comment = None,
    unknown: Unknown = None,
    alternatives: Alternatives = None,
    tokenizer: Tokenizer = None,
    token_pattern: TokenPattern = None,
    jobs: Jobs = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Train a tagger and write it to a file: a CRF over tokens or segments, an HMM, a perceptron.

    With `--unlabelled` or `--labelled-size`, it also learns from sentences without labels: they are
    labelled under the rules, learned from, labelled again, and so on (constraint-driven learning).

    Ctrl-C ends training early and still writes the model reached so far, if any.
    """
    # Whatever can fail is tried before the long work.
    check_writable(out)
    rest_is_used = labelled_size is not None and not leave_out_rest
    if leave_out_rest and labelled_size is None:
        raise ValueError("--leave-out-rest: expected with --labelled-size only.")
    learns_more = bool(unlabelled) or rest_is_used
    check_options(context, model, unlabelled=learns_more)
    declared = choose_tokenizer(tokenizer, token_pattern)
    given = GivenRules.read(rules, rule)
    _check_penalties(given, context.params)
    more = split_names(labels)
    tagger = make_tagger(context.params, given.constraints, more)
    reader = CorpusReader(
        data_format, split_columns(columns), separator, comment, unknown, alternatives
    )
    data = TrainingData(reader.read(corpus), reader, corpus)
    if dev is not None:
        data.hold_out(dev, seed)
    if labelled_size is not None:
        data.keep_labels_of(labelled_size, seed, rest_is_used)
        # Whoever knows the task knows the names of its labels.
        tagger.set_params(labels=[*data.label_names(), *(more or ())])
    for path in unlabelled or ():
        data.unlabelled += read_unlabelled(
            path,
            unlabelled_format,
            data.training.column_names,
            columns_needed(tagger),
            separator=separator,
            comment=comment,
            tokenizer=declared,
        )
    if rest_is_used:
        check_some_left(labelled_size, data.training, len(data.unlabelled))
    known = _labels_of(data.training, tagger)
    if given.constraints:
        given.check(known, more=True)
        # Without the option, the gold labels show it.
        if decode_only_rules and (wrong := find_contradiction(given.constraints, known)):
            raise RuleError(str(wrong))
    if training is not None:
        _warn_of_training(given, training)
    if learns_more:
        tagger = with_unlabelled(tagger, context.params)
    fitted = _fit(tagger, data, given, known, log=not quiet and not tagger.verbose)
    fitted.metadata_ = {
        "columns": [*data.training.column_names, LABEL_COLUMN],
        "separator": separator,
        "tokenizer": None if declared is None else declared.to_dict(),
    }
    fitted.save(out)
    if getattr(fitted, "stop_reason_", None) == "interrupted":
        say(f"training was interrupted; {out} holds the model reached so far")
    if not quiet:
        summarise(fitted, data.training, data.dev, out, n_unlabelled=len(data.unlabelled))


def _check_penalties(given: GivenRules, options: Mapping[str, Any]) -> None:
    """Refuse what is asked of the penalties of a CRF's rules where nothing could come of it."""
    penalties, decode_only = options["penalties"], options["decode_only_rules"]
    if decode_only and not given.constraints:
        raise ValueError("--decode-only-rules: expected rules, from --rules or --rule.")
    if not given.to_learn and penalties is not PenaltyMethod.LIKELIHOOD:
        say(f"warning: --penalties {penalties.value}: no rule ends in ': soft'; nothing to learn")
    by_likelihood = penalties is PenaltyMethod.LIKELIHOOD and options["training"] is None
    if given.to_learn and decode_only and by_likelihood:
        open_rule = given.to_learn[0]
        raise RuleError(
            f"{open_rule.place}: {shorten(repr(open_rule.rule))} has no penalty, and training "
            "without the rules learns none. Say what to break it costs, as in ': soft(1.5)'; add "
            "--penalties perceptron; or leave --decode-only-rules out."
        )


def _warn_of_training(given: GivenRules, training: TrainingName) -> None:
    """Tell where a protocol and rules have nothing to do with one another."""
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
    """Train, and call what goes wrong by the names of the command line."""
    tell = log_line if log else None
    try:
        if isinstance(tagger, CODLTagger):
            return tagger.fit(
                data.training, unlabelled=data.unlabelled, dev=data.dev, on_cycle=tell
            )
        if isinstance(tagger, HMMTagger):  # which is counted, in one step
            return tagger.fit(data.training)
        fitted: Tagger = tagger.fit(data.training, dev=data.dev, on_step=tell)
    except TooLargeError as error:
        raise given.too_large(error, labels) from error
    except TrellisworkError as error:
        if error.sequence is None:
            raise
        raise placed(error, data.place(error.sequence)) from error
    return fitted
