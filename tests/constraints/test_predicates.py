"""Python functions as constraints: meaning, refusals, files."""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import pytest
import safetensors

import trelliswork as tw
from commands import fail
from trelliswork.constraints import parse
from trelliswork.constraints.predicates import as_predicates
from trelliswork.errors import InfeasibleError, ModelFileError, RuleError

LABELS = tw.LabelSet(["a", "b"])


def repeats(labels, sentence):
    """Return how many labels are those before them."""
    return sum(x == y for x, y in pairwise(labels))


def new_repeat(labels, sentence):
    return len(labels) > 1 and labels[-1] == labels[-2]


REPEATS = tw.predicate(repeats, prefix=new_repeat)


class TestValues:
    def test_is_named_by_its_function_and_prints_its_name(self):
        assert repr(tw.predicate(repeats)) == "predicate('repeats')"
        assert repr(tw.predicate(repeats, name="x y").soft(2.0)) == "predicate('x y').soft(2.0)"
        assert repr(tw.predicate(prefix=new_repeat)) == "predicate('new_repeat')"

    def test_is_equal_by_name_and_functions(self):
        assert tw.predicate(repeats, prefix=new_repeat) == REPEATS
        assert hash(REPEATS) == hash(tw.predicate(repeats, prefix=new_repeat))
        assert tw.predicate(repeats) != REPEATS
        assert tw.predicate(repeats, "other", new_repeat) != REPEATS
        assert copy.deepcopy(REPEATS) == REPEATS

    @pytest.mark.parametrize("rule", [REPEATS, tw.predicate(prefix=new_repeat, name="p")])
    def test_counts_violations(self, rule):
        assert rule.violations(["a", "a", "b", "b", "b"]) == 3
        assert rule.violations([]) == 0
        assert rule.soft(1.0).violations(["a", "a"]) == 1
        assert rule.explain(["a", "a"]) == [f"{rule!r} counts 1."]

    def test_sees_the_sentence_as_given(self):
        rule = tw.predicate(lambda labels, sentence: sentence == ("x",), name="x")
        assert rule.violations(["a"], ("x",)) == 1
        assert rule.violations(["a"]) == 0

    def test_may_change_the_list_it_is_given(self):
        rule = tw.predicate(lambda labels, sentence: labels.pop() == "a", name="p")
        given = ["b", "a"]
        assert rule.violations(given) == 1
        assert given == ["b", "a"]

    @pytest.mark.parametrize("answer", [True, np.True_, 1, np.int64(1)])
    def test_takes_counts_and_truths(self, answer):
        assert tw.predicate(lambda labels, sentence: answer, name="p").violations(["a"]) == 1

    @pytest.mark.parametrize("answer", [-1, 0.5, None, "yes"])
    def test_refuses_other_answers(self, answer):
        with pytest.raises(RuleError, match=r"predicate\('p'\): expected violations to return"):
            tw.predicate(lambda labels, sentence: answer, name="p").violations(["a"])
        with pytest.raises(RuleError, match=r"predicate\('p'\): expected prefix to return"):
            tw.predicate(prefix=lambda labels, sentence: answer, name="p").violations(["a"])


class TestRefusals:
    def test_needs_a_function_and_a_name(self):
        with pytest.raises(TypeError, match="expected a function, violations= or prefix="):
            tw.predicate()
        with pytest.raises(TypeError, match="violations: expected a function of labels and"):
            tw.predicate("a")
        with pytest.raises(ValueError, match="Give name="):
            tw.predicate(lambda labels, sentence: 0)
        with pytest.raises(ValueError, match="name: expected a text, got ''"):
            tw.predicate(repeats, name="")

    def test_has_no_automaton(self):
        with pytest.raises(RuleError, match="has no automaton"):
            REPEATS.compile(LABELS)

    def test_is_no_part_of_another_rule(self):
        other = tw.at_most(1, "a")
        for join in (
            lambda: REPEATS & other,
            lambda: other & REPEATS,
            lambda: REPEATS | other,
            lambda: other | REPEATS,
            lambda: ~REPEATS,
        ):
            with pytest.raises(TypeError, match=r"predicate\('repeats'\) is a Python function"):
                join()


