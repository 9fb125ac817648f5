"""What a model must not depend on, what it keeps apart, and what it refuses."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from costboost import cross_fitting
from costboost.actions import Action
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix
from costboost.model import CostSensitiveModel
from costboost.registry import ALGORITHMS, make
from costboost.splits import Split
from tests.costboost.model_tables import AMOUNTS, MATRIX, fitted, may_keep_nothing, same, table, three_classes

#: What boosters say of themselves is their tests' affair; a model must work with each of them.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*kept no hypothesis:UserWarning", "ignore:.*costs compound over the rounds:UserWarning"
)

# One row and many


@pytest.mark.parametrize("rule", ["expected_cost", "empirical", "sign"])
@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_a_row_alone_gets_the_numbers_it_gets_in_a_batch_of_500(rule, kind):
    model = fitted(rule=rule, kind=kind)
    fresh, _ = table(500, seed=1, n_merchants=12)
    batch = model.decide(fresh)
    for i in range(0, 500, 7):
        alone = model.decide(fresh.iloc[[i]])
        for name in ("score", "probabilities", "log_odds"):
            assert same(getattr(alone.scores, name)[0], getattr(batch.scores, name)[i])
        for name in ("expected_cost", "threshold", "label", "decision"):
            assert same(getattr(alone.decisions, name)[0], getattr(batch.decisions, name)[i])


def test_three_classes_row_by_row():
    X, y = three_classes()
    model = CostSensitiveModel(make("adacost", {"n_estimators": 10}), costs=MATRIX).fit(X, y)
    batch = model.decide(X)
    assert batch.scores.score.shape == batch.scores.log_odds.shape == (300, 3)
    assert np.allclose(batch.scores.probabilities.sum(axis=1), 1)
    for i in range(0, 300, 11):
        alone = model.decide(X.iloc[[i]])
        assert same(alone.scores.probabilities[0], batch.scores.probabilities[i])
        assert same(alone.decisions.expected_cost[0], batch.decisions.expected_cost[i])
    true, costs = np.searchsorted(["a", "b", "c"], y), MATRIX.evaluate()
    assert costs[true, batch.decisions.label].mean() < 0.7 * min(costs[true, k].mean() for k in range(3))


# Names and orders


@pytest.mark.parametrize("names", [("0", "1"), ("z", "a"), ("a", "z"), ("no", "maybe")])
@pytest.mark.parametrize("rule", ["expected_cost", "empirical", "sign"])
def test_renaming_two_classes_changes_nothing(names, rule):
    X, y = table()
    model = fitted(rule=rule)
    spec = CostSpec(names, 1, (Action(names[0], 0), Action(names[1], 1)), AMOUNTS.cells)
    renamed = CostSensitiveModel(make("cgada", {"n_estimators": 20}), costs=spec, decision_rule=rule)
    renamed.fit(X, np.where(y == "fraud", names[1], names[0]))
    assert same(renamed.predict_proba(X), model.predict_proba(X))
    assert ((renamed.predict(X) == names[1]) == (model.predict(X) == "fraud")).all()
    assert renamed.threshold_ == model.threshold_


def test_the_order_of_the_classes_in_the_costs_changes_nothing_either():
    X, y = table()
    turned = CostSensitiveModel(
        make("cgada", {"n_estimators": 20}), costs=AMOUNTS.reordered(("fraud", "legit"))
    )
    turned.fit(X, y)
    assert turned.classes_.tolist() == ["fraud", "legit"]
    assert same(turned.predict_proba(X)[:, ::-1].copy(), fitted().predict_proba(X))
    assert (turned.predict(X) == fitted().predict(X)).all()


@may_keep_nothing
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
@pytest.mark.parametrize("sizes", ["different", "equal"])
def test_renaming_classes_of_a_model_without_costs_changes_nothing(name, sizes):
    X, y = table(200)
    if sizes == "equal":
        rows = np.concatenate([np.flatnonzero(y == k)[:40] for k in ("fraud", "legit")])
        X, y = X.iloc[rows], y[rows]
    booster = make(name, {"n_estimators": 10})
    one = CostSensitiveModel(booster).fit(X, np.where(y == "fraud", 0, 1))
    other = CostSensitiveModel(booster).fit(X, np.where(y == "fraud", 1, 0))
    assert same(one.predict_proba(X), np.ascontiguousarray(other.predict_proba(X)[:, ::-1]))
    assert (one.predict(X) == 1 - other.predict(X)).all()
    assert (one.decision_function(X) == -other.decision_function(X)).all()


@pytest.mark.parametrize("names", [("c", "b", "a"), ("1", "2", "3"), ("b", "c", "a")])
@pytest.mark.parametrize("weights", [[0.6, 0.3, 0.1], [1, 1, 1]])
@pytest.mark.parametrize("algorithm", ["adacost", "cgada"])
def test_renaming_three_classes_changes_nothing(names, weights, algorithm):
    X, y = three_classes()
    if weights == [1, 1, 1]:  # classes of one size, so that size ranks none of them
        rows = np.concatenate([np.flatnonzero(y == k)[:25] for k in "abc"])
        X, y = X.iloc[rows], y[rows]
    costs = np.array([[0, 1, 2], [5, 0, 1], [9, 3, 0]], dtype=float)
    booster = make(algorithm, {"n_estimators": 10})
    model = CostSensitiveModel(booster, costs=CostSpec.from_matrix(costs, ("a", "b", "c"))).fit(X, y)
    new = dict(zip("abc", names, strict=True))
    order = np.argsort(names)
    spec = CostSpec.from_matrix(costs[np.ix_(order, order)], tuple(sorted(names)))
    renamed = CostSensitiveModel(booster, costs=spec).fit(X, [new[label] for label in y])
    assert same(renamed.predict_proba(X), np.ascontiguousarray(model.predict_proba(X)[:, order]))
    assert renamed.predict(X).tolist() == [new[label] for label in model.predict(X)]


@may_keep_nothing
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
@pytest.mark.parametrize("train_costs", ["class_mean", "row"])
def test_the_order_of_rows_and_columns_changes_nothing(name, train_costs):
    X, y = table()
    model = fitted(name, train_costs=train_costs)
    order = np.random.default_rng(5).permutation(len(y))
    shuffled = clone(model).fit(X.iloc[order][X.columns[::-1]], y[order])
    assert same(shuffled.predict_proba(X), model.predict_proba(X))
    assert (shuffled.predict(X[X.columns[[2, 0, 3, 1]]]) == model.predict(X)).all()
    assert np.array_equal(shuffled.oof_score_, model.oof_score_[order])
    assert np.array_equal(shuffled.oof_probabilities_, model.oof_probabilities_[order])


def test_rows_that_differ_only_in_rare_categories_keep_their_folds_when_shuffled():
    rng = np.random.default_rng(2)
    X = {"m": np.array([f"m{i}" for i in rng.integers(0, 3000, 900)], dtype=object)}
    y = rng.integers(0, 2, 900)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one = CostSensitiveModel(make("cgada", {"n_estimators": 5})).fit(X, y)
        order = rng.permutation(900)
        other = CostSensitiveModel(make("cgada", {"n_estimators": 5})).fit({"m": X["m"][order]}, y[order])
    assert one.encoder_.n_features <= 65
    assert same(one.predict_proba(X), other.predict_proba(X))


def test_weights_times_seven_change_nothing_that_matters():
    X, y = table()
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    one = CostSensitiveModel(costs=AMOUNTS).fit(X, y, sample_weight=weight).predict_proba(X)
    other = CostSensitiveModel(costs=AMOUNTS).fit(X, y, sample_weight=weight * 7).predict_proba(X)
    assert np.allclose(one, other, atol=1e-9)
    plain = CostSensitiveModel(costs=AMOUNTS).fit(X, y).predict_proba(X)
    assert not np.allclose(one, plain, atol=1e-9)


def test_several_folds_at_a_time_change_no_number():
    X, y = table()
    parallel = clone(fitted()).set_params(n_jobs=2).fit(X, y)
    assert same(parallel.predict_proba(X), fitted().predict_proba(X))
    assert same(parallel.oof_score_, fitted().oof_score_)


# Calibration


@may_keep_nothing
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_calibration_brings_a_cost_trained_booster_back_to_the_base_rate(name, kind):
    X, y = table()
    costs = CostSpec.binary(30, 1, classes=("legit", "fraud"))
    model = CostSensitiveModel(make(name, {"n_estimators": 20}), costs=costs, calibration=kind).fit(X, y)
    assert model.oof_probabilities_[:, 1].mean() == pytest.approx((y == "fraud").mean(), abs=0.01)
    p = model.predict_proba(X)
    assert ((p > 0) & (p < 1)).all()
    assert np.isfinite(model.decide(X).scores.log_odds).all()


def test_three_classes_keep_their_shares():
    X, y = three_classes()
    model = CostSensitiveModel(make("adacost", {"n_estimators": 10}), costs=MATRIX).fit(X, y)
    shares = [(y == k).mean() for k in "abc"]
    assert model.priors_ == pytest.approx(shares)
    assert model.oof_probabilities_.mean(axis=0) == pytest.approx(shares, abs=1e-6)


def test_the_calibrator_has_seen_out_of_fold_scores_only():
    """Labels that no column explains: scores of training rows would look informative, others do not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 10)), rng.integers(0, 2, 300)
    model = CostSensitiveModel(make("adaboost", {"n_estimators": 100})).fit(X, y)
    assert np.corrcoef(model.decision_function(X), y)[0, 1] > 0.5
    assert np.ptp(model.predict_proba(X)[:, 1]) < 0.3


