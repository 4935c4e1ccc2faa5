"""The experiment with sparse models, on a few made-up sentences in the format of its data."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sparsity

CHUNKS = {"the": ("DT", "B-NP"), "cat": ("NN", "I-NP"), "sleeps": ("VB", "B-VP"), ".": (".", "O")}


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("conll2000", "wnut17"):
        for part, n_sentences in (("train", 30), ("test", 10)):
            lines = []
            for _ in range(n_sentences):
                words = rng.choice(list(CHUNKS), size=rng.integers(2, 6))
                for word in words:
                    tag, label = CHUNKS[word]
                    cells = [word, tag, label] if name == "conll2000" else [word, label]
                    lines.append("\t".join(cells))
                lines.append("")
            folder = tmp_path / "data" / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{part}.conll").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "data"


@pytest.mark.parametrize("task", ["conll2000", "wnut17"])
def test_all_models_are_measured(task, data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sparsity, "N_POINTS", 3)
    monkeypatch.setattr(sparsity, "TREE_STRENGTHS", (0.01,))
    output = tmp_path / "results"
    arguments = ["--data", data, "--task", task, "--output", output, "--without-crfsuite"]
    monkeypatch.setattr("sys.argv", ["sparsity.py", *map(str, arguments)])
    sparsity.main()
    capsys.readouterr()
    found = json.loads((output / "sparsity.json").read_text(encoding="utf-8"))[task]
    rows = {row["name"]: row for row in found["rows"]}
    assert len(rows) == 5
    assert all(row["f1"] == 1.0 for row in rows.values() if not row["name"].startswith("tree"))
    assert rows["l1 = 1"]["weights"] < rows["l2 = 1"]["weights"]
    assert set(found["groups"]["kept"]) & {"word[0]", "pos[0]", "lower(word[0])"}
    assert (output / f"sparsity_{task}.png").stat().st_size > 0
    assert "group lasso" in (output / "sparsity.md").read_text(encoding="utf-8")


def test_data_that_are_not_there_are_named(data, monkeypatch):
    (data / "conll2000" / "train.conll").unlink()
    monkeypatch.setattr("sys.argv", ["sparsity.py", "--data", str(data), "--task", "conll2000"])
    with pytest.raises(SystemExit, match="conll2000: expected a file of train, found none"):
        sparsity.main()
