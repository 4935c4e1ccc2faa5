"""The experiment with few labels runs, on little data, and its parts are right."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import ccm
import ccm_tables
import ccm_tasks
import ccm_trials
import pytest
from ccm_trials import Mean, Setting, Source, Trial
from common import find_data

import trelliswork as tw
from trelliswork.constraints import parse

if TYPE_CHECKING:
    from pathlib import Path

    from trelliswork.constraints import Constraint

SETS = {
    "cora": (300, 20),  # all labels occur
    "umass_citation": (40, 1),
    "grobid_citation": (40, 1),
    "usaddress": (1362, 20),
}
FEW = [
    tw.Sentence(["A", ".", "Lee", ".", "Cats", ",", "1998"], labels=[*["author"] * 4, *"ttd"]),
    tw.Sentence(["B", ".", "Ng", ".", "Dogs", ",", "1999"], labels=[*["author"] * 4, *"ttd"]),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the first sequences of the data sets."""
    found = find_data(None)
    if found is None:
        pytest.skip("needs the data sets: set TRELLISWORK_DATA")
    directory = tmp_path_factory.mktemp("data")
    for name, sizes in SETS.items():
        (directory / name).mkdir()
        for part, n in zip(("train", "dev"), sizes, strict=True):
            path = next((found / name).glob(f"{part}.conll*"))
            first = itertools.islice(tw.iter_conll(path, ("word", "label"), "\t"), n)
            tw.write_conll(tw.Corpus(first), directory / name / f"{part}.conll", separator="\t")
    return directory


def rules_in_python() -> list[Constraint]:
    """Write some of the rules of the file as a program would."""
    ends = tw.token(regex=".*[.,;:)?!\"”']")
    pages = tw.token(regex=r"\W*(pp|pages)\W*", ignore_case=True)
    year = tw.token(regex=r"\W*(19|20)[0-9][0-9][a-z]?\W*")
    return [
        tw.starts_with("author", "editor").soft(),
        tw.at_most(1, "title").soft(),
        tw.changes_only_at(ends).per_token().soft(),
        tw.where(pages).allow("pages").per_token().soft(),
        tw.where(year).allow("date").per_token().soft(),
        tw.precedes("author", "title").soft(),
        tw.excludes("booktitle", "journal").soft(),
    ]


def test_marks_are_split_off_and_put_back() -> None:
    tokens = ["Rev.", "D43", "(1991)", "1-9."]
    split = ccm_tasks.split_marks(tokens)
    assert split == ["Rev", ".", "D43", "(", "1991", ")", "1", "-", "9", "."]
    assert ccm_tasks.attach_marks(split) == tokens


def test_draws_divide_train_and_fill_up_from_elsewhere() -> None:
    more = [tw.Sentence([str(i)]) for i in range(5)]
    task = ccm_tasks.Task(FEW, FEW, more, (), {})
    assert task.labels == ["author", "d", "t"]
    draw = task.draw(1, 0, 4)
    assert len(draw.labelled) == 1
    assert len(draw.unlabelled) == 4
    assert all(sentence.labels is None for sentence in draw.unlabelled)
    assert draw.unlabelled[0].tokens != draw.labelled[0].tokens
    assert [x.tokens for x in task.draw(1, 0, 4).unlabelled] == [x.tokens for x in draw.unlabelled]


def test_means_have_standard_errors() -> None:
    mean = Mean.of([Trial(0.5, 0.0, 0.0), Trial(0.7, 0.0, 0.0)])
    assert (mean.accuracy, mean.error, mean.draws) == pytest.approx((0.6, 0.1, 2))
    assert str(mean) == "60.00 ± 10.00"
    assert str(Mean.of([Trial(0.5, 0.0, 0.0)])) == "50.00"


def test_groups_of_rules_cover_the_file() -> None:
    groups = ccm_tables.rule_groups()
    rules = tw.read_rules(ccm_tasks.CITATION_RULES)
    assert sorted(itertools.chain(*groups.values())) == list(range(len(rules)))
    assert all(rule.is_soft for rule in rules)
    whole = Setting("cora", "HMM", "L+wCI", 20)
    settings = ccm_tables.ablation_settings(20)
    assert settings[0] == whole
    assert ccm_trials.without_rules(whole, 3, [1]).rules == (0, 2)


def test_rules_of_the_file_are_those_of_a_program(data: Path) -> None:
    written = tw.read_rules(ccm_tasks.CITATION_RULES)
    in_python = rules_in_python()
    assert set(in_python) <= set(written)
    read = [rule for rule in written if rule in in_python]
    made = sorted(in_python, key=written.index)
    assert [parse(repr(rule)) for rule in made] == read
    task = ccm_tasks.read_task("cora", data, "dev")
    answers = [
        tw.HMMTagger(constraints=rules, labels=task.labels, n_jobs=1)
        .fit(task.train[:10])
        .decode(task.held_out)
        for rules in (read, made)
    ]
    assert answers[0] == answers[1]


def test_a_rule_that_is_wrong_half_the_time_costs_little() -> None:
    y = [["a", "b"], ["b", "a"]] * 10
    X = [["x", "y"], ["z", "w"]] * 10
    wrong, right = tw.starts_with("a").soft(), tw.at_most(1, "a").soft()
    for kind, training in ((tw.HMMTagger, "L+wCI"), (tw.PerceptronTagger, "wCIBT")):
        tagger = kind(constraints=[wrong, right], training=training, random_state=0).fit(X, y)
        assert tagger.penalties_[str(wrong)] < 1.0
    assert tw.HMMTagger(constraints=[right]).fit(X, y).penalties_[str(right)] > 5.0


def test_trials_are_kept(data: Path, tmp_path: Path) -> None:
    source = Source(data, "dev", 20, tmp_path)
    setting = Setting("cora", "HMM", "L+wCI", 5, semi=True)
    trial = ccm_trials.kept_trial(setting, 0, source)
    assert 0.3 < trial.accuracy <= 1.0
    assert ccm_trials.kept_trial(setting, 0, source) == trial
    assert len(list(tmp_path.iterdir())) == 1


def test_ccm(data: Path, tmp_path: Path) -> None:
    arguments = ["--data", str(data), "--output", str(tmp_path), "--quick", "--seeds", "1"]
    assert ccm.main([*arguments, "--parallel", "1", "--parts", "table2", "ablation", "usaddress"])
    results = json.loads((tmp_path / "ccm.json").read_text(encoding="utf-8"))
    assert results["holds"] == {}  # claims are about all sizes
    assert {trial["base"] for trial in results["trials"]} == {"HMM", "perceptron", "CRF"}
    assert "(58.48)" in (tmp_path / "ccm.md").read_text(encoding="utf-8")
    assert (tmp_path / "ccm.png").exists()
