"""``trelliswork train`` with other models than a CRF, protocols, and sentences without labels."""

from __future__ import annotations

import json

import pytest

import trelliswork as tw
from commands import SENTENCES, conll, fail, run

RULES = "starts_with(PER, LOC): soft\nat_most(1, PER): soft\n"
FAST = ("--cycles", 2)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "train.conll"
    path.write_text(conll() * 2)
    return path


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text(RULES)
    return path


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text("Bob sings in Rome.\n\nthe cat sees Ann.\n")
    return path


@pytest.mark.parametrize("training", ["L", "L+CI", "L+wCI"])
@pytest.mark.parametrize("model", ["crf", "hmm", "perceptron"])
def test_every_model_and_protocol(tmp_path, corpus, rules, model, training):
    out = tmp_path / "m.tw"
    result = run(
        *("train", corpus, "--out", out, "--model", model, "--training", training),
        *("--rules", rules, "--dev", corpus),
    )
    assert result.exit_code == 0, result.output
    assert "token accuracy" in result.stdout
    tagger = tw.load(out)
    assert type(tagger).__name__.lower() == f"{model}tagger"
    assert tagger.training == training
    assert len(tagger.plan_.constraints) == (0 if training == "L" else 2)
    if training != "L":
        assert f"rules       2, {training}: " in result.stdout


def test_a_run_with_raw_text(tmp_path, corpus, rules, raw):
    out = tmp_path / "m.tw"
    result = run(
        *("train", corpus, "--out", out, "--model", "hmm", "--rules", rules, *FAST),
        *("--unlabelled", raw, "--tokenizer", "words", "--dev", corpus, "--gamma", 0.5),
    )
    assert result.exit_code == 0, result.output
    assert "cycle    0  supervised" in result.stderr
    assert "cycle    1  violations " in result.stderr
    assert "dev accuracy" in result.stderr
    for fact in ("unlabelled  2 sentences", "base        HMMTagger", "cycles      ", "under rules"):
        assert fact in result.stdout
    tagger = tw.load(out)
    assert isinstance(tagger, tw.CODLTagger)
    assert (tagger.gamma, tagger.cycles) == (0.5, 2)
    assert "word=sees" in tagger.model_.encoder.feature_names()
    assert tagger.metadata_["tokenizer"] == {"kind": "words"}


def test_the_same_text_in_all_formats(tmp_path, corpus):
    first = [[word for word, *_ in sentence] for sentence in SENTENCES[:3]]
    files = {
        "a.conll": "".join("".join(f"{w}\tX\tO\n" for w in own) + "\n" for own in first),
        "b.conll": "".join("".join(f"{w}\tX\n" for w in own) + "\n" for own in first),
        "c.jsonl": "".join(
            json.dumps({"tokens": own, "pos": ["X"] * len(own), "labels": ["?"] * len(own)}) + "\n"
            for own in first
        ),
        "d.txt": "".join(" ".join(own) + "\n" for own in first),
    }
    found = []
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        out = tmp_path / f"{name}.tw"
        result = run(
            *("train", corpus, "--out", out, "--model", "hmm", "--unlabelled", tmp_path / name),
            *("--tokenizer", "whitespace", *FAST, "--quiet"),
        )
        assert result.exit_code == 0, result.output
        tagger = tw.load(out)
        assert tagger.labels_.names == ("B-LOC", "B-PER", "I-PER", "O")
        found.append(tagger.model_.state.weights.tolist())
    assert found[0] == found[1] == found[2] == found[3]


def test_several_files_and_a_format_by_option(tmp_path, corpus, raw):
    other = tmp_path / "more.references"
    other.write_text("Rome sleeps .\n")
    result = run(
        *("train", corpus, "--out", tmp_path / "m.tw", "--model", "hmm", *FAST),
        *("--unlabelled", raw, "--unlabelled", other, "--unlabelled-format", "raw"),
        *("--token-pattern", r"\w+"),
    )
    assert result.exit_code == 0, result.output
    assert "unlabelled  3 sentences" in result.stdout


