"""Search: that the cheapest wins, that halving spends less, that chance has no say."""

import numpy as np
import pytest

from costboost.boosting.ada_boost import AdaBoostClassifier
from costboost.costs import CostMatrix
from costboost.model import CostSensitiveModel
from costboost.search import search_params
from costboost.search_space import Interval, draw_params
from costboost.splits import Split
from tests.costboost.kept_fits import DeathError, KeptFits

COSTS = {"fn": 9.0, "fp": 1.0}


def rows(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = {"a": rng.normal(size=n), "b": rng.normal(size=n), "amount": rng.exponential(10.0, n)}
    y = (X["a"] + X["b"] + rng.normal(0, 0.6, n) > 1.0).astype(int)
    return X, y


class TestSearch:
    def test_the_cost_is_that_of_a_fit_out_of_fold(self):
        X, y = rows()
        model = CostSensitiveModel("adaboost", costs=COSTS, split=Split(folds=3))
        params = {"n_estimators": 7, "learning_rate": 0.5}
        found = search_params(model, X, y, [params])
        fitted = CostSensitiveModel("adaboost", costs=COSTS, split=Split(folds=3))
        fitted.estimator = AdaBoostClassifier(**params)
        p = fitted.fit(X, y).oof_probabilities_[:, 1]
        flagged = p * 9.0 > (1.0 - p) * 1.0
        cost = np.where(y == 1, 9.0 * ~flagged, 1.0 * flagged).mean()
        assert found.best.cost == pytest.approx(cost, rel=1e-12)
        assert (found.best.params, found.best.folds) == (params, 3)
        assert not hasattr(model, "classes_")

    @pytest.mark.parametrize("strategy", ["random", "halving"])
    def test_the_cheapest_wins(self, strategy):
        X, y = rows()
        candidates = draw_params({"n_estimators": Interval(1, 40, log=True, whole=True)}, 8, seed=0)
        told = []
        found = search_params(
            CostSensitiveModel("cgada", costs=COSTS, split=Split(folds=4)),
            X,
            y,
            candidates,
            strategy=strategy,
            progress=lambda *where: told.append(where),
        )
        through = [trial for trial in found.trials if trial.folds == 4]
        assert found.best.cost == min(trial.cost for trial in through)
        assert [trial.params for trial in found.trials] == candidates
        folds = sorted((trial.folds for trial in found.trials), reverse=True)
        assert folds == ([4] * 8 if strategy == "random" else [4, 3, 2, 2, 1, 1, 1, 1])
        assert len(told) == sum(folds)
        assert [step[3] for step in told] == sorted(step[3] for step in told)
        assert told[-1] == ("search", 8, 8, 1.0, {})

    @pytest.mark.parametrize("strategy", ["random", "halving"])
    def test_an_interrupted_search_goes_on_where_it_was(self, strategy):
        X, y = rows()
        candidates = draw_params({"n_estimators": Interval(1, 40, log=True, whole=True)}, 4, seed=0)
        candidates.insert(1, {"learning_rate": -1.0})  # cannot be fitted

        def search(checkpoints):
            model = CostSensitiveModel("cgada", costs=COSTS, split=Split(folds=3))
            return search_params(model, X, y, candidates, strategy=strategy, checkpoints=checkpoints)

        whole, kept = search(KeptFits()), KeptFits(dies_after=6)
        with pytest.raises(DeathError):
            search(kept)
        kept.dies_after = None
        assert search(kept) == whole
        assert len(kept.found) == 6

    def test_order_of_rows_and_jobs_at_a_time_change_nothing(self):
        X, y = rows(120)
        candidates = draw_params({"n_estimators": Interval(1, 9, whole=True)}, 3, seed=0)
        one = search_params(CostSensitiveModel(costs=COSTS), X, y, candidates)
        order = np.random.default_rng(1).permutation(120)
        shuffled = {name: values[order] for name, values in X.items()}
        assert search_params(CostSensitiveModel(costs=COSTS), shuffled, y[order], candidates) == one
        assert search_params(CostSensitiveModel(costs=COSTS, n_jobs=2), X, y, candidates) == one

    def test_costs_of_rows_and_several_classes(self):
        X, y = rows()
        amounts = {"fn": {"per": {"amount": 1.0}}, "fp": 2.0}
        candidates = [{"n_estimators": 3}, {"n_estimators": 12}]
        found = search_params(CostSensitiveModel(costs=amounts), X, y, candidates)
        assert all(trial.cost > 0 for trial in found.trials)
        three = y + (X["a"] > 1.2)
        matrix = CostMatrix.from_matrix([[0, 1, 2], [5, 0, 1], [9, 3, 0]])
        found = search_params(CostSensitiveModel(costs=matrix), X, three, candidates, strategy="halving")
        assert found.best.folds == 5

    def test_the_empirical_rule_is_judged_at_its_threshold(self):
        X, y = rows()
        model = CostSensitiveModel("adaboost", costs=COSTS, decision_rule="empirical", min_recall=0.95)
        found = search_params(model, X, y, [{"n_estimators": 10}])
        model.estimator = AdaBoostClassifier(n_estimators=10)
        assert found.best.cost == pytest.approx(model.fit(X, y).threshold_found_.cost / len(y))

    def test_what_cannot_be_fitted_is_told_and_loses(self):
        X, y = rows()
        candidates = [{"response": "proba"}, {"response": "sign"}]
        found = search_params(CostSensitiveModel("adacost", costs=COSTS), X, y, candidates)
        assert "weak learner" in found.trials[0].error
        assert found.trials[0].cost is None
        assert found.best is found.trials[1]
        with pytest.raises(ValueError, match="no parameters could be fitted"):
            search_params(CostSensitiveModel("adacost", costs=COSTS), X, y, candidates[:1])

    def test_a_first_block_of_one_class_sends_all_on(self):
        X, y = rows()
        times = np.arange(len(y), dtype=float)
        y = np.where(times < 10, times % 2, np.where(times < 90, 0, y)).astype(int)
        model = CostSensitiveModel(costs=COSTS, split=Split("time", folds=4))
        found = search_params(
            model, X, y, [{"n_estimators": n} for n in (1, 4, 9)], strategy="halving", times=times
        )
        assert found.best.folds == len(model.prepare(X, y, times=times).parts)

    @pytest.mark.parametrize(
        ("change", "message"),
        [({"strategy": "grid"}, "strategy"), ({"candidates": []}, "nothing"), ({"rule": "sign"}, "sign")],
    )
    def test_what_is_refused(self, change, message):
        X, y = rows(60)
        model = CostSensitiveModel(costs=COSTS, decision_rule=change.get("rule", "expected_cost"))
        with pytest.raises(ValueError, match=message):
            search_params(
                model, X, y, change.get("candidates", [{}]), strategy=change.get("strategy", "random")
            )