def test_each_part_of_the_fit_is_blind_to_the_rows_it_scores(monkeypatch):
    seen = []

    def recording(booster, rows, callback=None, tape=None):
        seen.append(set(rows.columns["id"].tolist()))
        return original(booster, rows, callback, tape)

    original = cross_fitting.fit_rows
    monkeypatch.setattr(cross_fitting, "fit_rows", recording)
    X, y = table(100)
    X["id"] = np.arange(100.0)
    groups = np.repeat(np.arange(20), 5)
    model = CostSensitiveModel(split=Split("group", folds=4)).fit(X, y, groups=groups)
    assert model.n_folds_ == len(seen) == 4
    for rows in seen:
        held = set(range(100)) - rows
        assert held
        assert not {groups[int(i)] for i in rows} & {groups[int(i)] for i in held}


def test_time_folds_leave_the_first_rows_without_a_score():
    X, y = table()
    times = np.arange(len(y), dtype=float)
    model = CostSensitiveModel(split=Split("time", folds=3)).fit(X, y, times=times)
    unscored = np.isnan(model.oof_score_)
    assert 0 < unscored.sum() < len(y)
    assert times[unscored].max() < times[~unscored].min()
    assert np.isnan(model.oof_probabilities_[unscored]).all()


def test_predefined_folds():
    X, y = table()
    parts = np.arange(len(y)) % 3
    assert CostSensitiveModel(split=Split("predefined")).fit(X, y, parts=parts).n_folds_ == 3


