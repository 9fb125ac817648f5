"""What all boosters share: the loop, stop reasons, weak learners of any kind, scores, classes, costs."""

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting.ada_boost import AdaBoostClassifier, AdaMECClassifier, CGAdaClassifier
from costboost.boosting.ada_cost import AdaCostClassifier
from costboost.boosting.lp_boost import LPBoostClassifier
from costboost.boosting.soft_boost import SoftBoostClassifier
from costboost.costs import CostMatrix
from costboost.learners.stump import DecisionStump
from costboost.registry import ALGORITHMS
from tests.costboost.playback import Player, Tape, played, row_numbers

CLASSES = [algorithm.cls for algorithm in ALGORITHMS.values()]
#: Where more rows are noise than ν allows for, the best soft margin is 0 and the vote says nothing.
FOR_NOISE: dict[type[CostSensitiveBooster], dict[str, Any]] = {
    LPBoostClassifier: {"nu": 0.5},
    SoftBoostClassifier: {"nu": 0.5},
}
PERFECT_ALPHA = 11.512925464920228  # ½ ln((1 - 1e-10)/1e-10)


@pytest.fixture(name="rows")
def noisy_rows() -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=300) > 1).astype(int)


@pytest.fixture(name="three")
def three_classes() -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 3))
    return X, np.array(["a", "b", "c"])[np.argmax(X + rng.normal(size=X.shape) / 2, axis=1)]


def fitted(cls: type[CostSensitiveBooster], rows: tuple[Any, Any], **parameters: Any) -> CostSensitiveBooster:
    with warnings.catch_warnings():  # some formulas are known to end in one class, and say so
        warnings.filterwarnings("ignore", message=".*costs compound")
        return cls(n_estimators=20, **parameters).fit(*rows)


