import math
import pickle

import pytest

from costboost.actions import Review, UnservedActionsError
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec


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
    with pytest.raises(UnservedActionsError, match="cheapest for no class") as refused:
        CostSpec.from_actions(
            ("a", "b"), ("x", "y", "z"), {("a", "y"): 2, ("a", "z"): 1, ("b", "x"): 2, ("b", "z"): 1}
        )
    assert pickle.loads(pickle.dumps(refused.value)).actions == refused.value.actions == ("z",)
    with pytest.raises(ValueError, match="no cost cell"):
        CostSpec.from_actions(("a", "b"), ("a", "b"), {("a", "c"): 1})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"fee": -1.0}, "fee"),
        ({"fee": math.nan}, "fee"),
        ({"shadow_price": math.inf}, "shadow_price"),
        ({"accuracy": (0.5, 1.5)}, "accuracy"),
        ({"accuracy": (0.5, math.nan)}, "accuracy"),
        ({"capacity": -1}, "capacity"),
    ],
)
def test_a_review_that_cannot_be_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Review(**{"fee": 1.0, "accuracy": (1.0, 1.0), **fields})