class TestText:
    def test_is_read_where_the_function_is_given(self):
        soft = REPEATS.soft(1.5)
        assert parse(repr(soft), predicates=[REPEATS]) == soft
        assert parse("predicate('repeats') : soft(1.5)", predicates={"repeats": REPEATS}) == soft

    def test_is_refused_elsewhere(self):
        with pytest.raises(RuleError, match="column 11: there is no predicate 'repeats' here"):
            parse(repr(REPEATS))

    def test_refuses_what_is_no_predicate(self):
        with pytest.raises(
            TypeError, match=r"expected predicates made by tw\.predicate, got function"
        ):
            parse("at_most(1, a)", predicates=[repeats])
        with pytest.raises(ValueError, match="under its own name, got 'other'"):
            parse("at_most(1, a)", predicates={"other": REPEATS})
        with pytest.raises(ValueError, match=r"expected one predicate\('repeats'\), got two"):
            parse("at_most(1, a)", predicates=[REPEATS, tw.predicate(repeats)])


class TestPlans:
    def test_are_searched_and_never_compiled(self):
        plan = tw.plan(LABELS, [tw.at_most(1, "a"), REPEATS, REPEATS.soft(1.0)])
        assert plan.predicates == (1, 2)
        assert plan.hard_rules == (0,)
        assert len(plan.terms) == 1
        assert [p.where for p in plan.placements] == ["training", "search", "search"]
        assert "search" in str(plan)


class TestFiles:
    @pytest.fixture
    def tagger(self):
        trained = tw.CRFTagger(features="word[0]").fit([["x", "y"]], [["a", "b"]])
        return trained.with_constraints([REPEATS.soft(2.0), tw.at_most(2, "a")])

    def test_keep_the_name_alone(self, tagger, tmp_path):
        path = tmp_path / "model.tw"
        tagger.save(path)
        assert b"new_repeat" not in path.read_bytes()
        for given in ([REPEATS], {"repeats": REPEATS}, (r for r in [REPEATS])):
            assert tw.load(path, predicates=given).plan_.constraints == tagger.plan_.constraints

    def test_need_version_4(self, tagger, tmp_path):
        path = tmp_path / "model.tw"
        tagger.save(path)
        assert safetensors.safe_open(path, "np").metadata()["version"] == "4"

    def test_say_which_are_missing(self, tagger, tmp_path):
        path = tmp_path / "model.tw"
        tagger.save(path)
        with pytest.raises(ModelFileError, match=r"no file holds: 'repeats'. Load it in Python"):
            tw.load(path)

    def test_tag_the_same_when_loaded(self, tagger, tmp_path):
        path = tmp_path / "model.tw"
        tagger.save(path)
        sentences = [["x", "x", "x"], ["y", "x"]]
        loaded = tw.load(path, predicates=[REPEATS])
        assert loaded.predict(sentences) == tagger.predict(sentences)

    def test_are_refused_by_the_command_line(self, tagger, tmp_path):
        path = tmp_path / "model.tw"
        tagger.save(path)
        assert "rules that are Python functions" in fail("tag", path, "-", stdin="x\n")


@pytest.fixture
def trained():
    sentences, labels = [["x", "y", "x"], ["x", "x"]], [["a", "b", "a"], ["a", "a"]]
    return tw.CRFTagger(features="word[0]").fit(sentences, labels)


