"""The layer under a language: every verb equals the enumeration of the language."""

from __future__ import annotations

import copy
import gc
import math
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

torch = pytest.importorskip("torch", reason="needs the torch extra: make test-torch")

from crf_oracle import (  # noqa: E402
    Verbs,
    as_function,
    cases,
    log_likelihoods,
    log_sum_exp,
    scores,
)
from trelliswork.automata.automaton import Automaton  # noqa: E402
from trelliswork.constraints import at_least, at_most, only_on, precedes, token, valid_scheme  # noqa: E402
from trelliswork.errors import InfeasibleError, NotInLanguageError  # noqa: E402
from trelliswork.labels.label_set import LabelSet  # noqa: E402
from trelliswork.torch import CRF, ragged  # noqa: E402

BACKENDS = ["core", "tensor"]
# Ambiguous as written, of several shapes; every one has labellings of every length from 1 up.
EXPRESSIONS = ["(0 | 1 2*)*", "(0 | 0 0 | 1)* . ", "~(.* 2 .* 2 .*)", "0* 1* 2* | 2* 0*"]


@st.composite
def languages(draw):
    """An expression, or an automaton that may be ambiguous."""
    if draw(st.booleans()):
        return draw(st.sampled_from(EXPRESSIONS))
    every = list(product(range(2), range(3), range(2)))
    arcs = draw(st.lists(st.sampled_from(every), unique=True, min_size=3))
    final = draw(st.sampled_from([None, (-np.inf, 0)]))
    automaton = Automaton(2, 3, *zip(*arcs, strict=True), final=final)
    assume(automaton.trim().n_arcs)  # a layer refuses a language without a labelling
    return automaton


def members(language, length):
    automaton = (
        Automaton.from_regex(language, ["0", "1", "2"]) if isinstance(language, str) else language
    )
    return {p for p in product(range(3), repeat=length) if automaton.accepts(p)}


@given(st.data(), languages(), st.sampled_from(BACKENDS))
def test_all_verbs(data, language, backend):
    case = data.draw(cases(num_tags=3, language=language, backend=backend))
    inside = {n: members(language, n) for n in range(1, 5)}
    sequences = list(case.sequences())
    assume(all(inside[len(gold)] for _, gold, _ in sequences))
    case.tags = case.tags.clone()
    by_sequence = case.tags if case.crf.batch_first else case.tags.T
    for row, (_, gold, at) in zip(by_sequence, sequences, strict=True):
        row[at] = torch.tensor(data.draw(st.sampled_from(sorted(inside[len(gold)]))))

    def accepts(path):
        return path in inside[len(path)]

    value = case.crf(case.emissions, case.tags, case.mask, reduction="none")
    np.testing.assert_allclose(value.detach(), log_likelihoods(case, accepts), atol=1e-9)
    log_z = case.crf.log_partition(case.emissions, case.mask)
    marginals = case.crf.marginals(case.emissions, case.mask).detach()
    marginals = marginals if case.crf.batch_first else marginals.transpose(0, 1)
    decoded = case.crf.decode(case.emissions, case.mask)
    best = case.crf.kbest(case.emissions, 3, case.mask)
    draws = case.crf.sample(case.emissions, 5, case.mask)
    for index, (phi, _, positions) in enumerate(sequences):
        every = scores(case.crf, phi, accepts)
        total = log_sum_exp(every.values())
        assert log_z[index].item() == pytest.approx(total, abs=1e-9)
        expected = np.zeros(marginals[index].shape)
        for path, score in every.items():
            for position, tag in zip(positions, path, strict=True):
                expected[position, tag] += math.exp(score - total)
        np.testing.assert_allclose(marginals[index], expected, atol=1e-9)
        top = sorted(every.values(), reverse=True)[:3]
        assert every[tuple(decoded[index])] == pytest.approx(top[0], abs=1e-9)
        assert [every[tuple(path)] for path, _ in best[index]] == pytest.approx(top, abs=1e-9)
        assert all(accepts(tuple(draw)) for draw in draws[index])


@pytest.mark.parametrize("backend", BACKENDS)
def test_derivatives(backend):
    torch.manual_seed(0)
    crf = CRF(3, batch_first=True, language="(0 | 1 2*)*", backend=backend).double()
    emissions = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 1, 0]], dtype=torch.bool)
    verbs = Verbs(crf, torch.tensor([[0, 1, 2, 2], [1, 0, 0, 0]]), mask)
    inputs = (emissions, *verbs.parameters())
    for verb in ("log_likelihood", "log_partition"):
        assert torch.autograd.gradcheck(as_function(verbs, verb), inputs)
        assert torch.autograd.gradgradcheck(as_function(verbs, verb), inputs)