def test_a_class_with_fewer_rows_than_folds_means_fewer_folds():
    X, y = table()
    rows = np.r_[np.flatnonzero(y == "fraud")[:3], np.flatnonzero(y == "legit")]
    assert CostSensitiveModel().fit(X.iloc[rows], y[rows]).n_folds_ == 3


# What cannot be learned, and odd tables


@pytest.mark.parametrize("rule", ["expected_cost", "empirical", "sign"])
@pytest.mark.parametrize(("fn", "cheapest"), [(9, "fraud"), (2, "legit")])
@pytest.mark.filterwarnings("ignore:no member tells the classes apart:UserWarning")
@pytest.mark.parametrize(
    ("kind", "name"), [("sigmoid", "cgada"), ("isotonic", "cgada"), ("none", "cgada"), ("auto", "auto")]
)
def test_nothing_to_learn_gives_the_base_rate_and_the_cheapest_constant(rule, fn, cheapest, kind, name):
    y = np.array(["legit"] * 70 + ["fraud"] * 30)
    costs = CostSpec.binary(fn, 1, classes=("legit", "fraud"))
    model = CostSensitiveModel(name, costs=costs, decision_rule=rule, calibration=kind).fit(
        {"same": np.ones(100)}, y
    )
    assert model.predict_proba({"same": [1.0, 2.0]})[:, 1] == pytest.approx([0.3, 0.3])
    assert model.predict({"same": [1.0]}).tolist() == [cheapest]


