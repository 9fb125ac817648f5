"""AdaC1, AdaC2, AdaC3 and AdaC2.M1: two rounds by hand, what stops them, and the collapse they warn of."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from costboost.boosting._rounds import Round
from costboost.boosting.ada_boost import AdaBoostClassifier
from costboost.boosting.ada_c import AdaC2M1Rule, AdaCClassifier, AdaCRule
from tests.costboost.playback import played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
HYPOTHESES = [[1, -1, -1, -1, -1, 1], [1, 1, 1, -1, -1, -1]]
PERFECT_ALPHA = 11.512925464920228  # ½ ln((1 - 1e-10)/1e-10)


def rounds_by_hand(variant: int) -> tuple[float, Any, float]:
    """alpha_1, D_2 and alpha_2 for cost_fn = 2, cost_fp = 1: C = (1, 1, ½, ½, ½, ½), D_1 = 1/6.

    The first hypothesis is right on rows 1, 3, 4, 5 and wrong on 2 and 6, the second wrong on 3 alone.
    AdaC1: the right have CD = 2.5/6, the wrong 1.5/6, so alpha = ½ ln((1 + 1/6)/(1 - 1/6)) = ½ ln(7/5).
    AdaC2: alpha = ½ ln(2.5/1.5) = ½ ln(5/3).
    AdaC3: S = 4/6; C²D is 1.75/6 and 1.25/6, so alpha = ½ ln(4.5/3.5) = ½ ln(9/7).
    """
    if variant == 2:
        # C exp(-alpha y h) times e^alpha: (1, 5/3, ½, ½, ½, 5/6), that is (6, 10, 3, 3, 3, 5)/30. Then CD of
        # the right is (6 + 10 + 1.5 + 1.5 + 2.5)/30 = 21.5/30 and of the wrong 1.5/30.
        return 0.5 * math.log(5 / 3), np.array([6, 10, 3, 3, 3, 5]) / 30, 0.5 * math.log(43 / 3)
    ratio = {1: 7 / 5, 3: 9 / 7}[variant]
    q = ratio**0.25  # e^(alpha/2), what half a cost moves
    C = np.array([1, 1, 0.5, 0.5, 0.5, 0.5])
    moved = np.array([q**-2, q**2, 1 / q, 1 / q, 1 / q, q]) * (C if variant == 3 else 1.0)
    D = moved / moved.sum()
    CD = C * D
    if variant == 1:
        edge = CD.sum() - 2 * CD[2]
        return 0.5 * math.log(ratio), D, 0.5 * math.log((1 + edge) / (1 - edge))
    S, edge = CD.sum(), (C * CD).sum() - 2 * (C * CD)[2]
    return 0.5 * math.log(ratio), D, 0.5 * math.log((S + edge) / (S - edge))


@pytest.mark.parametrize("variant", [1, 2, 3])
def test_two_rounds_by_hand(variant: Any) -> None:
    model = AdaCClassifier(played(HYPOTHESES), n_estimators=2, variant=variant, cost_fn=2.0, record=True)
    model.fit(X, Y)
    one, weights, two = rounds_by_hand(variant)
    assert_allclose(model.history_[0]["D"], 1 / 6, rtol=1e-14)
    assert_allclose(model.history_[1]["D"], weights, rtol=1e-13)
    assert_allclose(model.estimator_weights_, [one, two], rtol=1e-12)
    score = [one + two, two - one, two - one, -one - two, -one - two, one - two]
    assert_allclose(model.decision_function(X), score, rtol=1e-12)
    assert model.stop_reason_ == "max_rounds"


def test_row_costs_are_divided_by_the_largest() -> None:
    # Amounts (8, 4, 2, 2, 2, 0): C = (1, ½, ¼, ¼, ¼, 0), D_1 = 1/6; right 1.75, wrong 0.5: alpha = ½ ln 3.5.
    # A row of weight 0 does not count, however dear.
    model = AdaCClassifier(played([[*HYPOTHESES[0], 1]]), n_estimators=1, variant=2, record=True)
    model.fit(row_numbers(7), [*Y, 1], sample_cost=[8, 4, 2, 2, 2, 0, 99], sample_weight=[1] * 6 + [0])
    assert_allclose(model.estimator_weights_, [0.5 * math.log(3.5)], rtol=1e-13)
    moved = np.array([1, 0.5 * 3.5, 0.25, 0.25, 0.25, 0, 0])
    assert_allclose(model.history_[0]["D_next"], moved / moved.sum(), rtol=1e-13)


def test_many_classes_by_hand() -> None:
    # Classes 0, 1, 2 with costs 2, 1, 1: C = (1, ½, ½, ½, ½), D_1 = 1/5. Wrong on the last row: CD is 0.5 and
    # 0.1, so alpha = ln 5 + ln 2 = ln 10, and the weights become (1, ½, ½, ½, 5)/7.5.
    y = np.array([0, 1, 2, 2, 1])
    costs = [[0, 2, 2], [1, 0, 1], [1, 1, 0]]
    model = AdaCClassifier(
        played([[0, 1, 2, 2, 0], [0, 0, 0, 0, 1]]),
        variant=2,
        n_estimators=2,
        cost_matrix=costs,
        record=True,
    ).fit(row_numbers(5), y)
    assert_allclose(model.history_[0]["D_next"], np.array([2, 1, 1, 1, 10]) / 15, rtol=1e-13)
    # Then CD of the right rows 1 and 5 is (2 + 5)/15, of the wrong ones 1.5/15.
    one, two = math.log(10), math.log(14 / 3) + math.log(2)
    assert_allclose(model.estimator_weights_, [one, two], rtol=1e-12)
    assert model.machines_ is None
    table = [[one + two, 0, 0], [two, one, 0], [two, 0, one], [two, 0, one], [one, two, 0]]
    assert_allclose(model.decision_function(row_numbers(5)), table, rtol=1e-12)


def test_m1_with_equal_costs_is_samme() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(120, 3))
    y = np.argmax(x + rng.normal(size=x.shape), axis=1)
    ours = AdaCClassifier(variant=2, n_estimators=30).fit(x, y)
    samme = AdaBoostClassifier(n_estimators=30).fit(x, y)
    assert len(ours.estimators_) == len(samme.estimators_) >= 10
    assert_allclose(ours.decision_function(x), samme.decision_function(x), rtol=1e-10)


@pytest.mark.parametrize("variant", [1, 3])
def test_the_other_two_tell_each_class_from_the_rest(variant: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 3))
    model = AdaCClassifier(variant=variant, n_estimators=5).fit(x, np.argmax(x, axis=1))
    assert model.machines_ is not None
    assert len(model.machines_) == 3
    assert all(machine.variant == variant for machine in model.machines_)
    assert model.score(x, np.argmax(x, axis=1)) > 0.7


@given(seed=st.integers(0, 2**32 - 1))
def test_with_two_classes_m1_has_twice_the_vote_of_adac2(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes, cost = rng.integers(0, 2, 30), rng.uniform(0.5, 1.0, 30)
    y = np.where(codes == 1, 1.0, -1.0)
    D = rng.dirichlet(np.full(30, 5.0))
    two, many = AdaCRule(y, D, cost, variant=2), AdaC2M1Rule(codes, 2, D, cost)
    for _ in range(5):
        # Wrong on rows that weigh little, so that each of the five is worth keeping.
        h = np.where(np.isin(np.arange(30), np.argsort(D)[: rng.integers(3, 12)]), 1 - codes, codes)
        one, other = two.judge(D, np.where(h == 1, 1.0, -1.0)), many.judge(D, h)
        assert isinstance(one, Round)
        assert isinstance(other, Round)
        assert other.alpha == pytest.approx(2 * one.alpha, rel=1e-12)
        assert other.error == one.error
        D, twin = leaving(one), leaving(other)
        assert_allclose(twin, D, rtol=1e-11)


def leaving(verdict: Round) -> Any:
    """Weights that leave a round."""
    assert verdict.weights is not None
    assert verdict.exponent is not None
    moved = verdict.weights * np.exp(verdict.exponent)
    return moved / moved.sum()


class TestStopping:
    @pytest.mark.parametrize("variant", [1, 2, 3])
    def test_where_the_wrong_answers_cost_as_much_as_the_right_ones(self, variant: Any) -> None:
        # One miss of cost 4 against four right answers of cost 1, squared or not.
        model = AdaCClassifier(played([[-1] * 5]), variant=variant, cost_fn=4.0)
        with pytest.warns(UserWarning, match="kept no hypothesis"):
            model.fit(row_numbers(5), [1, -1, -1, -1, -1])
        assert model.stop_reason_ == "edge_not_positive"

    def test_m1_asks_for_more_than_a_guess_among_the_classes(self) -> None:
        y = [0, 1, 2, 0, 1, 2]
        right_on_a_third = [[0, 2, 1, 1, 1, 0]]
        with pytest.warns(UserWarning, match="kept no hypothesis"):
            model = AdaCClassifier(played(right_on_a_third), variant=2).fit(row_numbers(6), y)
        assert model.stop_reason_ == "edge_not_positive"
        right_on_half = [[0, 2, 2, 1, 1, 0]]
        model = AdaCClassifier(played(right_on_half), variant=2, n_estimators=1).fit(row_numbers(6), y)
        assert_allclose(model.estimator_weights_, [math.log(2)], rtol=1e-12)

    @pytest.mark.parametrize("variant", [1, 2, 3])
    def test_a_perfect_hypothesis_is_the_last(self, variant: Any) -> None:
        equal = AdaCClassifier(played([Y]), variant=variant).fit(X, Y)
        assert equal.stop_reason_ == "perfect"
        assert equal.estimator_weights_[0] == pytest.approx(PERFECT_ALPHA, rel=1e-12)
        # With C as above: AdaC1 ½ ln((1 + 4/6)/(1 - 4/6)), AdaC3 ½ ln((4 + 3)/(4 - 3)); AdaC2 clips the wrong
        # sum: ½ ln((4/6)/1e-10).
        priced = AdaCClassifier(played([Y]), variant=variant, cost_fn=2.0).fit(X, Y)
        vote = {1: math.log(5) / 2, 2: math.log(4e10 / 6) / 2, 3: math.log(7) / 2}[variant]
        assert_allclose(priced.estimator_weights_, [vote], rtol=1e-12)
        assert priced.stop_reason_ == "perfect"

    def test_many_classes_stop_at_a_perfect_hypothesis_too(self) -> None:
        y = [0, 1, 2, 2]
        model = AdaCClassifier(played([y]), variant=2).fit(row_numbers(4), y)
        assert model.stop_reason_ == "perfect"
        assert_allclose(model.estimator_weights_, [2 * PERFECT_ALPHA + math.log(2)], rtol=1e-12)

    @pytest.mark.parametrize("variant", [1, 2, 3])
    def test_votes_stay_positive_where_only_cheap_rows_are_told_apart(self, variant: Any) -> None:
        # The dear row has no weight to speak of, so all sums are below 1e-10.
        model = AdaCClassifier(played([[1, -1, 1, -1]]), variant=variant, n_estimators=1)
        with pytest.warns(UserWarning, match="kept no hypothesis"):
            model.fit(
                row_numbers(4), [1, -1, -1, -1], sample_cost=[1e12, 1, 1, 1], sample_weight=[1e-30, 1, 1, 1]
            )
        assert model.stop_reason_ == "edge_not_positive"


class TestOneSided:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 3))
    y = (x[:, 0] / 2 + rng.normal(size=300) > 0).astype(int)

    @pytest.mark.parametrize("variant", [2, 3])
    def test_a_collapse_is_told_of_the_two_that_compound(self, variant: Any) -> None:
        with pytest.warns(UserWarning, match=r"predicts 1 for \d+\.\d% of the training rows") as caught:
            model = AdaCClassifier(variant=variant, cost_fp=0.3).fit(self.x, self.y)
        assert len(caught) == 1
        assert np.mean(model.predict(self.x)) > 0.95

    def test_adac1_does_not_compound(self) -> None:
        model = AdaCClassifier(cost_fp=0.3).fit(self.x, self.y)
        assert model.score(self.x, self.y) > 0.6

    def test_many_classes(self) -> None:
        y = np.argmax(self.x + np.random.default_rng(0).normal(size=self.x.shape), axis=1)
        costs = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.6, 1.6, 0.0]]
        with pytest.warns(UserWarning, match="predicts 2 for"):
            AdaCClassifier(variant=2, cost_matrix=costs).fit(self.x, y)
