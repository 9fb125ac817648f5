"""Two rounds of each formula on six rows and fixed hypotheses, worked to eight decimals beforehand.

The numbers come from an independent implementation; the first entries are easily checked by hand: in the
first example one of two positives is missed, eps_p = 1/2, and one of four negatives, eps_n = 1/4, so
eps = 3/8 and alpha = ½ ln((5/8)/(3/8)) = 0.25541281.
"""

from typing import Any

import numpy as np
import pytest

from costboost.boosting.ada_cost import AdaCostClassifier
from costboost.boosting.cs_ada_boost import CSAdaBoostClassifier
from tests.costboost.playback import RealPlayer, played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
SIXTH = [1 / 6] * 6


def assert_rounds(history: Any, expected: list[dict[str, Any]]) -> None:
    assert len(history) == len(expected)
    for values, wanted in zip(history, expected, strict=True):
        for name, number in wanted.items():
            np.testing.assert_allclose(values[name], number, rtol=0, atol=5.1e-9, err_msg=name)


CS_ADABOOST = [
    {
        "D": SIXTH,
        "eps_p": 0.5,
        "eps_n": 0.25,
        "eps": 0.375,
        "alpha": 0.25541281,
        "precision": 0.5,
        "npv": 0.75,
        "beta": [0.05, 0.5, 0.075, 0.075, 0.075, 0.3],
        "Z": 1.02437414,
        "D_next": [0.16063639, 0.18486399, 0.15961394, 0.15961394, 0.15961394, 0.17565781],
    },
    {
        "D": [0.16063639, 0.18486399, 0.15961394, 0.15961394, 0.15961394, 0.17565781],
        "eps_p": 0.0,
        "eps_n": 0.24387170,
        "eps": 0.12193585,
        "alpha": 0.98711227,
        "precision": 0.66666667,
        "npv": 1.0,
        "beta": [0.06666667, 0.06666667, 0.4, 0.1, 0.1, 0.1],
        "Z": 1.00875606,
        "D_next": [0.14910010, 0.17158778, 0.23483543, 0.14335568, 0.14335568, 0.15776532],
    },
]


@pytest.mark.parametrize("fit_weights", ["raw", "balanced"])
def test_cs_adaboost(fit_weights: Any) -> None:
    player = played([[1, -1, -1, -1, -1, 1], [1, 1, 1, -1, -1, -1]])
    costs: dict[str, Any] = {"cost_fn": 1.0, "cost_fp": 0.4, "cost_tp": 0.1, "cost_tn": 0.1}
    model = CSAdaBoostClassifier(player, n_estimators=2, record=True, fit_weights=fit_weights, **costs)
    model.fit(X, Y)
    assert_rounds(model.history_, CS_ADABOOST)
    score = [1.24252508, 0.73169946, 0.73169946, -1.24252508, -1.24252508, -0.73169946]
    np.testing.assert_allclose(model.decision_function(X), score, rtol=0, atol=5.1e-9)
    assert model.stop_reason_ == "max_rounds"


ADACOST = {
    1.0: (
        [
            {
                "D": [0.4, 0.2, 0.1, 0.1, 0.1, 0.1],
                "beta": [0.0, 0.75, 0.375, 0.375, 0.625, 0.375],
                "r": 0.03875,
                "alpha": 0.03876941,
                "Z": 0.99851632,
                "D_next": [0.40059435, 0.20146538, 0.09927878, 0.09884671, 0.10039155, 0.09942322],
            },
            {
                "D": [0.40059435, 0.20146538, 0.09927878, 0.09884671, 0.10039155, 0.09942322],
                "beta": [0.0, 0.25, 0.375, 0.625, 0.375, 0.375],
                "r": 0.09028011,
                "alpha": 0.09052659,
                "Z": 0.99192504,
                "D_next": [0.40385547, 0.19991318, 0.09873708, 0.10078544, 0.09849717, 0.09821166],
            },
        ],
        [0.05817351, 0.05561473, -0.05947228, -0.01678715, -0.06854433, -0.07370066],
    ),
    0.5: (
        [
            {
                "D": [0.4, 0.2, 0.1, 0.1, 0.1, 0.1],
                "beta": [0.25, 0.625, 0.4375, 0.4375, 0.5625, 0.4375],
                "r": 0.136875,
                "alpha": 0.13773951,
                "Z": 0.98158409,
                "D_next": [0.39643188, 0.20729075, 0.09825844, 0.09649805, 0.10266853, 0.09885234],
            },
            {
                "D": [0.39643188, 0.20729075, 0.09825844, 0.09649805, 0.10266853, 0.09885234],
                "beta": [0.25, 0.375, 0.4375, 0.5625, 0.4375, 0.4375],
                "r": 0.15236813,
                "alpha": 0.15356396,
                "Z": 0.97706868,
                "D_next": [0.40108977, 0.20377372, 0.09789797, 0.10048386, 0.09957952, 0.09717515],
            },
        ],
        [0.15626080, 0.07994687, -0.14406929, -0.09325277, -0.10907722, -0.16100814],
    ),
}


@pytest.mark.parametrize("update", ["recursive", "unrolled"])
@pytest.mark.parametrize("cost_scale", [1.0, 0.5])
def test_adacost(cost_scale: float, update: Any) -> None:
    hypotheses = [[0.8, -0.2, -0.6, -0.9, 0.1, -0.5], [0.3, 0.7, -0.4, 0.2, -0.8, -0.6]]
    model = AdaCostClassifier(
        played(hypotheses, RealPlayer),
        n_estimators=2,
        cost_scale=cost_scale,
        alpha_rule="r",
        update=update,
        record=True,
    ).fit(X, Y, sample_cost=[4, 2, 1, 1, 1, 1])
    rounds, score = ADACOST[cost_scale]
    assert_rounds(model.history_, rounds)
    np.testing.assert_allclose(model.decision_function(X), score, rtol=0, atol=5.1e-9)
    assert model.stop_reason_ == "max_rounds"
