"""CRF layers for torch: forward + backward and decoding, at batch 32 and 50 tokens.

Trelliswork with and without a language, pytorch-crf, torch-struct, a plain loop of max-shifted
exp-matmuls, and ccrf (its own construction, on a language it can hold), all in one process and in
turns, so that a machine that slows down slows all of them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

import torch
from common import machine, markdown_table, write_results
from torch_rivals import CcrfLayer, PlainLoop, TorchStruct

import trelliswork as tw
from trelliswork.torch import CRF

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH, LENGTH = 32, 50
SIZES = (9, 23, 67, 128)
SECONDS_A_CALL = 5.0
CCRF_CAN_HOLD = 500  # pairs of label and state: it makes a matrix of all pairs of pairs
CONFIDENCE = 6.0
OURS, FREE, RIVAL = "trelliswork", "without a language", "pytorch-crf"
PACKAGES = ("trelliswork", "torch", "pytorch-crf", "torch-struct", "ccrf", "numpy")


def measure(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median milliseconds of each call; they take turns, slow ones fewer of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for turn in range(repeats):
        for name, call in calls.items():
            if turn > 0 and sum(times[name]) > SECONDS_A_CALL:
                continue
            began = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - began)
    return {name: 1e3 * statistics.median(found) for name, found in times.items()}


def measure_layers(
    layers: dict[str, Any], emissions: torch.Tensor, tags: dict[str, torch.Tensor], repeats: int
) -> dict[str, dict[str, float]]:
    """Measure forward + backward, and decoding where a layer has it."""

    def training_step(name: str) -> Callable[[], None]:
        def step() -> None:
            emissions.grad = None
            (-layers[name](emissions, tags[name])).backward()

        return step

    def decoding(name: str) -> Callable[[], object]:
        return lambda: layers[name].decode(emissions)

    decoders = [name for name, layer in layers.items() if hasattr(layer, "decode")]
    return {
        "forward_backward_ms": measure({name: training_step(name) for name in layers}, repeats),
        "decode_ms": measure({name: decoding(name) for name in decoders}, repeats),
    }


def check_agreement(
    layers: dict[str, Any], emissions: torch.Tensor, tags: dict[str, torch.Tensor]
) -> None:
    """Leave if two layers compute different things."""
    values = {name: float(layer(emissions, tags[name])) for name, layer in layers.items()}
    spread = max(values.values()) - min(values.values())
    if spread > 1e-4 * abs(values[OURS]):
        sys.exit(f"The layers do not agree: {values}")


def compare(n_tags: int, repeats: int) -> dict[str, dict[str, float]]:
    """Measure all layers without a language."""
    import torchcrf

    emissions = torch.randn(BATCH, LENGTH, n_tags, requires_grad=True)
    ours, theirs = CRF(n_tags, batch_first=True), torchcrf.CRF(n_tags, batch_first=True)
    theirs.load_state_dict(ours.state_dict())
    layers: dict[str, Any] = {
        OURS: ours,
        RIVAL: theirs,
        "torch-struct": TorchStruct(ours),
        "plain exp-matmul loop": PlainLoop(ours),
    }
    tags = dict.fromkeys(layers, torch.randint(n_tags, (BATCH, LENGTH)))
    check_agreement(layers, emissions, tags)
    return measure_layers(layers, emissions, tags, repeats)


def bio_labels(n_types: int) -> list[str]:
    """Return O, and B- and I- of so many types."""
    return ["O", *(f"{tag}-{i}" for i in range(n_types) for tag in "BI")]


def languages() -> list[tuple[str, tw.Automaton]]:
    """Return the languages that the layer is measured under."""
    found = []
    for n_types in (4, 23):
        labels = bio_labels(n_types)
        spans = " | ".join(f"B-{i} I-{i}*" for i in range(n_types))
        found.append(("BIO", tw.Automaton.from_regex(f"(O | {spans})*", labels)))
    core = [f"ARG{i}" for i in range(5)]
    others = [f"ARGM-{i}" for i in range(17)]
    return [*found, ("semantic roles", tw.srl_language(core, others, ["C-ARG1"]))]


def compare_language(name: str, language: tw.Automaton, repeats: int) -> dict[str, Any]:
    """Measure our layer under a language, beside itself without one and ccrf where it can."""
    n_tags = language.n_labels
    began = time.perf_counter()
    ours = CRF(n_tags, batch_first=True, labels=language.labels, language=language)
    layers: dict[str, Any] = {OURS: ours}
    build = {OURS: 1e3 * (time.perf_counter() - began)}
    for parameter in (ours.start_transitions, ours.end_transitions):
        torch.nn.init.zeros_(parameter)  # ccrf has none
    free = CRF(n_tags, batch_first=True)
    free.load_state_dict(ours.state_dict())
    emissions = torch.randn(BATCH, LENGTH, n_tags, requires_grad=True)
    gold = torch.tensor(ours.decode(torch.randn(BATCH, LENGTH, n_tags)))
    tags = {OURS: gold, FREE: gold}
    if n_tags * language.n_states <= CCRF_CAN_HOLD:
        began = time.perf_counter()
        layers["ccrf"] = CcrfLayer(ours, language)
        build["ccrf"] = 1e3 * (time.perf_counter() - began)
        tags["ccrf"] = layers["ccrf"].encode(gold)
    check_agreement(layers, emissions, tags)
    layers[FREE] = free
    automaton = ours.lattice.automaton
    # As a trained model gives them: most of the time the best labelling is in the language.
    confident = emissions.detach() + CONFIDENCE * torch.nn.functional.one_hot(gold, n_tags)
    decoders = {
        name: (lambda layer=layer: layer.decode(confident)) for name, layer in layers.items()
    }
    return {
        "language": name,
        "labels": n_tags,
        "states": automaton.n_states,
        "arcs": automaton.n_arcs,
        "build_ms": build,
        **measure_layers(layers, emissions, tags, repeats),
        "decode_confident_ms": measure(decoders, repeats),
    }


def as_markdown(results: dict[str, Any]) -> str:
    """Return the results as Markdown tables."""
    names = list(next(iter(results["layers"].values()))["forward_backward_ms"])
    tables = []
    for title, key in (("forward + backward", "forward_backward_ms"), ("decode", "decode_ms")):
        rows = []
        for n_tags, entry in results["layers"].items():
            times = entry[key]
            cells = [f"{times[name]:.2f}" if name in times else "" for name in names]
            rows.append([n_tags, *cells, f"{times[RIVAL] / times[OURS]:.0f}×"])
        tables.append(markdown_table([f"{title}, ms; K =", *names, "speed-up"], rows))
    rows = [
        [
            f"{entry['language']}, {entry['labels']} labels",
            f"{entry['states']:,} / {entry['arcs']:,}",
            *(
                f"{entry[key][name]:.2f}" if name in entry[key] else ""
                for key in ("build_ms", "forward_backward_ms", "decode_ms", "decode_confident_ms")
                for name in (OURS, FREE, "ccrf")
                if (key, name) != ("build_ms", FREE)
            ),
        ]
        for entry in results["languages"]
    ]
    header = ["language", "states / arcs", "build", "ccrf"]
    for verb in ("forward + backward", "decode, random scores", "decode, confident scores"):
        header += [verb, "without it", "ccrf"]
    tables.append(markdown_table(header, rows))
    where = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
    return f"""# CRF layers for torch

