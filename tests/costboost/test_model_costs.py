"""Costs, priors and thresholds of a model: what they move, and what they must not."""

import numpy as np
import pytest

from costboost.actions import Action, Review
from costboost.columns import typed_columns
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix
from costboost.decisions import decide
from costboost.model import CostSensitiveModel
from costboost.registry import ALGORITHMS, make
from tests.costboost.model_tables import AMOUNTS, fitted, may_keep_nothing, same, table

#: What boosters say of themselves is their tests' affair; a model must work with each of them.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*kept no hypothesis:UserWarning", "ignore:.*costs compound over the rounds:UserWarning"
)


@may_keep_nothing
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
@pytest.mark.parametrize("rule", ["expected_cost", "empirical"])
def test_swapping_fn_and_fp_moves_decisions_the_expected_way(name, rule):
    X, y = table()
    booster = make(name, {"n_estimators": 20})
    dear_miss, dear_alarm = (
        CostSensitiveModel(
            booster, costs=CostSpec.binary(fn, fp, classes=("legit", "fraud")), decision_rule=rule
        )
        for fn, fp in ((8, 1), (1, 8))
    )
    flagged = (dear_miss.fit(X, y).predict(X) == "fraud").sum()
    assert flagged > (dear_alarm.fit(X, y).predict(X) == "fraud").sum() + 20


