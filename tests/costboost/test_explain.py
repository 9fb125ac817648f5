import json
from dataclasses import replace

import numpy as np
import pytest

from costboost.actions import Action, Review
from costboost.boosting.ada_boost import CGAdaClassifier
from costboost.calibration.calibrator import Calibrator
from costboost.calibration.isotonic import IsotonicCalibrator
from costboost.calibration.sigmoid import SigmoidCalibrator
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.explain import Explainer, costs_without, explain
from costboost.features import FeatureEncoder
from costboost.learners.svm import WeightedSVM
from costboost.learners.tree import HistogramTree
from costboost.model import CostSensitiveModel
from costboost.persistence import dump, load_scorer
from costboost.registry import ALGORITHMS, make
from costboost.scorer import Scorer
from costboost.shape_functions import importance, shapes
from costboost.terms import Terms

TYPES = {"amount": "number", "country": "category", "night": "boolean", "age": "number"}


def table(n=300, seed=0):
    """Typed columns with missing values, and a label that depends on two of them."""
    rng = np.random.default_rng(seed)
    country = np.array(["ch", "de", "at", None], dtype=object)[rng.integers(0, 4, n)]
    columns = {
        "amount": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(2)),
        "country": country,
        "night": (rng.random(n) < 0.5) * 1.0,
        "age": rng.integers(18, 90, n) * 1.0,
        "fee": rng.random(n) * 10,
    }
    push = np.nan_to_num(columns["amount"]) + (country == "ch") + rng.normal(size=n)
    return columns, push


COSTS = CostSpec.binary(CostCell(per={"fee": 1.0}, fixed=2.0), 1.0, classes=("legit", "fraud"))


def fitted(estimator=None, n_classes=2, costs=COSTS, **params):
    columns, push = table()
    if n_classes == 2:
        y = np.where(push > 1, "fraud", "legit")
    else:
        y, costs = np.array(["a", "b", "c"])[np.digitize(push, [0, 1])], None
    booster = CGAdaClassifier(estimator, n_estimators=15)
    return CostSensitiveModel(booster, costs=costs, **params).fit(columns, y, types=TYPES)


@pytest.fixture(scope="module")
def stumps():
    return fitted(calibration="sigmoid").scorer()


@pytest.fixture(scope="module")
def classes():
    return fitted(n_classes=3).scorer()


def rows(n=50):
    return table(n, seed=1)[0]


