"""AdaCost: β, vote rules, responses, both forms of the update, the bound."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost.boosting.ada_boost import AdaBoostClassifier
from costboost.boosting.ada_cost import AdaCostClassifier
from tests.costboost.playback import DecisionPlayer, RealPlayer, played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
COST = [4, 2, 1, 1, 1, 1]
HYPOTHESES = [[0.8, -0.2, -0.6, -0.9, 0.1, -0.5], [0.3, 0.7, -0.4, 0.2, -0.8, -0.6]]

may_end_in_a_constant = pytest.mark.filterwarnings("ignore:.*kept no hypothesis")


def play(hypotheses: Any = HYPOTHESES, kind: Any = RealPlayer, **parameters: Any) -> AdaCostClassifier:
    model = AdaCostClassifier(
        played(hypotheses, kind), n_estimators=len(hypotheses), record=True, **parameters
    )
    return model.fit(X, Y, sample_cost=COST)


def noisy_rows(seed: int, n: int = 80) -> Any:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 3))
    y = (rows[:, 0] + rng.normal(size=n) > 0.7).astype(int)
    y[:2] = [0, 1]
    return rows, y, rng.uniform(0.1, 9.0, n)


class TestBeta:
    def test_an_undecided_row_does_not_move(self) -> None:
        values = play([[0.9, 0.0, -0.5, -0.5, -0.5, 0.0]]).history_[0]
        moved = values["D_next"] * values["Z"] / values["D"]
        np.testing.assert_allclose(moved[[1, 5]], 1.0, rtol=1e-12)

    def test_karakoulas_weighs_the_classes(self) -> None:
        model = play(beta="karakoulas", v=0.3)
        np.testing.assert_allclose(model.history_["beta"], [[1, 1, 0.3, 0.3, 0.3, 0.3]] * 2)

    def test_karakoulas_by_default_takes_the_ratio_of_mean_costs(self) -> None:
        np.testing.assert_allclose(play(beta="karakoulas").history_[0]["beta"], [1, 1] + [1 / 3] * 4)
        cheap = AdaCostClassifier(
            played(HYPOTHESES, RealPlayer), n_estimators=1, beta="karakoulas", record=True
        )
        assert cheap.fit(X, Y, sample_cost=[1, 1, 5, 5, 5, 5]).history_[0]["beta"].tolist() == [1.0] * 6
        free = AdaCostClassifier(
            played(HYPOTHESES, RealPlayer), n_estimators=1, beta="karakoulas", record=True
        )
        assert free.fit(X, Y, sample_cost=[0, 0, 5, 5, 5, 5]).history_[0]["beta"].tolist() == [1.0] * 6

    def test_a_callable_gives_the_same_as_its_formula(self) -> None:
        def fan(correct: Any, cost: Any) -> Any:
            return np.where(correct, 0.5 - 0.5 * cost, 0.5 + 0.5 * cost)

        np.testing.assert_array_equal(
            play(beta=fan).decision_function(X), play(beta="fan").decision_function(X)
        )

    @pytest.mark.parametrize(
        ("beta", "message"),
        [
            (lambda correct, cost: np.where(correct, cost, cost), "rise with the cost of a right"),
            (lambda correct, cost: 1.0 - cost, "fall with the cost of a wrong"),
            (lambda correct, cost: cost - 0.5, "at least 0"),
            (lambda correct, cost: np.full(cost.shape, np.nan), "finite"),
            (lambda correct, cost: 1.0, "one finite number"),
        ],
    )
    def test_a_callable_that_breaks_the_rules_is_refused(self, beta: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            play(beta=beta)

    def test_other_names_and_bounds_are_refused(self) -> None:
        for wrong in ({"beta": "other"}, {"v": 0.0}, {"v": 1.5}, {"cost_scale": 0.0}, {"alpha_rule": "x"}):
            with pytest.raises(ValueError, match=f"AdaCostClassifier: {next(iter(wrong))} must be"):
                play(**wrong)


class TestVote:
    def test_equal_costs_leave_the_published_rule_without_a_hypothesis(self) -> None:
        rows, y, _ = noisy_rows(0)
        with pytest.warns(UserWarning, match="kept no hypothesis") as caught:
            model = AdaCostClassifier(cost_scale=1.0, alpha_rule="r").fit(rows, y)
        assert len(caught) == 1
        assert model.stop_reason_ == "edge_not_positive"
        assert set(model.predict(rows)) == {0}

    def test_auto_falls_back_to_the_plain_edge_where_r_is_not_positive(self) -> None:
        rows, y, _ = noisy_rows(0)
        model = AdaCostClassifier(cost_scale=1.0, n_estimators=5, record=True).fit(rows, y)
        assert (model.history_["r"] <= 0).all()
        edges = model.history_["edge"]
        np.testing.assert_allclose(model.estimator_weights_, 0.5 * np.log((1 + edges) / (1 - edges)))

    def test_auto_takes_r_where_it_is_positive(self) -> None:
        np.testing.assert_array_equal(
            play(alpha_rule="auto").estimator_weights_, play(alpha_rule="r").estimator_weights_
        )
        by_error = play(alpha_rule="error")
        edge = by_error.history_[0]["edge"]
        assert edge == pytest.approx(0.4 * 0.8 - 0.2 * 0.2 + 0.1 * (0.6 + 0.9 - 0.1 + 0.5))
        assert by_error.estimator_weights_[0] == pytest.approx(0.5 * math.log((1 + edge) / (1 - edge)))

    def test_votes_from_r_fade_and_those_from_the_plain_edge_tell_categories_apart(self) -> None:
        # Eight categories, the rarer the more positive; one 0/1 column each.
        sizes, positives = [800, 600, 200, 160, 100, 80, 40, 20], [16, 24, 12, 16, 15, 16, 12, 10]
        category = np.repeat(np.arange(8), sizes)
        y = np.concatenate(
            [np.arange(size) < count for size, count in zip(sizes, positives, strict=True)]
        ).astype(int)
        faded, telling = (
            AdaCostClassifier(alpha_rule=rule, record=True).fit(np.eye(8)[category], y)
            for rule in ("auto", "error")
        )
        assert faded.estimator_weights_[-1] < 1e-3
        assert faded.history_["edge"][-1] > 0.2
        assert len(np.unique(faded.decision_function(np.eye(8)).round(3))) < 8
        scores = telling.decision_function(np.eye(8))
        assert (np.diff(scores) > 0).all()

    @pytest.mark.parametrize("rule", ["auto", "r", "error"])
    def test_no_edge_at_all_stops(self, rule: Any) -> None:
        with pytest.warns(UserWarning, match="kept no hypothesis"):
            model = play([[-0.5, -0.5, 0.1, 0.1, 0.1, 0.1]], alpha_rule=rule)
        assert model.stop_reason_ == "edge_not_positive"

    @pytest.mark.parametrize("rule", ["auto", "error"])
    def test_a_perfect_hypothesis_is_kept_and_is_the_last(self, rule: Any) -> None:
        model = play([Y.astype(float), HYPOTHESES[0]], alpha_rule=rule)
        assert model.stop_reason_ == "perfect"
        assert len(model.estimators_) == 1
        assert np.isfinite(model.estimator_weights_).all()

    def test_small_steps_of_cgada_as_the_scale_vanishes(self) -> None:
        # β → ½ for every row: r is half the plain edge.
        values = play(cost_scale=1e-12).history_[0]
        assert values["r"] == pytest.approx(values["edge"] / 2)


class TestResponse:
    def test_signs_of_a_learner(self) -> None:
        signs = [[1, -1, -1, -1, -1, -1]]
        model = play(signs, kind=DecisionPlayer, response="sign")
        assert set(model.history_[0]["h"]) == {1.0, -1.0}

    def test_probabilities_are_taken_where_there_are_any(self) -> None:
        np.testing.assert_allclose(play().history_["h"], HYPOTHESES)

    def test_a_decision_function_is_divided_by_its_largest_value_on_the_training_rows(self) -> None:
        model = play([[4.0, -1.0, -3.0, -8.0, 0.5, -2.0]], kind=DecisionPlayer, response="decision")
        np.testing.assert_allclose(model.history_[0]["h"], [0.5, -0.125, -0.375, -1.0, 0.0625, -0.25])
        # One row alone is divided by the same number.
        alpha = model.estimator_weights_[0]
        assert model.decision_function(X[:1]) == pytest.approx([0.5 * alpha])

    def test_beyond_the_training_rows_a_decision_is_clipped(self) -> None:
        rows, y, cost = noisy_rows(1)
        model = AdaCostClassifier(RidgeClassifier(), n_estimators=3, response="decision").fit(rows, y, cost)
        far = np.abs(model.decision_function(rows[:5] * 1e6))
        assert (far <= model.estimator_weights_.sum() + 1e-12).all()

    def test_a_decision_of_the_other_class_is_turned(self) -> None:
        rows, y, cost = noisy_rows(1)
        one = AdaCostClassifier(RidgeClassifier(), n_estimators=3, response="decision").fit(rows, y, cost)
        other = AdaCostClassifier(RidgeClassifier(), n_estimators=3, response="decision", pos_label=0)
        np.testing.assert_allclose(
            other.fit(rows, y, cost).decision_function(rows), one.decision_function(rows), rtol=1e-12
        )

    def test_a_response_the_learner_has_not_is_refused(self) -> None:
        rows, y, _ = noisy_rows(0)
        with pytest.raises(ValueError, match="needs a weak learner with predict_proba"):
            AdaCostClassifier(response="proba").fit(rows, y)
        with pytest.raises(ValueError, match="needs a weak learner with decision_function"):
            AdaCostClassifier(DecisionTreeClassifier(), response="decision").fit(rows, y)

    def test_a_learner_that_saw_one_class_says_so_for_every_row(self) -> None:
        rows, y, _ = noisy_rows(0)
        free = np.where(y == 1, 0.0, 1.0)
        model = AdaCostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=2).fit(rows, y, free)
        assert np.isfinite(model.decision_function(rows)).all()


@may_end_in_a_constant
@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.5, 0.25]), st.sampled_from(["auto", "error"]))
def test_recursive_and_unrolled_weights_agree(seed: int, cost_scale: float, rule: Any) -> None:
    rows, y, cost = noisy_rows(seed, 30)
    recursive, unrolled = (
        AdaCostClassifier(
            n_estimators=15, cost_scale=cost_scale, alpha_rule=rule, update=update, record=True
        ).fit(rows, y, cost)
        for update in ("recursive", "unrolled")
    )
    np.testing.assert_allclose(recursive.estimator_weights_, unrolled.estimator_weights_, rtol=1e-11)
    np.testing.assert_allclose(
        recursive.history_["D_next"], unrolled.history_["D_next"], rtol=1e-11, atol=1e-12
    )
    np.testing.assert_allclose(recursive.history_["Z"], unrolled.history_["Z"], rtol=1e-11)


@may_end_in_a_constant
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.25]))
def test_training_cost_is_bounded_by_the_normalizers(seed: int, cost_scale: float) -> None:
    rows, y, cost = noisy_rows(seed, 40)
    model = AdaCostClassifier(n_estimators=15, cost_scale=cost_scale, alpha_rule="r", record=True)
    model.fit(rows, y, cost)
    if model.estimators_:
        wrong = model.predict(rows) != y
        assert cost[wrong].sum() <= cost.sum() * np.prod(model.history_["Z"]) * (1 + 1e-9)


@may_end_in_a_constant
@given(st.integers(0, 2**32 - 1))
def test_karakoulas_with_equal_classes_is_adaboost(seed: int) -> None:
    rows, y, _ = noisy_rows(seed, 40)
    ours = AdaCostClassifier(n_estimators=15, beta="karakoulas", v=1.0).fit(rows, y)
    plain = AdaBoostClassifier(n_estimators=15).fit(rows, y)
    if plain.stop_reason_ != "perfect":  # where edges and errors are clipped at different values
        np.testing.assert_allclose(ours.estimator_weights_, plain.estimator_weights_, rtol=1e-10)
