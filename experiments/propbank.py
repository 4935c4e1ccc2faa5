"""Table 2: semantic roles on PropBank-EWT, with features instead of a pretrained network.

Four models of one sequence a predicate, as in section 7:

  CRF-full     a CRF over all roles of the training sample
  CRF-reduced  a CRF over 5 core roles, the 17 most frequent other roles (references and V among
               them) and C-ARG1; the labels of rarer roles become O
  ConstrDec    the weights of CRF-reduced, decoded under the role language: valid BIO, a core role
               at most once, C-ARG1 only after ARG1
  ConstrTr     trained and decoded under that language

The predicate's span V is given: position-wise rules fix it in all four models, in training and in
decoding, and scores leave it out. Scores compare exact spans with all gold roles, so that the small
models pay for the roles that they lack (the recall ceiling is printed).

Each seed draws a sample of the training predicates; training is convex and has no other chance in
it. ConstrTr starts from the weights of CRF-reduced, and its time counts from there. The penalties
are those that do best on training predicates outside the samples of --tune: the constrained
likelihood has less to explain and another balance with its penalty, so that one value for all would
be unfair to one side. The paper fine-tunes RoBERTa on all of OntoNotes: compare differences between
models, not levels.

Every model is saved when it is done, and a second call takes up the work where it ended.

    python experiments/propbank.py --sequences 2000 --seeds 5
    python experiments/propbank.py --tune
"""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from common import (
    Findings,
    ResultTable,
    add_seeds,
    options,
    percentages,
    progress,
    read_part,
    settings_of,
)
from propbank_features import (
    CONTINUATION,
    CORE,
    TEMPLATES,
    predicate_rules,
    reduced_roles,
    relabel,
    role_language,
    roles_of,
    with_columns,
)
from trials import Trial, TrialStore, permutation_test, summed_counts

import trelliswork as tw
from trelliswork.evaluation.significance import compare_counts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rich.console import Console

FULL, REDUCED, DECODED, TRAINED = "CRF-full", "CRF-reduced", "ConstrDec", "ConstrTr"
MODELS = (FULL, REDUCED, DECODED, TRAINED)
PENALTIES = (1.0, 0.3, 0.1, 0.03, 0.01)
HELD_OUT = 3000  # predicates that --tune scores on
PAPER = {  # precision, recall, F1, share of sequences that break the rules; all in %
    FULL: (86.82, 87.73, 87.27, 0.81),
    REDUCED: (87.33, 85.95, 86.63, 0.84),
    DECODED: (87.28, 87.13, 87.20, 0.0),
    TRAINED: (87.22, 87.79, 87.51, 0.0),
}


