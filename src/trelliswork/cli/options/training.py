"""Options of ``train``: what to learn from, by what model, under what rules, and when to stop."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from trelliswork.cli.options.data import Format, TokenizerKind
from trelliswork.cli.options.feature_option import FEATURES_HELP
from trelliswork.cli.options.shared import OnInfeasible

__all__ = [
    "Columns",
    "DataFormat",
    "DecodeOnlyRules",
    "Dev",
    "DevEvery",
    "Epochs",
    "Features",
    "HeldOut",
    "Init",
    "MaxIter",
    "MinCount",
    "Model",
    "ModelKind",
    "OnConflict",
    "OnConflictOption",
    "OnInfeasibleOption",
    "Out",
    "Pairs",
    "Patience",
    "Penalties",
    "PenaltyMethod",
    "Quiet",
    "Seed",
    "Smoothing",
    "Tokenizer",
    "Tol",
    "Train",
    "Training",
    "TrainingName",
    "Transitions",
    "Which",
]


class ModelKind(StrEnum):
    """What is trained."""

    CRF = "crf"
    HMM = "hmm"
    PERCEPTRON = "perceptron"


class TrainingName(StrEnum):
    """Training protocols; see `trelliswork.learn.protocols`."""

    L = "L"
    L_CI = "L+CI"
    L_WCI = "L+wCI"
    CIBT = "CIBT"
    WCIBT = "wCIBT"


class OnConflict(StrEnum):
    """What to do with training sentences whose labels break a rule."""

    ERROR = "error"
    SKIP = "skip"


class PenaltyMethod(StrEnum):
    """How penalties of soft rules are learned."""

    LIKELIHOOD = "likelihood"
    COUNTS = "counts"
    PERCEPTRON = "perceptron"
    SSVM = "ssvm"


class Which(StrEnum):
    """Which weights a model has."""

    OBSERVED = "observed"
    ALL = "all"


Train = Annotated[
    str,
    typer.Argument(
        metavar="TRAIN",
        help="Labelled sentences: CoNLL columns or JSON lines, .gz too; - is standard input.",
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Where to write the model.")]
Model = Annotated[
    ModelKind,
    typer.Option(
        help="A conditional random field, a hidden Markov model or an averaged perceptron."
    ),
]
Training = Annotated[
    TrainingName | None,
    typer.Option(
        help="What rules do: nothing (L); hold in `tag` alone, all hard (L+CI) or soft ones for a "
        "penalty counted in TRAIN (L+wCI); hold in training too, all hard (CIBT) or with penalties "
        "that are learned (wCIBT). Default: L+wCI; for a crf as --decode-only-rules and "
        "--penalties say."
    ),
]
Features = Annotated[str, typer.Option(help=FEATURES_HELP)]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Names of the columns. Default: the first is word, the last is label; one "
        "between them is pos, more are col1, col2, …",
        metavar="word,pos,label",
    ),
]
DataFormat = Annotated[
    Format | None,
    typer.Option("--format", help="Format of TRAIN. Default: by its name (.jsonl, .conll)."),
]
Dev = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|SHARE",
        help="Development set, for early stopping: a file, or a share of TRAIN to hold out (0.1).",
    ),
]
DevEvery = Annotated[
    int, typer.Option(min=1, help="Iterations between two looks at the development set.")
]
Patience = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Stop after so many looks without a better score. Default: 10; 3 epochs or cycles.",
    ),
]
MinCount = Annotated[int, typer.Option(min=1, help="Leave out features seen fewer times.")]
Pairs = Annotated[Which, typer.Option(help="(feature, label) pairs with a weight.")]
Transitions = Annotated[
    Which | None,
    typer.Option(
        help="(label, label) pairs with a weight: in a chain those observed, with segments all."
    ),
]
MaxIter = Annotated[int, typer.Option(min=0, help="Most iterations.")]
Tol = Annotated[
    float,
    typer.Option(min=0.0, help="Stop when ten iterations change the loss by less than this."),
]
Epochs = Annotated[int, typer.Option(min=1, help="Most epochs of the perceptron.")]
Smoothing = Annotated[
    float,
    typer.Option(min=0.0, help="How far the hidden Markov model trusts shapes more than words."),
]
Init = Annotated[Path | None, typer.Option(help="Start from the weights of this model.")]
Penalties = Annotated[
    PenaltyMethod,
    typer.Option(
        help="How to learn what soft rules without a penalty cost: with the weights, by counting "
        "in TRAIN, or by decoding sentences that were held out."
    ),
]
HeldOut = Annotated[
    float,
    typer.Option(
        metavar="SHARE", help="Share of TRAIN that perceptron and ssvm learn penalties on."
    ),
]
OnConflictOption = Annotated[
    OnConflict, typer.Option(help="What to do with sentences of TRAIN that break a rule.")
]
OnInfeasibleOption = Annotated[
    OnInfeasible,
    typer.Option(
        help="What to do with a sentence that no labelling under the rules fits, where training "
        "decodes (perceptron with CIBT or wCIBT), and later in Python: stop, drop rules until one "
        "fits, or drop all. `tag` has an option of its own."
    ),
]
DecodeOnlyRules = Annotated[
    bool,
    typer.Option("--decode-only-rules", help="Train without the rules; apply them in `tag`."),
]
Tokenizer = Annotated[
    TokenizerKind | None,
    typer.Option(help="How TRAIN was cut into tokens: kept for `tag --raw`."),
]
Seed = Annotated[
    int, typer.Option(help="Seed of what --dev SHARE and --labelled-size draw, and of training.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]