@may_keep_nothing
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
@pytest.mark.parametrize("rule", ["expected_cost", "empirical", "sign"])
@pytest.mark.parametrize("costs", [AMOUNTS, CostSpec.binary(0.7, 0.3, 0.1, -0.2, classes=("legit", "fraud"))])
def test_costs_times_1000_change_no_decision(name, rule, costs):
    X, y = table(200)
    booster = make(name, {"n_estimators": 10})
    one = CostSensitiveModel(booster, costs=costs, decision_rule=rule).fit(X, y)
    other = CostSensitiveModel(booster, costs=costs.scaled(1000), decision_rule=rule).fit(X, y)
    assert (one.predict(X) == other.predict(X)).all()
    assert same(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("rule", ["expected_cost", "empirical", "sign"])
def test_probabilities_do_not_move_with_the_costs_of_a_request(rule):
    model, (X, _) = fitted(rule=rule), table()
    before = model.decide(X)
    assert before.source == rule
    assert not before.repriced
    for costs in (CostMatrix(cost_fn=500, cost_fp=1), CostSpec.binary(1, 500, classes=("legit", "fraud"))):
        after = model.decide(X, costs=costs)
        assert same(after.scores.probabilities, before.scores.probabilities)
        assert after.repriced
        assert after.source == "expected_cost"
        expected = decide(
            before.scores.probabilities,
            costs.matrix if isinstance(costs, CostMatrix) else costs.evaluate(),
            serves=(0, 1),
            positive=1,
        )
        assert same(after.decisions.decision, expected.decision)
    by_row = np.random.default_rng(0).random((len(X), 2, 2))
    assert model.decide(X, costs=by_row).source == "expected_cost"


def test_a_threshold_of_the_request_overrides_costs():
    model, (X, _) = fitted(), table()
    answer = model.decide(X, threshold=0.2)
    assert answer.source == "threshold"
    assert ((answer.scores.probabilities[:, 1] > 0.2) == (answer.decisions.label == 1)).all()
    assert (answer.decisions.threshold == 0.2).all()


def test_priors_move_probabilities_towards_them():
    model, (X, _) = fitted(), table()
    base = model.decide(X).scores.probabilities
    assert np.allclose(model.decide(X, priors=model.priors_).scores.probabilities, base)
    rarer = model.decide(X, priors=[0.99, 0.01])
    assert (rarer.scores.probabilities[:, 1] < base[:, 1]).all()
    assert (rarer.scores.log_odds < model.decide(X).scores.log_odds).all()


def test_empirical_threshold_never_costs_more_on_its_rows_than_a_constant():
    model, (X, y) = fitted(rule="empirical"), table()
    costs = AMOUNTS.evaluate({"amount": X["amount"].to_numpy()}, len(y))
    true = (y == "fraud").astype(int)
    rows = np.arange(len(y))
    flagged = (model.oof_score_ > model.threshold_).astype(int)
    total = costs[rows, true, flagged].sum()
    assert total <= min(costs[rows, true, 0].sum(), costs[rows, true, 1].sum()) + 1e-9
    answer = model.decide(X)
    assert ((answer.scores.score > model.threshold_) == (answer.decisions.label == 1)).all()
    at_threshold = answer.decisions.threshold[0]
    assert (answer.scores.probabilities[answer.decisions.label == 1, 1] >= at_threshold).all()


def test_sign_is_the_vote_of_the_booster():
    for name in ("cgada", "adamec"):
        model, (X, _) = fitted(name, "sign"), table()
        codes = model.booster_.predict(model.encoder_.transform(typed_columns(X)[0]))
        assert ((model.predict(X) == "fraud") == (codes == 1)).all()


def test_train_costs_by_row_reach_the_booster():
    assert not same(fitted(train_costs="row").oof_score_, fitted().oof_score_)


@pytest.mark.parametrize("shape", ["n", "n4", "nk"])
@pytest.mark.parametrize("train_costs", ["class_mean", "row"])
def test_sample_cost_in_each_form_says_the_same(shape, train_costs):
    X, y = table()
    positive = y == "fraud"
    amount = X["amount"].to_numpy()
    wrong = np.where(positive, amount, 5.0)
    forms = {
        "n": wrong,
        "n4": np.column_stack([amount, np.full(len(y), 5.0), np.zeros(len(y)), np.zeros(len(y))]),
        "nk": np.column_stack([np.where(positive, 0, 5.0), np.where(positive, amount, 0)]),
    }  # classes_ are fraud, legit: without a cost spec fn and fp name "legit" as positive
    forms["n4"] = forms["n4"][:, [1, 0, 2, 3]]
    model = CostSensitiveModel(train_costs=train_costs).fit(X, y, sample_cost=forms[shape])
    reference = CostSensitiveModel(train_costs=train_costs).fit(X, y, sample_cost=wrong)
    assert same(model.predict_proba(X), reference.predict_proba(X))
    assert model.costs_ == reference.costs_
    assert model.costs_.evaluate()[0, 1] == pytest.approx(amount[positive].mean())


def test_costs_may_read_a_column_that_is_no_feature():
    X, y = table()
    model = CostSensitiveModel(costs=AMOUNTS).fit(X, y, types={"speed": "number", "merchant": "category"})
    assert list(model.encoder_.types) == ["merchant", "speed"]
    dearer = X.assign(amount=X["amount"] * 100)
    assert same(model.predict_proba(X), model.predict_proba(dearer))
    assert (model.predict(dearer) == "fraud").sum() > (model.predict(X) == "fraud").sum()
    with pytest.raises(ValueError, match="amount"):
        model.predict(X.drop(columns="amount"))


def test_a_review_is_chosen_by_its_price_and_predict_still_names_a_class():
    X, y = table()
    actions = ("legit", "fraud", Action("review", None))
    costs = {("fraud", "legit"): 50.0, ("legit", "fraud"): 10.0}
    spec = CostSpec.from_actions(("legit", "fraud"), actions, costs, review=Review(1.0, (0.95, 0.95)))
    model = CostSensitiveModel(costs=spec).fit(X, y)
    answer = model.decide(X)
    assert set(answer.decisions.label.tolist()) == {-1, 0, 1}
    assert set(model.predict(X)) == {"legit", "fraud"}


@pytest.mark.parametrize(
    ("costs", "told"),
    [
        ({"fn": -1, "fp": 1}, "must be greater than"),
        ({"fn": 0, "fp": 0}, "all costs are zero"),
        ({"fn": 1, "fp": 5, "tp": 9}, "must be greater than"),
    ],
)
def test_costs_of_a_decision_are_checked_as_those_of_training(costs, told):
    model, (X, _) = fitted(), table()
    with pytest.raises(ValueError, match=told):
        model.decide(X, costs=costs)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, 16.67, float("nan")])
def test_a_threshold_is_a_probability(threshold):
    model, (X, _) = fitted(), table()
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.decide(X, threshold=threshold)
