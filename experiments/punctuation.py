"""Punctuation of movie transcripts (section 3.2.2; tables 6 and 7, figure 5).

Every word has the mark that follows it, or none; case and marks are removed from the words. The
paper's six further labels say on the first word of a stretch which mark will end it, so that "no,
she is working." is no/Comma-Comma she/None-Period is/None working/Period. Then a semi-Markov model
of order two sees None-Period None Period, however long the stretch. Scores are F1 of the marks
after words, what follows the hyphen removed.

Features are no richer than the paper's: words and pairs of neighbouring words with their places
relative to the current word, transitions with the current word, the previous word, and both. The
paper's SCk has transitions of order k with the words of their last segment too; ours do without,
except for SC2-words, whose transitions of order 2 read the words around the beginning of their last
segment.

There is no held-out part: all numbers are from cross-validation over train.

    python experiments/punctuation.py --data DIR
    python experiments/punctuation.py --data DIR --models C1 SC2 --parallel 2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from common import Findings, options, read_part, settings_of
from hosemicrf import (
    ALL,
    SIGMA_1,
    Trials,
    add_trial_options,
    field_scores,
    fold_divisions,
    paper_tests,
    score_table,
    show_growth,
    significance_table,
    token_accuracy,
)

import trelliswork as tw

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from hosemicrf import Division

COMPARED = ("C1", "C2", "C3", "SC1", "SC2", "SC3")
WORDS = "-words"
MODELS = (*COMPARED, f"SC2{WORDS}")
MARKS = {",": "Comma", ".": "Period", "?": "QMark"}
NONE = "None"
BARS = ("C1", "SC2")  # whose scores must be reached
FIELDS = (*MARKS.values(), ALL)
PAPER_F1 = {
    "C1": "59.29 75.37 58.18 66.21",
    "C2": "59.70 75.37 59.54 66.53",
    "C3": "59.90 75.46 60.57 66.85",
    "SC1": "61.13 75.03 57.61 66.73",
    "SC2": "60.89 78.97 74.05 70.85",
    "SC3": "60.35 78.82 73.56 70.47",
}
PAPER = {
    model: dict(zip(FIELDS, map(float, scores.split()), strict=True))
    for model, scores in PAPER_F1.items()
}
PAPER_P = paper_tests(
    COMPARED,
    "0.155< 0.048< 0.043< 0.001< 0.001< 0.153< 0.289< 0.001< 0.001< 0.378> 0.001< 0.001< "
    "0.001< 0.001< 0.044>",
)
# Of pairs of words the neighbours: chosen for C1 by three folds inside the training part of each
# fold, against no pairs and all pairs of the window (the same choice in every one).
TOKENS = """
bias
word[-4..4]
ngrams(word[-4..4], 2)
edge: word[0]
edge: word[-1]
edge: word[-1] | word[0]
"""
BOUNDARIES = """
begin: bias
begin: word[-1..0]
begin: word[-1] | word[0]
end: word
"""
# What trials do not depend on.
NOT_SETTINGS = ("models", "jobs", "parallel", "orders", "max_iter")


def extend(marks: Sequence[str]) -> list[str]:
    """Return the paper's ten labels for the marks that follow the words (``O``: none)."""
    labels = [MARKS.get(mark, NONE) for mark in marks]
    first = 0
    for t, mark in enumerate(marks):
        if mark in MARKS:
            labels[first] += f"-{MARKS[mark]}"
            first = t + 1
    return labels


def scored(labels: Sequence[str]) -> list[str]:
    """Return what counts of labels: every mark a segment of its own."""
    marks = [label.split("-")[0] for label in labels]
    return ["O" if mark == NONE else f"B-{mark}" for mark in marks]


def parameters_of(model: str, max_iter: int) -> dict[str, Any]:
    """Return the parameters of the tagger that a name such as ``SC2`` stands for."""
    in_segments = model.startswith("S")
    order = int(model.removesuffix(WORDS).lstrip("SC"))
    return {
        "order": order,
        "edge_order": order if model.endswith(WORDS) else 1,
        "max_segment": "auto" if in_segments else 1,
        "l2": SIGMA_1,
        "features": TOKENS + (BOUNDARIES if in_segments else ""),
        "transitions": "observed",  # as the paper: what occurs in training
        "max_iter": max_iter,
    }


@dataclass
class Transcripts:
    """Texts with their extended labels, to train on and to label."""

    texts: list[list[str]]
    labels: list[list[str]]
    max_iter: int
    jobs: int

    def learn(
        self, model: str, train: list[int], test: list[int]
    ) -> tuple[tw.CRFTagger, list[list[str]]]:
        """Train a model; returns it with the marks of what is tested."""
        tagger = tw.CRFTagger(
            **parameters_of(model, self.max_iter), scheme="plain", n_jobs=self.jobs
        )
        tagger.fit([self.texts[i] for i in train], [self.labels[i] for i in train])
        predicted = tagger.predict([self.texts[i] for i in test]) if test else []
        return tagger, [scored(row) for row in predicted]

    def trials(self, divisions: list[Division], given: Namespace, **more: Any) -> Trials:
        """Return what runs and keeps trials."""
        models = {*MODELS, *given.models, *(f"SC{order}" for order in given.orders)}
        common = {**settings_of(given, *NOT_SETTINGS), **more}
        return Trials(
            [scored(labels) for labels in self.labels],
            "bio",
            divisions,
            self.learn,
            given.output / "punctuation_trials",
            {model: {**parameters_of(model, self.max_iter), **common} for model in models},
        )


def report_growth(task: Transcripts, given: Namespace, findings: Findings) -> None:
    """Train on everything at every order, and show figure 5."""
    runner = task.trials([(list(range(len(task.texts))), [])], given, jobs=given.jobs)
    title = f"Figure 5: {len(task.texts)} texts, {given.jobs} threads (the paper: 3,270 texts)"
    show_growth(runner, given.orders, title, given.output / "punctuation.png", findings)


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether the models reach the paper's scores."""
    parser = options(__doc__, data=True)
    add_trial_options(parser, MODELS, folds=5, max_iter=100)
    parser.add_argument(
        "--orders", type=int, nargs="*", default=[2, 3, 4, 5], help="of figure 5 (default: 2 3 4 5)"
    )
    given = parser.parse_args(arguments)
    corpus = read_part(given.data, "punct_movie", "train")
    texts = [[token.lower() for token in sentence.tokens] for sentence in corpus]
    labels = [extend([str(mark) for mark in sentence.labels or ()]) for sentence in corpus]
    task = Transcripts(texts, labels, given.max_iter, given.jobs)
    findings = Findings(
        "punctuation", given.output, settings_of(given, "models", "jobs", "parallel", "eval")
    )
    runner = task.trials(fold_divisions(len(texts), given.folds, given.seed), given)
    runner.run(given.models, findings.console, given.parallel)
    trials = runner.known(MODELS)
    scores = {model: field_scores(found) for model, found in trials.items()}
    where = f"{len(texts)} texts in {given.folds} folds"
    findings.table(score_table(f"Table 6: F1, {where}", FIELDS, scores, PAPER))
    table, tests = significance_table(f"Table 7: p, ours (the paper's), {where}", trials, PAPER_P)
    findings.table(table)
    findings.values |= {
        "f1": scores,
        "token_accuracy": {model: token_accuracy(found) for model, found in trials.items()},
        "tests": tests,
    }
    if given.orders:
        report_growth(task, given, findings)
    findings.write()
    return all(scores[model][ALL] >= PAPER[model][ALL] / 100 for model in scores if model in BARS)


if __name__ == "__main__":
    raise SystemExit(not main())
