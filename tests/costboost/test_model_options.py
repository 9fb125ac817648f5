"""Options of the model that are about decisions, early stopping and the number of jobs."""

import functools
from typing import Any

import numpy as np
import pytest

from costboost.boosting.ada_boost import CGAdaClassifier
from costboost.costs import CostMatrix
from costboost.model import CostSensitiveModel
from costboost.persistence import dump, load
from costboost.registry import make
from costboost.splits import Split

COSTS = CostMatrix(cost_fn=5.0, cost_fp=1.0)


def rows(n: int = 400, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.15).astype(int)
    return rng.normal(size=(n, 3)).round(2) + y[:, None], y


def model(**params: Any) -> CostSensitiveModel:
    booster = make("cgada", {"n_estimators": 10} | params.pop("booster", {}))
    return CostSensitiveModel(booster, costs=COSTS, **params)


@pytest.mark.parametrize("aim", ["cost", "g_mean", "f1"])
def test_an_aim_is_reached_out_of_fold_and_decides(aim: str) -> None:
    X, y = rows()
    fitted = model(decision_rule="empirical", threshold_aim=aim).fit(X, y)
    assert (fitted.predict(X) == (fitted.decision_function(X) > fitted.threshold_)).all()
    told = fitted.oof_score_ > fitted.threshold_
    found = fitted.threshold_found_
    assert found is not None
    assert found.threshold == fitted.threshold_
    assert found.cost == pytest.approx((5 * (~told & (y == 1)) + (told & (y == 0))).sum())
    recall, specificity = told[y == 1].mean(), (~told[y == 0]).mean()
    assert (found.recall, found.specificity) == pytest.approx((recall, specificity))
    if aim == "cost":
        assert found.extra_cost == 0
    if aim == "g_mean":
        for cut in np.quantile(fitted.oof_score_, np.linspace(0, 1, 50)):
            other = fitted.oof_score_ > cut
            assert recall * specificity >= other[y == 1].mean() * (~other[y == 0]).mean() - 1e-12


def test_a_least_recall_has_a_price() -> None:
    X, y = rows()
    free = model(decision_rule="empirical").fit(X, y)
    bound = model(decision_rule="empirical", min_recall=0.97).fit(X, y)
    assert free.threshold_found_ is not None
    assert bound.threshold_found_ is not None
    assert free.threshold_found_.recall < 0.97 <= bound.threshold_found_.recall
    assert bound.threshold_ < free.threshold_
    price = bound.threshold_found_.cost - free.threshold_found_.cost
    assert bound.threshold_found_.extra_cost == pytest.approx(price)
    assert price > 0
    again = load(dump(bound))
    assert (again.min_recall, again.threshold_aim, again.threshold_) == (0.97, "cost", bound.threshold_)
    assert (again.predict(X) == bound.predict(X)).all()


def test_aims_are_for_the_empirical_rule() -> None:
    X, y = rows()
    with pytest.raises(ValueError, match="decision rule 'empirical'"):
        model(min_recall=0.9).fit(X, y)
    with pytest.raises(ValueError, match="decision rule 'empirical'"):
        model(decision_rule="sign", threshold_aim="f1").fit(X, y)
    with pytest.raises(ValueError, match="min_recall must be"):
        model(decision_rule="empirical", min_recall=1.1).fit(X, y)
    assert model().fit(X, y).threshold_found_ is None


def test_a_booster_that_stops_early_does_so_in_every_fit() -> None:
    X, y = rows()
    fitted = model(booster={"n_estimators": 300, "early_stopping": 5}).fit(X, y)
    assert fitted.booster_.stop_reason_ == "early_stopping"
    assert 0 < len(fitted.booster_.estimators_) < 295
    again = load(dump(fitted))
    assert again.estimator.early_stopping == 5
    assert again.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()


@pytest.mark.parametrize(("kind", "name"), [("group", "groups"), ("time", "times"), ("stratified", None)])
def test_rows_set_aside_respect_the_split(kind: Any, name: str | None, monkeypatch: Any) -> None:
    X, y = rows()
    seen: list[set[str]] = []

    original = CGAdaClassifier.fit

    @functools.wraps(original)
    def recording(*arguments: Any, **more: Any) -> Any:
        seen.append({key for key in ("groups", "times") if more.get(key) is not None})
        return original(*arguments, **more)

    monkeypatch.setattr(CGAdaClassifier, "fit", recording)
    booster = make("cgada", {"n_estimators": 5, "early_stopping": 2, "validation_fraction": 0.3})
    by = {"groups": np.arange(400) // 8, "times": np.arange(400.0)}
    CostSensitiveModel(booster, costs=COSTS, split=Split(kind, folds=3)).fit(X, y, **by)
    assert seen == [set() if name is None else {name}] * 4


@pytest.mark.parametrize("rule", ["expected_cost", "empirical"])
@pytest.mark.parametrize("early_stopping", [None, 3])
def test_artifacts_do_not_depend_on_the_number_of_jobs(rule: Any, early_stopping: int | None) -> None:
    X, y = rows()
    artifacts = {
        dump(model(decision_rule=rule, n_jobs=n_jobs, booster={"early_stopping": early_stopping}).fit(X, y))
        for n_jobs in (None, 1, 2, 3, 2)
    }
    assert len(artifacts) == 1
