"""The weights of a group, and the arguments of a `GroupLasso`."""

from __future__ import annotations

import numpy as np
import pytest

import trelliswork as tw
from trelliswork.features import DictEncoder, TemplateEncoder
from trelliswork.labels.label_set import LabelSet
from trelliswork.learn.objective.objective import Objective
from trelliswork.learn.sparsity.group_lasso import GroupLasso, parameter_groups
from trelliswork.models.structure import Structure

X = [["a", "b", "c"], ["b", "a"]]
Y = [["x", "y", "x"], ["y", "x"]]


def chain(rules="word\nword[-1]", order=1, names=Y, **settings):
    labels = LabelSet(["x", "y"])
    structure = Structure.choose(labels, names, order=order, **settings)
    gold = structure.encode(names)
    encoder = TemplateEncoder(rules)
    lengths = [len(one) for one in X]
    features = encoder.fit(X, segments=structure.known_segments(gold, lengths))
    return Objective(features, gold, structure, pairs="all", transitions="all"), encoder


def names_of(objective, encoder):
    """Describe every parameter: kind, feature or pattern, and output."""
    found = []
    for kind, part in objective.layout.parts.items():
        known = (
            encoder.feature_names()
            if kind == "state"
            else [str(i) for i in range(64)]
            if kind == "length"
            else getattr(encoder, f"{kind}_feature_names")()
        )
        found += [
            (kind, known[f], y)
            for f, y in zip(part.features.tolist(), part.outputs.tolist(), strict=True)
        ]
    patterns = list(objective.structure.patterns)
    found += [("pattern", None, patterns[z]) for z in objective.layout.patterns.tolist()]
    if objective.layout.edge is not None:
        known = encoder.edge_feature_names()
        found += [
            ("edge", known[f], patterns[z])
            for f, z in zip(
                objective.layout.edge.features.tolist(),
                objective.layout.edge.outputs.tolist(),
                strict=True,
            )
        ]
    return found


def expected(described, by):
    """Return the key of each parameter's group, None for none."""
    keys = []
    for kind, feature, output in described:
        if by == "template":
            # Features are called after the template: word[-1]=a.
            name = None if feature is None else feature.split("=")[0]
            keys.append(None if feature is None else (kind, "" if kind == "length" else name))
        elif by == "feature":
            keys.append(None if feature is None else (kind, feature))
        elif by == "label":
            keys.append(output if kind not in ("pattern", "edge") else None)
        elif by == "pattern":
            keys.append(output if kind in ("pattern", "edge") else None)
        else:
            keys.append(len(output) if kind in ("pattern", "edge") else None)
    return keys


EDGES = "word\nword[-1]\nedge: word\nedge: word[-1]"
SEGMENTS = f"{EDGES}\nbegin: word\nend: word[1]\nsegment: text\nsegment: shape"


@pytest.mark.parametrize("by", ["template", "feature", "label", "pattern", "order"])
@pytest.mark.parametrize(
    ("rules", "settings"),
    [
        ("word\nword[-1]", {}),
        (EDGES, {}),
        ("word", {"order": 2}),
        (EDGES, {"order": 2, "edge_order": 2}),
        ("word", {"order": 0}),
        (SEGMENTS, {"max_segment": 2, "all_transitions": True}),
    ],
)
def test_groups_of_parameters(by, rules, settings):
    objective, encoder = chain(rules, **settings)
    groups = parameter_groups(objective.layout, encoder, by)
    described = names_of(objective, encoder)
    assert len(described) == groups.size == objective.n_parameters
    keys = expected(described, by)
    assert [group < 0 for group in groups] == [key is None for key in keys]
    pairs = {(int(g), key) for g, key in zip(groups, keys, strict=True) if key is not None}
    # One group a key, one key a group, numbered without gaps.
    assert sorted(g for g, _ in pairs) == list(range(len(pairs)))
    assert len({key for _, key in pairs}) == len(pairs)
    level = GroupLasso(by=by, strength=2.0, scaled=True).levels(objective.layout, encoder)[0]
    np.testing.assert_array_equal(level.groups, groups)
    sizes = np.bincount(groups[groups >= 0])
    np.testing.assert_allclose(level.strengths, 2.0 * np.sqrt(sizes))
    plain = GroupLasso(by=by, strength=2.0, norm="linf").levels(objective.layout, encoder)
    assert plain[0].strengths.tolist() == [2.0] * sizes.size
    assert plain[0].norm == "linf"


