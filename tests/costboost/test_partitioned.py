"""Rows that lie in several places: whatever the partition, the booster is that of all rows in one."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from costboost import (
    AdaBoostClassifier,
    AdaCostClassifier,
    AsymBoostClassifier,
    CGAdaClassifier,
    CostSensitiveModel,
    CSAdaBoostClassifier,
    GentleAdaBoostClassifier,
    HistogramTree,
    LPBoostClassifier,
    WeightedSVM,
    dump,
    fit_calibrator,
    load,
)
from costboost.learners.columns import BinnedColumns
from costboost.partitioned import (
    Here,
    Partition,
    Rows,
    WorkerLostError,
    calibrated,
    fit_on_dask,
    fit_on_threads,
    fit_partitioned,
)
from costboost.partitioned.cutting import find_cuts
from costboost.partitioned.roster import Roster
from tests.dask_cluster import Cluster

#: More than there are distinct values each of which is told apart.
N = 1500
TREE = {"name": "tree", "max_depth": 3}
CATEGORIES = HistogramTree(max_depth=2, min_samples_leaf=9, categorical_features=[1])


def rows_of(seed: int = 0, n: int = N, classes: int = 2, dtype: type = np.float64) -> dict[str, Any]:
    """What `fit` takes: numbers, categories, a column that is mostly one value, one with missing values."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=n)
    mostly = np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(0.0, 8.0, n))
    gaps = np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n))
    kinds = rng.integers(0, 5, n)
    score = 2.0 * numbers + 2.0 * (kinds == 1) + rng.normal(size=n)
    return {
        "X": np.column_stack([numbers, kinds, mostly, gaps]).astype(dtype),
        "y": np.digitize(score, np.linspace(1.0, 3.0, classes - 1)),
        "sample_cost": rng.lognormal(size=n),
        "sample_weight": rng.integers(0, 4, n).astype(np.float64),
    }


def parted(given: dict[str, Any], count: int) -> Here:
    """Parts of uneven size, the first of which has no row if there are many."""
    n = len(given["y"])
    cuts = np.sort(np.random.default_rng(count).integers(0, n, count - 1))
    cuts[: count > 4] = 0
    each = zip(*(np.split(values, cuts) for values in given.values()), strict=True)
    return Here([Partition([partial(Rows, **dict(zip(given, own, strict=True)))]) for own in each])


def learned(booster: Any) -> dict[str, Any]:
    """All that a fit leaves, as bytes."""
    arrays = {name: value for name, value in vars(booster.ensemble_).items() if isinstance(value, np.ndarray)}
    arrays |= {"alphas": booster.estimator_weights_, "errors": booster.estimator_errors_}
    left = {name: value.tobytes() for name, value in arrays.items()}
    return left | {"stop": booster.stop_reason_, "threshold": booster.vote_threshold_}


@pytest.mark.parametrize("count", [1, 2, 4, 7])
@pytest.mark.parametrize("learner", ["stump", TREE, CATEGORIES], ids=["stump", "tree", "categories"])
@pytest.mark.parametrize(
    ("make", "read"),
    [
        (AdaBoostClassifier, ("X", "y")),
        (partial(CGAdaClassifier, learning_rate=0.5), ("X", "y", "sample_cost", "sample_weight")),
        (partial(AdaCostClassifier, cost_fn=7.0, response="sign"), ("X", "y", "sample_weight")),
        (partial(AsymBoostClassifier, cost_matrix="balanced"), ("X", "y")),
        # These look at rows one by one.
        (partial(AdaCostClassifier, cost_fn=7.0), ("X", "y", "sample_cost")),
        (partial(CSAdaBoostClassifier, cost_fn=7.0, subset=0.5, random_state=3), ("X", "y")),
        (GentleAdaBoostClassifier, ("X", "y", "sample_weight")),
        (LPBoostClassifier, ("X", "y")),
    ],
    ids=["adaboost", "cgada", "adacost", "asymboost", "rows-adacost", "rows-cs", "rows-gentle", "rows-lp"],
)
def test_the_same_bytes_from_any_partition(
    make: Any, read: tuple[str, ...], learner: Any, count: int
) -> None:
    given = {name: values for name, values in rows_of().items() if name in read}
    alone = make(learner, n_estimators=5).fit(**given)
    assert len(alone.estimators_) > 1
    apart = fit_partitioned(make(learner, n_estimators=5), parted(given, count))
    assert learned(apart) == learned(alone)
    assert apart.predict(given["X"]).tolist() == alone.predict(given["X"]).tolist()