def test_the_labels_of_a_few(tmp_path, corpus):
    def trained(*options):
        out = tmp_path / "m.tw"
        given = ("--model", "hmm", "--labelled-size", 3, *FAST)
        result = run("train", corpus, "--out", out, *given, *options)
        assert result.exit_code == 0, result.output
        return tw.load(out), result.stdout

    tagger, told = trained("--seed", 1)
    assert "100.00%" not in told  # the first cycle has none before it
    assert "sentences   3" in told
    assert "unlabelled  7 sentences" in told
    # The names are known even where none of the three sentences has them.
    assert tagger.labels_.names == ("B-LOC", "B-PER", "I-PER", "O")
    again, _ = trained("--seed", 1)
    assert again.model_.state.weights.tolist() == tagger.model_.state.weights.tolist()
    other, _ = trained("--seed", 2)
    assert other.model_.state.weights.tolist() != tagger.model_.state.weights.tolist()


def test_the_rest_can_be_left_out(tmp_path, corpus):
    out = tmp_path / "m.tw"
    result = run("train", corpus, "--out", out, "--labelled-size", 3, "--leave-out-rest")
    assert result.exit_code == 0, result.output
    assert isinstance(tw.load(out), tw.CRFTagger)
    assert "unlabelled" not in result.stdout


@pytest.mark.parametrize("model", ["hmm", "perceptron", "crf"])
def test_the_other_commands_work_on_what_came_of_it(tmp_path, corpus, rules, raw, model):
    out, tagged = tmp_path / "m.tw", tmp_path / "out.conll"
    given = ("--rules", rules, "--labelled-size", 6, "--tokenizer", "words")
    trained = run("train", corpus, "--out", out, "--model", model, *given, *FAST, "--quiet")
    assert trained.exit_code == 0, trained.output
    inspected = run("inspect", out, "--top", 2)
    assert inspected.exit_code == 0, inspected.output
    assert "the model is that of cycle" in inspected.stdout
    summary = json.loads(run("inspect", out, "--json").stdout)
    assert summary["training"]["log"][0]["changed"] is None
    assert summary["parameters"]["base"].lower() == f"{model}tagger"
    assert run("tag", out, corpus, "--output", tagged, "--marginals").exit_code == 0
    assert run("tag", out, raw, "--raw", "--nbest", 2).exit_code == 0
    assert "token accuracy" in run("evaluate", tagged, "--confidence-column", -1).stdout
    explained = run("explain", out, corpus)
    assert explained.exit_code == 0, explained.output
    assert "starts_with('PER', 'LOC')" in explained.stdout


def test_models_without_cycles_are_inspected(tmp_path, corpus):
    for model, told in (("hmm", "counted, in one step"), ("perceptron", "mistakes")):
        out = tmp_path / f"{model}.tw"
        result = run("train", corpus, "--out", out, "--model", model, "--dev", corpus)
        assert result.exit_code == 0, result.output
        assert told in run("inspect", out).stdout
        assert ("epoch    1  mistakes" in result.stderr) == (model == "perceptron")


