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
SECONDS_A_CALL, FEWEST_TURNS = 4.0, 3  # a call that has had both takes no more turns
# The threads of torch keep a core busy for some milliseconds after each of its operations, ours do
# not: with one call a turn every layer would be measured against the spinning of the one before.
CALLS_A_TURN = 5
CCRF_CAN_HOLD = 500  # pairs of label and state: it makes a matrix of all pairs of pairs
TORCH_STRUCT_CAN_HOLD = 100  # tags: it holds K³ scores for every two tokens
CONFIDENCE = 6.0
OURS, FREE, RIVAL, LOOP = "trelliswork", "no language", "pytorch-crf", "exp-matmul loop"
PACKAGES = ("trelliswork", "torch", "pytorch-crf", "torch-struct", "ccrf", "numpy")


def measure(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median milliseconds of each call; they take turns, slow ones fewer of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for turn in range(repeats):
        for name, call in calls.items():
            if turn >= FEWEST_TURNS and sum(times[name]) > SECONDS_A_CALL:
                continue
            for _ in range(1 if turn < FEWEST_TURNS else CALLS_A_TURN):
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
    layers: dict[str, Any] = {OURS: ours, RIVAL: theirs, LOOP: PlainLoop(ours)}
    if n_tags <= TORCH_STRUCT_CAN_HOLD:
        layers["torch-struct"] = TorchStruct(ours)
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


def time_table(
    title: str, entries: dict[str, Any], key: str, rivals: tuple[str, ...], ratios: tuple[str, ...]
) -> str:
    """Return a table of one verb: milliseconds of ours and of rivals, and how many times faster."""
    rows = []
    for name, entry in entries.items():
        times = entry[key]
        cells = [f"{times[layer]:.2f}" if layer in times else "–" for layer in (OURS, *rivals)]
        cells += [
            f"{times[layer] / times[OURS]:.1f}×" if layer in times else "–" for layer in ratios
        ]
        rows.append([name, *cells])
    return markdown_table([title, OURS, *rivals, *(f"over {layer}" for layer in ratios)], rows)


def as_markdown(results: dict[str, Any]) -> str:
    """Return the results as Markdown tables."""
    free = {f"K = {n_tags}": entry for n_tags, entry in results["layers"].items()}
    bound = {f"{e['language']}, {e['labels']} labels": e for e in results["languages"]}
    rivals, decoders = (RIVAL, LOOP, "torch-struct"), (RIVAL, "torch-struct")
    training = time_table("forward + backward", free, "forward_backward_ms", rivals, rivals)
    decoding = time_table("decode", free, "decode_ms", decoders, decoders)
    under = [
        time_table(title, bound, key, columns, ("ccrf",))
        for title, key, columns in (
            ("build", "build_ms", ("ccrf",)),
            ("forward + backward", "forward_backward_ms", (FREE, "ccrf")),
            ("decode, random scores", "decode_ms", (FREE, "ccrf")),
            ("decode, confident scores", "decode_confident_ms", (FREE, "ccrf")),
        )
    ]
    sizes = markdown_table(
        ["language", "states", "arcs"],
        [[name, f"{entry['states']:,}", f"{entry['arcs']:,}"] for name, entry in bound.items()],
    )
    where = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
    return f"""# CRF layers for torch

{where["processor"]}, {where["cores"]} cores, {results["threads"]} threads, Python
{where["python"]}; {versions}.
Batch {BATCH}, {LENGTH} tokens, float32. Milliseconds: medians of up to {results["repeats"]} turns
of {CALLS_A_TURN} calls, no fewer than {FEWEST_TURNS}; slow calls stop after {SECONDS_A_CALL:.0f} s.
"Over" says how many times faster trelliswork is. The loop is what one writes without a library; it
has no decoding. torch-struct is left out above K = {TORCH_STRUCT_CAN_HOLD}: it holds K³ scores for
every two tokens, more than 20 GB at K = 128.

{training}

{decoding}

## Under a language

Ours beside itself without a language, and ccrf (RegCCRF) where it can hold the automaton:

{sizes}

{(chr(10) * 2).join(under)}"""


def main() -> None:
    """Measure everything and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30, help="turns of each call")
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