@pytest.mark.parametrize("max_bins", [2, 17, 255])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bins_by_cuts_are_those_that_the_cuts_were_found_with(dtype: type, max_bins: int) -> None:
    X = rows_of(dtype=dtype)["X"]
    X[:4, 0] = np.finfo(dtype).max, np.finfo(dtype).min, np.finfo(dtype).tiny, -0.0
    found = BinnedColumns.of(X, np.ones(N), max_bins)
    for rows in (X, np.asfortranarray(X), X[::-1]):
        numbered = BinnedColumns.by_cuts(rows, found.cuts).codes
        assert np.array_equal(numbered, found.codes[:, ::-1] if rows.base is X else found.codes)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("learner", ["stump", TREE], ids=["stump", "tree"])
def test_the_same_bytes_from_any_number_of_threads(learner: Any, n_threads: int) -> None:
    given = rows_of(dtype=np.float32)
    alone = CGAdaClassifier(learner, n_estimators=5).fit(**given)
    threaded = fit_on_threads(CGAdaClassifier(learner, n_estimators=5), Rows(**given), n_threads)
    assert learned(threaded) == learned(alone)


@pytest.mark.parametrize("make", [AdaBoostClassifier, CGAdaClassifier], ids=["votes", "votes-by-cost"])
@pytest.mark.parametrize("learner", ["stump", TREE], ids=["stump", "tree"])
def test_more_classes_than_two(make: Any, learner: Any) -> None:
    given = {name: values for name, values in rows_of(classes=3).items() if name != "sample_weight"}
    booster = make(learner, n_estimators=4)
    assert learned(fit_partitioned(booster, parted(given, 3))) == learned(
        make(learner, n_estimators=4).fit(**given)
    )


def test_each_class_against_the_rest_and_rows_of_float32() -> None:
    given = {name: values for name, values in rows_of(classes=3, dtype=np.float32).items() if name in "Xy"}
    alone = AdaCostClassifier(n_estimators=4).fit(**given)
    assert learned(fit_partitioned(AdaCostClassifier(n_estimators=4), parted(given, 3))) == learned(alone)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighed", [False, True])
def test_cuts_are_those_of_all_rows(dtype: type, weighed: bool) -> None:
    rng = np.random.default_rng(1)
    n = 6000
    columns: list[NDArray[Any]] = [
        rng.normal(size=n),
        np.where(rng.random(n) < 0.01, 1e30, 1.0 + rng.integers(0, 3000, n) * 2.0**-20),
        np.full(n, np.nan),
        np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(3.0, 3.0, n)),
        rng.integers(0, 300, n),
        np.where(np.arange(n) < n / 2, 5.0, -0.0),
    ]
    X = np.column_stack(columns).astype(dtype)
    weights = rng.integers(0, 3, n).astype(np.float64) if weighed else np.ones(n)
    expected = BinnedColumns.of(X, weights, 100)
    for count in (1, 3, 7):
        crew = parted({"X": X, "y": np.arange(n)}, count)
        sizes = tuple(len(told.y) for told in crew.ask("told"))
        cuts = find_cuts(Roster(crew, sizes), X.shape[1], X.dtype, weights, max_bins=100)
        assert [own.tolist() for own in cuts] == [own.tolist() for own in expected.cuts]
        crew.ask("bin", cuts, ())
        codes = np.concatenate([one.columns.codes for one in crew.partitions], axis=1)
        assert np.array_equal(codes, expected.codes)


