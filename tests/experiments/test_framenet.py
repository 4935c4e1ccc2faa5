"""The experiment on frames runs, on little data, and its parts are right."""

from __future__ import annotations

import gzip
import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import framenet
import numpy as np
import pytest
from common import find_data
from framenet_blocks import Block, Support, gold_of
from framenet_cases import Case, Settings, read_scores, train_and_score, write_scores
from framenet_data import Frame, Sentence, Target, read_frames, read_targets, split_documents
from framenet_decoders import decode_by_assign, decode_by_beam, decode_locally, rules_of
from framenet_features import Text, describe
from framenet_measures import measure
from framenet_scorer import Scorer, with_gold
from framenet_spans import SpanFilter, recall
from numpy.testing import assert_allclose, assert_array_equal
from rich.console import Console

if TYPE_CHECKING:
    from pathlib import Path

    from framenet_spans import IntArray

LEXICON: dict[str, Any] = {
    "Similarity": {
        "fes": [
            {"name": "Entity_1", "core": "Core", "requires": ["Entity_2"]},
            {"name": "Entity_2", "core": "Core", "requires": ["Entity_1"]},
            {"name": "Entities", "core": "Core", "excludes": ["Entity_2", "Entity_1"]},
            {"name": "Dimension", "core": "Peripheral"},
            {"name": "Dimension", "core": "Peripheral"},
        ]
    }
}
LINE: dict[str, Any] = {
    "doc": "berries",
    "tokens": ["A", "blackberry", "resembles", "a", "loganberry", "in", "taste", "."],
    "pos": "dt nn VVZ dt nn in nn sent",
    "frames": [
        {
            "frame": "Similarity",
            "lu": "resemble.v",
            "target": [[2, 3]],
            "fes": [
                ["Entity_1", 0, 2],
                ["Entity_2", 3, 5],
                ["Dimension", 5, 7],
                ["Degree", 2, 3, 2],
            ],
        },
        {"frame": "Unheard_of", "lu": "taste.n", "target": [[6, 7]], "fes": []},
        {"frame": "Similarity", "lu": "taste.n", "target": [[6, 7]], "fes": [], "status": "UNANN"},
    ],
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Write a lexicon of one frame, and a part of one sentence."""
    with gzip.open(tmp_path / "frames.json.gz", "wt", encoding="utf-8") as file:
        json.dump(LEXICON, file)
    (tmp_path / "dev.jsonl").write_text(json.dumps(LINE) + "\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def target(directory: Path) -> Target:
    return read_targets(directory, "dev", read_frames(directory))[0]


def random_case(seed: int, *, n_roles: int = 3, n_spans: int = 6, n_tokens: int = 9) -> Case:
    """Draw spans and scores; roles 0 and 1 require, 0 and 2 exclude each other."""
    generator = np.random.default_rng(seed)
    starts = generator.integers(0, n_tokens - 1, n_spans)
    ends = np.minimum(starts + generator.integers(1, 4, n_spans), n_tokens)
    spans = np.unique(np.stack([starts, ends], axis=1), axis=0)
    roles = tuple("ABCDE"[:n_roles])
    frame = Frame("f", roles, ("Core",) * n_roles, (("A", "C"),), (("A", "B"),))
    sentence = Sentence(("w",) * n_tokens, ("nn",) * n_tokens, "d")
    return Case(
        Target(sentence, frame, "w.n", 4, 5, ()),
        spans,
        generator.normal(size=(len(spans), n_roles)),
        generator.normal(size=n_roles),
    )


def best_by_enumeration(case: Case, *, lawful: bool) -> tuple[float, IntArray]:
    """Try everything without overlaps, and under the rules of the frame if asked to."""
    found = (-np.inf, np.zeros(0, dtype=np.int64))
    with_empty = np.concatenate([case.scores, case.empty[None, :]])
    for rows in itertools.product(range(-1, len(case.spans)), repeat=len(case.empty)):
        chosen = np.array(rows)
        broken = measure([case], [chosen])
        if broken.overlap or (lawful and broken.violations):
            continue
        score = float(with_empty[chosen, np.arange(len(rows))].sum())
        found = max(found, (score, chosen), key=lambda pair: pair[0])
    return found


def test_frames_have_symmetric_relations_and_each_role_once(directory: Path) -> None:
    frame = read_frames(directory)["Similarity"]
    assert frame.roles == ("Entity_1", "Entity_2", "Entities", "Dimension")
    assert frame.excludes == (("Entities", "Entity_1"), ("Entities", "Entity_2"))
    assert frame.requires == (("Entity_1", "Entity_2"),)
    assert len(rules_of(frame)) == 1 + 2 + 2


def test_targets_are_annotated_ones_with_arguments_of_the_first_layer(target: Target) -> None:
    assert (target.start, target.end, target.unit) == (2, 3, "resemble.v")
    assert target.arguments == (("Entity_1", 0, 2), ("Entity_2", 3, 5), ("Dimension", 5, 7))
    assert target.sentence.tags[2] == "vvz"


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"frames\.json\.gz or frames\.json"):
        read_frames(tmp_path)


def test_documents_are_held_out_whole(target: Target) -> None:
    targets = [
        replace(target, sentence=replace(target.sentence, document=name)) for name in "abcdeabcde"
    ]
    kept, held_out = split_documents(targets)
    assert {t.sentence.document for t in held_out} == {"c"}
    assert len(kept) + len(held_out) == 10


def test_candidates_look_like_the_arguments_of_training(target: Target) -> None:
    other = Sentence(
        ("The", "cat", "resembles", "the", "dog", "in", "size", "."), target.sentence.tags, "d"
    )
    proposed = SpanFilter(5).fit([target]).propose(replace(target, sentence=other))
    assert proposed.shape == (5, 2)
    assert {(0, 2), (3, 5), (5, 7)} <= set(map(tuple, proposed.tolist()))
    assert recall([target], [proposed]) == 1.0
    assert recall([target], [proposed[:0]]) == 0.0


def test_spans_that_cut_into_the_target_are_no_candidates(target: Target) -> None:
    wide = replace(target, start=2, end=5)
    proposed = SpanFilter(1000).fit([target]).propose(wide).tolist()
    assert [1, 5] in proposed
    assert [1, 3] not in proposed
    assert [4, 6] not in proposed


def test_paths_are_equal_where_coarse_tags_are(target: Target) -> None:
    text = Text.of([target])
    begin = int(text.offsets[0])
    starts, ends = np.array([0, 3, 5, 0]) + begin, np.array([2, 5, 7, 3]) + begin
    first, second, with_preposition, with_verb = text.between(starts, ends).tolist()
    assert first == second
    assert len({first, with_preposition, with_verb}) == 3


def test_gradient_of_the_scorer(target: Target) -> None:
    # A second target with a role filled twice, and one of a frame that training does not have.
    twice = (("Entity_1", 0, 2), ("Entity_1", 3, 5))
    new = replace(
        target.frame, name="Other", roles=("Entity_1", "Place"), coreness=("Core", "Core")
    )
    targets = [
        target,
        replace(target, arguments=twice),
        replace(target, frame=new, arguments=()),
    ]
    spans = SpanFilter(8).fit(targets[:2])
    candidates = [with_gold(t, spans.propose(t)) for t in targets]
    scorer = Scorer(0.3, bits=8)
    rows, n_coarse = describe(targets, candidates)
    n = sum(map(len, candidates[:2]))
    support = Support.of(targets[:2], candidates[:2], rows[:n], n_coarse)
    support.features = np.unique(rows)  # tiny data: let all of them in
    blocks = [
        Block.of(np.arange(len(part)), part, own, matrix, n_coarse, support, scorer.bits)
        for part, own, matrix in (
            (targets[:2], candidates[:2], rows[:n]),
            (targets[2:], candidates[2:], rows[n:]),
        )
    ]
    assert all(len(places) for places, _ in blocks[0].pairs)
    objective = scorer.objective(blocks)
    generator = np.random.default_rng(0)
    weights, gradient = generator.normal(size=256) / 10, np.empty(256)
    objective(weights, gradient)
    for direction in generator.normal(size=(5, 256)):
        up, down = (objective(weights + step * direction, np.empty(256)) for step in (1e-5, -1e-5))
        assert_allclose(gradient @ direction, (up - down) / 2e-5, rtol=1e-5)


def test_a_role_that_is_filled_twice_counts_both(target: Target) -> None:
    twice = replace(target, arguments=(("Entity_1", 0, 2), ("Entity_1", 3, 5)))
    spans = np.array([[0, 2], [1, 2], [3, 5]])
    assert_array_equal(gold_of(twice, spans)[:, 0], [True, False, True])


def test_training_learns_and_scores_are_read_back(target: Target, tmp_path: Path) -> None:
    train = [target] * 20
    settings = Settings("dev", 10, l2=0.1, bits=12, max_iter=30)
    cases = train_and_score(train, [target], settings, Console(quiet=True))
    decoded = decode_locally(cases)
    assert measure(cases, decoded.choices).scores == (1.0, 1.0, 1.0)
    write_scores(tmp_path / "scores.npz", cases)
    (again,) = read_scores(tmp_path / "scores.npz", [target])
    assert_array_equal(again.spans, cases[0].spans)
    assert_array_equal(again.scores, cases[0].scores)
    assert_array_equal(again.empty, cases[0].empty)
    assert settings.digest != replace(settings, l2=0.2).digest


@pytest.mark.parametrize("seed", range(20))
def test_wide_beams_and_exact_answers_equal_enumeration(seed: int) -> None:
    case = random_case(seed)
    rules = [rules_of(case.target.frame)]
    _, without_rules = best_by_enumeration(case, lawful=False)
    _, with_rules = best_by_enumeration(case, lawful=True)
    assert_array_equal(decode_by_beam([case], 10_000).choices[0], without_rules)
    for method in ("auto", "branch", "milp"):
        assert_array_equal(decode_by_assign([case], rules, method).choices[0], with_rules)


def test_narrow_beams_never_overlap_and_are_never_better() -> None:
    for seed in range(50):
        case = random_case(seed, n_roles=5, n_spans=12)
        narrow, wide = (decode_by_beam([case], width) for width in (1, 10_000))
        assert measure([case], narrow.choices).overlap == 0
        assert framenet.total_score([case], narrow) <= framenet.total_score([case], wide) + 1e-12


def test_beams_reach_beyond_64_tokens() -> None:
    case = random_case(3)
    far = replace(case, spans=case.spans + 61)
    assert_array_equal(decode_by_beam([far], 100).choices, decode_by_beam([case], 100).choices)


def test_relaxations_are_rounded_role_by_role() -> None:
    cases = [random_case(seed) for seed in range(30)]
    rules = [rules_of(case.target.frame) for case in cases]
    exact = decode_by_assign(cases, rules, "auto")
    assert exact.proven == len(cases)
    assert exact.tight is None
    for method in ("lp", "ad3"):
        found = decode_by_assign(cases, rules, method)
        assert found.tight is not None
        same = [np.array_equal(a, b) for a, b in zip(found.choices, exact.choices, strict=True)]
        assert np.mean(same) >= found.tight


def test_violations_are_counted_by_kind(target: Target) -> None:
    spans = np.array([[0, 2], [1, 2], [3, 5]])
    case = Case(target, spans, np.zeros((3, 4)), np.zeros(4))
    found = measure([case], [np.array([0, -1, 1, -1])])
    assert (found.overlap, found.requires, found.excludes, found.violations) == (1, 1, 1, 3)
    assert found.counts.tolist() == [[1, 2, 3]]
    assert found.scores == (1 / 2, 1 / 3, 2 / 5)


def test_experiment_runs_on_the_first_targets(tmp_path: Path) -> None:
    data = find_data(None)
    if data is None or not (data / "framenet15").is_dir():
        pytest.skip("needs the data sets: set TRELLISWORK_DATA")
    arguments = ["--data", str(data), "--output", str(tmp_path), "--limit", "25", "--runs", "1"]
    framenet.main([*arguments, "--max-iter", "5", "--candidates", "12", "--bits", "14"])
    summary = json.loads((tmp_path / "framenet.json").read_text(encoding="utf-8"))["summary"]
    assert list(summary) == list(framenet.NAMES)
    for name in framenet.EXACT:
        assert summary[name]["overlap"] + summary[name]["requires"] + summary[name]["excludes"] == 0
    assert "not comparable" in (tmp_path / "framenet.md").read_text(encoding="utf-8")
