"""CS-AdaBoost: each switch, the restart, and the degenerate rounds."""

import math
from typing import Any

import numpy as np
import pytest

from costboost.boosting.cs_ada_boost import CSAdaBoostClassifier
from tests.costboost.playback import Player, played, row_numbers

Y = np.array([1, 1, -1, -1, -1, -1])
X = row_numbers(6)
HYPOTHESES = [[1, -1, -1, -1, -1, 1], [1, 1, 1, -1, -1, -1]]


def play(
    hypotheses: Any = HYPOTHESES, weights: Any = None, rounds: int | None = None, **parameters: Any
) -> CSAdaBoostClassifier:
    model = CSAdaBoostClassifier(
        played(hypotheses), n_estimators=rounds or len(hypotheses), record=True, **parameters
    )
    return model.fit(X, Y, sample_weight=weights)


def tape_of(model: CSAdaBoostClassifier) -> Any:
    assert isinstance(model.estimator, Player)
    return model.estimator.tape


def test_literal_error_leaves_the_denominators_out() -> None:
    first = play(error="literal").history_[0]
    assert first["eps_p"] == pytest.approx(1 / 6)
    assert first["eps_n"] == pytest.approx(1 / 6)
    assert first["eps"] == pytest.approx(1 / 6)


def test_literal_error_keeps_a_coin_flip_and_gives_it_half_ln_three() -> None:
    # Half of each class wrong: plain error ½, literal ε = ¼, α = ½ ln 3.
    model = play([[1, -1, 1, 1, -1, -1]], error="literal")
    assert model.estimator_weights_[0] == pytest.approx(0.5 * math.log(3))
    with pytest.warns(UserWarning, match="kept no hypothesis"):
        assert play([[1, -1, 1, 1, -1, -1]]).stop_reason_ == "weak_learner_no_better_than_chance"


def test_literal_error_discards_what_is_always_wrong() -> None:
    with pytest.warns(UserWarning, match="kept no hypothesis"):
        play([[-1, -1, 1, 1, 1, 1]], error="literal")


def test_confusion_counts_the_users_weights_or_those_of_boosting() -> None:
    weights = [1, 2, 3, 1, 1, 2]
    counted = play(weights=weights).history_
    # Round 2: hits 1 + 2 of 1 + 2 + 3 named positive.
    assert counted[1]["precision"] == pytest.approx(3 / 6)
    weighted = play(weights=weights, confusion="weighted").history_
    entering = weighted[1]["D"]
    assert weighted[1]["precision"] == pytest.approx((entering[0] + entering[1]) / entering[:3].sum())
    assert weighted[0]["precision"] == pytest.approx(counted[0]["precision"])


def test_costs_are_divided_by_the_largest_unless_raw_is_asked_for() -> None:
    normal = play(cost_fn=50.0, cost_fp=10.0, cost_tp=5.0).history_[0]["beta"]
    np.testing.assert_allclose(normal, [0.05, 0.5, 0, 0, 0, 0.15], atol=1e-12)
    raw = play(cost_fn=50.0, cost_fp=10.0, cost_tp=5.0, normalize_costs=False).history_[0]["beta"]
    np.testing.assert_allclose(raw, 50 * normal)


def test_raw_costs_of_any_size_stay_finite() -> None:
    model = play(cost_fn=1e9, normalize_costs=False)
    for values in model.history_:
        assert all(np.isfinite(value).all() for value in values.values())
        assert values["D_next"].sum() == pytest.approx(1.0, abs=1e-12)


def test_negative_cells_are_shifted_within_their_true_class() -> None:
    # Positives: (fn, tp) = (6, -2) become (8, 0). Negatives: (fp, tn) = (4, 1) stay.
    shifted = play(cost_fn=6.0, cost_tp=-2.0, cost_fp=4.0, cost_tn=1.0).history_[0]["beta"]
    np.testing.assert_allclose(shifted, [0, 0.5, 0.75 / 8, 0.75 / 8, 0.75 / 8, 0.75 / 2], atol=1e-12)


def test_cells_of_each_row() -> None:
    # fn, fp, tp, tn. Row 2 is shifted to fn 8, tp 0 and row 6 to fp 4, tn 0; the largest of all cells is 8.
    cells = np.array([[8, 0, 1, 0], [4, 0, -4, 0], [0, 2, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0], [0, 3, 0, -1]])
    model = CSAdaBoostClassifier(played(HYPOTHESES), n_estimators=1, record=True).fit(X, Y, sample_cost=cells)
    # Precision ½, negative predictive value ¾; rows 2 and 6 are wrong.
    expected = [0.5 * 1 / 8, 0.5 * 8 / 8, 0.75 * 1 / 8, 0, 0, 0.75 * 4 / 8]
    np.testing.assert_allclose(model.history_[0]["beta"], expected, atol=1e-12)


def test_costs_of_mistakes_by_row() -> None:
    model = CSAdaBoostClassifier(played(HYPOTHESES), n_estimators=1, record=True)
    model.fit(X, Y, sample_cost=[1, 2, 3, 4, 5, 10])
    np.testing.assert_allclose(model.history_[0]["beta"], [0, 0.5 * 0.2, 0, 0, 0, 0.75 * 1.0], atol=1e-12)