def test_groups_of_feature_dicts():
    labels = LabelSet(["x", "y"])
    structure = Structure.chain(labels)
    encoder = DictEncoder()
    rows = [[{"word": w, "cap": w.isupper(), "n": 2.0} for w in one] for one in X]
    features = encoder.fit(rows)
    objective = Objective(features, structure.encode(Y), structure, pairs="all")
    groups = parameter_groups(objective.layout, encoder, "template")
    names = [name for _, name, _ in names_of(objective, encoder)]
    keys = [None if name is None else name.split("=")[0].split(":")[0] for name in names]
    assert len({g for g in groups.tolist() if g >= 0}) == len({k for k in keys if k})
    for g in range(int(groups.max()) + 1):
        assert len({k for k, own in zip(keys, groups.tolist(), strict=True) if own == g}) == 1


def test_penalties_are_in_no_group():
    tagger = tw.CRFTagger(features="word", constraints=tw.constraints.at_most(1, "x").soft())
    learner = tagger._learner(LabelSet.infer(Y), X, Y)
    model = learner.learn(X, Y)
    assert list(model.plan.soft)
    sparse = tw.CRFTagger(
        features="word",
        regularizer=GroupLasso("template", 0.01),
        constraints=tw.constraints.at_most(1, "x").soft(),
    ).fit(X, Y)
    assert all(np.isfinite(value) for value in sparse.penalties_.values())


def test_levels_from_coarse_to_fine_make_a_tree():
    objective, encoder = chain(EDGES)
    tree = GroupLasso(("template", "feature"), (1.0, 0.5)).levels(objective.layout, encoder)
    assert tree[1].is_within(tree[0])
    assert not tree[0].is_within(tree[1])
    crossing = GroupLasso(("template", "label")).levels(objective.layout, encoder)
    assert not crossing[0].is_within(crossing[1])
    assert not crossing[1].is_within(crossing[0])


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"by": "colour"}, ValueError, "by: expected template, feature, label, pattern or order"),
        ({"by": ()}, ValueError, r"or several, got \(\)\."),
        ({"by": ("template", "template")}, ValueError, "by: expected template"),
        ({"by": ("template", 3)}, ValueError, "by: expected template"),
        ({"by": 3}, ValueError, "by: expected template.*got 3"),
        ({"by": None}, ValueError, "by: expected template.*got None"),
        ({"strength": (1.0, 2.0)}, ValueError, "strength: expected one number, or 1 as there"),
        (
            {"by": ("template", "feature"), "strength": (1.0,)},
            ValueError,
            r"or 2 as there are in by, got \(1.0,\)",
        ),
        ({"strength": -1.0}, ValueError, "strength: expected finite numbers from 0 up, got -1.0"),
        ({"strength": float("inf")}, ValueError, "strength: expected finite numbers"),
        ({"strength": float("nan")}, ValueError, "strength: expected finite numbers"),
        ({"strength": "2"}, TypeError, "strength: expected numbers, got '2'"),
        ({"strength": True}, TypeError, "strength: expected numbers, got True"),
        ({"strength": None}, TypeError, "strength: expected numbers, got None"),
        ({"norm": "l1"}, ValueError, "norm: expected 'l2' or 'linf', got 'l1'"),
        ({"scaled": "yes"}, TypeError, "scaled: expected True or False, got 'yes'"),
        ({"adaptive": 1}, TypeError, "adaptive: expected True or False, got 1"),
    ],
)
def test_errors(parameters, error, message):
    with pytest.raises(error, match=message):
        GroupLasso(**parameters)


@pytest.mark.parametrize(
    "groups",
    [
        GroupLasso(),
        GroupLasso(("template", "feature"), (1.0, 0.25), "linf", True),
        GroupLasso("template", 1.0, adaptive=True),
        GroupLasso(("template", "label"), 0.5),
        GroupLasso(["pattern", "order"], [1, 2]),
        GroupLasso("label", np.float64(0.5)),
        GroupLasso(("template", "label"), np.array([0.5, 1.0])),
    ],
)
def test_dicts(groups):
    import json

    data = json.loads(json.dumps(groups.to_dict()))
    back = GroupLasso.from_dict(data)
    for name in ("names", "norm", "scaled", "adaptive"):
        assert getattr(back, name) == getattr(groups, name)
    assert back.strengths == pytest.approx(groups.strengths)
    assert GroupLasso.from_dict(back.to_dict()) == back
    twice = groups.times(2.0)
    assert twice.strengths == pytest.approx([2.0 * value for value in groups.strengths])
    assert (twice.names, twice.adaptive) == (groups.names, groups.adaptive)


def test_lists_and_arrays_are_as_good_as_tuples():
    plain = GroupLasso(("template", "feature"), (1.0, 2.0))
    others = [
        GroupLasso(["template", "feature"], [1.0, 2.0]),
        GroupLasso(np.array(["template", "feature"]), np.array([1.0, 2.0])),
    ]
    assert others == [plain, plain]
    assert len({plain, *others}) == 1
    assert GroupLasso(strength=np.array(2.0)) == GroupLasso(strength=2.0)
