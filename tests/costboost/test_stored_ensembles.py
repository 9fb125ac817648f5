"""Models over each weak learner as bytes: every algorithm, every kind of ensemble, hostile ones too."""

import functools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost import persistence
from costboost.columns import typed_columns
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix
from costboost.learners.stump import DecisionStump
from costboost.learners.svm import WeightedSVM
from costboost.learners.tree import HistogramTree
from costboost.model import CostSensitiveModel
from costboost.persistence import ArtifactError, dump, load, load_scorer, read_header
from costboost.registry import ALGORITHMS, make
from costboost.splits import Split
from tests.costboost.test_persistence import JUNK, check_behaviour, paths, replaced, table

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*kept no hypothesis:UserWarning", "ignore:.*costs compound over the rounds:UserWarning"
)

LEARNERS: dict[str, Any] = {
    "stump": "stump",
    "tree": {"name": "tree", "max_depth": 2},
    "svm": "svm",
    "rbf": {"name": "svm", "kernel": "rbf", "exact_rows": 20, "nystroem_components": 8},
}
KIND = {"stump": "terms", "tree": "trees", "svm": "planes", "rbf": "expansions"}
THREE = CostSpec.from_matrix(
    CostMatrix.from_matrix([[0, 1, 2], [3, 0, 1], [9, 1, 0]]).matrix, ("a", "b", "c")
)


@functools.lru_cache
def fitted(name: str, learner: str, n_classes: int = 2) -> CostSensitiveModel:
    X, positive = table(90)
    booster = make(name, {"n_estimators": 3, "estimator": LEARNERS[learner]})
    if n_classes == 3:
        y = np.where(positive, "c", np.where(X["amount"] > 20, "b", "a"))
        return CostSensitiveModel(booster, costs=THREE, split=Split(folds=2)).fit(X, y)
    costs = CostSpec.binary(5.0, 1.0, classes=("legit", "fraud"))
    return CostSensitiveModel(booster, costs=costs, split=Split(folds=2)).fit(
        X, np.where(positive, "fraud", "legit")
    )


def assert_survives(model: CostSensitiveModel) -> bytes:
    (X, _), data = table(40, seed=1), dump(model)
    loaded, scorer = load(data), load_scorer(data)
    assert dump(loaded) == data
    before, columns = model.decide(X), typed_columns(X)[0]
    for after in (loaded.decide(X), scorer.decide(columns)):
        assert after.scores.score.tobytes() == before.scores.score.tobytes()
        assert after.scores.probabilities.tobytes() == before.scores.probabilities.tobytes()
        assert after.decisions.decision.tobytes() == before.decisions.decision.tobytes()
    for i in range(5):
        alone = scorer.score({name: values[i : i + 1] for name, values in columns.items()})
        assert alone.score.tobytes() == before.scores.score[i : i + 1].tobytes()
    assert scorer.ensemble.scale == model.scorer().ensemble.scale
    return data


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_over_every_learner_survives(name: str, learner: str) -> None:
    model = fitted(name, learner)
    data = assert_survives(model)
    if model.booster_.estimators_:
        assert read_header(data)["scorer"]["ensemble"]["kind"] == KIND[learner]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", ["cgada", "adamec", "adacost", "penalized"])
def test_three_classes_survive(name: str, learner: str) -> None:
    assert_survives(fitted(name, learner, 3))


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_loaded_model_can_be_fitted_anew(learner: str) -> None:
    X, positive = table(90)
    model = fitted("cgada", learner)
    again = load(dump(model)).fit(X, np.where(positive, "fraud", "legit"))
    assert dump(again) == dump(model)