def test_decoding_on_the_chain_first(monkeypatch):
    """The answers of the shortcut are those of the product."""
    rules = [at_most(1, str(tag)) for tag in range(4)]
    crf = CRF(5, batch_first=True, constraints=rules)
    assert crf.lattice.automaton.n_arcs > 2 * 30
    torch.manual_seed(0)
    emissions, mask = torch.randn(40, 6, 5), torch.rand(40, 6) < 0.7
    emissions[:, :, 4] += 1.5  # the tag without a rule: some sequences break none
    mask[:, 2] = True
    quick = crf.decode(emissions, mask)
    free = CRF(5, batch_first=True)
    free.load_state_dict(crf.state_dict())
    assert 0 < sum(a == b for a, b in zip(quick, free.decode(emissions, mask), strict=True)) < 40
    assert quick == [best[0][0] for best in crf.kbest(emissions, 1, mask)]
    monkeypatch.setattr(ragged, "MUCH_LARGER", 1000)
    assert quick == crf.decode(emissions, mask)


def test_hopeless_paths_are_not_lost():
    """The language forces the labels with the lowest scores; zero is a true zero."""
    for backend in BACKENDS:
        crf = CRF(2, batch_first=True, language="1 1 1", backend=backend).double()
        emissions = torch.tensor([[[1e4, -1e4]] * 3], dtype=torch.float64, requires_grad=True)
        value = crf(emissions, torch.ones(1, 3, dtype=torch.long))
        assert value.item() == pytest.approx(0.0, abs=1e-9)
        value.backward()
        assert emissions.grad.abs().max() < 1e-12
        assert crf.decode(emissions) == [[1, 1, 1]]


def test_names_and_constraints():
    names = ["author", "title", "year"]
    rules = [at_most(1, "title"), precedes("author", "title")]
    crf = CRF(3, batch_first=True, labels=names, language=rules[0], constraints=rules[1:])
    every = {
        p
        for p in product(range(3), repeat=4)
        if all(r.violations([names[i] for i in p]) == 0 for r in rules)
    }
    found = {tuple(path) for path, _ in crf.kbest(torch.zeros(1, 4, 3), 100)[0]}
    assert found == every
    both = CRF(3, labels=names, constraints=rules)
    assert both.lattice.language.equivalent(crf.lattice.language)
    assert "language of" in repr(crf)


def test_schemes():
    names = ["O", "B-PER", "I-PER"]
    for labels in (names, LabelSet(names, scheme="bio")):
        crf = CRF(3, labels=labels, constraints=[at_most(1, "PER")])
        assert crf.lattice.language.accepts(["B-PER", "I-PER", "O"])
        assert not crf.lattice.language.accepts(["B-PER", "B-PER", "O"])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("batch_first", [True, False])
def test_gold_outside_the_language(backend, batch_first):
    crf = CRF(3, batch_first, labels=["O", "B", "I"], language="(O | B I*)* B?", backend=backend)
    emissions = torch.zeros(2, 4, 3)
    tags = torch.tensor([[0, 1, 2, 0], [1, -100, 0, 2]])
    with pytest.raises(NotInLanguageError, match=r"Sequence 1 .* tag 2 \(I\) at position 3 cannot"):
        crf(*(x if batch_first else x.transpose(0, 1) for x in (emissions, tags)))
    crf = CRF(2, batch_first, language="0* 1", backend=backend)
    tags = torch.tensor([[0, 1], [0, 0]])
    with pytest.raises(NotInLanguageError, match=r"tag 0 \(0\) at position 1 cannot be the last"):
        crf(torch.zeros(2, 2, 2), tags if batch_first else tags.T)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_labelling_of_that_length(backend):
    crf = CRF(2, batch_first=True, language="(0 1)*", backend=backend)
    emissions, mask = torch.zeros(2, 4, 2), torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    tags = torch.tensor([[0, 1, 0, 1], [0, 1, 0, 1]])
    message = "Sequence 1 of the batch: no labelling of 3 tokens"
    for call in (crf.decode, crf.sample, crf.log_partition, crf.marginals):
        with pytest.raises(InfeasibleError, match=message):
            call(emissions, mask=mask)
    with pytest.raises(InfeasibleError, match=message):
        crf(emissions, tags, mask)
    with pytest.raises(InfeasibleError, match=message):
        crf.kbest(emissions, 2, mask)
    with pytest.raises(InfeasibleError, match="no labelling of 3 tokens"):
        crf.log_partition(emissions[:, :3])
    tags[1, 3] = -100
    with pytest.raises(InfeasibleError, match=message):
        crf(emissions, tags)
    tags[1] = -100
    assert crf(emissions, tags, reduction="none")[1] == 0