class Task:
    """The data, and how a model is trained and scored on it."""

    def __init__(self, given: argparse.Namespace, console: Console) -> None:
        self.given = given
        self.console = console
        self.train = read_part(given.data, "propbank_ewt", "train")
        if given.tune:
            # A sample of --tune takes the first predicates of this order, so these are new to it.
            order = np.random.default_rng(given.seed).permutation(len(self.train))
            held_out = order[given.sequences :][:HELD_OUT]
            evaluated = [self.train[int(i)] for i in held_out]
        else:
            evaluated = list(read_part(given.data, "propbank_ewt", given.eval))
        self.evaluated = [with_columns(sentence) for sentence in evaluated]
        self.gold = [without_predicate(sentence.labels or ()) for sentence in self.evaluated]
        self.others = reduced_roles(roles_of(self.train))
        self.kept = frozenset((*CORE, *self.others, *CONTINUATION))
        self.language = tw.srl_language(CORE, self.others, CONTINUATION)
        spans = roles_of(self.evaluated)
        del spans["V"]
        self.ceiling = sum(spans[role] for role in self.kept) / spans.total()

    def sample(self, seed: int) -> list[tw.Sentence]:
        """Draw the training predicates of a seed."""
        order = np.random.default_rng(seed).permutation(len(self.train))
        return [with_columns(self.train[int(i)]) for i in order[: self.given.sequences]]

    def fit(
        self, sample: list[tw.Sentence], model: str, *, l2: float, init: Any = None
    ) -> tw.CRFTagger:
        """Train one model."""
        full = model == FULL
        labels = [
            [str(label) for label in s.labels or ()] if full else relabel(s.labels or (), self.kept)
            for s in sample
        ]
        label_set = tw.LabelSet.infer(labels, "bio")
        rules: list[Any] = list(predicate_rules(label_set))
        if model == TRAINED:
            rules.append(role_language(self.others, label_set))
        tagger = tw.CRFTagger(
            features=TEMPLATES,
            l2=l2,
            min_count=2,
            max_iter=self.given.max_iter,
            tol=self.given.tol,
            scheme="bio",
            constraints=rules,
            on_conflict="skip",
            init=init,
        )
        with progress(self.console) as bar:
            task = bar.add_task(f"training {model}", total=self.given.max_iter)
            return tagger.fit(sample, labels, on_step=lambda step: bar.advance(task))

    def score(self, tagger: tw.CRFTagger, model: str, seed: int, seconds: float) -> Trial:
        """Decode and score a trained model."""
        begun = time.perf_counter()
        predicted = tagger.predict(self.evaluated)
        decoding = time.perf_counter() - begun
        report = tw.report(self.gold, [without_predicate(y) for y in predicted], scheme="bio")
        small = [relabel(labels, self.kept) for labels in predicted]
        broken = sum(not self.language.accepts(labels) for labels in small)
        return Trial(
            model,
            seed,
            [list(counts) for counts in report.sentence_counts],
            broken / len(predicted),
            seconds,
            decoding,
            {
                "labels": len(tagger.labels_),
                "iterations": tagger.n_iter_,
                "stopped": tagger.stop_reason_,
                "loss": tagger.loss_,
                "skipped": tagger.n_skipped_,
            },
        )

    def constrain(self, tagger: tw.CRFTagger) -> None:
        """Put a trained model under the role language, for decoding."""
        language = tw.matches(role_language(self.others, tagger.labels_))
        tagger.plan_ = tw.Plan(tagger.labels_, (*tagger.plan_.constraints, language))

    def tune(self, findings: Findings) -> None:
        """Compare penalties on predicates of the training set outside the sample."""
        sample = self.sample(self.given.seed)
        rows = []
        for l2 in PENALTIES:
            trials = []
            tagger: tw.CRFTagger | None = None
            for model in (FULL, REDUCED, TRAINED):
                start = tagger if model == TRAINED else None
                tagger = self.fit(sample, model, l2=l2, init=start)
                trials.append(self.score(tagger, model, self.given.seed, 0.0))
                if model == REDUCED:
                    self.constrain(tagger)
                    trials.append(self.score(tagger, DECODED, self.given.seed, 0.0))
            rows.append([f"l2 {l2:g}", *percentages(trial.scores[2] for trial in trials)])
            self.console.print("  ".join(rows[-1]), highlight=False)
        title = f"F1 on {len(self.gold)} training predicates outside the sample"
        findings.table(ResultTable(title, ("", FULL, REDUCED, DECODED, TRAINED), rows))
        findings.values["rows"] = rows

    def run(self, seed: int, store: TrialStore) -> list[Trial]:
        """Run the four models on one sample, except for those that ran before."""
        known = {model: store.load(model, seed) for model in MODELS}
        sample = [] if all(known.values()) else self.sample(seed)
        weights = store.path(REDUCED, seed, "model")
        for model in (REDUCED, TRAINED, FULL):
            if known[model] is not None and (model != REDUCED or known[DECODED] is not None):
                continue
            begun = time.perf_counter()
            if model == TRAINED:
                tagger = self.fit(sample, model, l2=self.given.l2_constrained, init=weights)
            else:
                tagger = self.fit(sample, model, l2=self.given.l2)
            seconds = time.perf_counter() - begun
            known[model] = store.save(self.score(tagger, model, seed, seconds))
            if model == REDUCED:
                tagger.save(weights)
                self.constrain(tagger)
                known[DECODED] = store.save(self.score(tagger, DECODED, seed, seconds))
            for done in (REDUCED, DECODED) if model == REDUCED else (model,):
                self.tell(known[done])
        return [trial for trial in known.values() if trial is not None]

    def tell(self, trial: Trial | None) -> None:
        """Print one line about a trial."""
        if trial is not None:
            scores = "  ".join(
                f"{name} {100 * score:.2f}"
                for name, score in zip(("P", "R", "F1"), trial.scores, strict=True)
            )
            self.console.print(
                f"seed {trial.seed}  {trial.model:12} {scores}  violations "
                f"{100 * trial.violations:.2f}%  {trial.training_seconds:.0f} s, "
                f"{trial.notes['iterations']} iterations ({trial.notes['stopped']})",
                highlight=False,
            )


def without_predicate(labels: Sequence[object]) -> list[str]:
    """Replace the given span V by O: it is no merit to find it."""
    return ["O" if label in ("B-V", "I-V") else str(label) for label in labels]


