"""The spellings of costs: what is accepted, what is refused and where."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from service.domain.costs import COSTS, ActionCosts, BinaryCosts, MatrixCosts

MATRIX = {"classes": ["a", "b", "c"], "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]], "orientation": "rows_true"}
ACTIONS = {
    "classes": ["legit", "fraud"],
    "actions": ["approve", {"name": "block", "for": "fraud"}, {"name": "review", "kind": "review"}],
    "costs": [
        {"true": "fraud", "action": "approve", "cost": {"per": {"amount": 1}}},
        {"true": "legit", "action": "block", "cost": 10},
    ],
    "review": {
        "fee": 3.5,
        "accuracy": {"fraud": 0.95, "legit": 0.99},
        "capacity": {"max": 400, "per": "day"},
    },
}


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ({"fn": 500, "fp": 10}, BinaryCosts),
        (
            {"fn": {"per": {"amount": 1.0}, "min": 15}, "fp": {"fixed": 5, "per": {"amount": 0.02}}},
            BinaryCosts,
        ),
        ({"fn": 5, "fp": 1, "tp": -2}, BinaryCosts),
        (MATRIX, MatrixCosts),
        (ACTIONS, ActionCosts),
    ],
)
def test_the_three_forms_survive_storage(written, form):
    costs = COSTS.validate_python(written)
    assert isinstance(costs, form)
    stored = json.loads(COSTS.dump_json(costs))
    assert COSTS.validate_python(stored) == costs


def test_either_orientation_is_one_matrix():
    turned = MATRIX | {"matrix": [list(row) for row in zip(*MATRIX["matrix"], strict=True)]}
    turned["orientation"] = "rows_predicted"
    assert COSTS.validate_python(turned).rows_true == COSTS.validate_python(MATRIX).rows_true


def test_columns_and_where_they_are_read():
    costs = COSTS.validate_python({"fn": {"per": {"b": 1, "a": 2}}, "fp": {"per": {"a": 1}}})
    assert costs.columns == ("a", "b")
    assert costs.places("a") == (("fn", "per", "a"), ("fp", "per", "a"))
    assert COSTS.validate_python(ACTIONS).places("amount") == (("costs", 0, "cost", "per", "amount"),)


@pytest.mark.parametrize(
    ("written", "code", "place"),
    [
        (3, "costs_type", ()),
        ({}, "no_costs", ()),
        ({"fn": 1, "fp": 1, "matrix": [[0, 1], [1, 0]]}, "two_cost_forms", ()),
        (MATRIX | {"fn": 1}, "two_cost_forms", ()),
        (MATRIX | {"actions": ["a", "b"]}, "two_cost_forms", ()),
        ({"fn": 1}, "missing", ("fp",)),
        ({"fn": 1, "fp": 1, "more": 1}, "unknown_field", ("more",)),
        ({"fn": "5", "fp": 1}, "cost_cell", ("fn",)),
        ({"fn": True, "fp": 1}, "cost_cell", ("fn",)),
        ({"fn": float("nan"), "fp": 1}, "finite_number", ("fn",)),
        ({"fn": float("inf"), "fp": 1}, "finite_number", ("fn",)),
        ({"fn": 1e300, "fp": 1}, "less_than_equal", ("fn",)),
        ({"fn": {"per": {"amount": "x"}}, "fp": 1}, "float_type", ("fn", "per", "amount")),
        ({"fn": {"fixd": 1}, "fp": 1}, "unknown_field", ("fn", "fixd")),
        ({"fn": {"min": 2, "max": 1}, "fp": 1}, "min_above_max", ("fn",)),
        ({"classes": ["a", "b"], "matrix": [[0, 1], [1, 0]]}, "missing", ("orientation",)),
        (MATRIX | {"orientation": "rows"}, "literal_error", ("orientation",)),
        (MATRIX | {"matrix": [[0, 1], [1, 0]]}, "matrix_shape", ("matrix",)),
        (MATRIX | {"matrix": [[0, 1, 2], [1, 0], [1, 2, 0]]}, "matrix_shape", ("matrix",)),
        (MATRIX | {"matrix": [[0, 1, 2], [1, 0, "1"], [1, 2, 0]]}, "float_type", ("matrix", 1, 2)),
        (MATRIX | {"classes": ["a", "b", "a"]}, "duplicate", ("classes",)),
        (MATRIX | {"classes": ["a"] * 1000}, "too_long", ("classes",)),
        (ACTIONS | {"actions": ["approve", "approve"]}, "duplicate", ("actions",)),
        (
            ACTIONS | {"actions": ["approve", {"name": "block", "for": "x"}]},
            "unknown_class",
            ("actions", 1, "for"),
        ),
        (ACTIONS | {"actions": ["approve", {"name": "review", "kind": "review"}]}, "too_few", ("actions",)),
        (ACTIONS | {"review": None}, "missing", ("review",)),
        (ACTIONS | {"actions": ["approve", "block"]}, "no_review_action", ("review",)),
        (ACTIONS | {"review": {"fee": 1, "accuracy": {"fraud": 1}}}, "classes", ("review", "accuracy")),
        (
            ACTIONS | {"costs": [{"true": "x", "action": "block", "cost": 1}]},
            "unknown_class",
            ("costs", 0, "true"),
        ),
        (
            ACTIONS | {"costs": [{"true": "legit", "action": "x", "cost": 1}]},
            "unknown_action",
            ("costs", 0, "action"),
        ),
        (
            ACTIONS | {"costs": [{"true": "legit", "action": "review", "cost": 1}]},
            "review_cell",
            ("costs", 0, "action"),
        ),
        (ACTIONS | {"costs": ACTIONS["costs"] * 2}, "duplicate", ("costs", 2)),
    ],
)
def test_refused_with_its_place(written, code, place):
    with pytest.raises(ValidationError) as refused:
        COSTS.validate_python(written)
    assert (code, place) in [(error["type"], error["loc"]) for error in refused.value.errors()]


def test_one_fault_is_reported_once():
    with pytest.raises(ValidationError) as refused:
        COSTS.validate_python({"fn": "5", "fp": 1})
    assert refused.value.error_count() == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["fn", "fp", "per", "classes", "matrix", "orientation", "actions", "costs", "review", "name"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_anything_else_is_refused_and_nothing_breaks(value):
    try:
        costs = COSTS.validate_python(value)
    except ValidationError:
        return
    assert COSTS.validate_python(COSTS.dump_python(costs, mode="json")) == costs