def test_wrong_languages():
    with pytest.raises(ValueError, match="labels: expected 2 names, one a tag, got 3"):
        CRF(2, labels=["a", "b", "c"])
    with pytest.raises(ValueError, match="automaton over 2 labels, got one over 3"):
        CRF(2, language=Automaton(1, 3, [0], [0], [0]))
    with pytest.raises(ValueError, match="looks at tokens"):
        CRF(2, labels=["a", "b"], constraints=[only_on(token(regex="x"), "a")])
    with pytest.raises(ValueError, match="is soft, and a layer forbids"):
        CRF(2, labels=["a", "b"], constraints=[at_most(1, "a").soft(1.0)])


def test_one_rule_or_several():
    names = ["O", "B-PER", "I-PER"]
    several = CRF(3, labels=names, constraints=[valid_scheme()])
    for rule in (valid_scheme(), "(O | B-PER I-PER*)*", several.lattice.language):
        crf = CRF(3, labels=names, constraints=rule)
        assert crf.lattice.language.equivalent(several.lattice.language)
    assert CRF(3, constraints=None).lattice.language is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"language": ["0*"]}, r"language: expected a regular expression, .* got list \['0\*'\]"),
        ({"constraints": 5}, "constraints: expected a regular expression, .* got int 5"),
        ({"constraints": ["0*", 5]}, "constraints: each must be a regular .* got int 5"),
    ],
)
def test_invalid_rules(arguments, message):
    with pytest.raises(TypeError, match=message):
        CRF(2, **arguments)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            [at_least(1, "0"), at_most(5, "1"), at_most(0, "0")],
            r"satisfies both at_least\(1, '0'\) and at_most\(0, '0'\)\. Drop one",
        ),
        ("0 & 1", r"satisfies matches\('0 & 1'\)\. Correct it"),
        ([Automaton(1, 2, [0], [0], [0]), at_least(1, "1")], r"both .*arc_list.* and at_least"),
        (Automaton(1, 2, [], [], []), "No labelling of any length"),  # the empty sequence alone
    ],
)
def test_rules_without_a_labelling(rules, message):
    with pytest.raises(InfeasibleError, match=message):
        CRF(2, constraints=rules)


@pytest.mark.parametrize("backend", BACKENDS)
def test_errors_name_the_rules(backend):
    crf = CRF(2, batch_first=True, language="(0 1)*", constraints=at_most(9, "1"), backend=backend)
    rules = r"satisf\w+ both '\(0 1\)\*' and at_most\(9, '1'\)"
    for layer in (crf, pickle.loads(pickle.dumps(crf))):
        for verb in (layer.decode, layer.log_partition, layer.sample):
            with pytest.raises(InfeasibleError, match=rules):
                verb(torch.zeros(1, 3, 2))
        with pytest.raises(NotInLanguageError, match=rules):
            layer(torch.zeros(1, 2, 2), torch.tensor([[1, 0]]))


def test_copies_and_pickles():
    crf = CRF(3, language="(0 | 1 2*)*")
    emissions = torch.randn(4, 2, 3)
    for twin in (copy.deepcopy(crf), pickle.loads(pickle.dumps(crf))):
        assert torch.equal(twin.log_partition(emissions), crf.log_partition(emissions))
        assert twin.lattice.language.labels == ("0", "1", "2")


def test_compiled():
    crf = CRF(3, batch_first=True, language="(0 | 1 2*)*")
    emissions, tags = torch.randn(2, 4, 3, requires_grad=True), torch.zeros(2, 4, dtype=torch.long)
    torch.compiler.reset()
    compiled = torch.compile(crf, backend="aot_eager", fullgraph=True)
    compiled(emissions, tags).backward()
    gradient, emissions.grad = emissions.grad, None
    crf(emissions, tags).backward()
    torch.testing.assert_close(gradient, emissions.grad)


def test_the_loss_outlives_the_layer():
    made = CRF(3, batch_first=True, labels=["O", "B", "I"], language="(O | B I*)*")
    layer = pickle.loads(pickle.dumps(made))  # a language that nothing else holds
    emissions = torch.randn(2, 4, 3, requires_grad=True)
    loss = layer(emissions, torch.zeros(2, 4, dtype=torch.long))
    del layer
    gc.collect()
    loss.backward()
    assert emissions.grad.abs().sum() > 0
