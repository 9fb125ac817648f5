"""A model has the same bytes wherever and beside whatever it is trained, and training starts no threads."""

import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from costboost.model import CostSensitiveModel
from costboost.persistence import dump
from costboost.registry import make
from costboost.splits import Split

LEARNERS = ("stump", {"name": "tree", "max_depth": 3}, {"name": "svm", "max_iter": 20})
ROWS = 9_000  # more than a tile of the kernels that go through rows tile by tile


def trained(learner: object = "stump", name: str = "adaboost", rows: int = ROWS) -> bytes:
    """The artifact of a model on drawn rows."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(rows, 3))
    y = numbers[:, 0] + rng.normal(size=rows) > 1.0
    table = {
        "amount": np.where(rng.random(rows) < 0.8, 0.0, numbers[:, 1]),
        "age": np.where(rng.random(rows) < 0.05, np.nan, numbers[:, 0]),
        "kind": np.array(list("abcd"))[rng.integers(0, 4, rows)],
    }
    booster = make(name, {"estimator": learner, "n_estimators": 8})
    model = CostSensitiveModel(booster, costs={"fn": 9.0, "fp": 1.0}, split=Split(folds=2), random_state=0)
    return dump(model.fit(table, y))


@pytest.mark.parametrize("learner", LEARNERS, ids=["stump", "tree", "svm"])
def test_fits_after_one_another_and_two_at_once_have_the_same_bytes(learner: object) -> None:
    rows = 600 if "svm" in str(learner) else ROWS
    expected = trained(learner, rows=rows)
    with ThreadPoolExecutor(2) as pool:
        at_once = [pool.submit(trained, learner, rows=rows) for _ in range(2)]
        assert [one.result() for one in at_once] == [expected] * 2
    assert trained(learner, rows=rows) == expected


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_other_processes_make_the_same_bytes(method: str) -> None:
    expected = [trained(learner, "adacost") for learner in LEARNERS[:2]]  # a fork follows a fit
    with multiprocessing.get_context(method).Pool(1) as pool:
        made = [pool.apply_async(trained, (learner, "adacost")) for learner in LEARNERS[:2]]
        assert [one.get(timeout=240) for one in made] == expected


def test_training_starts_no_thread() -> None:
    before = threading.active_count(), len(list(Path("/proc/self/task").glob("*")))
    for learner in LEARNERS[:2]:
        trained(learner)
    # Threads that other tests left may have ended meanwhile.
    assert threading.active_count() <= before[0]
    assert len(list(Path("/proc/self/task").glob("*"))) <= before[1]
    parallel = sys.modules.get("numba.np.ufunc.parallel")
    assert parallel is None or not parallel._is_initialized
