"""Named cells, what is refused, and regrets."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from costboost.costs import (
    CostMatrix,
    UnreasonableCostsError,
    costs_of_true_class,
    regrets,
    unreasonable_rows,
)
from costboost.decisions import decide
from tests.costboost import naive
from tests.costboost.strategies import cost_matrices, positive_money, row_costs

NAN, INF = float("nan"), float("inf")


# CostMatrix


def test_cells_stand_where_their_names_say():
    costs = CostMatrix(cost_fn=9, cost_fp=2, cost_tp=1, cost_tn=-3)
    # Rows are true classes: [tn fp], [fn tp].
    assert costs.matrix.tolist() == [[-3, 2], [9, 1]]
    assert (costs.cost_fn, costs.cost_fp, costs.cost_tp, costs.cost_tn) == (9, 2, 1, -3)
    # (2 + 3) / ((2 + 3) + (9 - 1)) = 5 / 13
    assert costs.threshold() == 5 / 13
    assert costs.regrets().tolist() == [[0, 5], [8, 0]]
    assert costs.class_regrets().tolist() == [5, 8]


def test_sensible_costs_are_not_refused_for_comparing_different_classes():
    # A quiet negative (tn = 2) may cost more than a missed positive (fn = 1).
    assert CostMatrix(cost_fn=1, cost_tn=2, cost_fp=9, cost_tp=0).threshold() == 7 / 8


def test_a_matrix_is_a_value():
    one, other = CostMatrix(cost_fn=9, cost_fp=1), CostMatrix.from_matrix([[0, 1], [9, 0]])
    assert one == other
    assert hash(one) == hash(other)
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(AttributeError):
        one.rows = ()
    with pytest.raises(ValueError, match="read-only"):
        one.matrix[0, 1] = 5


def test_balanced_costs_give_each_class_the_same_total():
    assert CostMatrix.balanced([90, 10]).matrix.tolist() == [[0, 1], [9, 0]]
    # n / (K n_k) = 60 / (3 * 10, 20, 30)
    many = CostMatrix.balanced([10, 20, 30])
    np.testing.assert_allclose(many.class_regrets(), [2, 1, 2 / 3])
    assert many.matrix.diagonal().tolist() == [0, 0, 0]
    # Counts may be weights, of any size.
    assert CostMatrix.balanced([4.5, 0.5]) == CostMatrix(cost_fn=9, cost_fp=1)


@pytest.mark.parametrize("counts", [[10, 0], [10], [], 10, [[10, 5], [3, 2]], [10, NAN]])
def test_balanced_costs_need_rows_of_two_classes(counts):
    with pytest.raises(ValueError, match=r"^balanced costs need at least two classes, each with rows$"):
        CostMatrix.balanced(counts)


@pytest.mark.parametrize("name", ["cost_fn", "cost_fp", "cost_tp", "cost_tn"])
@pytest.mark.parametrize("bad", [NAN, INF, -INF, 1e101])
def test_costs_that_are_no_money_are_refused_by_name(name, bad):
    with pytest.raises(ValueError, match=name):
        CostMatrix(**{"cost_fn": 2.0, "cost_fp": 2.0, name: bad})


@pytest.mark.parametrize(
    ("costs", "named"),
    [
        ({"cost_fn": 1.0, "cost_fp": 1.0, "cost_tp": 1.0}, ("cost_fn", "cost_tp")),
        ({"cost_fn": 1.0, "cost_fp": 1.0, "cost_tn": 2.0}, ("cost_fp", "cost_tn")),
        ({"cost_fn": 0.0, "cost_fp": 1.0}, ("cost_fn", "cost_tp")),
    ],
)
def test_unreasonable_costs_are_refused_by_name(costs, named):
    with pytest.raises(UnreasonableCostsError) as refused:
        CostMatrix(**costs)
    assert refused.value.cells == named
    assert all(name in str(refused.value) for name in named)
    again = pickle.loads(pickle.dumps(refused.value))
    assert (again.cells, str(again)) == (named, str(refused.value))


def test_a_cost_is_one_number_and_has_one_of_four_names():
    with pytest.raises(ValueError, match="cost_fn is one number for all rows"):
        CostMatrix(cost_fn=[9.0, 8.0], cost_fp=1.0)
    with pytest.raises(TypeError, match="not cost_fx, fn"):
        CostMatrix(cost_fn=9.0, cost_fp=1.0, cost_fx=1.0, fn=2.0)


def test_a_large_matrix_names_its_cells_by_place():
    with pytest.raises(UnreasonableCostsError, match=r"matrix\[2\]\[0\]"):
        CostMatrix.from_matrix([[0, 1, 1], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("matrix", [[[0]], [[0, 1]], [0, 1], np.zeros((2, 3))])
def test_a_matrix_is_square(matrix):
    with pytest.raises(ValueError, match="K x K"):
        CostMatrix.from_matrix(matrix)


def test_the_four_names_belong_to_two_classes():
    costs = CostMatrix.from_matrix(1 - np.eye(3))
    with pytest.raises(ValueError, match="two classes"):
        costs.threshold()


@given(cost_matrices(2), st.floats(1e-6, 1e6))
def test_the_threshold_ignores_the_currency(costs, factor):
    assert 0 <= costs.threshold() <= 1
    scaled = CostMatrix.from_matrix(costs.matrix * factor)
    assert scaled.threshold() == pytest.approx(costs.threshold(), rel=1e-6)


# Regrets


def test_costs_of_the_true_class_are_the_same_of_fixed_cells_and_of_their_copies():
    fixed, y = np.array([[0.0, 1.0, 2.0], [9.0, 0.0, 3.0]]), np.array([1, 0, 1])
    expected = [[9, 0, 3], [0, 1, 2], [9, 0, 3]]
    assert costs_of_true_class(fixed, y).tolist() == expected
    assert costs_of_true_class(np.stack([fixed] * 3), y).tolist() == expected


def test_regrets_worked_by_hand():
    costs = np.array([[[0.0, 5.0], [90.0, 4.0]], [[0.0, 5.0], [3.0, 4.0]], [[1.0, 5.0], [3.0, 4.0]]])
    # A fraud of 90 handled for 4: 86. One of 3 is not worth handling: 0. A false alarm: 5 - 1.
    assert regrets(costs, (0, 1), np.array([1, 1, 0])).tolist() == [86, 0, 4]
    assert unreasonable_rows(costs, (0, 1)).tolist() == [False, True, True]


def test_regrets_of_three_classes_are_means_over_the_wrong_decisions():
    costs = np.array([[0.0, 1, 2], [5, 0, 1], [9, 3, 1]])
    # Class 0: 1 and 2 more than right; class 1: 5 and 1; class 2, whose right decision costs 1: 8 and 2.
    assert regrets(costs, (0, 1, 2), np.array([0, 1, 2, 0])).tolist() == [1.5, 3, 5, 1.5]


def test_a_review_is_neither_right_nor_wrong():
    costs = np.array([[0.0, 3, 10], [100, 28, 0]])
    assert regrets(costs, (0, None, 1), np.array([0, 1])).tolist() == [10, 100]


def test_a_class_that_no_action_serves_makes_no_row_unreasonable():
    # Class 2 has no right action, and what else it costs is no fault of the row.
    costs = np.array([[[0.0, 1.0], [9.0, 0.0], [5.0, 5.0]]])
    assert unreasonable_rows(costs, (0, 1)).tolist() == [False]
    # It counts where it has one.
    assert unreasonable_rows(costs, (0, 2)).tolist() == [True]


@given(st.data(), st.integers(2, 4))
def test_regrets_equal_the_naive_twin(data, n_classes):
    n_actions = data.draw(st.integers(2, 5))
    classes = st.none() | st.integers(0, n_classes - 1)
    serves = data.draw(st.lists(classes, min_size=n_actions, max_size=n_actions))
    assume(any(k is not None for k in serves))
    n = data.draw(st.integers(1, 8))
    y = np.array(data.draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)))
    costs = data.draw(row_costs(n, n_classes, n_actions))
    expected = [naive.regret(costs[i].tolist(), serves, y[i]) for i in range(n)]
    assert regrets(costs, serves, y).tolist() == expected
    assert regrets(costs[0], serves, y).tolist() == [naive.regret(costs[0].tolist(), serves, k) for k in y]


@given(cost_matrices(3), positive_money)
def test_regrets_of_a_matrix_are_its_class_regrets_whatever_is_added_to_a_class(matrix, shift):
    y = np.array([0, 1, 2, 1])
    np.testing.assert_allclose(regrets(matrix.matrix, range(3), y), matrix.class_regrets()[y], rtol=1e-12)
    np.testing.assert_allclose(
        regrets(matrix.matrix + shift, range(3), y), matrix.class_regrets()[y], rtol=1e-6
    )


@given(st.data())
def test_unreasonable_rows_are_those_without_a_threshold(data):
    costs = data.draw(row_costs(data.draw(st.integers(1, 9)), 2, 2))
    shares = np.full((len(costs), 2), 0.5)
    threshold = decide(shares, costs, serves=(0, 1)).threshold
    np.testing.assert_array_equal(unreasonable_rows(costs, (0, 1)), np.isnan(threshold))
