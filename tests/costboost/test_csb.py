"""CSB0, CSB1, CSB2: two rounds by hand, the decision by expected cost, and the collapse it warns of."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost.boosting.csb import CSBClassifier
from tests.costboost.playback import played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
HYPOTHESES = [[1, -1, -1, -1, -1, 1], [1, 1, 1, -1, -1, -1]]
E2 = math.exp(2)

# cost_fn = 2, cost_fp = 1, so D_1 = (2, 2, 1, 1, 1, 1)/8. The first hypothesis misses row 2 and alarms at row
# 6: eps = 1/4 + 1/8 = 3/8, r = 1/4, alpha = ½ ln(5/3). Times C = (1, 2, 1, 1, 1, 1) the weights are
# proportional to
#   CSB0  (2, 4, 1, 1, 1, 1), sum 10
#   CSB1  (2, 4e², 1, 1, 1, e²) after a common factor e, sum 5 + 5e²
#   CSB2  (2, 4·5/3, 1, 1, 1, 5/3) after a common factor e^alpha, that is (6, 20, 3, 3, 3, 5)/40.
# The second hypothesis is wrong at row 3 alone.
SECOND = {
    0: (np.array([2, 4, 1, 1, 1, 1]) / 10, 1 / 10),
    1: (np.array([2, 4 * E2, 1, 1, 1, E2]) / (5 + 5 * E2), 1 / (5 + 5 * E2)),
    2: (np.array([6, 20, 3, 3, 3, 5]) / 40, 3 / 40),
}


@pytest.mark.parametrize("variant", [0, 1, 2])
def test_two_rounds_by_hand(variant: Any) -> None:
    model = CSBClassifier(played(HYPOTHESES), n_estimators=2, variant=variant, cost_fn=2.0, record=True)
    model.fit(X, Y)
    first, second = model.history_
    assert_allclose(first["D"], np.array([2, 2, 1, 1, 1, 1]) / 8, rtol=1e-14)
    assert first["r"] == pytest.approx(1 / 4, rel=1e-14)
    weights, error = SECOND[variant]
    assert_allclose(second["D"], weights, rtol=1e-14)
    one, two = 0.5 * math.log(5 / 3), 0.5 * math.log((1 - error) / error)
    assert_allclose(model.estimator_weights_, [one, two], rtol=1e-13)
    score = [one + two, two - one, two - one, -one - two, -one - two, one - two]
    assert_allclose(model.decision_function(X), score, rtol=1e-12)
    # (fp - fn)/(fp + fn) = -1/3 of all votes
    assert model.vote_threshold_ == pytest.approx(-(one + two) / 3, rel=1e-13)
    assert model.stop_reason_ == "max_rounds"


def test_amounts_are_divided_by_the_smallest_positive_one() -> None:
    # Amounts (10, 4, 2, 2, 2, 0) stand for (5, 2, 1, 1, 1, 0): row 2 is missed and weighs 2·2·e^alpha later.
    # The last row costs nothing and never weighs. eps = 2/10, so e^(2 alpha) = 4.
    model = CSBClassifier(played(HYPOTHESES[:1]), n_estimators=1, record=True)
    model.fit(X, Y, sample_cost=[10, 4, 2, 2, 2, 0])
    (only,) = model.history_
    assert_allclose(only["D"], [0.5, 0.2, 0.1, 0.1, 0.1, 0.0], rtol=1e-14)
    assert_allclose(only["D_next"], np.array([5, 2 * 2 * 4, 1, 1, 1, 0]) / 24, rtol=1e-14)


@pytest.mark.parametrize("pos_label", [-1, 1])
@pytest.mark.parametrize(("cost_fn", "cost_fp"), [(3.0, 1.0), (1.0, 7.0), (2.0, 2.0), (5.0, 4.5)])
def test_the_dearer_votes_win(cost_fn: float, cost_fp: float, pos_label: int) -> None:
    # The definition, vote by vote: positive iff fn · (votes for) > fp · (votes against).
    rng = np.random.default_rng(3)
    y = np.where(rng.random(40) < 0.5, 1, -1)
    hypotheses = [np.where(rng.random(40) < 0.25, -y, y) for _ in range(6)]
    model = CSBClassifier(
        played(hypotheses), n_estimators=6, variant=0, cost_fn=cost_fn, cost_fp=cost_fp, pos_label=pos_label
    ).fit(row_numbers(40), y)
    assert len(model.estimators_) >= 2
    expected = []
    for i in range(40):
        told = [h[i] for h in hypotheses[: len(model.estimators_)]]
        votes = list(zip(told, model.estimator_weights_, strict=True))
        for_it = sum(alpha for h, alpha in votes if h == pos_label)
        against = sum(alpha for h, alpha in votes if h != pos_label)
        expected.append(pos_label if cost_fn * for_it > cost_fp * against else -pos_label)
    assert model.predict(row_numbers(40)).tolist() == expected


def test_decision_by_sign() -> None:
    parameters: dict[str, Any] = {"n_estimators": 2, "cost_fn": 9.0, "variant": 0}
    hypotheses = [[1, 1, -1, -1, -1, 1], [1, 1, 1, -1, -1, -1]]
    by_cost = CSBClassifier(played(hypotheses), **parameters).fit(X, Y)
    by_sign = CSBClassifier(played(hypotheses), decision="sign", **parameters).fit(X, Y)
    assert by_sign.vote_threshold_ == 0.0
    assert by_cost.vote_threshold_ < 0.0
    # One vote for and one against the last row: the miss is nine times as dear as the false alarm.
    assert by_cost.predict(X).tolist() == [1, 1, 1, -1, -1, 1]
    assert by_sign.predict(X).tolist() == np.where(by_sign.decision_function(X) > 0, 1, -1).tolist()
    assert by_sign.predict(X).tolist() != by_cost.predict(X).tolist()


def test_row_costs_enter_the_decision_by_their_class_means() -> None:
    amounts = [5.0, 3.0, 1.0, 1.0, 0.5, 1.5]  # means 4 and 1
    model = CSBClassifier(played(HYPOTHESES), n_estimators=2).fit(X, Y, sample_cost=amounts)
    assert model.vote_threshold_ == pytest.approx(-0.6 * model.estimator_weights_.sum(), rel=1e-13)


def test_a_useless_hypothesis_and_a_perfect_one() -> None:
    with pytest.warns(UserWarning, match="kept no hypothesis") as caught:
        model = CSBClassifier(played([-Y]), cost_fn=2.0).fit(X, Y)
    assert [warning.filename for warning in caught] == [__file__]
    assert model.stop_reason_ == "edge_not_positive"
    assert model.vote_threshold_ == 0.0
    model = CSBClassifier(played([Y]), cost_fn=2.0).fit(X, Y)
    assert model.stop_reason_ == "perfect"
    assert model.estimator_weights_.tolist() == [11.512925464920228]


def noisy(n: int = 300, share: float = 0.6) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    return x, (x[:, 0] + rng.normal(size=n) > np.quantile(x[:, 0], share)).astype(int)


class TestOneSided:
    @pytest.mark.parametrize("variant", [1, 2])
    def test_a_collapse_is_told(self, variant: Any) -> None:
        with pytest.warns(UserWarning, match=r"predicts 1 for 100.0% of the training rows") as caught:
            model = CSBClassifier(cost_fn=50.0, variant=variant).fit(*noisy())
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert not any(name.startswith("_tally") for name in vars(model))

    def test_it_is_told_of_the_classes_as_they_are_decided(self) -> None:
        x, y = noisy()
        with pytest.warns(UserWarning, match=r"predicts 0 for \d+.\d% of the training rows"):
            model = CSBClassifier(cost_fn=50.0, pos_label=0).fit(x, y)
        assert np.mean(model.predict(x) == 0) > 0.95

    def test_a_common_class_may_be_predicted_often(self) -> None:
        x, y = noisy()
        y[:] = 0
        y[:6] = 1  # 2 %
        with warnings.catch_warnings(record=True) as said:
            CSBClassifier(cost_fn=1.0, cost_fp=2.0).fit(x, y)
            CSBClassifier(cost_fn=1.0, n_estimators=1).fit(x, y)
        assert not said

    def test_three_classes(self) -> None:
        x, _ = noisy()
        y = np.argmax(x + np.random.default_rng(1).normal(size=x.shape), axis=1)
        costs = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [300.0, 300.0, 0.0]]
        with pytest.warns(UserWarning, match="predicts 2 for"):
            model = CSBClassifier(cost_matrix=costs).fit(x, y)
        assert np.mean(model.predict(x) == 2) > 0.95
        assert model.machines_ is not None
        assert not any("_tally" in vars(machine) for machine in model.machines_)
