import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.actions import Action, Review
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.training_costs import TrainingCosts, without_currency

Y = np.array([0, 1, 1, 0])
ONES = np.ones(4)
AMOUNT = {"amount": np.array([10.0, 20.0, 40.0, 1000.0])}
PER_ROW = CostSpec.binary(fn=CostCell(per={"amount": 1.0}), fp=5.0, tp=8.0, tn=-1.0)


def test_class_means_of_constant_costs_are_these_costs_to_the_bit():
    spec = CostSpec.binary(0.7, 0.1, 0.3, -0.2)
    costs = TrainingCosts.of_spec(spec, {}, Y, np.array([0.1, 0.2, 0.3, 0.7]))
    assert costs.class_means().tolist() == [[-0.2, 0.1], [0.7, 0.3]]


def test_means_and_regrets_by_hand():
    costs = TrainingCosts.of_spec(PER_ROW, AMOUNT, Y, ONES)
    assert costs.class_means().tolist() == [[-1.0, 5.0], [30.0, 8.0]]
    assert costs.class_regrets().tolist() == [[0.0, 6.0], [22.0, 0.0]]  # (20-8 + 40-8) / 2
    small = TrainingCosts.of_spec(PER_ROW, {"amount": AMOUNT["amount"] / 4}, Y, ONES)
    assert small.class_regrets().tolist() == [[0.0, 6.0], [1.0, 0.0]]  # (max(0, 5-8) + 10-8) / 2
    heavy = TrainingCosts.of_spec(PER_ROW, AMOUNT, Y, np.array([1.0, 3.0, 1.0, 1.0]))
    assert heavy.class_regrets()[1, 0] == 17.0  # (3 * 12 + 32) / 4


def test_what_boosters_get():
    costs = TrainingCosts.of_spec(PER_ROW, AMOUNT, Y, ONES)
    assert costs.matrix().matrix * 22 == pytest.approx(np.array([[-1.0, 5.0], [30.0, 8.0]]))
    rows = costs.rows() * 22  # fn, fp, tp, tn
    assert rows == pytest.approx(np.array([[0, 5, 0, -1], [20, 0, 8, 0], [40, 0, 8, 0], [0, 5, 0, -1]]))
    three = TrainingCosts(np.arange(9.0).reshape(3, 3), np.arange(3), np.ones(3))
    assert three.rows().shape == (3, 3)


def test_a_class_without_a_regret_is_trained_at_the_smallest_of_the_others():
    costs = TrainingCosts.of_spec(PER_ROW, {"amount": np.zeros(4)}, Y, ONES)
    assert costs.class_regrets().tolist() == [[0.0, 6.0], [6.0, 0.0]]
    with pytest.raises(ValueError, match="no wrong decision"):
        TrainingCosts(np.zeros((4, 2)), Y, ONES).class_regrets()


def test_right_decisions_of_huge_cost_do_not_drown_the_regrets():
    costs = TrainingCosts.of_samples(
        np.array([[0, 1e15 + 8, 0, 1e15]] * 2 + [[16, 0, 0, 0]] * 2), Y[[0, 3, 1, 2]], ONES, 2, 1
    )
    assert costs.matrix().matrix.tolist() == [[0.0, 0.5], [1.0, 0.0]]


def test_actions_that_are_not_the_classes():
    actions = (Action("pass", 0), Action("block", 1), Action("call", 1), Action("review", None))
    cells = {("0", "block"): 9.0, ("0", "call"): 4.0, ("1", "pass"): 50.0, ("1", "call"): 6.0}
    spec = CostSpec.from_actions(("0", "1"), actions, cells, review=Review(1.0, (0.9, 0.9)))
    costs = TrainingCosts.of_spec(spec, {}, Y, ONES)
    assert costs.labelled.tolist() == [[0.0, 4.0], [50.0, 0.0], [50.0, 0.0], [0.0, 4.0]]
    unserved = CostSpec.from_actions(("a", "b", "c"), ("a", "b"), {("c", "a"): 3.0, ("c", "b"): 1.0})
    costs = TrainingCosts.of_spec(unserved, {}, np.array([2]), np.ones(1))
    assert costs.labelled.tolist() == [[3.0, 1.0, 3.0]]


def test_recoding_and_reordering():
    costs = TrainingCosts(np.arange(12.0).reshape(4, 3), np.array([0, 1, 2, 0]), ONES)
    recoded = costs.recoded(np.array([2, 0, 1]))
    assert recoded.y.tolist() == [2, 0, 1, 2]
    assert recoded.labelled[0].tolist() == [1.0, 2.0, 0.0]
    assert costs.of_rows(np.array([3, 0])).labelled.tolist() == [[9.0, 10.0, 11.0], [0.0, 1.0, 2.0]]


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.sampled_from([1000.0, 0.01, 1e-3, 7.0]))
def test_a_currency_leaves_no_trace_beyond_twelve_digits(cost, unit, rate):
    one = without_currency(np.array([cost]), unit)
    other = without_currency(np.array([cost * rate]), unit * rate)
    assert abs(one - other) <= 2e-12 * one


@pytest.mark.parametrize(
    ("given_costs", "message"),
    [(np.ones((4, 3)), "none of"), (np.full(4, np.inf), "row 0 is not finite"), (np.ones(3), "none of")],
)
def test_wrong_sample_costs_are_refused(given_costs, message):
    with pytest.raises(ValueError, match=message):
        TrainingCosts.of_samples(given_costs, Y, ONES, 2, 1)