def test_balanced_weights_show_the_learner_half_of_each_class() -> None:
    shown = tape_of(play(weights=[1, 2, 3, 1, 1, 2])).weights[0] / 6
    np.testing.assert_allclose(shown, [1 / 6, 2 / 6, 3 / 14, 1 / 14, 1 / 14, 2 / 14], rtol=1e-12)
    raw = tape_of(play(weights=[1, 2, 3, 1, 1, 2], fit_weights="raw")).weights[0] / 6
    np.testing.assert_allclose(raw, np.array([1, 2, 3, 1, 1, 2]) / 10, rtol=1e-12)


class TestRestart:
    def test_a_first_failure_is_tried_again_from_balanced_weights(self) -> None:
        model = play([[-1] * 6, [1, 1, 1, -1, -1, -1]], fit_weights="raw", rounds=1)
        tape = tape_of(model)
        np.testing.assert_allclose(tape.weights[0], 1.0)
        np.testing.assert_allclose(tape.weights[1] / 6, [1 / 4, 1 / 4, 1 / 8, 1 / 8, 1 / 8, 1 / 8])
        np.testing.assert_allclose(model.history_[0]["D"], [1 / 4, 1 / 4, 1 / 8, 1 / 8, 1 / 8, 1 / 8])

    def test_a_second_failure_leaves_a_constant(self) -> None:
        with pytest.warns(UserWarning, match="kept no hypothesis"):
            model = play([[-1] * 6, [1] * 6, HYPOTHESES[0]], fit_weights="raw")
        assert len(tape_of(model).left) == 1
        assert model.predict(X).tolist() == [-1] * 6

    def test_a_later_failure_just_stops(self) -> None:
        model = play([HYPOTHESES[0], [-1] * 6, HYPOTHESES[1]], fit_weights="raw")
        assert model.stop_reason_ == "weak_learner_no_better_than_chance"
        assert len(model.estimators_) == 1

    def test_balanced_weights_need_no_restart(self) -> None:
        with pytest.warns(UserWarning, match="kept no hypothesis"):
            model = play([[-1] * 6, HYPOTHESES[1]])
        assert len(tape_of(model).left) == 1


class TestSubset:
    def test_balanced_takes_the_smaller_class_and_as_many_others(self) -> None:
        model = play(subset="balanced", random_state=0)
        for labels, weights in zip(tape_of(model).labels, tape_of(model).weights, strict=True):
            assert sorted(labels) == [-1, -1, 1, 1]
            assert weights.mean() == pytest.approx(1.0)
        # Errors and updates use all rows.
        assert len(model.history_[0]["D_next"]) == 6

    def test_a_share_is_stratified(self) -> None:
        assert sorted(tape_of(play(subset=0.5)).labels[0]) == [-1, -1, 1]
        assert sorted(tape_of(play(subset=0.01)).labels[0]) == [-1, 1]
        assert sorted(tape_of(play(subset=1.0)).labels[0]) == sorted(Y)

    def test_bootstrap_draws_by_weight_and_fits_unweighted(self) -> None:
        model = play(subset="bootstrap", random_state=1)
        assert [len(labels) for labels in tape_of(model).labels] == [6, 6]
        np.testing.assert_array_equal(tape_of(model).weights[0], 1.0)

    @pytest.mark.parametrize("subset", ["balanced", 0.3, "bootstrap"])
    def test_the_seed_decides_and_stumps_see_the_same_rows(self, subset: Any) -> None:
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(200, 3))
        y = (rows[:, 0] + rng.normal(size=200) > 1).astype(int)
        models = [
            CSAdaBoostClassifier(n_estimators=10, subset=subset, random_state=s).fit(rows, y)
            for s in (1, 1, 2)
        ]
        scores = [model.decision_function(rows) for model in models]
        assert np.array_equal(scores[0], scores[1])
        assert not np.array_equal(scores[0], scores[2])
        assert models[0].score(rows, y) > 0.6

    def test_a_draw_without_weight_shows_all_rows(self) -> None:
        weights = np.array([0, 1, 0, 0, 0, 1])
        for seed in range(10):
            model = play(weights=weights, subset=0.2, random_state=seed, hypotheses=[[1, 1, -1, -1, -1, -1]])
            assert tape_of(model).weights[0].sum() > 0

    def test_other_subsets_are_refused(self) -> None:
        for subset in ("half", 0.0, 1.5):
            with pytest.raises(ValueError, match="subset must be"):
                play(subset=subset)


class TestDegenerateRounds:
    def test_precision_zero_leaves_missed_positives_as_they_are(self) -> None:
        # No true positive: precision 0, so no positive moves; ε = (1 + 0)/2 fails, so take the literal error.
        first = play([[-1, -1, 1, -1, -1, -1]], error="literal").history_[0]
        assert first["precision"] == 0.0
        assert first["beta"][:2].tolist() == [0.0, 0.0]

    def test_nothing_named_positive_makes_precision_zero(self) -> None:
        first = play([[-1] * 6], error="literal").history_[0]
        assert (first["precision"], first["npv"]) == (0.0, pytest.approx(4 / 6))

    def test_a_perfect_round_is_kept_and_stops(self) -> None:
        model = play([Y, HYPOTHESES[0]])
        assert model.stop_reason_ == "perfect"
        assert model.estimator_weights_.tolist() == [11.512925464920228]

    def test_a_class_without_weight_has_no_error(self) -> None:
        model = play([HYPOTHESES[0]], weights=[0, 0, 1, 1, 1, 1])
        assert model.history_[0]["eps_p"] == 0.0
        assert model.history_[0]["eps_n"] == pytest.approx(0.25)