def summarise(trials: dict[str, list[Trial]], findings: Findings) -> None:
    """Print the scores beside the paper's, and the tests between models."""
    rows, costs, summary = [], [], {}
    for model, runs in trials.items():
        scores = 100 * np.array([trial.scores for trial in runs])
        mean, spread = scores.mean(axis=0), scores.std(axis=0, ddof=len(runs) > 1)
        violations = 100 * float(np.mean([trial.violations for trial in runs]))
        training = float(np.mean([trial.training_seconds for trial in runs]))
        decoding = float(np.mean([trial.decoding_seconds for trial in runs]))
        summary[model] = {
            "scores": scores,
            "mean": mean,
            "violations": violations,
            "training_seconds": training,
            "decoding_seconds": decoding,
            "notes": [trial.notes for trial in runs],
        }
        cells = itertools.chain.from_iterable(
            (f"{paper:.2f}", f"{ours:.2f}±{sd:.2f}")
            for paper, ours, sd in zip(PAPER[model], mean, spread, strict=False)
        )
        rows.append([model, *cells])
        costs.append([model, f"{PAPER[model][3]:.2f}", f"{violations:.2f}"])
        costs[-1] += [f"{training:.0f}", f"{decoding:.2f}"]
    header = ["model", "paper P", "P", "paper R", "R", "paper F1", "F1"]
    findings.table(ResultTable("Table 2: exact spans, all gold roles but V (%)", header, rows))
    header = ["model", "paper: violations %", "violations %", "training s", "decoding s"]
    findings.table(ResultTable("Sequences that break a rule, and time", header, costs))
    tests, lines = {}, []
    for first, second in itertools.combinations(trials, 2):
        columns = [np.array([t.scores for t in trials[model]]).T for model in (first, second)]
        over_trials = [permutation_test(a, b) for a, b in zip(*columns, strict=True)]
        shuffled = compare_counts(
            summed_counts(trials[first]), summed_counts(trials[second]), random_state=0
        )
        tests[f"{first} / {second}"] = {
            "over_trials": dict(zip(("precision", "recall", "f1"), over_trials, strict=True)),
            "over_predicates": shuffled.to_dict(),
        }
        change = f"{100 * shuffled.difference:+.2f}"
        row = [f"{first} → {second}", change, *(f"{p:.3f}" for p in over_trials)]
        lines.append([*row, f"{shuffled.p_value:.4f}"])
    header = ["models", "F1", "p(P) trials", "p(R) trials", "p(F1) trials", "p(F1) predicates"]
    findings.table(ResultTable("Permutation tests, two-sided", header, lines))
    findings.values |= {"summary": summary, "tests": tests, "paper": PAPER}


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether the constrained models break no rule."""
    parser = options(__doc__, data=True)
    add_seeds(parser, 5, "how many samples of the training set (default: 5)")
    parser.add_argument("--sequences", type=int, default=2000, help="predicates in a sample")
    parser.add_argument("--l2", type=float, default=0.03, help="penalty of the first three models")
    parser.add_argument("--l2-constrained", type=float, default=0.3, help="penalty of ConstrTr")
    parser.add_argument("--tune", action="store_true", help="compare penalties on training data")
    parser.add_argument("--max-iter", type=int, default=400, help="most iterations of training")
    parser.add_argument("--tol", type=float, default=1e-4, help="when training has converged")
    given = parser.parse_args(arguments)
    name = "propbank_tuning" if given.tune else "propbank"
    findings = Findings(name, given.output, settings_of(given))
    task = Task(given, findings.console)
    if given.tune:
        task.tune(findings)
        findings.write()
        return True
    settings = {**settings_of(given, "seed", "seeds", "tune"), "templates": TEMPLATES}
    store = TrialStore(given.output / "propbank_trials", settings)
    findings.note(
        f"{given.sequences} of {len(task.train)} training predicates a seed, {len(task.gold)} of "
        f"{given.eval}. Reduced roles: {', '.join((*CORE, *task.others, *CONTINUATION))}. "
        f"Recall ceiling of the reduced models: {100 * task.ceiling:.2f}% (paper: 99%)."
    )
    trials: dict[str, list[Trial]] = {model: [] for model in MODELS}
    for seed in range(given.seed, given.seed + given.seeds):
        for trial in task.run(seed, store):
            trials[trial.model].append(trial)
    summarise(trials, findings)
    broken = max(trial.violations for model in (DECODED, TRAINED) for trial in trials[model])
    findings.values |= {"recall_ceiling": task.ceiling, "holds": broken == 0.0}
    findings.write()
    return broken == 0.0


if __name__ == "__main__":
    raise SystemExit(not main())
