"""Compiled kernels are kept on disk, found again, and never needed to be kept."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from costboost import warming
from costboost.kernels import _jit
from costboost.kernels.elementary import exp_array
from costboost.model import CostSensitiveModel
from costboost.registry import ALGORITHMS, make

USE_ONE = (
    "import numpy as np\n"
    "from costboost.kernels import _jit\n"
    "from costboost.kernels.elementary import exp_array\n"
    "try:\n"
    "    with _jit.without_compiling(): exp_array(np.ones(2))\n"
    "except _jit.NotKeptError as error: print(error)\n"
    "exp_array(np.ones(2))\n"
    "print(_jit.compiled_kernels())\n"
)


def after(code: str, **environment: str) -> list[str]:
    """What a new process prints, line by line."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return done.stdout.splitlines()


def test_a_kernel_is_compiled_once_and_kept_where_it_is_told(tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    assert after(USE_ONE, NUMBA_CACHE_DIR=folder) == ["_exp_values is not compiled", "1"]
    assert after(USE_ONE, NUMBA_CACHE_DIR=folder) == ["0"]


def test_a_folder_that_cannot_be_written_costs_time_and_nothing_else() -> None:
    assert after(USE_ONE, NUMBA_CACHE_DIR="/dev/null/kept") == ["_exp_values is not compiled", "1"]


def test_damaged_files_are_compiled_anew(tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    after(USE_ONE, NUMBA_CACHE_DIR=folder)
    for path in tmp_path.rglob("*.nb[ic]"):
        path.write_bytes(path.read_bytes()[: 40 if path.suffix == ".nbc" else None])
    assert after(USE_ONE, NUMBA_CACHE_DIR=folder) == ["_exp_values is not compiled", "1"]
    assert after(USE_ONE, NUMBA_CACHE_DIR=folder) == ["0"]


def test_what_is_warm_compiles_nothing() -> None:
    warming.warm()
    assert warming.warm() == 0
    assert warming.is_warm()
    with _jit.without_compiling():
        exp_array(np.ones(3))


def test_the_folder_is_the_one_of_the_package_where_that_can_be_written() -> None:
    beside = Path(_jit.__file__).parent / "__pycache__"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    assert warming.kernel_folder() == (Path(chosen) if chosen else beside)


@pytest.mark.slow
def test_every_algorithm_fits_with_the_kernels_of_a_warm_folder(tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    assert after("from costboost import warming; print(warming.is_warm())", NUMBA_CACHE_DIR=folder) == [
        "False"
    ]
    [compiled] = after("from costboost import warming; print(warming.warm())", NUMBA_CACHE_DIR=folder)
    assert int(compiled) > 20
    fit_all = "from tests.costboost.test_warming import fit_all; fit_all()"
    assert after(fit_all, NUMBA_CACHE_DIR=folder) == ["0"]


def fit_all() -> None:
    """Fit every algorithm over stumps and trees; print how many kernels had to be compiled."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    table = {"x": x[:, 0], "y": np.where(x[:, 1] > 1, np.nan, x[:, 1]), "kind": np.array(list("abcd") * 100)}
    warnings.simplefilter("ignore")
    for name in ALGORITHMS:
        for learner in ("stump", "tree"):
            for y in (x[:, 0] > rng.normal(size=400), np.digitize(x[:, 0], [-0.5, 0.5])):
                booster = make(name, {"n_estimators": 3, "estimator": learner})
                CostSensitiveModel(booster).fit(table, y).decide(table)
                clean = booster.fit(x, y)
                clean.decision_function(x.astype(np.float32))
                list(clean.staged_predict(x))
    print(_jit.compiled_kernels())