@pytest.mark.parametrize(
    "estimator",
    [
        None,
        "tree",
        {"name": "svm", "lambda2": 1},
        DecisionStump(max_bins=16),
        HistogramTree(max_depth=2, smoothing=0.5),
        WeightedSVM("poly", degree=2, random_state=np.int64(7)),
    ],
    ids=str,
)
def test_the_weak_learner_comes_back_as_it_was_given(estimator: Any) -> None:
    X, positive = table(60)
    booster = make("adaboost", {"n_estimators": 2, "estimator": estimator})
    loaded = load(dump(CostSensitiveModel(booster, split=Split(folds=2)).fit(X, positive)))
    found = loaded.estimator.estimator
    assert type(found) is type(estimator)
    if hasattr(estimator, "get_params"):
        assert found.get_params() == estimator.get_params()
    else:
        assert found == estimator


def test_a_kernel_computed_by_the_user_is_refused() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 60)), np.arange(60) % 2
    model = CostSensitiveModel(make("adaboost", {"estimator": WeightedSVM("precomputed")}))
    with pytest.raises(ValueError, match="form a square matrix"):
        model.fit(X, y)


@pytest.mark.parametrize("learner", LEARNERS)
def test_serving_needs_numpy_alone(learner: str, tmp_path: Any) -> None:
    (tmp_path / "model").write_bytes(dump(fitted("cgada", learner)))
    code = (
        "import sys, pathlib, numpy as np\n"
        "from costboost import load_scorer\n"
        "scorer = load_scorer(pathlib.Path(sys.argv[1]).read_bytes())\n"
        "row = {'amount': np.array([3.0]), 'speed': np.array([np.nan]), 'new': np.array([1.0]),\n"
        "       'zip': np.array([None], dtype=object)}\n"
        "scorer.decide(row)\n"
        "heavy = {'sklearn', 'numba', 'joblib', 'scipy', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "model")], check=False, timeout=60)
    assert done.returncode == 0


# Hostile bytes with a right digest


CASES = [("cgada", learner, n) for learner in ("tree", "svm", "rbf") for n in (2, 3)]


@settings(max_examples=200)
@given(st.data())
def test_a_forged_header_is_refused_or_sound(data: st.DataObject) -> None:
    header, arrays = persistence._verified(dump(fitted(*data.draw(st.sampled_from(CASES)))))
    inside = data.draw(st.sampled_from([("scorer", "ensemble"), ("model", "booster"), ()]))
    part: Any = functools.reduce(lambda value, key: value[key], inside, header)
    path = data.draw(st.sampled_from([path for path in paths(part) if path]))
    forged = replaced(header, (*inside, *path), data.draw(JUNK | st.sampled_from([*KIND.values(), "poly"])))
    try:
        signed = persistence._signed(forged, arrays)
    except (ValueError, TypeError, OverflowError):  # json cannot write it either
        return
    check_behaviour(signed)


@settings(max_examples=200)
@given(st.data())
def test_forged_arrays_are_refused_or_sound(data: st.DataObject) -> None:
    header, arrays = persistence._verified(dump(fitted(*data.draw(st.sampled_from(CASES)))))
    name = data.draw(st.sampled_from(sorted(arrays)))
    values = arrays[name].copy()
    if data.draw(st.booleans()):
        values = np.resize(values, data.draw(st.integers(0, 2 * len(values))))
    if len(values):
        odd: list[Any] = (
            [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e100, 5e-324, 0.0]
            if values.dtype.kind == "f"
            else [-1, 0, 1, 2**31 - 1, 3, 7, -(2**31)]
        )
        values[data.draw(st.integers(0, len(values) - 1))] = data.draw(st.sampled_from(odd))
    check_behaviour(persistence._signed(header, arrays | {name: values}))


@pytest.mark.parametrize("learner", ["tree", "svm", "rbf"])
def test_arrays_of_another_kind_are_refused(learner: str) -> None:
    header, arrays = persistence._verified(dump(fitted("cgada", learner)))
    for kind in set(KIND.values()) - {KIND[learner]}:
        forged = replaced(header, ("scorer", "ensemble", "kind"), kind)
        for read in (load, load_scorer, read_header):
            with pytest.raises(ArtifactError):
                read(persistence._signed(forged, arrays))
