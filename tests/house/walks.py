"""The files of the package that are entered on the way through it.

A file is entered when one of its functions is called. All modules are imported beforehand: what
runs on import is not counted.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType

CONLL = """\
Ann B-PER
Lee I-PER
sings O

the O
cat O
sees O
Bob B-PER

Bob B-PER
lives O
in O
Rome B-LOC
"""
SENTENCE = ["Ann", "sees", "Rome"]
REFERENCE = (
    "[1] A. Lee and B. Kim. Rules in sequence models. In Proceedings of ACL, pages 1-9, 2014."
)

HAS_TORCH = importlib.util.find_spec("torch") is not None


def import_all(package: ModuleType) -> None:
    """Import every module of the package; those for torch where torch is there."""
    left_out = () if HAS_TORCH else (f"{package.__name__}.torch",)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.startswith(left_out) and not found.name.endswith("__main__"):
            importlib.import_module(found.name)


def entered(folder: Path, do: Callable[[], Any]) -> list[str]:
    """Return the files below a folder that a task enters, in order of first visit."""
    files: dict[str, None] = {}
    inside = f"{folder}/"

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            file = frame.f_code.co_filename
            if file.startswith(inside):
                files[file.removeprefix(inside)] = None

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        do()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(files)


def walks() -> dict[str, list[str]]:
    """Return the files entered by each of a few tasks, smallest data, by task."""
    import trelliswork as tw
    from trelliswork import citations

    os.environ["TRELLISWORK_CACHE"] = "off"  # products are built, and nothing is left behind
    import_all(tw)
    folder = Path(tw.__file__).parent
    found: dict[str, list[str]] = {}

    def walk(name: str, do: Callable[[], Any]) -> Any:
        answers = [do()]  # once before: it reads shipped files, such as a model or a bundle
        found[name] = entered(folder, lambda: answers.append(do()))
        return answers[-1]

    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "train.conll"
        path.write_text(CONLL, encoding="utf-8")

        def train(*rules: tw.Constraint) -> tw.CRFTagger:
            tagger = tw.CRFTagger(features="ner", max_iter=20, constraints=rules)
            return tagger.fit(tw.read_conll(path))

        hard = tw.at_most(1, "PER")
        walk("train a CRF from CoNLL with two rules", lambda: train(hard, tw.valid_scheme()))
        tagger = train(hard, tw.at_most(1, "LOC").soft(1.0))
    walk("predict a sentence under a hard and a soft rule", lambda: tagger.predict([SENTENCE]))
    walk("decode the same", lambda: tagger.decode([SENTENCE]))
    walk("parse a reference", lambda: citations.parse(REFERENCE))
    scores = np.array([[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    rules = tw.at_most(1, "author").soft(0.5)

    def problem() -> tw.Problem:
        return tw.Problem(scores, constraints=rules, labels=["author", "title"])

    answer = walk("state and solve a problem with two labels", lambda: tw.solve(problem()))
    walk("verify the answer", lambda: tw.verify(problem(), answer))
    table = tw.SpanTable([(0, 2), (1, 3)], ["Agent", "Theme"], [[2.0, 0.5], [1.8, 0.1]])
    span_rules = [tw.no_overlap(), tw.requires("Agent", "Theme")]
    assignment = walk("assign spans to roles", lambda: tw.assign(table, span_rules))
    walk("verify the assignment", lambda: tw.verify(table, assignment))
    if HAS_TORCH:
        _torch_walk(walk)
    return found


def _torch_walk(walk: Callable[[str, Callable[[], Any]], Any]) -> None:
    import torch

    from trelliswork.torch import CRF

    layer = CRF(3, batch_first=True, labels=["O", "B", "I"], language="(O | B I*)*")
    emissions, tags = torch.zeros(2, 4, 3), torch.tensor([[0, 1, 2, 0], [1, 2, 2, 0]])
    walk("forward of the torch layer", lambda: layer(emissions, tags))