@pytest.mark.parametrize(
    ("estimator", "method"),
    [(None, "additive"), (HistogramTree(max_depth=3), "tree_shapley"), (WeightedSVM(), "reference_shapley")],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_baseline_and_contributions_add_up_to_the_number(estimator, method, n_classes):
    scorer = fitted(estimator, n_classes, calibration="sigmoid").scorer()
    said, given = scorer.decide(rows()), explain(scorer, rows())
    assert given.method == method
    assert given.names == ("age", "amount", "country", "night")
    assert given.contributions.shape == (50, 4)
    assert np.allclose(given.baseline + given.contributions.sum(axis=1), given.number, rtol=0, atol=1e-9)
    if n_classes == 2:
        assert given.explained == "log_odds"
        assert np.allclose(given.number, said.scores.log_odds, rtol=0, atol=1e-9)
    else:
        assert given.explained == "score"
        assert given.decided.tolist() == said.decisions.label.tolist()
        assert np.array_equal(given.number, said.scores.score[np.arange(50), given.decided])


@pytest.mark.parametrize("estimator", [None, HistogramTree(max_depth=2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_baseline_is_the_mean_over_training_rows(estimator, weighted):
    columns, push = table()
    weight = np.random.default_rng(5).integers(1, 4, 300) if weighted else np.ones(300)
    booster = CGAdaClassifier(estimator, n_estimators=15)
    model = CostSensitiveModel(booster, costs=COSTS, calibration="sigmoid")
    model.fit(columns, np.where(push > 1, "fraud", "legit"), types=TYPES, sample_weight=weight)
    given = explain(model.scorer(), columns)
    assert given.baseline == pytest.approx(np.average(given.number, weights=weight), abs=1e-9)
    if estimator is None:
        assert np.average(given.contributions, axis=0, weights=weight) == pytest.approx(np.zeros(4), abs=1e-9)


def test_isotonic_calibration_is_explained_on_the_score(stumps):
    line = IsotonicCalibrator((-1.0, 1.0), (0.2, 0.8))
    given = explain(replace(stumps, calibrator=Calibrator("isotonic", (line,))), rows())
    assert given.explained == "score"
    assert np.array_equal(given.number, stumps.score(rows()).score)


def test_a_row_alone_is_explained_as_in_a_batch(stumps, classes):
    for scorer in (stumps, classes):
        whole = explain(scorer, rows())
        for i in range(50):
            one = explain(scorer, {name: values[i : i + 1] for name, values in rows().items()})
            assert one.contributions.tobytes() == whole.contributions[i].tobytes()
            assert (one.baseline[0], one.number[0]) == (whole.baseline[i], whole.number[i])
            assert one.reasons(0) == whole.reasons(i)


def test_reasons_are_ordered_by_their_push_towards_the_decision(stumps, classes):
    said, given = stumps.decide(rows()), Explainer(stumps).explain(rows(), top=2)
    assert {0, 1} == set(said.decisions.label.tolist())
    for i, label in enumerate(said.decisions.label.tolist()):
        push = given.contributions[i] if label == 1 else -given.contributions[i]
        reasons = given.reasons(i)
        assert len(reasons) == 2
        assert [given.names.index(reason.feature) for reason in reasons] == np.argsort(-push)[:2].tolist()
    given = Explainer(classes).explain(rows(), top=0)
    assert given.reasons(0) == ()
    assert len(Explainer(classes).explain(rows()).reasons(0)) == 4
    with pytest.raises(ValueError, match="negative"):
        Explainer(classes).explain(rows(), top=-1)


def test_reasons_show_what_the_row_holds(stumps):
    columns = {
        "amount": np.array([np.nan]),
        "country": np.array([None], dtype=object),
        "night": np.array([1.0]),
        "age": np.array([30.0]),
        "fee": np.array([1.0]),
    }
    reasons = {reason.feature: reason for reason in explain(stumps, columns).reasons(0)}
    assert {name: reason.value for name, reason in reasons.items()} == {
        "amount": None,
        "country": None,
        "night": True,
        "age": 30.0,
    }
    assert all(type(reason.contribution) is float for reason in reasons.values())


def test_costs_turn_reasons_around_but_change_no_contribution(stumps):
    dear = CostSpec.binary(1000.0, 1.0, classes=("legit", "fraud"))
    explainer = Explainer(stumps)
    plain = explainer.explain(rows())
    priced = explainer.explain(rows(), answer=stumps.decide(rows(), costs=dear))
    assert set(priced.decided.tolist()) == {1}
    assert priced.contributions.tobytes() == plain.contributions.tobytes()
    turned = plain.decided == 0
    assert np.array_equal(priced.order[~turned], plain.order[~turned])
    assert not np.array_equal(priced.order[turned], plain.order[turned])


def test_priors_shift_baseline_and_number_alone(stumps):
    explainer, priors = Explainer(stumps), (0.9, 0.1)
    plain, moved = explainer.explain(rows()), explainer.explain(rows(), priors=priors)
    assert np.array_equal(moved.contributions, plain.contributions)
    assert np.allclose(moved.number, stumps.score(rows(), priors).log_odds, rtol=0, atol=1e-9)
    assert np.isfinite(explainer.explain(rows(), priors=(1.0, 0.0)).number).all()


def test_a_reviewed_row_is_explained_for_the_cheapest_other_action(stumps):
    free = CostSpec(
        classes=("legit", "fraud"),
        positive=1,
        actions=(Action("pass", 0), Action("stop", 1), Action("look", None)),
        cells=((CostCell(0.0), CostCell(1.0)), (CostCell(9.0), CostCell(0.0))),
        review=Review(fee=0.0, accuracy=(1.0, 1.0)),
    )
    said = stumps.decide(rows(), costs=free)
    assert set(said.decisions.label.tolist()) == {-1}
    given = Explainer(stumps).explain(rows(), answer=said)
    assert given.decided.tolist() == said.decisions.expected_cost[:, :2].argmin(axis=1).tolist()


def test_what_a_row_would_cost_without_a_column(stumps):
    given, columns = costs_without(stumps, rows()), rows()
    said = stumps.decide(columns)
    assert np.array_equal(given.expected_cost, said.decisions.expected_cost.min(axis=1))
    numbers = explain(stumps, columns)
    p = 1 / (1 + np.exp(-(numbers.number[:, None] - numbers.contributions)))
    by_hand = np.minimum(p * (2 + columns["fee"])[:, None], 1 - p)
    assert given.without == pytest.approx(by_hand, abs=1e-9)
    assert given.names == numbers.names


def test_what_a_row_would_cost_without_a_column_of_three_classes(classes, monkeypatch):
    dear = CostSpec.from_matrix(np.array([[0, 1, 2], [5, 0, 1], [9, 3, 0]]), ("a", "b", "c"))
    given = Explainer(classes).costs_without(rows(), costs=dear)
    said = classes.decide(rows(), costs=dear)
    assert np.array_equal(given.expected_cost, said.decisions.expected_cost.min(axis=1))
    assert given.without.shape == (50, 4)
    monkeypatch.setattr("costboost.explain._BLOCK", 16)
    again = Explainer(classes).costs_without(rows(), costs=dear)
    assert again.without.tobytes() == given.without.tobytes()


def test_a_column_that_says_nothing_costs_nothing():
    encoder = FeatureEncoder().fit({"x": np.zeros(1), "y": np.zeros(1)}, {"x": "number", "y": "number"})
    terms = Terms.single([0], [0.0], [-1.0], [1.0], [0.0], n_features=2)
    costs = CostSpec.binary(9.0, 1.0, classes=("legit", "fraud"))
    scorer = Scorer(
        encoder,
        terms,
        Calibrator("sigmoid", (SigmoidCalibrator(1.0, -0.5),)),
        costs.classes,
        (0, 1),
        (0.5, 0.5),
        costs,
        "expected_cost",
        background=np.array([0.25, 0.0]),
    )
    columns = {"x": np.array([-1.0, 1.0]), "y": np.array([3.0, 4.0])}
    given = explain(scorer, columns)
    assert given.baseline.tolist() == [-0.25, -0.25]
    assert given.contributions.tolist() == [[-1.25, 0.0], [0.75, 0.0]]
    priced = costs_without(scorer, columns)
    assert priced.without[:, 1].tolist() == priced.expected_cost.tolist()


def test_explanations_survive_storing(stumps):
    model = fitted(calibration="sigmoid")
    again = load_scorer(dump(model))
    assert explain(again, rows()).contributions.tobytes() == explain(stumps, rows()).contributions.tobytes()


def test_a_background_belongs_to_its_ensemble(stumps):
    with pytest.raises(ValueError, match="train it anew"):
        explain(replace(stumps, background=None), rows())
    for wrong in (np.zeros(3), np.full(4, np.nan), np.zeros((4, 1))):
        with pytest.raises(ValueError, match="does not belong"):
            explain(replace(stumps, background=wrong), rows())


def test_importance_is_the_mean_absolute_contribution(stumps, classes):
    for scorer in (stumps, classes):
        listed = importance(scorer, rows())
        assert json.loads(json.dumps(listed)) == listed
        sizes = [entry["importance"] for entry in listed]
        assert sizes == sorted(sizes, reverse=True)
        assert {entry["feature"] for entry in listed} == set(TYPES)
    given = explain(stumps, rows())
    weight = np.arange(50) + 1.0
    expected = np.average(np.abs(given.contributions), axis=0, weights=weight)
    found = {entry["feature"]: entry["importance"] for entry in importance(stumps, rows(), weight)}
    assert [found[name] for name in given.names] == pytest.approx(expected)
    assert next(iter(importance(stumps, rows())))["feature"] == "amount"


@pytest.mark.parametrize("weight", [np.zeros(50), np.full(50, np.nan), np.ones(3), -np.ones(50)])
def test_importance_needs_weights(stumps, weight):
    with pytest.raises(ValueError, match="weight"):
        importance(stumps, rows(), weight)


@pytest.mark.parametrize("of", ["stumps", "classes"])
def test_shapes_give_back_every_contribution(of, request):
    scorer = request.getfixturevalue(of)
    drawn = shapes(scorer)
    assert json.loads(json.dumps(drawn, allow_nan=False)) == drawn
    columns, explainer = rows(), Explainer(scorer)
    given = explainer.explain(columns)
    for s, shape in enumerate(drawn["features"]):
        assert shape["feature"] == given.names[s]
        for i in range(50):
            name = scorer.classes[given.decided[i]] if of == "classes" else "fraud"
            value = _looked_up(shape, columns[shape["feature"]][i], name)
            assert value == pytest.approx(given.contributions[i, s], abs=1e-12)
    one = drawn["baseline"]
    assert set(one) == ({"fraud"} if of == "stumps" else {"a", "b", "c"})
    if of == "stumps":
        assert one["fraud"] == pytest.approx(given.baseline[0])


def _looked_up(shape, value, name):
    if value is None or value != value:
        return shape["missing"][name]
    if "categories" in shape:
        if value in shape["categories"]:
            return shape["values"][name][shape["categories"].index(value)]
        return shape["other"][name]
    return shape["values"][name][sum(cut < value for cut in shape["cuts"])]


def test_unknown_categories_have_the_shape_of_others(stumps):
    country = next(shape for shape in shapes(stumps)["features"] if shape["feature"] == "country")
    columns = {name: values[:1] for name, values in rows().items()} | {
        "country": np.array(["xx"], dtype=object)
    }
    given = explain(stumps, columns)
    assert country["other"]["fraud"] == pytest.approx(given.contributions[0, 2], abs=1e-12)


def test_trees_have_no_shapes():
    with pytest.raises(ValueError, match="work together"):
        shapes(fitted(HistogramTree(max_depth=2)).scorer())


@pytest.mark.filterwarnings("ignore::UserWarning")  # an algorithm may keep no hypothesis, or name one class
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("estimator", ["stump", {"name": "tree", "max_depth": 2}, {"name": "svm"}])
def test_contributions_of_every_algorithm_add_up(name, estimator):
    columns, push = table(150)
    booster = make(name, {"estimator": estimator, "n_estimators": 6})
    model = CostSensitiveModel(booster, costs=COSTS, calibration="sigmoid")
    model.fit(columns, np.where(push > 0.5, "fraud", "legit"), types=TYPES)
    given = explain(model.scorer(), rows(20))
    assert np.allclose(given.baseline + given.contributions.sum(axis=1), given.number, rtol=0, atol=1e-9)
    again = explain(load_scorer(dump(model)), rows(20))
    assert again.contributions.tobytes() == given.contributions.tobytes()


def test_the_default_is_explained_from_the_most_frequent_categories() -> None:
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], 400, p=[0.1, 0.3, 0.6])
    y = (rng.random(400) < np.where(kind == "b", 0.6, 0.1)).astype(int)
    model = CostSensitiveModel(costs={"fn": 5, "fp": 1}).fit({"kind": kind, "x": rng.normal(size=400)}, y)
    rows = {"kind": np.array(["c", "b"], dtype=object), "x": np.zeros(2)}
    usual, rare = Explainer(model.scorer()).explain(rows).contributions[:, 0]
    assert abs(usual) < 1e-9 < 0.5 < rare
