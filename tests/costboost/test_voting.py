"""What all fitted boosters say of rows: scores and votes, of two classes and of more."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from costboost.boosting.ada_boost import AdaBoostClassifier, AdaMECClassifier
from costboost.boosting.ada_cost import AdaCostClassifier
from costboost.learners.stump import DecisionStump
from tests.costboost.boosters import CLASSES, FOR_NOISE, fitted
from tests.costboost.playback import played, row_numbers


class TestScores:
    @pytest.mark.parametrize("cls", CLASSES)
    def test_the_terms_are_the_decision_function(self, cls: Any, rows: Any) -> None:
        X, y = rows
        X = np.where(np.random.default_rng(5).random(X.shape) < 0.1, np.nan, X)
        model = fitted(cls, (X, y), cost_fn=3.0, estimator=DecisionStump())
        alphas, columns = model.estimator_weights_, np.zeros((X.shape[1], len(X)))
        values = getattr(model, "estimator_values_", np.column_stack([alphas, -alphas]))
        for (positive, negative), stump in zip(values, model.estimators_, strict=True):
            columns[stump.feature_] += np.where(stump.predict(X) == 1, positive, negative)
        score = np.zeros(len(X))
        for added in columns:  # column after column: that is the definition
            score += added
        assert np.array_equal(model.decision_function(X), score)
        assert model.terms_ is not None
        assert np.array_equal(model.terms_.score(X)[:, 0], score)

    @pytest.mark.parametrize("estimator", ["stump", {"name": "tree", "max_depth": 2}])
    def test_rows_of_every_form_get_one_score(self, rows: Any, estimator: Any) -> None:
        X, y = rows
        X = X.astype(np.float32)
        model = AdaBoostClassifier(estimator, n_estimators=20).fit(X, y)
        score = model.decision_function(X.astype(np.float64).tolist())
        wide, fixed = np.repeat(X, 2, axis=1), X.copy()
        fixed.flags.writeable = False
        for form in (
            X,
            X.astype(np.float64),
            np.asfortranarray(X),
            wide[:, ::2],
            fixed,
            X.astype("longdouble"),
        ):
            assert model.decision_function(form).tobytes() == score.tobytes()
            assert model.decision_function(form[:1]).tobytes() == score[:1].tobytes()
        for form in (X, X.astype(np.float64), np.asfortranarray(X), wide[:, ::2]):
            endless = form.copy(order="K")
            endless[-1, -1] = -np.inf
            with pytest.raises(ValueError, match="infinity"):
                model.decision_function(endless)
        for flaw in (X[:, :-1], X[0], X[:0], X[None]):
            with pytest.raises(ValueError):
                model.decision_function(flaw)
        named = clone(model).fit(pd.DataFrame(X, columns=list("abcdefgh")[: X.shape[1]]), y)
        with pytest.warns(UserWarning, match="valid feature names"):
            named.decision_function(X)

    @pytest.mark.parametrize("cls", CLASSES)
    def test_stages_end_at_the_whole(self, cls: Any, rows: Any, three: Any) -> None:
        for X, y in (rows, three):
            model = fitted(cls, (X, y))
            *_, last = model.staged_decision_function(X)
            np.testing.assert_array_equal(last, model.decision_function(X))
            stages = list(model.staged_predict(X))
            assert stages[-1].tolist() == model.predict(X).tolist()
            assert len(stages) == len(model.estimators_) if model.machines_ is None else 20

    @pytest.mark.parametrize("cls", CLASSES)
    def test_probabilities_are_the_raw_link(self, cls: Any, rows: Any, three: Any) -> None:
        model = fitted(cls, rows)
        F = model.decision_function(rows[0])
        np.testing.assert_allclose(model.predict_proba(rows[0])[:, 1], 1 / (1 + np.exp(-2 * F)), rtol=1e-12)
        p = fitted(cls, three).predict_proba(three[0])
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)

    @pytest.mark.parametrize("cls", CLASSES)
    def test_with_the_other_positive_label_scores_still_point_to_the_second_class(
        self, cls: Any, rows: Any
    ) -> None:
        X, y = rows
        model = fitted(cls, rows, pos_label=0, cost_fn=5.0)
        swapped = fitted(cls, (X, 1 - y), cost_fn=5.0)
        np.testing.assert_allclose(model.decision_function(X), -swapped.decision_function(X), rtol=1e-12)
        assert model.predict(X).tolist() == (1 - swapped.predict(X)).tolist()
        tree = DecisionTreeClassifier(max_depth=1, random_state=0)
        foreign = fitted(cls, rows, pos_label=0, estimator=tree, **FOR_NOISE.get(cls, {}))
        assert foreign.score(X, y) > 0.6

    def test_equal_scores_go_to_the_negative_class(self) -> None:
        with pytest.warns(UserWarning, match="kept no hypothesis"):
            model = AdaBoostClassifier().fit([[0.0], [0.0]], ["a", "b"])
        assert model.predict([[0.0]]).tolist() == ["a"]
        with pytest.warns(UserWarning, match="kept no hypothesis"):
            model = AdaBoostClassifier(pos_label="a").fit([[0.0], [0.0]], ["a", "b"])
        assert model.predict([[0.0]]).tolist() == ["b"]

    def test_adamec_moves_the_threshold_and_nothing_else(self, rows: Any) -> None:
        X, y = rows
        plain, moved = (
            fitted(AdaBoostClassifier, rows),
            fitted(AdaMECClassifier, rows, cost_fn=9.0, cost_fp=1.0),
        )
        assert np.array_equal(plain.decision_function(X), moved.decision_function(X))
        assert moved.vote_threshold_ == pytest.approx(0.5 * math.log(1 / 9))
        p = moved.predict_proba(X)[:, 1]
        assert moved.predict(X).tolist() == (9 * p > 1 - p).astype(int).tolist()
        with_rows = AdaMECClassifier(n_estimators=20).fit(X, y, sample_cost=np.where(y == 1, 9.0, 1.0))
        assert with_rows.vote_threshold_ == pytest.approx(moved.vote_threshold_)

    def test_adamec_decides_by_expected_cost_among_many_classes(self, three: Any) -> None:
        X, y = three
        costs = np.array([[0, 1, 1], [1, 0, 1], [50, 50, 0]])
        model = fitted(AdaMECClassifier, three, cost_matrix=costs)
        expected = model.predict_proba(X) @ costs
        assert model.predict(X).tolist() == model.classes_[np.argmin(expected, axis=1)].tolist()
        assert (model.predict(X) == "c").mean() > (y == "c").mean()


class TestClasses:
    @pytest.mark.parametrize("cls", CLASSES)
    def test_many_classes(self, cls: Any, three: Any) -> None:
        X, y = three
        model = cls(n_estimators=40).fit(X, y)
        assert model.score(X, y) > 0.7
        assert model.decision_function(X).shape == (240, 3)
        assert model.classes_.tolist() == ["a", "b", "c"]

    def test_any_learner_may_tell_a_class_from_the_rest(self, three: Any) -> None:
        X, y = three
        model = AdaCostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5, random_state=0).fit(
            X, y
        )
        assert model.terms_ is None
        assert model.score(X, y) > 0.7
        *_, last = model.staged_decision_function(X)
        np.testing.assert_array_equal(last, model.decision_function(X))

    def test_samme_matches_its_formula(self) -> None:
        # K = 3, eps = 1/5: alpha = ln 4 + ln 2 = ln 8; the missed row then weighs 8/(8 + 4).
        y = np.array([0, 1, 2, 2, 1])
        player = played([[0, 1, 2, 2, 0], [0, 1, 1, 2, 1]])
        model = AdaBoostClassifier(player, n_estimators=2, record=True).fit(row_numbers(5), y)
        np.testing.assert_allclose(model.history_["alpha"][0], math.log(8), rtol=1e-12)
        np.testing.assert_allclose(
            model.history_[1]["D"], [1 / 12, 1 / 12, 1 / 12, 1 / 12, 8 / 12], rtol=1e-12
        )
        second = math.log(11) + math.log(2)
        first = math.log(8)
        expected = [[first + second, 0, 0], [0, first + second, 0], [0, second, first]]
        np.testing.assert_allclose(model.decision_function(row_numbers(5))[:3], expected, rtol=1e-12)

    def test_samme_stops_at_one_minus_one_over_k(self) -> None:
        y = np.array([0, 1, 2])
        better = AdaBoostClassifier(played([[0, 1, 1]]), n_estimators=1).fit(row_numbers(3), y)
        assert len(better.estimators_) == 1
        with pytest.warns(UserWarning, match="kept no hypothesis"):
            chance = AdaBoostClassifier(
                played([[0, 0, 0]]), cost_matrix=[[0, 1, 1], [9, 0, 1], [9, 1, 0]]
            ).fit(row_numbers(3), y)
        # Deciding 0, 1, 2 throughout costs 18, 2, 2: the first of the cheapest.
        assert chance.predict(row_numbers(3)).tolist() == [1, 1, 1]

    def test_two_classes_vote_as_samme_does_with_half_the_weight(self, rows: Any) -> None:
        X, _ = rows
        two = fitted(AdaBoostClassifier, rows)
        votes = {
            k: sum(
                a * (s.predict(X) == k) for a, s in zip(two.estimator_weights_, two.estimators_, strict=True)
            )
            for k in (0, 1)
        }
        np.testing.assert_allclose(votes[1] - votes[0], two.decision_function(X), atol=1e-12)

    def test_each_class_against_the_rest_carries_its_costs(self, three: Any) -> None:
        X, y = three
        costs = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 4.0], [8.0, 6.0, 0.0]])
        model = AdaCostClassifier(n_estimators=1, cost_matrix=costs, record=True).fit(X, y)
        assert model.history_["class"].tolist() == [0, 1, 2]
        for k, name in enumerate(["a", "b", "c"]):
            weights = model.history_[k]["D"]
            rest = y != name
            miss = costs[k].sum() / 2
            alarm = np.mean([costs[j, k] for j in np.searchsorted(["a", "b", "c"], y[rest])])
            expected = np.where(rest, alarm, miss)
            np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-12)

    def test_machines_without_a_hypothesis_are_told_in_one_warning(self, three: Any) -> None:
        X, y = three
        with pytest.warns(UserWarning, match="for 3 of 3 classes") as caught:
            model = AdaCostClassifier(cost_scale=1.0, alpha_rule="r").fit(X, y)
        assert len(caught) == 1
        assert model.decision_function(X).tolist() == [[-1.0] * 3] * 240
        assert list(model.staged_predict(X)) == []

    def test_one_class_is_refused(self) -> None:
        with pytest.raises(ValueError, match="at least two classes"):
            AdaBoostClassifier().fit([[0.0], [1.0]], [1, 1])
