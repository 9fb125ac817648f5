"""A search within a training: its faults, its trials, and that it changes nothing but the parameters."""

import json

import pytest

from service.learning import candidates, check, fit, load_report

SPACE = {"n_estimators": {"low": 2, "high": 30, "log": True}, "learning_rate": [0.5, 1.0]}


@pytest.fixture
def train(table, spec, spelled):
    def train(progress=None, **more):
        dataset, typed = table()
        job = spec(**{"params": {}, **more})
        return fit(job, dataset, typed, spelled({"fn": 50, "fp": 5}), progress)

    return train


@pytest.mark.parametrize("strategy", ["random", "halving"])
def test_the_version_is_that_of_the_best_trial(train, strategy):
    told = []
    trained = train(
        lambda *where: told.append(where), search={"params": SPACE, "trials": 4, "strategy": strategy}
    )
    search = trained.search
    json.dumps(search, allow_nan=False)
    assert load_report(trained.report)["search"] == search
    assert (search["strategy"], search["metric"], len(search["trials"])) == (strategy, "expected_cost", 4)
    best = search["trials"][search["best"]]
    assert best["cost"] == min(one["cost"] for one in search["trials"] if one["folds"] == 5)
    assert trained.params == best["params"]
    assert isinstance(trained.params["n_estimators"], int)
    assert trained.artifact == train(params=trained.params).artifact
    assert best["cost"] == pytest.approx(trained.metrics["out_of_fold"]["expected_cost"])
    fractions = [step[3] for step in told]
    assert fractions == sorted(fractions)
    assert [phase for phase, *_ in told][:: len(told) - 1] == ["search", "calibration"]
    assert fractions[-1] == 1.0


def test_what_does_not_go_together_is_not_drawn(spec):
    space = {"response": ["proba", "sign"], "estimator": ["stump", {"name": "tree", "max_depth": 2}]}
    job = spec(algorithm="adacost", params={}, search={"params": space, "trials": 50})
    drawn = candidates(job)
    assert len(drawn) == 3
    assert {"response": "proba", "estimator": "stump"} not in drawn


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"search": {"params": {"magic": [1]}}}, ("/search/params/magic", "invalid_param")),
        (
            {"search": {"params": {"n_estimators": [5, 0]}}},
            ("/search/params/n_estimators/1", "invalid_param"),
        ),
        (
            {"search": {"params": {"n_estimators": {"low": 0, "high": 9}}}},
            ("/search/params/n_estimators/low", "invalid_param"),
        ),
        (
            {"search": {"params": {"n_estimators": {"low": 1.5, "high": 9}}}},
            ("/search/params/n_estimators/low", "invalid_param"),
        ),
        (
            {"search": {"params": {"estimator": ["stump", {"name": "tree", "max_depth": 0}]}}},
            ("/search/params/estimator/1/max_depth", "invalid_param"),
        ),
        (
            {"params": {"n_estimators": 5}, "search": {"params": {"n_estimators": [5, 9]}}},
            ("/search/params/n_estimators", "exclusive"),
        ),
        ({"decision_rule": "sign", "search": {"params": SPACE}}, ("/decision_rule", "exclusive")),
        (
            {"algorithm": "adacost", "search": {"params": {"response": ["proba", "decision"]}}},
            ("/search/params", "nothing_to_try"),
        ),
        ({"algorithm": "magic", "search": {"params": SPACE}}, ("/algorithm", "unknown_algorithm")),
    ],
)
def test_faults(table, spec, spelled, more, fault):
    dataset, _ = table()
    job = spec(**{"params": {}, **more})
    found = check(job, dataset, spelled({"fn": 50, "fp": 5}))
    assert fault in [(one.pointer, one.code) for one in found]
