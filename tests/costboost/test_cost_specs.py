"""Cost cells and specs: costs of rows, actions and review, what is refused, and JSON."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.actions import Action, Review
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.costs import UnreasonableCostsError
from costboost.decisions import decide
from tests.costboost.strategies import binary_specs, cells

NAN, INF = float("nan"), float("inf")
AMOUNTS = {"amount": np.array([0.0, 20.0, 500.0]), "fee": np.array([1.0, 1.0, 2.0]), "days": np.arange(3.0)}


# CostCell


def test_a_cell_is_fixed_plus_factors_within_bounds():
    cell = CostCell(fixed=5, per={"amount": 0.02, "days": -1.0}, min=4, max=12)
    # 5 + 0 - 0 = 5; 5 + 0.4 - 1 = 4.4; 5 + 10 - 2 = 13 -> 12
    np.testing.assert_allclose(cell.evaluate(AMOUNTS, 3), [5, 4.4, 12])
    assert cell.columns == {"amount", "days"}


def test_a_missing_amount_gives_a_cost_that_is_not_finite_despite_bounds():
    cell = CostCell(per={"amount": 1.0}, min=15, max=100)
    assert np.isnan(cell.evaluate({"amount": np.array([NAN])}, 1)).all()


def test_an_amount_beyond_all_money_gives_a_cost_that_is_not_finite_and_no_warning():
    cell = CostCell(per={"a": 1e10, "b": -1e10})
    assert cell.evaluate({"a": np.array([1e300]), "b": np.array([0.0])}, 1).tolist() == [INF]
    assert np.isnan(cell.evaluate({"a": np.array([INF]), "b": np.array([INF])}, 1)).all()


@pytest.mark.parametrize("kind", [np.float32, np.int8, np.uint16, np.bool_, np.float64])
def test_amounts_of_any_kind_are_reckoned_in_double_precision(kind):
    column = np.array([1.1, 1.0]).astype(kind)
    expected = [0.1 * float(value) for value in column]
    assert CostCell(per={"amount": 0.1}).evaluate({"amount": column}, 2).tolist() == expected


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


def test_a_cell_is_made_of_one_number_or_is_one():
    cell = CostCell(5.0)
    assert CostCell.of(cell) is cell
    assert CostCell.of(5) == cell
    assert len({hash(CostCell(number)) for number in range(9)}) > 1
    with pytest.raises(ValueError, match="a cost is one number"):
        CostCell.of(np.array([1.0, 2.0]))


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
    # Of two classes the second is the positive one where nothing else is said.
    assert CostSpec.from_matrix([[0, 1], [9, 0]], ("a", "b")) == CostSpec.binary(9, 1, classes=("a", "b"))


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