def test_a_callback_stops_the_fit_and_a_constant_is_warned_of() -> None:
    given = {name: values for name, values in rows_of(n=60).items() if name in "Xy"}
    stopped = fit_partitioned(AdaBoostClassifier(), parted(given, 2), lambda number, *_: number == 3)
    assert (stopped.stop_reason_, len(stopped.estimators_)) == ("cancelled", 3)
    given["X"] = np.zeros_like(given["X"])
    given["y"] = np.arange(60) % 2
    with pytest.warns(UserWarning, match="kept no hypothesis"):
        fit_partitioned(AdaBoostClassifier(), parted(given, 2))


@pytest.mark.parametrize(
    ("booster", "message"),
    [
        (AdaBoostClassifier(early_stopping=3), "early_stopping needs all rows in one place"),
        (AdaBoostClassifier(warm_start=True), "warm_start needs all rows in one place"),
        (AdaBoostClassifier(record=True), "record needs all rows in one place"),
        (AdaBoostClassifier(WeightedSVM()), "stumps and trees only"),
        (AdaBoostClassifier({"name": "stump", "max_bins": 300}), "max_bins must be at most 255"),
        (AdaBoostClassifier(n_estimators=0), "n_estimators"),
        (AdaBoostClassifier(HistogramTree(categorical_features=[0])), "column 0 holds categories"),
    ],
)
def test_what_cannot_be_fitted_says_so(booster: Any, message: str) -> None:
    given = {name: values for name, values in rows_of(n=20).items() if name in "Xy"}
    with pytest.raises(ValueError, match=message):
        fit_partitioned(booster, parted(given, 2))


def test_rows_that_do_not_go_together_are_refused() -> None:
    X, y = np.ones((2, 1)), np.arange(2)
    plain, costly = partial(Rows, X, y), partial(Rows, X, y, sample_cost=y + 1.0)
    other = partial(Rows, X.astype(np.float32), y)
    for pair, message in (((plain, costly), "for all rows or for none"), ((plain, other), "of one type")):
        with pytest.raises(ValueError, match=message):
            Partition(pair)
        with pytest.raises(ValueError, match=message):
            fit_partitioned(AdaBoostClassifier(), Here([Partition([one]) for one in pair]))
    with pytest.raises(ValueError, match="one label for each row"):
        Partition([partial(Rows, X, y[:1])])
    with pytest.raises(ValueError, match="infinity"):
        Partition([partial(Rows, X * np.inf, y)])


def test_a_booster_and_rows_it_has_not_seen_make_a_model() -> None:
    given = {name: values for name, values in rows_of().items() if name in "Xy"}
    kept = rows_of(seed=1)
    table = {name: kept["X"][:, j] for j, name in enumerate("abcd")}
    costs = {"fn": 9.0, "fp": 1.0}
    boosters = [
        CGAdaClassifier(TREE, n_estimators=5, cost_fn=9.0).fit(**given),
        fit_partitioned(CGAdaClassifier(TREE, n_estimators=5, cost_fn=9.0), parted(given, 3)),
    ]
    models = [calibrated(CostSensitiveModel(costs=costs), booster, table, kept["y"]) for booster in boosters]
    assert dump(models[0]) == dump(models[1])
    model, scores = models[0], boosters[0].decision_function(kept["X"])
    assert model.decision_function(table).tolist() == scores.tolist() == model.oof_score_.tolist()
    calibrator = fit_calibrator("auto", scores[:, None], kept["y"], 2, np.ones(N))
    assert np.allclose(model.predict_proba(table), calibrator.probabilities(scores[:, None]), atol=1e-9)
    assert model.priors_.tolist() == [1.0 - kept["y"].mean(), kept["y"].mean()]
    loaded = load(dump(model))
    assert loaded.predict(table).tolist() == model.predict(table).tolist()