class TestWeakLearnerSeam:
    def test_one_clone_per_round_is_fitted_with_weights_of_mean_one(self) -> None:
        y = np.array(["yes", "no", "no", "yes"])
        player = played([["yes", "no", "no", "no"], ["yes", "yes", "no", "yes"]])
        model = AdaBoostClassifier(player, n_estimators=2, record=True).fit(row_numbers(4), y)
        assert player.tape is not None
        assert player.tape.left == []
        for shown, entering in zip(player.tape.weights, model.history_["D"], strict=True):
            np.testing.assert_allclose(shown, 4 * entering, rtol=1e-15)
        assert all(labels.tolist() == y.tolist() for labels in player.tape.labels)
        assert not hasattr(player, "hypothesis_")
        assert len({id(learner) for learner in model.estimators_}) == 2

    def test_answers_are_used_unchanged(self) -> None:
        # classes "no" < "yes"; eps 1/4 gives ½ ln 3; then the missed row weighs 1/2 and the new mistake 1/6.
        player = played([["yes", "no", "no", "no"], ["yes", "yes", "no", "yes"]])
        model = AdaBoostClassifier(player, n_estimators=2).fit(row_numbers(4), ["yes", "no", "no", "yes"])
        first, second = 0.5 * math.log(3), 0.5 * math.log(5)
        np.testing.assert_allclose(model.estimator_weights_, [first, second], rtol=1e-12)
        expected = [first + second, second - first, -first - second, second - first]
        np.testing.assert_allclose(model.decision_function(row_numbers(4)), expected, rtol=1e-12)
        assert model.terms_ is None

    def test_an_answer_that_is_no_label_is_refused(self) -> None:
        with pytest.raises(ValueError, match="not among the training labels"):
            AdaBoostClassifier(played([[2, 0, 1]])).fit(row_numbers(3), [0, 1, 1])

    @pytest.mark.parametrize("cls", CLASSES)
    @pytest.mark.parametrize(
        "learner",
        [
            DecisionTreeClassifier(max_depth=2),
            GaussianNB(),
            LogisticRegression(),
            RidgeClassifier(),
            KNeighborsClassifier(3),  # takes no weights
            make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=1)),  # neither does this
        ],
    )
    def test_any_classifier_will_do(self, cls: type[CostSensitiveBooster], learner: Any, rows: Any) -> None:
        X, y = rows
        parameters = {"n_estimators": 5, "random_state": 3} | FOR_NOISE.get(cls, {})
        models = [cls(clone(learner), **parameters).fit(X, y) for _ in range(2)]
        assert models[0].score(X, y) > 0.6
        assert np.array_equal(models[0].decision_function(X), models[1].decision_function(X))
        one_by_one = np.concatenate([models[0].decision_function(row[None]) for row in X[:20]])
        np.testing.assert_allclose(one_by_one, models[0].decision_function(X[:20]), rtol=1e-12)

    def test_sparse_rows_and_columns_of_text_are_the_learners_affair(self, rows: Any) -> None:
        X, y = rows
        tree = DecisionTreeClassifier(max_depth=1, random_state=0)
        dense = AdaBoostClassifier(tree, n_estimators=5).fit(X, y)
        sparse = AdaBoostClassifier(tree, n_estimators=5).fit(csr_matrix(X), y)
        np.testing.assert_allclose(sparse.decision_function(csr_matrix(X)), dense.decision_function(X))
        assert (
            AdaBoostClassifier(played([["b", "a"]])).fit(np.array([["0"], ["1"]]), ["b", "a"]).terms_ is None
        )

    def test_a_drawn_class_that_is_missing_lends_its_heaviest_row(self) -> None:
        class Counting(KNeighborsClassifier):  # type: ignore[misc]
            def fit(self, X: Any, y: Any) -> Any:
                assert len(np.unique(y)) == 2
                return super().fit(X, y)

        X, y = np.arange(40.0)[:, None], np.arange(40) == 39
        for seed in range(12):
            model = AdaBoostClassifier(Counting(39), n_estimators=3, random_state=seed).fit(X, y)
            assert model.score(X, y) == 39 / 40

    def test_a_learner_need_not_inherit_from_scikit_learn(self, rows: Any) -> None:
        class Median:
            def get_params(self, deep: bool = True) -> dict[str, Any]:
                return {}

            def fit(self, X: Any, y: Any, sample_weight: Any) -> None:
                self.cut = np.average(X[:, 0], weights=sample_weight)

            def predict(self, X: Any) -> Any:
                return (X[:, 0] > self.cut).astype(int)

        assert AdaBoostClassifier(Median(), n_estimators=3).fit(*rows).score(*rows) > 0.6

    def test_seeds_left_open_are_set_and_given_seeds_are_kept(self, rows: Any) -> None:
        open_seed = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3, random_state=1)
        seeds = [tree.random_state for tree in open_seed.fit(*rows).estimators_]
        assert len(set(seeds)) == 3
        given = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, random_state=7), n_estimators=3)
        assert [tree.random_state for tree in given.fit(*rows).estimators_] == [7, 7, 7]


