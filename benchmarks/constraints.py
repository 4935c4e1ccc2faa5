"""Training and decoding under the semantic-role language of Papay et al. (2022), in one run.

Their automaton (5 core roles, 17 others, one continuation: 47 labels) on the core, without torch:
loss with gradient, and decoding, as multiples of our own unconstrained chain. The reference
implementation (ccrf 1.0, whose table is dense over all automaton edges) was measured once on such a
machine and is quoted: 153 s to build that model, 16.1 s for loss and gradient of two sequences of
30 tokens, 3.2 s to decode them, 2.4 GB. Decoding needs a trained model, because how often a rule
bites decides its cost: PropBank-EWT, where the data is at hand.

    python benchmarks/constraints.py [--data DIR] [--repeats 15]
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from common import data_directory, machine, markdown_table, peak_megabytes, write_results

import trelliswork as tw
from trelliswork import inference
from trelliswork.decoding.exact import decode_batch
from trelliswork.decoding.on_products import constrained_trellis
from trelliswork.inference.trellis import Trellis
from trelliswork.labels.label_set import LabelSet

if TYPE_CHECKING:
    from collections.abc import Callable

CORE = tuple(f"ARG{i}" for i in range(5))
OTHERS = (
    *("V", "R-ARG0", "R-ARG1", "ARGM-TMP", "ARGM-ADV", "ARGM-MOD", "ARGM-NEG", "ARGM-ADJ"),
    *("ARGM-LOC", "ARGM-MNR", "ARGM-DIS", "ARGM-EXT", "ARGM-PRP", "ARGM-CAU", "ARGM-PRR"),
    *("ARGM-LVB", "ARGM-DIR"),
)
CONTINUATION = ("C-ARG1",)
BATCH, LENGTH = 32, 50
TRAINED_ON, DECODED = 4000, 1000  # sequences of PropBank-EWT
TEMPLATES = """
U:w=%x[-1,0]
U:w0=%x[0,0]
U:w1=%x[1,0]
U:pred=%x[0,1]
U:dist=%x[0,2]
U:pd=%x[0,1]/%x[0,2]
U:wd=%x[0,0]/%x[0,2]
"""


def milliseconds(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median time of each call; the calls take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(repeats + 1):  # the first is to warm up
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            if turn:
                times[name].append(1e3 * (time.perf_counter() - began))
    return {name: statistics.median(found) for name, found in times.items()}


def loss_and_gradient(trellis: Trellis, n_jobs: int) -> tuple[np.ndarray, ...]:
    """Return log Z and its gradients, what a training step adds to the score of the gold labels."""
    log_z = np.empty(trellis.n_sequences)
    gradient = np.empty(trellis.scores.shape)
    counts = np.zeros(trellis.automaton.n_patterns)
    trellis._batch(None, n_jobs).posteriors(log_z, gradient, counts, None, None)
    return log_z, gradient, counts


def measure_training(repeats: int) -> dict[str, Any]:
    """Measure loss and gradient on random scores."""
    began = time.perf_counter()
    language = tw.srl_language(CORE, OTHERS, CONTINUATION)
    plan = tw.plan(LabelSet(language.labels, "bio"), language)
    product = plan.training.hard_product.automaton
    build = time.perf_counter() - began
    rng = np.random.default_rng(0)
    n_labels = language.n_labels
    scores = rng.normal(size=(BATCH * LENGTH, n_labels))
    weights = rng.normal(size=n_labels * n_labels)
    offsets = LENGTH * np.arange(BATCH + 1)
    free = Trellis(scores, weights=weights, offsets=offsets)
    bound = Trellis(scores, product, weights=weights, offsets=offsets)
    two = Trellis(scores[:60], product, weights=weights, offsets=[0, 30, 60])
    calls: dict[str, Callable[[], object]] = {}
    for jobs in (1, 2):
        calls[f"free_{jobs}"] = lambda jobs=jobs: loss_and_gradient(free, jobs)
        calls[f"bound_{jobs}"] = lambda jobs=jobs: loss_and_gradient(bound, jobs)
    calls["two_of_30"] = lambda: loss_and_gradient(two, 2)
    calls["decode_two_of_30"] = lambda: inference.viterbi(two, n_jobs=2)
    return {
        "states": product.n_states,
        "arcs": product.n_arcs,
        "build_seconds": build,
        **milliseconds(calls, repeats),
    }


def read_propbank(path: Path, roles: tuple[str, ...]) -> tw.Corpus:
    """Read predicates with their distance to every token; roles that are not listed become O."""
    known = {"O", *(f"{tag}-{role}" for role in roles for tag in "BI")}
    sentences = []
    for sentence in tw.read_conll(path, ("word", "label")):
        labels = [label if label in known else "O" for label in sentence.labels]
        at = next((i for i, label in enumerate(sentence.labels) if label == "B-V"), 0)
        predicate = sentence.tokens[at].lower()
        sentences.append(
            tw.Sentence(
                sentence.tokens,
                columns={
                    "word": sentence.tokens,
                    "predicate": [predicate] * len(labels),
                    "distance": [str(max(-8, min(8, i - at))) for i in range(len(labels))],
                },
                labels=labels,
            )
        )
    return tw.Corpus(sentences)


def measure_decoding(data: Path, repeats: int) -> dict[str, Any]:
    """Measure decoding with a model trained on PropBank-EWT, with and without the language."""
    roles = (*CORE, *OTHERS, *CONTINUATION)
    train = read_propbank(data / "propbank_ewt" / "train.conll.gz", roles)[:TRAINED_ON]
    dev = read_propbank(data / "propbank_ewt" / "dev.conll.gz", roles)[:DECODED]
    tagger = tw.CRFTagger(features=TEMPLATES, max_iter=60, scheme="bio").fit(train)
    language = tw.srl_language(CORE, OTHERS, CONTINUATION, labels=tagger.labels_.names)
    plan = tw.plan(tagger.labels_, language)
    free = tagger.model_.trellis(list(dev))
    evidence = plan.evidence(list(dev), free.offsets)
    bound = constrained_trellis(plan, free, evidence)
    found = decode_batch(plan, free, evidence)
    exact = inference.viterbi(bound)
    np.testing.assert_allclose(found.scores, exact.scores, rtol=1e-9)
    calls = {
        "decode_free": lambda: inference.viterbi(free, n_jobs=2),
        "decode_lazy": lambda: decode_batch(plan, free, evidence, n_jobs=2),
        "decode_product": lambda: inference.viterbi(bound, n_jobs=2),
    }
    return {
        "decoded_sequences": len(dev),
        "decoded_tokens": int(free.n_tokens),
        "sequences_that_break_the_language": float(np.mean(found.iterations > 1)),
        **milliseconds(calls, repeats),
    }


def main() -> None:
    """Run everything and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="directory of the data sets")
    parser.add_argument("--repeats", type=int, default=15, help="measurements of each call")
    options = parser.parse_args()
    results = measure_training(options.repeats)
    results["peak_megabytes"] = peak_megabytes()
    results |= measure_decoding(data_directory(options.data), options.repeats)

    def row(name: str, key: str, against: str | None = None, quoted: str = "") -> list[str]:
        ratio = f"{results[key] / results[against]:.1f}×" if against else ""
        return [name, f"{results[key]:.2f} ms", ratio, quoted]

    two, decoded = results["two_of_30"], results["decode_two_of_30"]
    rows = [
        ["build the model", f"{1e3 * results['build_seconds']:.0f} ms", "", "153 s"],
        row("loss + gradient, 32 × 50 tokens, free chain, 1 thread", "free_1"),
        row("the same under the language", "bound_1", "free_1"),
        row("loss + gradient, 32 × 50 tokens, free chain, 2 threads", "free_2"),
        row("the same under the language", "bound_2", "free_2"),
        row("loss + gradient, 2 × 30 tokens, under the language", "two_of_30"),
        row("decode them, on the whole product", "decode_two_of_30"),
        row(f"decode {results['decoded_sequences']:,} sequences, free chain", "decode_free"),
        row("the same under the language, by lazy intersection", "decode_lazy", "decode_free"),
        row("the same on the whole product", "decode_product", "decode_free"),
    ]
    rows[5][3] = f"16.1 s ({16_100 / two:,.0f}×)"
    rows[6][3] = f"3.2 s ({3_200 / decoded:,.0f}×)"
    table = markdown_table(["", "trelliswork", "against the free chain", "ccrf, quoted"], rows)
    notes = (
        f"The product has {results['states']:,} states and {results['arcs']:,} arcs. "
        f"{100 * results['sequences_that_break_the_language']:.1f}% of the freely decoded "
        f"sequences break the language. Peak memory {results['peak_megabytes']:.0f} MB."
    )
    results["machine"] = machine("trelliswork", "numpy")
    write_results("constraints", results, f"{table}\n\n{notes}")


if __name__ == "__main__":
    main()