def test_labels_by_option(tmp_path, corpus):
    rule = ("--rule", "at_most(1, ORG): soft")
    out = ("--out", tmp_path / "m.tw", "--model", "hmm")
    line = fail("train", corpus, *out, *rule, "--rule", "starts_with(PER, DATE)")
    assert "there is no segment 'ORG'" in line
    assert line.endswith("add --labels B-ORG,I-ORG,B-DATE,I-DATE.")
    result = run("train", corpus, *out, *rule, "--labels", "B-ORG, I-ORG")
    assert result.exit_code == 0, result.output
    assert "B-ORG" in tw.load(tmp_path / "m.tw").labels_.names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--model hmm --l2 0.5", "--l2: expected with --model crf only, got --model hmm."),
        ("--epochs 3", "--epochs: expected with --model perceptron only, got --model crf."),
        ("--gamma 0.5", "--gamma: expected with --unlabelled or --labelled-size only."),
        ("--leave-out-rest", "--leave-out-rest: expected with --labelled-size only."),
        ("--unlabelled raw.txt", "expected a tokenizer for raw text. Add --tokenizer"),
        ("--labelled-size 11", "--labelled-size: expected at most 10"),
        (
            "--model hmm --training CIBT --rule at_most(1,PER)",
            "--training: expected one of 'L'",
        ),
        ("--unlabelled missing.txt", "missing.txt: No such file"),
        ("--labelled-size 10", "fewer than the 10 sentences of"),
        ("--labelled-size 3 --top-k 5", "--top-k: expected with --labelling topk only"),
        (
            "--unlabelled raw.conll --model hmm",
            "to match the file. For text with one sentence per line, add --unlabelled-format raw.",
        ),
        (
            "--unlabelled words.conll --features pos[0]",
            "words.conll: expected the column 'pos', which the features or the rules read, got "
            "only word.",
        ),
        ("--unlabelled words.jsonl --features pos[0]", "expected a column 'pos', got tokens"),
        (
            "--unlabelled words.conll --model hmm --rule "
            "only_on(token(column='pos',regex='N.*'),PER)",
            "words.conll: expected the column 'pos'",
        ),
        (
            "--training wCIBT --rule only_on(token(regex='x'),PER).per_token().soft() "
            "--rule at_most(1,PER):soft",
            "does not learn the penalties of only_on(token(regex='x'), 'PER').per_token().soft(), "
            "as tokens are counted one by one. Count penalties with --training L+wCI; or leave "
            "--training out",
        ),
        (
            "--training CIBT --model perceptron --rule starts_with(LOC) --rule at_most(0,LOC)",
            "train.conll:18: No labelling of 1 token satisfies",
        ),
        ("--labels a,,b", "--labels: expected names such as author,title, got 'a,,b'."),
        ("--labelled-size 3 --labelling posterior", "only an HMMTagger learns from posteriors"),
        ("--training CIBT --decode-only-rules --rule at_most(1,PER)", "expected True"),
    ],
)
def test_invalid_options(tmp_path, corpus, raw, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.conll").write_text("Bob\nsings\n\nAnn\n\n")
    (tmp_path / "words.jsonl").write_text('{"tokens": ["Bob", "sings"]}\n')
    (tmp_path / "raw.conll").write_text("Bob sings in Rome\nAnn sleeps\n")
    assert message in fail("train", corpus, "--out", tmp_path / "m.tw", *options.split())


@pytest.mark.parametrize("model", ["hmm", "perceptron"])
@pytest.mark.parametrize("name", ["words.conll", "words.jsonl"])
def test_columns_that_nothing_reads_may_be_missing(tmp_path, corpus, model, name):
    (tmp_path / "words.conll").write_text("Bob\nsings\n\nAnn\n\n")
    (tmp_path / "words.jsonl").write_text('{"tokens": ["Bob", "sings"]}\n{"tokens": ["Ann"]}\n')
    result = run(
        *("train", corpus, "--out", tmp_path / "m.tw", "--model", model, *FAST),
        *("--unlabelled", tmp_path / name, "--quiet"),
        *(() if model == "hmm" else ("--features", "word[0]")),
    )
    assert result.exit_code == 0, result.output


def test_sentences_that_cannot_satisfy_all_rules(tmp_path, corpus):
    out = tmp_path / "m.tw"
    result = run(
        *("train", corpus, "--out", out, "--model", "perceptron", "--training", "CIBT", "--quiet"),
        *("--rule", "starts_with(LOC)", "--rule", "at_most(0, LOC)", "--on-infeasible", "relax"),
    )
    assert result.exit_code == 0, result.output
    assert tw.load(out).on_infeasible == "relax"


def test_rules_and_protocols_without_one_another(tmp_path, corpus, rules):
    command = ("train", corpus, "--out", tmp_path / "m.tw", "--model", "hmm", "--quiet")
    told = run(*command, "--training", "L", "--rules", rules).stderr
    assert "warning: --training L: 2 rules are not used" in told
    assert (
        "warning: --training L+CI: there are no rules" in run(*command, "--training", "L+CI").stderr
    )
    assert not run(*command, "--training", "L").stderr


def test_the_epochs_are_those_of_the_tagger(tmp_path, corpus):
    out = tmp_path / "m.tw"
    assert run("train", corpus, "--out", out, "--model", "perceptron", "--quiet").exit_code == 0
    assert tw.load(out).epochs == tw.PerceptronTagger().epochs


def test_the_command_line_speaks_of_rules(tmp_path, corpus, raw):
    result = run(
        *("train", corpus, "--out", tmp_path / "m.tw", "--model", "hmm", "--training", "L+CI"),
        *("--unlabelled", raw, "--tokenizer", "words", *FAST, "--on-infeasible", "relax"),
        *("--rule", "where(token(regex='Bob')).allow(PER)", "--rule", "not_at(0, PER)"),
    )
    assert result.exit_code == 0, result.output
    assert "1 of 2 unlabelled sequences cannot satisfy all rules" in result.stderr
    assert "constraint" not in result.output
