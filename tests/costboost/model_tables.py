"""Tables, costs and fitted models for the tests of the model."""

import functools

import numpy as np
import pandas as pd
import pytest

from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.model import CostSensitiveModel
from costboost.registry import make

#: For tests of all algorithms: some of them are at times left with one class, and say so.
may_keep_nothing = pytest.mark.filterwarnings(
    "ignore:.*kept no hypothesis:UserWarning", "ignore:.* of the training rows:UserWarning"
)

AMOUNTS = CostSpec.binary(
    fn=CostCell(per={"amount": 1.0}, min=10),
    fp=CostCell(fixed=5, per={"amount": 0.01}),
    classes=("legit", "fraud"),
)


def table(n=400, seed=0, n_merchants=8):
    rng = np.random.default_rng(seed)
    merchant = np.array([f"m{i}" for i in rng.integers(0, n_merchants, n)], dtype=object)
    amount = np.round(rng.lognormal(4, 1, n), 2)
    speed = rng.normal(size=n)
    odds = speed * 1.5 + (merchant == "m1") * 2 + (amount > 100) - 2.5
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "fraud", "legit")
    speed[rng.random(n) < 0.1] = np.nan
    merchant[rng.random(n) < 0.05] = None
    return pd.DataFrame(
        {"amount": amount, "speed": speed, "merchant": merchant, "new": rng.random(n) < 0.3}
    ), y


def three_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    X = pd.DataFrame({"u": rng.normal(size=n) + 2 * (y == "b"), "v": rng.normal(size=n) + 2 * (y == "c")})
    return X, y


MATRIX = CostSpec.from_matrix([[0, 1, 2], [5, 0, 1], [9, 3, 0]], ("a", "b", "c"))


@functools.lru_cache
def fitted(name="cgada", rule="expected_cost", train_costs="class_mean", kind="auto"):
    X, y = table()
    model = CostSensitiveModel(
        make(name, {"n_estimators": 20}),
        costs=AMOUNTS,
        decision_rule=rule,
        train_costs=train_costs,
        calibration=kind,
    )
    return model.fit(X, y)


def same(one, other):
    return one.tobytes() == other.tobytes()
