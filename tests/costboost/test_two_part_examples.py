"""Two rounds of Penalized AdaBoost and PCADA on six rows and fixed hypotheses, to eight decimals.

The numbers come from an independent implementation. By hand: the first hypothesis calls row 1 positive and
misses row 2, so U of part 1 is 1/6 and of part 2 (1/6 - 4/6)(1 - 1/6) = -5/12.
"""

import math
from typing import Any, Literal

import numpy as np
import pytest

from costboost.boosting.pcada import PCADAClassifier
from costboost.boosting.penalized import PenalizedAdaBoostClassifier
from tests.costboost.playback import played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
HYPOTHESES = [[1, -1, -1, -1, -1, -1], [1, 1, 1, -1, -1, -1]]
SIXTH = [1 / 6] * 6
FIRST_PARTS = {
    "D": SIXTH,
    "W": [[1 / 6, 0.0], [1 / 6, 4 / 6]],
    "m": SIXTH,
    "M": [[1 / 6, 0.0], [1 / 6, 4 / 6]],
    "U1": 1 / 6,
    "U2": -0.41666667,
    "U": [0.16666667] + [-0.41666667] * 5,
    "margin": [1.0, -1.0, 1.0, 1.0, 1.0, 1.0],
    "reset": [0, 1, 0, 0, 0, 0],
    "F_run": [0.16666667, 0.0] + [-0.41666667] * 4,
}
FEEDBACK = {
    "m": [0.12956251, 0.35218743, 0.12956251, 0.12956251, 0.12956251, 0.12956251],
    "M": [[0.48174994, 0.12956251], [0.0, 0.38868754]],
    "reset": [0] * 6,
}
COST = [2.40811955, 2.83148401, 1.0, 1.0, 1.0, 1.0]
PRICED = FIRST_PARTS | {
    "C": COST,
    "D_raw": [2.03842919, 4.29506902] + [0.65924063] * 4,
    "Q": 4.22235245,
}

PENALIZED = [
    FIRST_PARTS
    | {
        "D_raw": [0.84648172, 1.51689680] + [0.65924063] * 4,
        "Q": 1.49974367,
        "D_next": [0.18880166, 0.22304281] + [0.14703888] * 4,
    },
    FEEDBACK
    | {
        "D": [0.18880166, 0.22304281] + [0.14703888] * 4,
        "W": [[0.41184447, 0.14703888], [0.0, 0.44111665]],
        "U1": 0.23049671,
        "U2": -0.44111665,
        "U": [0.23049671] * 3 + [-0.44111665] * 3,
        "D_raw": [0.67222419, 0.79413905, 0.83013250] + [0.42410114] * 3,
        "margin": [1.0, 0.35616464, 0.28767072, 1.0, 1.0, 1.0],
        "Q": 0.82201187,
        "D_next": [0.18836145, 0.22252276, 0.23260835] + [0.11883581] * 3,
        "F_run": [0.39716338, 0.23049671, -0.18616996] + [-0.85778331] * 3,
    },
]
PRINTED = [
    PRICED | {"D_next": [0.35916978, 0.17619929] + [0.11615773] * 4},
    FEEDBACK
    | {
        "D": [0.35916978, 0.17619929] + [0.11615773] * 4,
        "W": [[0.53536907, 0.11615773], [0.0, 0.34847320]],
        "U1": 0.36489726,
        "U2": -0.34847320,
        "U": [0.36489726] * 3 + [-0.34847320] * 3,
        "C": [2.26872042, 2.26872042, 1.0, 1.0, 1.0, 1.0],
        "D_raw": [1.33329330, 1.57509993, 0.94954781] + [0.46526885] * 3,
        "margin": [1.0, 0.46688089, 0.06623822, 1.0, 1.0, 1.0],
        "Q": 1.55290331,
        "D_next": [0.25377947, 0.29980502, 0.18073723] + [0.08855942] * 3,
        "F_run": [0.53156393, 0.36489726, -0.05176940] + [-0.76513986] * 3,
    },
]
REPAIRED = [
    PRICED | {"D_next": [0.27154162, 0.37718541] + [0.08781824] * 4},
    FEEDBACK
    | {
        "D": [0.27154162, 0.37718541] + [0.08781824] * 4,
        "U1": 0.48823604,
        "U2": -0.26345473,
        "C": [2.19685034, 2.19685034, 1.0, 1.0, 1.0, 1.0],
        "D_raw": [1.14124751, 1.34822462, 1.07419266] + [0.50655550] * 3,
        "Q": 1.33139124,
        "D_next": [0.22450780, 0.26522462, 0.21131667] + [0.09965030] * 3,
    },
]


def assert_example(model: Any, rounds: list[dict[str, Any]], score: list[float]) -> None:
    model.fit(X, Y)
    assert len(model.history_) == len(rounds)
    for values, wanted in zip(model.history_, rounds, strict=True):
        for name, number in wanted.items():
            np.testing.assert_allclose(values[name], number, rtol=0, atol=5.1e-9, err_msg=name)
    np.testing.assert_allclose(model.decision_function(X), score, rtol=0, atol=5.1e-9)
    assert model.stop_reason_ == "max_rounds"
    values = [[values["U1"], values["U2"]] for values in model.history_]
    np.testing.assert_array_equal(model.estimator_values_, values)
    magnitudes = np.abs(model.history_["U"]).mean(axis=1)
    np.testing.assert_allclose(model.estimator_weights_, magnitudes, rtol=1e-14)


def test_penalized() -> None:
    model = PenalizedAdaBoostClassifier(played(HYPOTHESES), n_estimators=2, tau=50.0, record=True)
    assert_example(model, PENALIZED, [0.39716338, -0.18616996, -0.18616996] + [-0.85778331] * 3)


@pytest.mark.parametrize("cost", [{}, {"cost_ratio": 2.0}, {"cost_fn": 4.0, "cost_fp": 2.0}])
@pytest.mark.parametrize("switch", [{"literal": True, "weighted_start": True}, {"reset_to": "one"}])
def test_pcada_as_printed(cost: dict[str, Any], switch: dict[str, Any]) -> None:
    model = PCADAClassifier(base=played(HYPOTHESES), n_estimators=2, tau=50.0, record=True, **cost, **switch)
    assert_example(model, PRINTED, [0.53156393, -0.05176940, -0.05176940] + [-0.76513986] * 3)


def test_pcada_repaired() -> None:
    model = PCADAClassifier(played(HYPOTHESES), n_estimators=2, record=True)
    assert_example(model, REPAIRED, [0.65490270, 0.07156937, 0.07156937] + [-0.68012139] * 3)


def test_the_reset_makes_a_missed_positive_the_lighter_one_only_as_printed() -> None:
    cases: tuple[tuple[Literal["one", "cost"], bool], ...] = (("one", True), ("cost", False))
    for reset_to, lighter in cases:
        model = PCADAClassifier(played(HYPOTHESES), n_estimators=1, reset_to=reset_to, record=True).fit(X, Y)
        right, missed = model.history_[0]["D_next"][:2]
        assert (missed < right) == lighter
        assert math.isclose(model.history_[0]["D_next"].sum(), 1.0)