def test_an_empty_ensemble_works_too():
    y = np.array(["legit"] * 70 + ["fraud"] * 30)
    model = CostSensitiveModel("cgada", costs=CostSpec.binary(7, 3, classes=("legit", "fraud")))
    with pytest.warns(UserWarning, match="kept no hypothesis"):
        model.fit({"same": np.ones(100)}, y)
    assert len(model.booster_.estimators_) == 0
    assert model.predict_proba({"same": [1.0]})[:, 1] == pytest.approx([0.3])


@may_keep_nothing
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_all_missing_constant_and_crowded_columns(name):
    X, y = table()
    X["gone"], X["same"], X["never"] = np.nan, 1.0, None
    X["id"] = [f"user {i}" for i in range(len(y))]
    model = CostSensitiveModel(make(name, {"n_estimators": 10}), costs=AMOUNTS).fit(X, y)
    fresh, _ = table(50, seed=3, n_merchants=50)
    fresh["gone"], fresh["same"], fresh["never"], fresh["id"] = 1.0, np.nan, "now", "user new"
    p = model.predict_proba(fresh)
    assert np.isfinite(p).all()
    assert len(p) == 50


@settings(max_examples=15)
@given(
    st.integers(0, 1000),
    st.sampled_from(sorted(ALGORITHMS)),
    st.floats(1e-9, 1e9),
    st.sampled_from([0.0, 1.0, 1e12]),
)
def test_extreme_costs_and_amounts_stay_finite(seed, name, ratio, amount):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 60)
    X = {"x": rng.normal(size=60) + y, "amount": np.where(rng.random(60) < 0.5, amount, 1.0)}
    costs = CostSpec.binary(CostCell(fixed=ratio, per={"amount": 1.0}), 1.0, tp=CostCell(per={"amount": 0.5}))
    for train_costs in ("class_mean", "row"):
        model = CostSensitiveModel(make(name, {"n_estimators": 3}), costs=costs, train_costs=train_costs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            answer = model.fit(X, y).decide(X)
        assert np.isfinite(answer.scores.score).all()
        assert np.isfinite(answer.decisions.expected_cost).all()
        assert ((answer.scores.probabilities > 0) & (answer.scores.probabilities < 1)).all()


def test_arrays_frames_and_mappings_agree():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    X[:, 0] += y
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    model = CostSensitiveModel().fit(frame, y)
    p = model.predict_proba(frame)
    adacost = CostSensitiveModel("adacost").fit(frame, y).predict_proba(frame)
    assert same(CostSensitiveModel().fit(X, y).predict_proba(X), p)
    assert same(CostSensitiveModel().fit(frame.to_dict("list"), y).predict_proba(dict(frame)), p)
    assert same(model.predict_proba(X), p)
    for rows in (pa.table(dict(frame)), frame.to_dict("records")):
        assert same(CostSensitiveModel("adacost").fit(rows, y).predict_proba(rows[:5]), adacost[:5])
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x2"]


@pytest.mark.parametrize("labels", [(0, 1), (False, True), (1.0, 2.0), ("no", "yes"), (-1, 1)])
def test_labels_come_back_as_they_were(labels):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 80)
    y = np.array(labels)[codes]
    model = CostSensitiveModel().fit(rng.normal(size=(80, 2)) + codes[:, None], y)
    assert model.predict(rng.normal(size=(5, 2))).dtype == y.dtype
    assert model.classes_.tolist() == list(labels)


# Refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"calibration": "platt"}, "calibration"),
        ({"decision_rule": "best"}, "decision_rule"),
        ({"train_costs": "mean"}, "train_costs"),
        ({"n_jobs": "many"}, "n_jobs"),
        ({"estimator": GaussianNB()}, "booster of this library"),
        ({"costs": CostMatrix.from_matrix(1 - np.eye(3))}, "3 classes"),
        ({"costs": CostSpec.binary(1, 1)}, "costs are for the classes"),
        ({"costs": CostSpec.binary(0, 1, classes=("legit", "fraud"))}, "must be greater"),
        ({"split": Split("group")}, "group"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(change, message):
    X, y = table(60)
    with pytest.raises(ValueError, match=message):
        CostSensitiveModel().set_params(**change).fit(X, y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sample_weight": np.ones(3)}, "sample_weight"),
        ({"sample_weight": -np.ones(60)}, "negative"),
        ({"sample_cost": np.full(60, np.nan)}, "not finite"),
        ({"sample_cost": np.zeros(60)}, "no wrong decision"),
        ({"sample_cost": np.ones((60, 3))}, "none of"),
        ({"groups": np.ones(3)}, "groups"),
        ({"types": {"nowhere": "number"}}, "nowhere"),
        ({"types": {"merchant": "number"}}, "merchant"),
        ({"types": {}}, "at least one feature"),
    ],
)
def test_data_that_does_not_fit_is_refused(arguments, message):
    X, y = table(60)
    with pytest.raises(ValueError, match=message):
        CostSensitiveModel().fit(X, y, **arguments)


def test_labels_that_do_not_fit_are_refused():
    X, y = table(60)
    with pytest.raises(ValueError, match="at least two classes"):
        CostSensitiveModel().fit(X, ["legit"] * 60)
    with pytest.raises(ValueError, match="different numbers of rows"):
        CostSensitiveModel().fit(X, y[:-1])
    with pytest.raises(ValueError, match="rows with a weight"):
        CostSensitiveModel().fit(X, y, sample_weight=(y == "legit").astype(float))
    with pytest.raises(ValueError, match="at least two rows of each class"):
        CostSensitiveModel().fit(X, ["fraud"] + ["legit"] * 59)


def test_a_cost_of_a_row_that_is_no_number_is_that_rows_error():
    X, y = table(60)
    X.loc[7, "amount"] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        CostSensitiveModel(costs=AMOUNTS).fit(X, y)
    with pytest.raises(ValueError, match="finite"):
        fitted().decide(X)


def test_empirical_is_for_two_classes():
    X, y = three_classes()
    with pytest.raises(ValueError, match="decision rule"):
        CostSensitiveModel(costs=MATRIX, decision_rule="empirical").fit(X, y)


def test_columns_too_large_to_learn_from_are_named():
    rng = np.random.default_rng(0)
    table = {"small": rng.normal(size=80), "huge": 1e300 * rng.normal(size=80), "some": np.full(80, np.nan)}
    table["some"][:40] = 1e299 * rng.normal(size=40)
    y = (table["small"] > 0).astype(int)
    model = CostSensitiveModel("mixture", costs={"fn": 5, "fp": 1})
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"beyond 1e\+100: huge, some$"):
        model.fit(table, y)