class TestTaggers:
    @pytest.mark.parametrize("rule", [REPEATS, REPEATS.soft(100.0), tw.predicate(repeats)])
    def test_decode_under_predicates(self, trained, rule):
        tagger = trained.with_constraints([rule, tw.starts_with("b", unit="token").soft(50.0)])
        (long, short) = tagger.decode([["x", "x", "x", "x"], ["y", "x"]])
        assert long.labels == ["b", "a", "b", "a"]
        assert (long.status, long.method, long.gap) == ("unverified", "astar", 0.0)
        assert (short.labels, short.status) == (["b", "a"], "optimal")
        assert tagger.predict([["x", "x"]]) == [["b", "a"]]

    def test_report_what_is_broken(self, trained):
        (found,) = trained.with_constraints(REPEATS.soft(0.01)).decode([["x", "x"]])
        assert found.labels == ["a", "a"]
        assert found.violations == {"predicate('repeats').soft(0.01)": 1}

    def test_hard_ones_that_cannot_hold(self, trained):
        never = tw.predicate(lambda labels, sentence: 1, name="never")
        sentences = [["x", "y"]]
        with pytest.raises(InfeasibleError, match=r"satisfies predicate\('never'\) and all other"):
            trained.with_constraints([never, tw.at_most(1, "a")]).predict(sentences)
        for how in ("relax", "unconstrained"):
            tagger = trained.with_constraints([never, tw.at_most(0, "b")], on_infeasible=how)
            (found,) = tagger.decode(sentences)
            assert found.status == ("relaxed" if how == "relax" else "unconstrained")
            assert found.violations["predicate('never')"] == 1
            assert found.labels == (["a", "a"] if how == "relax" else ["a", "b"])

    def test_have_no_probabilities_and_no_lists(self, trained):
        tagger = trained.with_constraints(REPEATS)
        for ask in (
            tagger.predict_marginals,
            lambda given: tagger.predict_nbest(given, 2),
            lambda given: trained.probability_of(given, REPEATS),
        ):
            with pytest.raises(RuleError, match="is a Python function: functions cannot be summed"):
                ask([["x"]])
        with pytest.raises(RuleError, match="is a Python function: lists of the best"):
            tagger.decode_nbest([["x"]], 2)
        assert tagger.decode_nbest([["x", "y"]], 1)[0][0].labels == ["a", "b"]

    def test_are_left_to_decoding_in_training(self):
        sentences, labels = [["x", "y", "x"], ["y", "x"]], [["a", "b", "a"], ["b", "a"]]
        tagger = tw.CRFTagger(features="word[0]", constraints=[REPEATS]).fit(sentences, labels)
        assert tagger.predict([["x", "x", "x"]]) == [["a", "b", "a"]]
        with pytest.raises(RuleError, match="as Python functions cannot be summed over"):
            tw.CRFTagger(features="word[0]", constraints=[REPEATS.soft()]).fit(sentences, labels)

    @pytest.mark.parametrize("training", ["L+CI", "L+wCI", "CIBT", "wCIBT"])
    def test_all_protocols_of_the_perceptron(self, training):
        sentences, labels = [["x", "y", "x"], ["y", "x"]], [["a", "b", "a"], ["b", "a"]]
        tagger = tw.PerceptronTagger(
            features="word[0]", training=training, constraints=[REPEATS.soft()], random_state=0
        )
        assert tagger.fit(sentences, labels).predict(sentences) == labels

    def test_learn_what_one_costs(self, trained):
        sentences, labels = [["x", "x", "y"]] * 4, [["a", "b", "a"]] * 4
        found = tw.learn_penalties(trained, sentences, labels, constraints=[REPEATS.soft()])
        (penalty,) = found.penalties_.values()
        assert penalty > 0.0


class TestMistakes:
    def problem(self, rule):
        return tw.Problem(np.zeros((3, 2)), constraints=rule, labels=["a", "b"])

    @pytest.mark.parametrize("method", ["beam", "astar", "auto"])
    def test_prefixes_that_do_not_add_up(self, method):
        wrong = tw.predicate(lambda labels, sentence: 1, "p", lambda labels, sentence: 1)
        with pytest.raises(RuleError, match="to add up to its violations, 1, got 3 for"):
            tw.solve(self.problem(wrong.soft(1.0)), method)

    def test_errors_of_functions_are_named(self):
        def broken(labels, sentence):
            raise KeyError("no such thing")

        for rule in (tw.predicate(broken), tw.predicate(prefix=broken)):
            with pytest.raises(RuleError, match="raised KeyError: 'no such thing'"):
                tw.solve(self.problem(rule), "beam")

    @pytest.mark.parametrize("method", ["product", "lazy", "dual", "branch", "milp"])
    def test_methods_that_cannot(self, method):
        with pytest.raises(RuleError, match=rf"predicate\('repeats'\) is a .* method='{method}'"):
            tw.solve(self.problem(REPEATS), method)


def test_two_functions_of_one_name_are_refused():
    first, second = (tw.predicate(lambda labels, _, y=y: labels[0] == y, name="z") for y in "ab")
    with pytest.raises(ValueError, match="two functions of that name"):
        tw.plan(tw.LabelSet(["a", "b"]), [first.soft(1.0), second.soft(3.0)])
    both = (first.soft(1.0), first)
    assert tw.plan(tw.LabelSet(["a", "b"]), both).constraints == both


def test_a_function_that_raises_is_named():
    broken = tw.predicate(lambda labels, _: 1 // 0, name="broken")
    with pytest.raises(RuleError, match=r"predicate\('broken'\): violations raised ZeroDivision"):
        broken.violations(["a"])
    with pytest.raises(RuleError, match="got one out of range"):
        tw.predicate(lambda labels, _: 10**30, name="huge").violations(["a"])


def test_soft_predicates_may_be_given_to_load():
    rule = tw.predicate(lambda labels, _: 0, name="never")
    assert as_predicates([rule.soft(2.0)]) == {"never": rule}