{where["processor"]}, {where["cores"]} cores, {results["threads"]} threads, Python
{where["python"]}; {versions}.
Batch {BATCH}, {LENGTH} tokens, float32; medians of up to {results["repeats"]} turns, milliseconds.
The speed-up is over {RIVAL}.

{tables[0]}

{tables[1]}

Under a language, ours beside itself without one; ccrf (RegCCRF) where it can hold the automaton:

{tables[2]}"""


def main() -> None:
    """Measure everything and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=50, help="turns of each call")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="numbers of tags, K")
    options = parser.parse_args()
    repeats = options.repeats
    torch.manual_seed(0)
    warnings.simplefilter("ignore")  # pytorch-crf makes masks of bytes, which torch advises against
    layers = {}
    for n_tags in options.sizes:
        print(f"{n_tags} tags …", file=sys.stderr, flush=True)
        layers[str(n_tags)] = compare(n_tags, repeats)
    bound = []
    for name, language in languages():
        print(f"{name}, {language.n_labels} labels …", file=sys.stderr, flush=True)
        bound.append(compare_language(name, language, repeats))
    results = {
        "machine": machine(*PACKAGES),
        "threads": torch.get_num_threads(),
        "repeats": repeats,
        "layers": layers,
        "languages": bound,
    }
    write_results("torch_layer", results, as_markdown(results))


if __name__ == "__main__":
    main()