class TestStopping:
    def test_a_perfect_hypothesis_is_kept_and_is_the_last(self) -> None:
        player = played([[0, 0, 1, 0], [0, 0, 1, 1], [0, 1, 1, 1]])
        model = AdaBoostClassifier(player).fit(row_numbers(4), [0, 0, 1, 1])
        assert model.stop_reason_ == "perfect"
        assert model.estimator_weights_[1] == PERFECT_ALPHA
        assert len(model.estimators_) == 2
        assert player.tape is not None
        assert len(player.tape.left) == 1

    def test_a_hypothesis_no_better_than_chance_is_discarded_and_stops(self) -> None:
        player = played([[0, 0, 1, 0], [0, 0, 1, 0]])  # after the update its error is exactly ½
        model = AdaBoostClassifier(player).fit(row_numbers(4), [0, 0, 1, 1])
        assert model.stop_reason_ == "weak_learner_no_better_than_chance"
        assert len(model.estimators_) == 1

    @pytest.mark.parametrize(("cost_fn", "sign"), [(1.0, -1.0), (1.9, -1.0), (2.1, 1.0), (1e9, 1.0)])
    def test_without_a_hypothesis_the_cheaper_constant_is_predicted(
        self, cost_fn: float, sign: float
    ) -> None:
        X, y = row_numbers(3), [1, 0, 0]
        with pytest.warns(UserWarning, match="kept no hypothesis") as caught:
            model = AdaBoostClassifier(played([[0, 1, 1]]), cost_fn=cost_fn).fit(X, y)
        assert len(caught) == 1
        assert model.decision_function(X).tolist() == [sign] * 3
        assert model.predict(X).tolist() == [int(sign > 0)] * 3
        assert list(model.staged_decision_function(X)) == []
        assert model.stop_reason_ == "weak_learner_no_better_than_chance"

    def test_a_tie_of_the_constants_is_one_whatever_the_weights_round_to(self) -> None:
        for positives, negatives in itertools.product(range(1, 12), repeat=2):
            y = [1] * positives + [0] * negatives
            wrong = played([[1 - label for label in y]])
            model = AdaBoostClassifier(wrong, cost_fn=float(negatives), cost_fp=float(positives))
            with pytest.warns(UserWarning, match="kept no hypothesis"):
                model.fit(row_numbers(len(y)), y)
            assert model.predict(row_numbers(len(y))).tolist() == [0] * len(y)

    def test_a_constant_of_adamec_is_not_compared_with_its_threshold(self) -> None:
        with pytest.warns(UserWarning, match="kept no hypothesis"):
            model = AdaMECClassifier(played([[0, 1] + [1] * 18]), cost_fn=9.0).fit(
                row_numbers(20), [1] + [0] * 19
            )
        assert model.predict(row_numbers(20)).tolist() == [0] * 20

    @pytest.mark.parametrize("cls", CLASSES)
    def test_a_callback_sees_the_rounds_and_may_stop_them(self, cls: Any, rows: Any) -> None:
        seen: list[tuple[int, int]] = []
        errors: list[float] = []

        def note(number: int, rounds: int, figures: Any) -> bool:
            seen.append((number, rounds))
            errors.append(figures["error"])
            return len(seen) == 3

        model = cls(n_estimators=9).fit(*rows, callback=note)
        assert seen == [(1, 9), (2, 9), (3, 9)]
        assert model.stop_reason_ == "cancelled"
        assert errors == model.estimator_errors_.tolist()
        assert len(model.estimators_) == 3

    def test_a_callback_sees_one_fit_where_classes_are_told_from_the_rest(self, three: Any) -> None:
        X, y = three
        seen: list[tuple[int, int]] = []
        AdaCostClassifier(n_estimators=4).fit(X, y, callback=lambda *said: seen.append(said[:2]))
        assert seen == [(number, 12) for number in range(1, 13)]
        model = AdaCostClassifier(n_estimators=4).fit(X, y, callback=lambda number, *_: number == 5)
        assert model.stop_reason_ == "cancelled"
        assert model.machines_ is not None
        assert [len(machine.estimators_) for machine in model.machines_] == [4, 1, 1]


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


