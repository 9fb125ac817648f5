"""What a newcomer gives instead of the right value: taken as meant, or refused in words that help."""

import numpy as np
import pytest

import costboost
from costboost import AdaCostClassifier, CostMatrix, CostSensitiveModel, CostSpec, dump, load

RANDOM = np.random.default_rng(3)
X = {"amount": RANDOM.gamma(2.0, 40.0, 300), "country": RANDOM.choice(["ch", "de", "at"], 300)}
Y = np.where(X["amount"] + RANDOM.normal(0.0, 30.0, 300) > 110.0, "fraud", "legit")


def test_costs_by_name_are_those_of_a_matrix() -> None:
    named = CostSensitiveModel(costs={"fn": 5, "fp": 1, "tp": 0.5}).fit(X, Y)
    matrix = CostSensitiveModel(costs=CostMatrix(cost_fn=5, cost_fp=1, cost_tp=0.5)).fit(X, Y)
    assert named.classes_.tolist() == ["fraud", "legit"]
    assert named.costs_.positive == 1
    np.testing.assert_array_equal(named.predict_proba(X), matrix.predict_proba(X))
    np.testing.assert_array_equal(named.predict(X), matrix.predict(X))


def test_a_cell_by_name_reads_columns_when_fitted_and_when_priced_again() -> None:
    cell = {"fixed": 2, "per": {"amount": 0.5}, "max": 30}
    classes = np.array(["legit", "fraud"])[(Y == "fraud").astype(int)]
    renamed = np.where(classes == "fraud", "1", "0")
    model = CostSensitiveModel(costs={"fn": cell, "fp": 10}).fit(X, renamed)
    fn = np.minimum(2 + 0.5 * X["amount"], 30)
    np.testing.assert_allclose(model.decide(X).decisions.threshold, 10 / (10 + fn))
    again = model.decide(X, costs={"fn": 3, "fp": 1})
    np.testing.assert_allclose(again.decisions.threshold, 0.25)
    np.testing.assert_array_equal(again.scores.probabilities, model.predict_proba(X))


def test_an_algorithm_by_name() -> None:
    named = CostSensitiveModel("AdaCost", costs={"fn": 5, "fp": 1}).fit(X, Y)
    given = CostSensitiveModel(AdaCostClassifier(), costs={"fn": 5, "fp": 1}).fit(X, Y)
    np.testing.assert_array_equal(named.predict_proba(X), given.predict_proba(X))
    assert dump(named) == dump(given)
    np.testing.assert_array_equal(load(dump(named)).predict_proba(X), named.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "error", "told"),
    [
        ({"estimator": "adakost"}, ValueError, "known are mixture, adaboost"),
        ({"estimator": AdaCostClassifier}, TypeError, r"give an instance: AdaCostClassifier\(\)"),
        ({"costs": 5}, TypeError, "CostMatrix, a CostSpec or a dict of fn and fp, not int"),
        ({"costs": np.ones((300, 2))}, TypeError, "sample_cost"),
        ({"costs": {"cost_fn": 5, "fp": 1}}, ValueError, "need fn and fp"),
        ({"costs": {"fn": np.ones(300), "fp": 1}}, ValueError, "sample_cost"),
        ({"costs": {"fn": {"pro": {"amount": 1}}, "fp": 1}}, ValueError, "dict of fixed, per, min and max"),
    ],
)
def test_what_cannot_be_meant_is_refused(parameters: dict, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        CostSensitiveModel(**parameters).fit(X, Y)


def test_named_costs_are_for_two_classes() -> None:
    with pytest.raises(ValueError, match=r"two classes, not 3; use CostMatrix\.from_matrix"):
        CostSensitiveModel(costs={"fn": 5, "fp": 1}).fit(X, np.arange(300) % 3)


def test_a_matrix_says_how_its_cells_are_called() -> None:
    with pytest.raises(TypeError, match="cost_fn' and 'cost_fp"):
        CostMatrix(fn=5)
    with pytest.raises(TypeError, match="cost_fn, cost_fp, cost_tp and cost_tn, not fn"):
        CostMatrix(cost_fn=5, cost_fp=1, fn=5)


@pytest.mark.parametrize("costs", [np.ones(300), [1.0] * 300])
def test_costs_of_single_rows_are_no_constant(costs: object) -> None:
    with pytest.raises(ValueError, match="sample_cost"):
        CostMatrix(cost_fn=costs, cost_fp=1)
    with pytest.raises(ValueError, match="sample_cost"):
        AdaCostClassifier(cost_fn=costs).fit(np.c_[X["amount"]], Y)
    with pytest.raises(ValueError, match="CostCell"):
        CostSpec.binary(costs, 1)


def test_the_package_lists_its_public_names_alone() -> None:
    assert dir(costboost) == sorted(costboost.__all__)
