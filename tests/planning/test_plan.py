"""Plans: places of rules, budgets, products, and the cache on disk."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from strategies import sparse_chain
from trelliswork import inference
from trelliswork.constraints import at, at_most, changes_only_at, matches, only_on, token, where
from trelliswork.constraints.given import as_constraints
from trelliswork.data.sentence import Sentence
from trelliswork.decoding.exact import decode_batch
from trelliswork.errors import DataError, LabelError, RegexError, RuleError, TooLargeError
from trelliswork.labels.label_set import LabelSet
from trelliswork.planning import products
from trelliswork.planning.cache import cache_directory
from trelliswork.planning.plan import Plan, plan

LABELS = LabelSet(["author", "title", "year"])
YEAR = token(regex=r"\d{4}")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRELLISWORK_CACHE", str(tmp_path))
    return tmp_path


def test_each_constraint_goes_where_it_belongs():
    rules = [at_most(1, "title"), only_on(YEAR, "year"), changes_only_at(YEAR)]
    found = plan(LABELS, rules)
    assert [p.where for p in found.placements] == ["training", "mask", "training"]
    assert found.masks == (1,)
    assert found.hard_rules == found.training.hard_rules == (0, 2)
    assert found.training.hard_product.tests == (YEAR,)
    assert found.training.hard_product.automaton.n_classes == 2
    shown = str(found)
    for text in ("at_most(1, 'title')", "mask", "training product"):
        assert text in shown


def test_sizes_are_those_of_the_products():
    for rule in (at_most(2, "title"), matches("(author | title year)*"), changes_only_at(YEAR)):
        found = plan(LABELS, rule)
        placed = found.placements[0]
        automaton = found.training.hard_product.automaton
        assert (placed.states, placed.arcs) == (automaton.n_states, automaton.n_arcs)
        assert placed.cost == automaton.n_arcs / found.model.n_arcs


def test_budget_leaves_later_constraints_to_decoding():
    rules = [at_most(1, name) for name in LABELS]
    alone = plan(LABELS, rules[0]).training.hard_product.automaton.n_arcs
    found = plan(LABELS, rules, training_budget=alone)
    assert [p.where for p in found.placements] == ["training", "decoding", "decoding"]
    assert "Left to decoding" in str(found)
    assert found.training.hard_product.automaton.n_arcs == alone


def test_a_training_budget_of_zero_trains_without():
    found = plan(LABELS, [at_most(1, "title"), only_on(YEAR, "year")], training_budget=0)
    assert [p.where for p in found.placements] == ["decoding", "mask"]
    assert found.training.hard_product.automaton.is_chain
    assert "Left to decoding: at_most(1, 'title')." in str(found)


def test_too_large_for_decoding_says_so():
    found = plan(LABELS, [at_most(1, name) for name in LABELS], decoding_budget=20)
    with pytest.raises(TooLargeError, match=r"at_most\(1, 'author'\).*20 arcs"):
        _ = found.hard.product()


def test_a_rule_that_grows_too_large_is_named():
    rule = matches("~(.* title .{20} title .*)")
    with pytest.raises(TooLargeError, match=r"^matches\('~\(\.\* title.*passed 100,000 states"):
        plan(LABELS, [at_most(1, "title"), rule])


def test_too_many_tests_are_left_to_decoding():
    rules = [changes_only_at(token(regex=f"x{i}")) for i in range(7)]
    found = plan(LABELS, rules)
    assert [p.where for p in found.placements] == ["training"] * 6 + ["decoding"]
    with pytest.raises(TooLargeError, match=r"reads 7 token tests, and 6 .* Join tests") as raised:
        _ = found.hard.product()
    assert "budget" not in str(raised.value)
    assert found.training.beyond_tests == (6,)
    shown = str(found)
    assert "Left to decoding, beyond 6 token tests: changes_only_at(token(regex='x6'))" in shown
    assert "read 7 token tests, and 6 are the most" in shown
    assert "arcs of the training budget" not in shown
    joined = token(regex="x0") | token(regex="x1")
    assert "token tests" not in str(plan(LABELS, [changes_only_at(joined), *rules[2:]]))


def test_no_constraint_is_the_model_itself():
    found = plan(LABELS, ())
    assert found.training.hard_product.automaton.is_chain
    assert found.hard.product().automaton is found.model


def test_unknown_labels_are_named():
    with pytest.raises(LabelError, match="editor"):
        plan(LABELS, at_most(1, "editor"))


def test_as_constraints_takes_what_users_give():
    rule = at_most(1, "title")
    automaton = rule.compile(LABELS)
    assert as_constraints(rule) == (rule,)
    assert as_constraints("author* title") == (matches("author* title"),)
    assert as_constraints([rule, "author*"]) == (rule, matches("author*"))
    (from_automaton,) = as_constraints(automaton)
    assert from_automaton.compile(LABELS).equivalent(automaton)
    assert as_constraints(None) == as_constraints(()) == ()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (3, TypeError, r"constraints: expected a constraint, .* or a sequence of these, got int 3"),
        ([None], TypeError, r"constraints\[0\]: expected a constraint, .* got NoneType"),
        ({"title": 1}, TypeError, "constraints: expected a constraint, .* got dict"),
        (["author*", where(YEAR)], TypeError, r"constraints\[1\]: .* Go on with \.allow"),
        (YEAR, TypeError, r"constraints: .* got the test token\(.*only_on"),
        ("at_most(1,'title')", RuleError, r"text of a rule.*constraints\.parse.*read_rules"),
        (["author*", "(title"], RegexError, r"constraints\[1\]: matches: "),
    ],
)
def test_values_that_are_no_constraints_are_named(given, error, message):
    with pytest.raises(error, match=message):
        as_constraints(given)


def test_labels_come_first():
    with pytest.raises(TypeError, match=r"expected a LabelSet, got list.*plan\(labels,"):
        plan([at_most(1, "title")], LABELS)


def test_pickles_as_its_settings():
    found = plan(LABELS, [at_most(1, "title"), only_on(YEAR, "year")], training_budget=1000)
    back = pickle.loads(pickle.dumps(found))
    assert back.placements == found.placements
    assert back.training_budget == 1000


def test_products_are_kept_in_memory():
    found = plan(LABELS, [at_most(1, name) for name in LABELS])
    assert found.hard.product([0, 2]) is found.hard.product((2, 0))


def _count(plan_: Plan, length: int) -> float:
    trellis = inference.Trellis(np.zeros((length, 3)), plan_.hard.product().automaton)
    return float(np.exp(inference.log_partition(trellis)[0]))


def test_slow_products_are_kept_on_disk(cache, monkeypatch):
    monkeypatch.setattr(products, "SECONDS_WORTH_A_FILE", 0.0)
    rules = [at_most(1, "title"), "author (author | title)*"]
    expected = _count(plan(LABELS, rules), 4)
    files = sorted(cache.iterdir())
    assert files
    monkeypatch.setattr(products, "product", lambda *_, **__: pytest.fail("built again"))
    assert _count(plan(LABELS, rules), 4) == pytest.approx(expected)
    assert sorted(cache.iterdir()) == files


def test_guards_survive_the_disk(monkeypatch):
    monkeypatch.setattr(products, "SECONDS_WORTH_A_FILE", 0.0)
    built = plan(LABELS, changes_only_at(YEAR)).training.hard_product.automaton
    monkeypatch.setattr(products, "product", lambda *_, **__: pytest.fail("built again"))
    stored = plan(LABELS, changes_only_at(YEAR)).training.hard_product.automaton
    assert stored.n_classes == 2
    names = ("source", "label", "target", "guards", "contexts", "initial", "final", "pattern_ids")
    for name in names:
        np.testing.assert_array_equal(getattr(stored, name), getattr(built, name))


def test_cached_choices_are_keyed_by_rules_not_positions(cache, monkeypatch):
    monkeypatch.setattr(products, "SECONDS_WORTH_A_FILE", 0.0)
    rules = [at_most(1, name) for name in LABELS]
    masks = [only_on(YEAR, "year"), at(0, "author")]
    budget = plan(LABELS, rules[:2]).training.hard_product.automaton.n_arcs
    for given in (rules, [*masks, *rules], rules):
        found = plan(LABELS, given, training_budget=budget)
        trained = [found.constraints[i] for i in found.training.hard_rules]
        assert trained == rules[:2]
    assert plan(LABELS, [*masks, *rules], training_budget=budget).training.hard_rules == (2, 3)


@pytest.mark.parametrize("stored", [[0, 7], [-1], [1, 0], [[0]], [0.0]])
def test_impossible_choices_on_disk_are_made_again(monkeypatch, stored):
    monkeypatch.setattr(products, "load_arrays", lambda _: {"places": np.array(stored)})
    rules = [at_most(1, "author"), at_most(1, "title")]
    assert plan(LABELS, rules).training.hard_rules == (0, 1)


def test_limits_of_the_languages_are_part_of_the_key(cache, monkeypatch):
    monkeypatch.setattr(products, "SECONDS_WORTH_A_FILE", 0.0)
    rules = [at_most(1, "author"), at_most(1, "title")]
    assert plan(LABELS, rules).training.hard_rules == (0, 1)
    assert plan(LABELS, rules, max_states=4).training.hard_rules == (0,)


@pytest.mark.parametrize("damage", ["", "cut", "flip", "text"])
def test_damaged_files_are_built_again(cache, monkeypatch, damage):
    monkeypatch.setattr(products, "SECONDS_WORTH_A_FILE", 0.0)
    rule = at_most(1, "title")
    expected = _count(plan(LABELS, rule), 4)
    sound = {path: path.read_bytes() for path in cache.iterdir()}
    assert len(sound) == 2  # the product, and which constraints fit
    for path, content in sound.items():
        damaged = {
            "": b"",
            "cut": content[:-20],
            "flip": content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
            "text": b"not a product at all",
        }
        path.write_bytes(damaged[damage])
    assert _count(plan(LABELS, rule), 4) == pytest.approx(expected)
    assert {path: path.read_bytes() for path in cache.iterdir()} == sound  # written again


def test_no_cache_where_it_is_off_or_cannot_be(tmp_path, monkeypatch):
    monkeypatch.setattr(products, "SECONDS_WORTH_A_FILE", 0.0)
    monkeypatch.setenv("TRELLISWORK_CACHE", "off")
    assert cache_directory() is None
    plan(LABELS, at_most(1, "title"))
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("TRELLISWORK_CACHE", str(blocked))
    plan(LABELS, at_most(1, "title"))
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_cache_directory_of_the_platform(monkeypatch):
    monkeypatch.delenv("TRELLISWORK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.setattr("sys.platform", "linux")
    assert str(cache_directory()) == "/somewhere/trelliswork"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_directory().parts[-3:] == ("Library", "Caches", "trelliswork")


def test_masks_and_classes_of_sentences():
    found = plan(LABELS, [where(YEAR).allow("year"), changes_only_at(YEAR)])
    sentences = [["Ann", "1998"], ["1999"]]
    evidence = found.evidence(sentences, np.array([0, 2, 3]))
    assert evidence.classes(found.training.hard_product.tests).tolist() == [0, 1, 1]
    mask = evidence.mask(found.masked([0, 1]))
    assert mask.tolist() == [[True] * 3, [False, False, True], [False, False, True]]
    last = evidence.take(np.array([1]))
    assert last.classes(found.training.hard_product.tests).tolist() == [1]
    assert last.mask(found.masked([0])).tolist() == [[False, False, True]]


def test_tests_see_columns_dicts_and_strings_alike():
    rules = [where(token(regex="N.*", column="pos")).allow("title"), at(0, "author")]
    both = rules[0] & rules[1]
    noun = token(regex="N.*", column="pos")
    found = plan(LABELS, [both, changes_only_at(noun)])
    cells = [(["Cat", "sat"], ["NN", "VB"]), ([], []), (["Sun", "Cat"], ["NNP", "NN"])]
    alike = [Sentence(words, {"pos": tags}) for words, tags in cells]
    others = [*alike[:2], Sentence(cells[2][0], {"pos": cells[2][1], "lemma": ["sun", "cat"]})]
    dicts = [
        [{"word": w, "pos": p} for w, p in zip(words, tags, strict=True)] for words, tags in cells
    ]
    rows = [list(zip(words, tags, strict=True)) for words, tags in cells]
    for sentences in (alike, others, dicts, rows):
        evidence = found.evidence(sentences, np.array([0, 2, 2, 4]))
        assert evidence.classes((noun,)).tolist() == [1, 0, 1, 1]
        mask = evidence.mask((both,))
        assert mask.shape == (4, 3)
        assert mask[1].all()
        assert not mask[[0, 2]].any()  # an author in front, and a title where there is a noun
        assert mask[3].tolist() == [False, True, False]
    empty = found.evidence([Sentence([], {"pos": []})], np.array([0, 0]))
    assert empty.classes((noun,)).shape == (0,)
    assert empty.mask((both,)).shape == (0, 3)


def test_rows_have_one_column_beside_the_token():
    noun, lower = token(regex="N.*", column="pos"), token(regex="[a-z]+", column="lemma")
    found = plan(LABELS, [only_on(noun, "title"), changes_only_at(lower)])
    evidence = found.evidence([[("Cat", "NN"), ("sat", "VB")]], np.array([0, 2]))
    assert evidence.mask(found.masked((0,)))[:, 1].tolist() == [True, False]
    with pytest.raises(DataError, match=r"columns 'lemma', 'pos' of \(token, …\) rows"):
        evidence.classes((lower,))


def test_other_models_than_chains():
    model = sparse_chain(3)
    rules = [at_most(1, "title"), "author (author | title)*"]
    found = plan(LABELS, rules, model=model)
    assert not found.model.is_chain
    assert found.training.hard_rules == (0, 1)
    assert _count(found, 4) == pytest.approx(_count(plan(LABELS, rules), 4))
    tight = plan(LABELS, rules, model=model, training_budget=10)
    assert tight.placements[0].where == "decoding"
    scores = np.random.default_rng(0).normal(size=(5, 3))
    best = []
    for chosen in (found, pickle.loads(pickle.dumps(found)), plan(LABELS, rules)):
        trellis = inference.Trellis(scores, chosen.model)
        evidence = chosen.evidence([["x"] * 5], trellis.offsets)
        best.append(decode_batch(chosen, trellis, evidence).tags.tolist())
    assert best[0] == best[1] == best[2]
    with pytest.raises(ValueError, match="expected an automaton over 3 labels"):
        plan(LABELS, rules, model=sparse_chain(2))


def test_any_string_may_be_a_label():
    odd = LabelSet(["a\ud800", "b"])  # half a character, which UTF-8 cannot write
    assert len(plan(odd, at_most(1, "b")).placements) == 1