def test_a_model_of_other_features_or_classes_is_refused() -> None:
    given = rows_of(n=200)
    X, y = given["X"], given["y"]
    booster = CGAdaClassifier(n_estimators=2).fit(X, y)
    table = {name: X[:, j] for j, name in enumerate("abcd")}
    texts = table | {"a": np.where(X[:, 0] > 0, "up", "down").astype(object)}
    fewer = {name: table[name] for name in "abc"}
    for columns, labels, message in (
        (texts, y, "only numbers, booleans and timestamps can be features here"),
        (fewer, y, "fitted to 4 features, not 3"),
        (table, np.where(y, "yes", "no"), r"fitted to the classes \[0, 1\], not \['no', 'yes'\]"),
    ):
        with pytest.raises(ValueError, match=message):
            calibrated(CostSensitiveModel(costs={"fn": 9.0, "fp": 1.0}), booster, columns, labels)


# On a cluster


def drawn(seed: int) -> Rows:
    """Rows that whoever reads them draws."""
    return Rows(**{name: values for name, values in rows_of(seed).items() if name != "sample_weight"})


def refused() -> Rows:
    raise FileNotFoundError("no such part")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    from distributed import Client, LocalCluster  # noqa: PLC0415  only here

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as one,
    ):
        yield one


class Killer:
    """A callback that kills a worker of the cluster in some round, so many times."""

    def __init__(self, client: Any, times: int) -> None:
        self.client, self.times = client, times

    def __call__(self, number: int, *_: Any) -> None:
        if number == 3 and self.times:
            self.times -= 1
            os.kill(min(self.client.run(os.getpid).values()), signal.SIGKILL)


def fitted_twice(client: Any, learner: Any, killer: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a cluster learns, and what is learned of the same rows here."""
    read = [drawn(seed) for seed in range(3)]
    names = ("X", "y", "sample_cost")
    given = {name: np.concatenate([np.asarray(getattr(rows, name)) for rows in read]) for name in names}
    sources = [partial(drawn, seed) for seed in range(3)]
    client.wait_for_workers(2, timeout=120)
    apart = fit_on_dask(CGAdaClassifier(learner, n_estimators=6), sources, client, killer)
    return learned(apart), learned(CGAdaClassifier(learner, n_estimators=6).fit(**given))


def test_a_cluster_makes_the_same_bytes_though_a_worker_dies(client: Any) -> None:
    killer = Killer(client, times=1)
    apart, alone = fitted_twice(client, "stump", killer)
    assert killer.times == 0
    assert apart == alone


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 4])
def test_any_number_of_workers_makes_the_same_bytes_though_one_dies(tmp_path: Path, count: int) -> None:
    from distributed import Client  # noqa: PLC0415  only here

    read = [drawn(seed) for seed in range(4)]
    names = ("X", "y", "sample_cost")
    given = {name: np.concatenate([np.asarray(getattr(rows, name)) for rows in read]) for name in names}
    sources = [partial(drawn, seed) for seed in range(4)]
    alone = learned(CGAdaClassifier(TREE, n_estimators=6).fit(**given))
    cluster, killed = Cluster(tmp_path), []

    def kill(number: int, *_: Any) -> None:
        if number == 3 and not killed:
            killed.append(number)
            cluster.replace_worker()

    try:
        cluster.scale(count)
        with Client(cluster.address) as client:
            client.wait_for_workers(count, timeout=120)
            for callback in (None, kill):
                booster = CGAdaClassifier(TREE, n_estimators=6)
                assert learned(fit_on_dask(booster, sources, client, callback)) == alone
    finally:
        cluster.close()
    assert killed


@pytest.mark.slow
def test_trees_on_a_cluster_and_what_it_cannot_help(client: Any) -> None:
    for times in (0, 1, 2):
        apart, alone = fitted_twice(client, TREE, Killer(client, times))
        assert apart == alone
    client.wait_for_workers(2, timeout=120)
    sources = [partial(drawn, seed) for seed in range(2)]
    with pytest.raises(WorkerLostError):
        fit_on_dask(CGAdaClassifier(), sources, client, Killer(client, times=1), attempts=1)
    with pytest.raises(FileNotFoundError, match="no such part"):
        fit_on_dask(CGAdaClassifier(), [refused], client)
