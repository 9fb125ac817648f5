"""What all boosters share: the loop, stop reasons, weak learners of any kind, the history."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
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
from costboost.learners.stump import DecisionStump
from tests.costboost.boosters import CLASSES, FOR_NOISE, fitted
from tests.costboost.playback import Player, Tape, played, row_numbers

PERFECT_ALPHA = 11.512925464920228  # ½ ln((1 - 1e-10)/1e-10)


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


def test_who_brings_a_booster_more_than_numbers_is_told_what_takes_it() -> None:
    rows = [{"zip": "01"}, {"zip": "02"}]
    with pytest.raises(TypeError) as refused:
        AdaCostClassifier().fit(rows, [0, 1])
    assert "CostSensitiveModel(booster) also takes columns of text" in refused.value.__notes__[0]
