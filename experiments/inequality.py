"""Section 5 and appendix B: unconstrained ≥ constrained decoding ≥ constrained training.

The negative log-likelihoods of the data under three models: a CRF; the same CRF, its distribution
restricted to the language afterwards; and a CRF trained as a distribution over the language. The
first inequality holds for any weights, the second at the minimum of what constrained training
minimises. Both are checked

 1. on random languages, each with a random distribution over all its labellings of one length: the
    loss is exact and there is no regulariser;
 2. on addresses (usaddress): a tagger with few features, so that parameters are far fewer than
    tokens, under "each of these labels in one run" for the labels that never repeat in training.
    A few features separate labels perfectly and have no finite optimum, hence a tiny L2 penalty
    λ‖w‖². With it the second inequality holds up to λ(‖w_u‖² − ‖w_c‖²), and up to what the
    optimiser left: at most ‖g‖² / 4λ for a gradient g. Both bounds are printed.

Likelihood on the development part is reported without a claim: there is no theorem about it.

    python experiments/inequality.py --data DIR
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from common import (
    Findings,
    ResultTable,
    find_data,
    options,
    progress,
    read_part,
    settings_of,
)
from explicit import Distribution, fit
from languages import random_expression, random_letters

import trelliswork as tw

if TYPE_CHECKING:
    from collections.abc import Sequence

MODELS = ("unconstrained", "constrained decoding", "constrained training")
TOLERANCE = 1e-6  # nats; both optima are found numerically
FEATURES = """
bias
short_shape(word)
last()
"""


def random_case(seed: int) -> list[float] | None:
    """Return the three losses on a random language and distribution, or None for an empty one."""
    generator = random.Random(seed)
    letters = random_letters(generator)
    language = tw.Automaton.from_regex(random_expression(generator, letters), list(letters))
    n = generator.randint(2, 5)
    strings = ["".join(map(str, string)) for string in language.strings(n)]
    if len(strings) < 2 or len(strings) == len(letters) ** n:
        return None  # nothing to learn, or nothing is forbidden
    shares = np.random.default_rng(seed).dirichlet(np.ones(len(strings)))
    data = Distribution.of(language, dict(zip(strings, shares.tolist(), strict=True)))
    free, constrained = data.free, data.constrained
    apart, together = fit(data, free, seed=seed), fit(data, constrained, seed=seed)
    return [apart.loss(data, free), apart.loss(data, constrained), together.loss(data, constrained)]


def labels_in_one_run(corpus: tw.Corpus, most: int) -> list[str]:
    """Return the most frequent labels that no sequence has in more than one run."""
    seen: Counter[str] = Counter()
    repeated = set()
    for labels in corpus.labels:
        runs = Counter(str(label) for label, _ in groupby(labels))
        seen.update(runs.keys())
        repeated |= {label for label, count in runs.items() if count > 1}
    return [label for label, _ in seen.most_common() if label not in repeated][:most]


def real_case(
    train: tw.Corpus, held_out: tw.Corpus, *, rules: int, l2: float, max_iter: int
) -> dict[str, Any]:
    """Train the three models on a real data set and return their losses a sequence."""
    constraints = [tw.contiguous(label) for label in labels_in_one_run(train, rules)]
    settings: dict[str, Any] = {"features": FEATURES, "l2": l2, "max_iter": max_iter, "tol": 1e-7}
    free = tw.CRFTagger(**settings).fit(train)
    decoded = tw.CRFTagger(**settings, constraints=constraints, constrained_training=False)
    decoded.set_params(init=free, max_iter=0).fit(train)  # the same weights
    trained = tw.CRFTagger(**settings, constraints=constraints, init=free).fit(train)
    norms = [
        float((m.state.weights**2).sum() + (m.transitions**2).sum())
        for m in (free.model_, trained.model_)
    ]
    # Elsewhere gold may have new labels or break a rule, which is impossible to two of the models.
    possible = [
        sentence
        for sentence in held_out
        if set(sentence.labels or ()).issubset(free.labels_.names)
        and not any(rule.violations(list(map(str, sentence.labels or ()))) for rule in constraints)
    ]
    return {
        "constraints": [repr(constraint) for constraint in constraints],
        "parameters": free.model_.state.weights.size + int((free.model_.transitions != 0).sum()),
        "tokens": sum(map(len, train)),
        "stopped": [free.stop_reason_, trained.stop_reason_],
        "iterations": [free.n_iter_, trained.n_iter_],
        "slack": max(0.0, l2 * (norms[0] - norms[1])) / len(train),
        "left": trained.training_log_[-1].gradient_norm ** 2 / (4 * l2) / len(train),
        "held_out_sequences": len(possible),
        "train": [mean_loss(tagger, train) for tagger in (free, decoded, trained)],
        "held_out": [mean_loss(tagger, possible) for tagger in (free, decoded, trained)],
    }


def mean_loss(tagger: tw.CRFTagger, sentences: Sequence[tw.Sentence]) -> float:
    """Return the mean of ``−log p(y | x)``."""
    return float(-tagger.log_probability(sentences).mean())


def ordered(losses: Sequence[float], slack: float = 0.0) -> bool:
    """Return whether three losses fall, as the theorem says."""
    first, second, third = losses
    return first >= second - TOLERANCE and second >= third - TOLERANCE - slack


def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the experiment; returns whether all inequalities hold."""
    parser = options(__doc__, data=True)
    parser.add_argument("--cases", type=int, default=200, help="random languages to draw")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--rules", type=int, default=4, help="rules for the addresses")
    parser.add_argument("--l2", type=float, default=1e-3, help="penalty for the addresses")
    parser.add_argument("--max-iter", type=int, default=3000, help="most iterations there")
    given = parser.parse_args(arguments)
    findings = Findings("inequality", given.output, settings_of(given))
    with progress(findings.console) as bar:
        seeds = range(given.seed, given.seed + given.cases)
        drawn = [random_case(seed) for seed in bar.track(seeds, description="random languages")]
    cases = np.array([losses for losses in drawn if losses is not None])
    holds = all(ordered(losses) for losses in cases)
    strict = [(cases[:, i] > cases[:, i + 1] + TOLERANCE).sum() for i in (0, 1)]
    rows = [["random languages, mean", *(f"{loss:.4f}" for loss in cases.mean(axis=0))]]
    real = None
    if find_data(given.data) is not None:
        train = read_part(given.data, "usaddress", "train")
        held_out = read_part(given.data, "usaddress", given.eval)
        with findings.console.status("training on addresses"):
            real = real_case(
                train, held_out, rules=given.rules, l2=given.l2, max_iter=given.max_iter
            )
        holds = holds and ordered(real["train"], real["slack"] + real["left"])
        rows.append(["usaddress, train", *(f"{loss:.6f}" for loss in real["train"])])
        rows.append([f"usaddress, {given.eval}", *(f"{loss:.6f}" for loss in real["held_out"])])
    title = "Negative log-likelihood a sequence (nats); paper: each ≥ the next on training data"
    findings.table(ResultTable(title, ("data", *MODELS), rows))
    findings.note(
        f"Random languages: both inequalities hold in {sum(map(ordered, cases))} of {len(cases)} "
        f"cases, strictly in {strict[0]} (first) and {strict[1]} (second)."
    )
    if real is None:
        findings.note("No data sets here: addresses were left out. Pass --data DIR.")
    else:
        iterations = " and ".join(map(str, real["iterations"]))
        findings.note(
            f"usaddress: {real['parameters']} parameters, {real['tokens']} tokens, "
            f"l2 = {given.l2:g}; the penalty leaves the second inequality a slack of "
            f"{real['slack']:.1e} nats, the optimiser at most {real['left']:.1e}. Training "
            f"stopped after {iterations} iterations ({' and '.join(real['stopped'])}). "
            f"Rules: {' & '.join(real['constraints'])}; "
            f"{real['held_out_sequences']} sequences of {given.eval} satisfy them."
        )
    findings.values |= {
        "random": {"losses": cases, "strict": strict},
        "usaddress": real,
        "holds": holds,
    }
    findings.write()
    return holds


if __name__ == "__main__":
    raise SystemExit(not main())
