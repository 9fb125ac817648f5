"""Whole fits: 100 rounds, a float32 matrix in, a model out."""

import json
import subprocess
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from . import draws, environments
from .peers import CATBOOST, EBM, HISTGB, LIGHTGBM, SKLEARN, XGBOOST, fit_ours, fits
from .results import OURS, Samples, Table, rounded
from .timing import Work, interleaved

ROUNDS = 100
FAST = (OURS, LIGHTGBM, XGBOOST, HISTGB, CATBOOST)
IMBENS = "imbalanced-ensemble AdaCost"
#: How the peers are set, in words.
SETTINGS = (
    "LightGBM has num_leaves=2 or 8, XGBoost tree_method=hist on a QuantileDMatrix, HistGB no "
    "sample_weight, EBM no interactions, one bag and 100 rounds of all columns. Stumps of Costboost "
    "minimise the weighted error, those of the gradient boosters the log-loss: the same amount of work, "
    "not the same model."
)
#: Rounds of scikit-learn's AdaBoost that stand for all of them on larger tables.
FEW = 5


def measure(quick: bool) -> list[Table]:
    """Measure all there is about training time."""
    _warm_up()
    return [_whole_fits(quick), _rounds(quick), _ada_cost(quick), _mixed(quick), _skewed(quick)]


def _warm_up() -> None:
    X, y = draws.dense(2_000, 6)
    for depth in (1, 3):
        for name, fit in fits(depth, 3).items():
            if name != EBM:
                fit(X, y)
    X, y = draws.mixed(2_000)
    for name in (OURS, LIGHTGBM, XGBOOST, HISTGB):
        fits(1, 3, range(8))[name](X, y)
    fit_ours("adacost", X, y, 1, 3)


def _whole_fits(quick: bool) -> Table:
    cases: dict[str, Samples] = {}
    plan: list[tuple[int, int, int, tuple[str, ...], int]] = [
        (10_000, 16, 1, (*FAST, SKLEARN), 3 if quick else 5),
        (100_000, 30, 1, FAST, 3),
        (100_000, 30, 3, FAST, 3),
    ]
    for rows, columns, depth, methods, repeats in plan:
        X, y = draws.dense(rows, columns)
        every = fits(depth, ROUNDS)
        works: dict[str, Work] = {name: partial(every[name], X, y) for name in methods}
        cases[case(rows, columns, depth)] = interleaved(works, repeats)
        if (rows, depth) == (100_000, 1) and not quick:
            # Once: it takes as long as all the others together.
            cases[case(rows, columns, depth)] |= interleaved({EBM: partial(every[EBM], X, y)}, 1)
    return Table("fit", "Training, whole fit, 100 rounds", "s of CPU", rounded(cases), SETTINGS)


def case(rows: int, columns: int, depth: int) -> str:
    """Name a case.

    Examples
    --------
    >>> case(1_000_000, 30, 1)
    '1M × 30, stumps'
    """
    count = f"{rows // 1_000_000}M" if rows >= 1_000_000 else f"{rows // 1_000}k"
    return f"{count} × {columns}, {'stumps' if depth == 1 else f'depth {depth}'}"


def _rounds(quick: bool) -> Table:
    """One round on a larger table, for scikit-learn from few rounds."""
    cases: dict[str, Samples] = {}
    X, y = draws.dense(100_000, 30)
    for depth in (1,) if quick else (1, 3):
        works: dict[str, Work] = {
            OURS: partial(fits(depth, ROUNDS)[OURS], X, y),
            SKLEARN: partial(fits(depth, FEW)[SKLEARN], X, y),
        }
        seconds = interleaved(works, 2)
        rounds = {OURS: ROUNDS, SKLEARN: FEW}
        cases[case(100_000, 30, depth)] = {
            name: [1e3 * value / rounds[name] for value in values] for name, values in seconds.items()
        }
    note = f"Costboost: a whole fit of {ROUNDS} rounds, over {ROUNDS}; scikit-learn: of {FEW}, over {FEW}."
    return Table("round", "Training, one round beside scikit-learn", "ms of CPU", rounded(cases), note)


def _ada_cost(quick: bool) -> Table:
    """AdaCost beside that of imbalanced-ensemble, which needs an environment of its own."""
    X, y = draws.dense(10_000, 16)
    python = environments.python_of("imbalanced-ensemble")
    samples: Samples = {name: [] for name in ((OURS, IMBENS) if python else (OURS,))}
    with TemporaryDirectory() as folder:
        table = Path(folder, "table.npz")
        np.savez(table, X=X, y=y)
        for _ in range(2 if quick else 3):
            ours: dict[str, Work] = {OURS: partial(fit_ours, "adacost", X, y, 1, ROUNDS, cost_fn=10.0)}
            samples[OURS] += interleaved(ours, 1)[OURS]
            if python:
                samples[IMBENS].append(_seconds_of_imbens(python, table))
    note = "In turn, each in its own process: imbalanced-ensemble needs an older scikit-learn."
    cases = {case(10_000, 16, 1): samples}
    return Table("adacost", "AdaCost, 100 rounds", "s of CPU", rounded(cases), note)


def _seconds_of_imbens(python: Path, table: Path) -> float:
    script = Path(__file__).with_name("imbens_fit.py")
    done = subprocess.run([python, script, table, str(ROUNDS)], capture_output=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def _mixed(quick: bool) -> Table:
    """Categories and missing values, beside numbers alone."""
    rows = 20_000 if quick else 100_000
    tables: dict[str, tuple[Any, Any, Any]] = {
        "24 columns, 8 of categories, 5 % missing": (*draws.mixed(rows), range(8)),
        "24 columns of numbers": (*draws.dense(rows, 24), ()),
    }
    # One after the other in each turn, so that the two rows of the table compare as well.
    works: dict[str, Work] = {}
    for title, (X, y, categories) in tables.items():
        every = fits(1, ROUNDS, categories)
        works |= {f"{title}|{name}": partial(every[name], X, y) for name in (OURS, LIGHTGBM, XGBOOST, HISTGB)}
    cases: dict[str, Samples] = {title: {} for title in tables}
    for name, values in interleaved(works, 3).items():
        title, _, method = name.partition("|")
        cases[title][method] = values
    note = "Categories are parted by subsets; Costboost does so in trees of depth 1."
    size = f"{rows // 1000}k rows"
    return Table("mixed", f"Training on categories and holes, {size}", "s of CPU", rounded(cases), note)


def _skewed(quick: bool) -> Table:
    """One round where most rows share a bin, beside columns without such a bin: 110 rounds less 10."""
    rows = 100_000 if quick else 300_000
    works: dict[str, Work] = {}
    for title, (X, y) in {
        "90 % in one bin": draws.skewed(rows, 30),
        "uniform": draws.dense(rows, 30),
    }.items():
        for method in (OURS, LIGHTGBM):
            for rounds in (10, 110):
                works[f"{title}|{method}|{rounds}"] = partial(fits(1, rounds)[method], X, y)
    seconds = interleaved(works, 2)
    cases: dict[str, Samples] = {"90 % in one bin": {}, "uniform": {}}
    for title, samples in cases.items():
        for method in (OURS, LIGHTGBM):
            long, short = (seconds[f"{title}|{method}|{rounds}"] for rounds in (110, 10))
            samples[method] = [10.0 * (one - other) for one, other in zip(long, short, strict=True)]
    title = f"One round where nine of ten rows share a bin, {rows // 1000}k × 30, stumps"
    note = "110 rounds less 10, over 100."
    return Table("skewed", title, "ms of CPU", rounded(cases), note)
