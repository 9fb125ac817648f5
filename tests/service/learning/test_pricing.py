"""From written costs to the library's, the checks on the way, and the words about them."""

import pytest

from service.domain.costs import COSTS
from service.domain.errors import InvalidError
from service.learning import checks, consequences, cost_spec, describe

MATRIX = {"classes": ["a", "b", "c"], "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]], "orientation": "rows_true"}
ACTIONS = {
    "classes": ["legit", "fraud"],
    "actions": ["approve", "decline", {"name": "review", "kind": "review"}],
    "costs": [
        {"true": "fraud", "action": "approve", "cost": {"per": {"amount": 1}}},
        {"true": "legit", "action": "decline", "cost": 10},
    ],
    "review": {"fee": 3.5, "accuracy": {"fraud": 0.95, "legit": 0.99}},
}

REVIEW = ACTIONS["actions"][2]
TWO = {
    "classes": ["legit", "fraud"],
    "actions": [{"name": "approve", "for": "legit"}, {"name": "decline", "for": "fraud"}],
}


def cell(true, action, cost):
    return {"true": true, "action": action, "cost": cost}


def price(written, *classes, **more):
    return cost_spec(COSTS.validate_python(written), *classes, **more)


def cells(spec):
    return {(cell["true"], cell["action"]): cell["cost"] for cell in describe(spec)}


def test_binary_costs_take_the_positive_class_of_the_data():
    spec = price({"fn": 500, "fp": 10, "tp": 1}, ["bad", "good"], "bad")
    assert cells(spec) == {
        ("bad", "good"): 500.0,
        ("good", "bad"): 10.0,
        ("bad", "bad"): 1.0,
        ("good", "good"): 0.0,
    }
    assert {cell["name"]: cell["cost"] for cell in describe(spec)} == {"fn": 500, "fp": 10, "tp": 1, "tn": 0}


def test_a_matrix_is_matched_by_the_names_of_its_classes():
    spec = price(MATRIX, ["c", "a", "b"])
    assert spec.classes == ("c", "a", "b")
    assert cells(spec)[("b", "a")] == 5.0
    turned = MATRIX | {"matrix": [[0, 5, 9], [1, 0, 3], [2, 1, 0]], "orientation": "rows_predicted"}
    assert cells(price(turned)) == cells(price(MATRIX))


def test_the_positive_class_of_a_binary_matrix_is_that_of_the_data():
    written = {"classes": ["good", "bad"], "matrix": [[0, 1], [5, 0]], "orientation": "rows_true"}
    for order in (["good", "bad"], ["bad", "good"]):
        spec = price(written, order, "bad")
        assert order[spec.positive] == "bad"
        assert {cell["name"]: cell["cost"] for cell in describe(spec)} == {"fn": 5, "fp": 1, "tp": 0, "tn": 0}


def test_actions_serve_the_class_for_which_they_are_cheapest():
    spec = price(ACTIONS, ["fraud", "legit"], "fraud")
    assert [(action.name, action.serves) for action in spec.actions] == [
        ("approve", 1),
        ("decline", 0),
        ("review", None),
    ]
    assert cells(spec)[("legit", "approve")] == 0.0


@pytest.mark.parametrize(
    ("written", "classes", "code", "pointers"),
    [
        ({"fn": 1, "fp": 0}, ["0", "1"], "unreasonable_costs", ["/costs/fp"]),
        ({"fn": 1, "fp": 5, "tp": 2}, ["0", "1"], "unreasonable_costs", ["/costs/fn"]),
        ({"fn": 0, "fp": 0}, ["0", "1"], "zero_costs", ["/costs"]),
        ({"fn": 1, "fp": 1}, ["a", "b", "c"], "not_binary", ["/costs"]),
        (MATRIX, ["a", "b"], "classes_mismatch", ["/costs/classes"]),
        (
            MATRIX | {"matrix": [[0, 1, 2], [5, 0, 0], [9, 3, 0]]},
            ["a", "b", "c"],
            "unreasonable_costs",
            ["/costs/matrix/1/2"],
        ),
        (
            MATRIX | {"matrix": [[0, 1, 2], [0, 0, 1], [9, 3, 5]], "orientation": "rows_predicted"},
            ["c", "b", "a"],
            "unreasonable_costs",
            ["/costs/matrix/0/2", "/costs/matrix/1/0", "/costs/matrix/1/2"],
        ),
        (
            ACTIONS | {"costs": [{"true": "legit", "action": "decline", "cost": 0}]},
            ["legit", "fraud"],
            "zero_costs",
            ["/costs/costs"],
        ),
        (ACTIONS | {"costs": []}, ["legit", "fraud"], "zero_costs", ["/costs/costs"]),
        (
            ACTIONS
            | {"actions": [{"name": "approve", "for": "legit"}, {"name": "decline", "for": "legit"}, REVIEW]},
            ["legit", "fraud"],
            "unserved_class",
            ["/costs/classes/1"],
        ),
        (
            TWO | {"costs": [cell("fraud", "approve", 1), cell("fraud", "decline", 5)]},
            ["legit", "fraud"],
            "unreasonable_costs",
            ["/costs/costs", "/costs/costs/0/cost"],
        ),
        (
            TWO | {"costs": [cell("legit", "decline", 4), cell("fraud", "decline", 5)]},
            ["legit", "fraud"],
            "unreasonable_costs",
            ["/costs/costs/1/cost"],
        ),
        (ACTIONS, ["legit", "other"], "classes_mismatch", ["/costs/classes"]),
        (
            ACTIONS
            | {
                "costs": [
                    {"true": "legit", "action": "decline", "cost": 1},
                    {"true": "fraud", "action": "decline", "cost": 1},
                ]
            },
            ["legit", "fraud"],
            "unserved_class",
            ["/costs/actions/1"],
        ),
    ],
)
def test_refused(written, classes, code, pointers):
    with pytest.raises(InvalidError) as refused:
        price(written, classes)
    assert refused.value.code == code
    assert [fault.pointer for fault in refused.value.errors] == pointers


def test_refusals_name_cells_and_no_values():
    with pytest.raises(InvalidError) as refused:
        price({"fn": 12345, "fp": -67890})
    assert "fp" in refused.value.detail
    assert "67890" not in refused.value.detail + repr(refused.value.errors)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"fn": 500, "fp": 10}, ["flag when p > 0.0196"]),
        ({"fn": 1, "fp": 1}, ["flag when p > 0.5"]),
        (
            {"fn": {"per": {"amount": 1.0}, "min": 15}, "fp": {"fixed": 5, "per": {"amount": 0.02}}},
            [
                "flag when p > 0.213 at amount 20",
                "flag when p > 0.0654 at amount 100",
                "flag when p > 0.0291 at amount 500",
                "flag when p > 0.0215 at amount 2500",
            ],
        ),
        # At 20 the handling costs more than the fraud.
        ({"fn": {"per": {"amount": 1}}, "fp": 30, "tp": 30}, ["always choose negative at amount 20"]),
        (MATRIX, ["when all classes are equally likely, choose c"]),
    ],
)
def test_consequences(written, told):
    assert consequences(price(written))[: len(told)] == told


def test_consequences_of_a_review():
    assert consequences(price(ACTIONS))[2] == (
        "choose approve, review when p > 0.007, decline when p > 0.183 at amount 500"
    )


def test_checks():
    assert checks(price({"fn": 5, "fp": 1})) == {
        "reasonable": True,
        "explanation": None,
        "per_row": False,
        "dominated_actions": [],
    }
    assert checks(price(ACTIONS))["reasonable"] is None


def test_three_classes_may_share_two_actions():
    written = {
        "classes": ["a", "b", "c"],
        "actions": ["a", "b"],
        "costs": [cell("a", "b", 1), cell("b", "a", 2), cell("c", "b", 3), cell("c", "a", 4)],
    }
    assert price(written).serves == (0, 1)