class TestCosts:
    @pytest.mark.parametrize(
        "costs",
        [
            {"cost_fn": 4.0, "cost_fp": 2.0, "cost_tp": 1.0, "cost_tn": 0.5},
            {"cost_matrix": [[0.5, 2.0], [4.0, 1.0]]},
            {"cost_matrix": CostMatrix(cost_fn=4.0, cost_fp=2.0, cost_tp=1.0, cost_tn=0.5)},
            {"sample_cost": "regret"},
            {"sample_cost": "cells"},
        ],
    )
    def test_every_way_to_give_costs_is_the_same(self, costs: dict[str, Any], rows: Any) -> None:
        X, y = rows
        by_row = {"regret": np.where(y == 1, 3.0, 1.5), "cells": np.tile([4.0, 2.0, 1.0, 0.5], (300, 1))}
        sample_cost = by_row.get(costs.pop("sample_cost", ""))
        model = CGAdaClassifier(n_estimators=3, record=True, **costs).fit(X, y, sample_cost=sample_cost)
        expected = np.where(y == 1, 3.0, 1.5)
        np.testing.assert_allclose(model.history_[0]["D"], expected / expected.sum(), rtol=1e-12)

    def test_matrix_rows_follow_the_classes_whatever_the_positive_one(self, rows: Any) -> None:
        X, y = rows
        costs = [[0.0, 7.0], [2.0, 0.0]]
        for pos_label in (None, 0, 1):
            model = CGAdaClassifier(n_estimators=1, record=True, cost_matrix=costs, pos_label=pos_label).fit(
                X, y
            )
            expected = np.where(y == 0, 7.0, 2.0)
            np.testing.assert_allclose(model.history_[0]["D"], expected / expected.sum(), rtol=1e-12)

    def test_balanced_costs_give_classes_equal_weight(self, rows: Any, three: Any) -> None:
        for X, y in (rows, three):
            model = CGAdaClassifier(n_estimators=1, record=True, cost_matrix="balanced").fit(X, y)
            first = model.history_[0]["D"]
            sums = [first[y == k].sum() for k in model.classes_]
            np.testing.assert_allclose(sums, 1 / len(sums), rtol=1e-12)

    def test_rows_with_nothing_to_lose_have_no_weight(self, rows: Any) -> None:
        X, y = rows
        amounts = np.where(np.arange(300) % 3 == 0, 0.0, 5.0)
        exact = CGAdaClassifier(DecisionStump(max_bins=None), n_estimators=5)
        whole = clone(exact).fit(X, y, sample_cost=amounts)
        part = clone(exact).fit(X[amounts > 0], y[amounts > 0])
        np.testing.assert_allclose(whole.estimator_weights_, part.estimator_weights_, rtol=1e-9)

    def test_costs_of_each_decision_per_row(self, three: Any) -> None:
        X, y = three
        codes = np.searchsorted(["a", "b", "c"], y)
        costs = np.random.default_rng(2).uniform(1, 5, (240, 3))
        costs[np.arange(240), codes] = 0.5
        model = CGAdaClassifier(n_estimators=1, record=True).fit(X, y, sample_cost=costs)
        regret = (costs.sum(axis=1) - 0.5) / 2 - 0.5
        np.testing.assert_allclose(model.history_[0]["D"], regret / regret.sum(), rtol=1e-12)
        against = AdaCostClassifier(n_estimators=1, record=True).fit(X, y, sample_cost=costs)
        expected = np.where(y == "a", regret, costs[:, 0] - 0.5)
        np.testing.assert_allclose(against.history_[0]["D"], expected / expected.sum(), rtol=1e-12)

    def test_a_class_with_nothing_at_stake_still_has_a_score(self) -> None:
        X, y = np.arange(9.0)[:, None], np.repeat([0, 1, 2], 3)
        costs = np.where(np.eye(3)[y] == 1, 1.0, 2.0)
        costs[:, 0] = np.where(y == 0, 9.0, 0.0)  # class 0: always dear when right, free when wrong
        model = AdaCostClassifier(n_estimators=3).fit(X, y, sample_cost=costs)
        assert np.isfinite(model.decision_function(X)).all()

    def test_rows_that_cost_something_must_have_weight(self) -> None:
        with pytest.raises(ValueError, match="all costs are zero"):
            CGAdaClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0])

    def test_costs_are_routed_through_a_search(self, rows: Any) -> None:
        X, y = rows
        with config_context(enable_metadata_routing=True):
            model = CGAdaClassifier(n_estimators=5).set_fit_request(sample_cost=True)
            search = GridSearchCV(model, {"learning_rate": [0.5, 1.0]}, cv=2)
            search.fit(X, y, sample_cost=np.where(y == 1, 50.0, 1.0))
        assert search.predict(X).mean() > 0.6

    @pytest.mark.parametrize(
        ("parameters", "sample_cost", "message"),
        [
            ({"cost_fn": 0.0}, None, "cost_fn"),
            ({"cost_tp": 2.0}, None, "cost_fn .* must be greater than cost_tp"),
            ({"cost_matrix": "unbalanced"}, None, "'balanced'"),
            ({"cost_matrix": np.ones((3, 3)) - np.eye(3)}, None, "3 classes"),
            ({"cost_fn": math.nan}, None, "cost_fn must be a finite number"),
            ({}, [1.0], "shape"),
            ({}, [1.0, math.inf], "finite"),
            ({}, [1.0, -1.0], "negative"),
            ({}, [0.0, 0.0], "all costs are zero"),
            ({}, [[0.0, 0.0, 1.0, 1.0]] * 2, "all costs are zero"),
            ({"pos_label": 7}, None, "pos_label"),
        ],
    )
    def test_costs_without_sense_are_refused(
        self, parameters: dict[str, Any], sample_cost: Any, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            CGAdaClassifier(**parameters).fit([[0.0], [1.0]], [0, 1], sample_cost=sample_cost)

    def test_named_cells_and_a_positive_label_are_for_two_classes(self, three: Any) -> None:
        with pytest.raises(ValueError, match="use cost_matrix"):
            CGAdaClassifier(cost_fn=3.0).fit(*three)
        with pytest.raises(ValueError, match="two classes"):
            CGAdaClassifier(pos_label="a").fit(*three)


class TestHistory:
    @pytest.mark.parametrize("cls", CLASSES)
    def test_recorded_only_on_request(self, cls: Any, rows: Any) -> None:
        assert not hasattr(fitted(cls, rows), "history_")
        model = fitted(cls, rows, record=True)
        assert len(model.history_) == len(model.estimators_)
        assert repr(model.history_).startswith(
            f"<{len(model.estimators_)} rounds: D, h, alpha, eps, Z, D_next"
        )
        if cls in (LPBoostClassifier, SoftBoostClassifier):  # their votes are found anew at the end
            assert model.estimator_weights_.sum() == pytest.approx(1.0, abs=1e-9)
        else:
            np.testing.assert_array_equal(model.history_["alpha"], model.estimator_weights_)
        np.testing.assert_array_equal(model.history_["eps"], model.estimator_errors_)
        assert [values["alpha"] for values in model.history_[:2]] == model.history_["alpha"][:2].tolist()

    def test_weights_that_leave_a_round_enter_the_next(self, rows: Any) -> None:
        history = fitted(CGAdaClassifier, rows, record=True).history_
        for before, after in itertools.pairwise(history):
            np.testing.assert_array_equal(before["D_next"], after["D"])

    def test_learning_rate_acts_before_the_update(self) -> None:
        player = played([[1, 0, 0, 0]])
        model = AdaBoostClassifier(player, n_estimators=1, learning_rate=0.5, record=True)
        model.fit(row_numbers(4), [1, 1, 0, 0])
        alpha = 0.25 * math.log(3)
        assert model.estimator_weights_[0] == pytest.approx(alpha)
        wrong, right = math.exp(alpha), math.exp(-alpha)
        total = wrong + 3 * right
        expected = [right / total, wrong / total, right / total, right / total]
        np.testing.assert_allclose(model.history_[0]["D_next"], expected, rtol=1e-12)
        assert model.history_[0]["Z"] == pytest.approx(total / 4)


def test_a_tape_is_shared_by_clones() -> None:
    tape = Tape([[0, 1]])
    assert clone(Player(tape)).tape is tape


def test_default_weak_learner_is_a_stump(rows: Any) -> None:
    default, explicit = (
        fitted(CGAdaClassifier, rows),
        fitted(CGAdaClassifier, rows, estimator=DecisionStump()),
    )
    assert np.array_equal(default.decision_function(rows[0]), explicit.decision_function(rows[0]))
    exact = fitted(CGAdaClassifier, rows, estimator=DecisionStump(max_bins=None))
    assert exact.estimators_[0].max_bins is None
