"""Named cells, what is refused, costs of rows, and regrets."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from costboost.costs import (
    Action,
    CostCell,
    CostMatrix,
    CostSpec,
    Review,
    UnreasonableCostsError,
    regrets,
    unreasonable_rows,
)
from costboost.decisions import decide
from tests.costboost import naive
from tests.costboost.strategies import binary_specs, cells, cost_matrices, positive_money, row_costs

NAN, INF = float("nan"), float("inf")
AMOUNTS = {"amount": np.array([0.0, 20.0, 500.0]), "fee": np.array([1.0, 1.0, 2.0]), "days": np.arange(3.0)}


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
    np.testing.assert_allclose(CostMatrix.balanced([10, 20, 30]).class_regrets(), [2, 1, 2 / 3])
    with pytest.raises(ValueError, match="each with rows"):
        CostMatrix.balanced([10, 0])


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
    assert pickle.loads(pickle.dumps(refused.value)).cells == named


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


# CostCell


def test_a_cell_is_fixed_plus_factors_within_bounds():
    cell = CostCell(fixed=5, per={"amount": 0.02, "days": -1.0}, min=4, max=12)
    # 5 + 0 - 0 = 5; 5 + 0.4 - 1 = 4.4; 5 + 10 - 2 = 13 -> 12
    np.testing.assert_allclose(cell.evaluate(AMOUNTS, 3), [5, 4.4, 12])
    assert cell.columns == {"amount", "days"}


def test_a_missing_amount_gives_a_cost_that_is_not_finite_despite_bounds():
    cell = CostCell(per={"amount": 1.0}, min=15, max=100)
    assert np.isnan(cell.evaluate({"amount": np.array([NAN])}, 1)).all()


@given(cells)
def test_a_cell_survives_json(cell):
    again = CostCell.from_json(json.loads(json.dumps(cell.to_json())))
    assert again == cell
    assert hash(again) == hash(cell)


@pytest.mark.parametrize(
    "columns",
    [{}, {"amount": np.array(["5"], dtype=object)}, {"amount": np.zeros(2)}, {"amount": np.zeros((1, 1))}],
)
def test_a_cell_says_which_column_it_needs(columns):
    with pytest.raises(ValueError, match="'amount'"):
        CostCell(per={"amount": 1.0}).evaluate(columns, 1)


@pytest.mark.parametrize(
    "fields", [{"fixed": NAN}, {"per": {"a": INF}}, {"min": NAN}, {"max": INF}, {"min": 2, "max": 1}]
)
def test_a_cell_refuses_what_is_no_money(fields):
    with pytest.raises(ValueError, match="cost cell"):
        CostCell(**fields)


# CostSpec


def test_binary_cells_per_row():
    spec = CostSpec.binary(CostCell(per={"amount": 1.0}, min=15), CostCell(5, {"amount": 0.02}), tn=-1)
    assert spec.columns == {"amount"}
    # [tn fp] = [-1, 5 + 0.02 amount], [fn tp] = [max(15, amount), 0]
    np.testing.assert_allclose(
        spec.evaluate(AMOUNTS, 3),
        [[[-1, 5], [15, 0]], [[-1, 5.4], [20, 0]], [[-1, 15], [500, 0]]],
    )


def test_the_positive_class_may_come_first():
    spec = CostSpec.binary(fn=9, fp=1, tp=0.5, tn=0.25, classes=("bad", "good"), positive=0)
    # Row 0 is the positive class: [tp fn], row 1: [fp tn].
    assert spec.evaluate().tolist() == [[0.5, 9], [1, 0.25]]
    assert [spec.cell_name(k, a) for k in (0, 1) for a in (0, 1)] == ["tp", "fn", "fp", "tn"]


def test_a_matrix_of_cells_has_the_classes_as_actions():
    spec = CostSpec.from_matrix([[0, 1, 2], [5, 0, 1], [9, CostCell(3), 0]], ("a", "b", "c"))
    assert spec.positive is None
    assert spec.serves == (0, 1, 2)
    assert spec.evaluate(n=7).tolist() == [[0, 1, 2], [5, 0, 1], [9, 3, 0]]
    assert spec.cell_name(2, 0) == "c x a"


def test_actions_serve_the_class_they_are_cheapest_for():
    spec = CostSpec.from_actions(
        ("legit", "fraud"),
        ("approve", "decline"),
        {
            ("fraud", "approve"): CostCell(per={"amount": 1}),
            ("legit", "decline"): CostCell(5, {"amount": 0.02}),
            ("fraud", "decline"): 10.0,
        },
    )
    assert spec.serves == (0, 1)
    assert spec.cell_name(1, 0) == "fn"
    assert CostSpec.from_actions(("a", "b"), ("b", "a"), {("a", "b"): 1, ("b", "a"): 1}).serves == (1, 0)
    with pytest.raises(ValueError, match="cheapest for no class"):
        CostSpec.from_actions(
            ("a", "b"), ("x", "y", "z"), {("a", "y"): 2, ("a", "z"): 1, ("b", "x"): 2, ("b", "z"): 1}
        )
    with pytest.raises(ValueError, match="no cost cell"):
        CostSpec.from_actions(("a", "b"), ("a", "b"), {("a", "c"): 1})


def test_the_review_column_is_computed():
    review = Review(fee=3.0, accuracy=(1.0, 0.75), shadow_price=0.5)
    actions = ("approve", Action("ask", None), "decline")
    spec = CostSpec.from_actions(
        ("legit", "fraud"), actions, {("fraud", "approve"): 100, ("legit", "decline"): 10}, review=review
    )
    # Legit: 3 + 0 + 0.5. Fraud: 3 + 0.75 * 0 + 0.25 * 100 + 0.5.
    assert spec.evaluate().tolist() == [[0, 3.5, 10], [100, 28.5, 0]]
    assert spec.serves == (0, None, 1)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: CostSpec.binary(fn=1, fp=1, tp=1), ("fn", "tp")),
        (lambda: CostSpec.binary(fn=1, fp=0), ("fp", "tn")),
        # The fraud's cells are per row; those of the legit one are constant and wrong.
        (lambda: CostSpec.binary(CostCell(per={"amount": 1}), fp=0), ("fp", "tn")),
        (lambda: CostSpec.from_matrix([[0, 1, 1], [1, 0, 0], [1, 1, 0]], "abc"), ("b x c", "b x b")),
    ],
)
def test_check_names_the_cells_that_are_unreasonable(make, named):
    with pytest.raises(UnreasonableCostsError) as refused:
        make().check()
    assert refused.value.cells == named


def test_check_refuses_costs_that_are_all_zero():
    with pytest.raises(ValueError, match="all costs are zero"):
        CostSpec.binary(0, 0).check()


def test_check_accepts_per_row_costs_and_classes_without_an_action():
    CostSpec.binary(CostCell(per={"amount": 1}), CostCell(per={"fee": 1})).check()
    CostSpec.from_actions(("a", "b", "c"), ("a", "b"), {("a", "b"): 1, ("b", "a"): 1, ("c", "a"): 1}).check()
    CostSpec.binary(fn=-1, fp=-5, tp=-2, tn=-9).check()


def test_dominated_actions():
    actions = (Action("wait", 0), Action("treat", 1), Action("pray", 1), Action("treat again", 1))
    costs = {("ill", "wait"): 9, ("ill", "pray"): 9, ("well", "treat"): 1, ("well", "pray"): 1}
    spec = CostSpec.from_actions(("well", "ill"), actions, {**costs, ("well", "treat again"): 1})
    assert spec.dominated_actions() == ("pray", "treat again")
    assert CostSpec.binary(9, 1).dominated_actions() == ()
    assert CostSpec.binary(CostCell(per={"amount": 0}), 1).dominated_actions() == ()


@given(binary_specs())
def test_a_spec_survives_json(spec):
    assert CostSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec


def test_a_spec_with_review_survives_json_and_pickle():
    review = Review(fee=3.5, accuracy=(0.9, 0.8), capacity=400, shadow_price=1, per="day")
    actions = (Action("approve", 0), Action("decline", 1), Action("ask", None))
    spec = CostSpec.from_actions(
        ("a", "b"), actions, {("a", "decline"): 1, ("b", "approve"): 2}, review=review
    )
    spec.evaluate()
    assert (
        CostSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec == pickle.loads(pickle.dumps(spec))
    )


@given(binary_specs(), st.sampled_from([0.5, 2.0, 1024.0]))
def test_scaled_costs_are_the_costs_scaled(spec, factor):
    np.testing.assert_array_equal(
        spec.scaled(factor).evaluate(AMOUNTS, 3), spec.evaluate(AMOUNTS, 3) * factor
    )


def test_only_positive_factors_scale():
    with pytest.raises(ValueError, match="factor"):
        CostSpec.binary(9, 1).scaled(0.0)


@given(binary_specs(), st.floats(0, 1))
def test_the_order_of_classes_means_nothing(spec, p):
    other = spec.reordered(("fraud", "legit"))
    costs, swapped = (s.evaluate(AMOUNTS, 3).reshape(-1, 2, 2) for s in (spec, other))
    np.testing.assert_array_equal(costs[:, ::-1], swapped)
    shares = np.tile([p, 1 - p], (len(costs), 1))
    before = decide(shares, costs, serves=spec.serves, positive=spec.positive)
    after = decide(shares[:, ::-1], swapped, serves=other.serves, positive=other.positive)
    np.testing.assert_array_equal(before.decision, after.decision)
    assert other.reordered(spec.classes) == spec
    assert other.classes[other.positive] == spec.classes[spec.positive]


def test_other_classes_are_refused():
    with pytest.raises(ValueError, match="not the classes"):
        CostSpec.binary(9, 1).reordered(("0", "2"))


TWO = (Action("a", 0), Action("b", 1))
SQUARE = ((CostCell(), CostCell(1)), (CostCell(1), CostCell()))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"classes": ("a",)}, "at least two classes"),
        ({"classes": ("a", "a")}, "different names"),
        ({"positive": None}, "need a positive one"),
        ({"positive": 2}, "0 or 1"),
        ({"classes": ("a", "b", "c")}, "more than two have none"),
        ({"actions": (Action("a", 0), Action("a", 1))}, "different names"),
        ({"actions": (Action("a", 0), Action("b", 2))}, "serves one of the classes"),
        ({"actions": ()}, "serves one of the classes"),
        ({"actions": (*TWO, Action("r", None))}, "at most one review"),
        ({"review": Review(1.0, (1.0, 1.0))}, "at most one review"),
        ({"actions": (*TWO, Action("r", None)), "review": Review(1.0, (1.0,))}, "accuracy for each"),
        ({"cells": SQUARE[:1]}, "2 x 2"),
        ({"cells": ((CostCell(),), (CostCell(),))}, "2 x 2"),
    ],
)
def test_a_spec_that_contradicts_itself_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        CostSpec(**{"classes": ("a", "b"), "positive": 1, "actions": TWO, "cells": SQUARE, **fields})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"fee": -1.0}, "fee"),
        ({"fee": NAN}, "fee"),
        ({"shadow_price": INF}, "shadow_price"),
        ({"accuracy": (0.5, 1.5)}, "accuracy"),
        ({"accuracy": (0.5, NAN)}, "accuracy"),
        ({"capacity": -1}, "capacity"),
    ],
)
def test_a_review_that_cannot_be_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Review(**{"fee": 1.0, "accuracy": (1.0, 1.0), **fields})


# Regrets


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
