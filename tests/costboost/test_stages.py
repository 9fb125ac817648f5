import numpy as np
import pytest

from costboost.registry import make
from costboost.stages import staged_table


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stages_of_a_booster(n_classes: int) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)).round(1)
    y = np.digitize(X[:, 0] + rng.normal(size=200), np.linspace(0.5, 1.5, n_classes - 1))
    costs = rng.uniform(1, 5, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    weight = rng.integers(1, 4, 200).astype(float)
    booster = make("cgada", {"n_estimators": 8}).fit(X, y)
    scales = np.cumsum(booster.estimator_weights_)
    table = staged_table(
        y,
        booster.staged_decision_function(X),
        costs,
        serves=range(n_classes),
        scales=scales,
        sample_weight=weight,
    )
    assert table["round"] == list(range(1, 9))
    for told, paid in zip(booster.staged_predict(X), table["expected_cost"], strict=True):
        assert paid == pytest.approx(np.average(costs[y, told], weights=weight))
    if n_classes == 2:
        assert all(
            a <= b + 1e-12 for a, b in zip(table["least_expected_cost"], table["expected_cost"], strict=True)
        )
        margins = booster.decision_function(X) * np.where(y == 1, 1, -1) / scales[-1]
    else:
        score = booster.decision_function(X)
        own = score[np.arange(200), y]
        score[np.arange(200), y] = -np.inf
        margins = (own - score.max(axis=1)) / scales[-1]
    assert table["minimum_margin"][-1] == pytest.approx(margins.min())
    assert table["average_margin"][-1] == pytest.approx(np.average(margins, weights=weight))


def test_of_many_rounds_512_are_told_the_last_and_the_cheapest_among_them() -> None:
    y = np.arange(50) % 2
    stages = (np.where(y == 1, t - 900.0, 900.0 - t) for t in range(2000))
    rounds = staged_table(y, stages, np.array([[0.0, 1.0], [9.0, 0.0]]), serves=(0, 1))
    assert len(rounds["round"]) <= 512
    assert rounds["round"][-1] == 2000
    assert min(rounds["expected_cost"]) == 0.0
