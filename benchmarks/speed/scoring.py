"""Scoring in process: one row and batches of them, each method the shortest way it offers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from costboost.model import CostSensitiveModel
from costboost.persistence import dump, load_scorer

from . import draws
from .peers import (
    CATBOOST,
    HISTGB,
    LIGHTGBM,
    SKLEARN,
    XGBOOST,
    answers,
    fits,
    onnx_session,
)
from .results import OURS, Samples, Table, rounded
from .timing import Work, per_call

COLUMNS = 30
TYPED = f"{OURS} Scorer"
#: Rows up to which a method is asked; the others are asked for all.
MOST = {SKLEARN: 1_000, HISTGB: 100_000, CATBOOST: 100_000}


def measure(quick: bool) -> list[Table]:
    """Measure stumps and trees; seconds of one call, over its rows."""
    sizes = (1, 1_000, 100_000) if quick else (1, 1_000, 100_000, 1_000_000)
    X, _ = draws.dense(sizes[-1], COLUMNS, seed=1)
    plans = [(1, 100), (3, 300)] if quick else [(1, 100), (1, 500), (3, 300)]
    cases: dict[str, Samples] = {}
    for depth, rounds in plans:
        models, session, scorer = _fitted(depth, rounds)
        for rows in sizes:
            if depth > 1 and rows > 100_000:
                continue
            works = _works(models, session, scorer, X[:rows])
            seconds = per_call(works, 3)
            cases[_case(depth, rounds, rows)] = {
                name: [1e6 * value / rows for value in values] for name, values in seconds.items()
            }
    note = (
        "costboost: the stored ensemble on a float64 matrix; decision_function: the estimator on a float32 "
        "matrix, with its checks; Scorer: typed columns by name in, probabilities and decisions at the costs "
        "of training out. LightGBM Booster.predict with raw_score, XGBoost inplace_predict, onnxruntime on "
        "the LightGBM model: a float32 matrix in, scores or probabilities out."
    )
    return [Table("scoring", "Scoring in process, 30 columns", "µs of CPU per row", rounded(cases), note)]


def _case(depth: int, rounds: int, rows: int) -> str:
    kind = f"{rounds} stumps" if depth == 1 else f"{rounds} trees of depth {depth}"
    count = {1: "1 row", 1_000: "1k rows", 100_000: "100k rows", 1_000_000: "1M rows"}[rows]
    return f"{kind}, {count}"


def _fitted(depth: int, rounds: int) -> tuple[dict[str, Any], Any, Any]:
    X, y = draws.dense(20_000, COLUMNS)
    every = fits(depth, rounds)
    models = {name: every[name](X, y) for name in (OURS, LIGHTGBM, XGBOOST, HISTGB, CATBOOST)}
    models[SKLEARN] = every[SKLEARN](X[:5_000], y[:5_000])
    whole = CostSensitiveModel(models[OURS], costs={"fn": 50.0, "fp": 1.0}).fit(
        _columns(X[:5_000]), y[:5_000]
    )
    return models, onnx_session(models[LIGHTGBM], COLUMNS), load_scorer(dump(whole))


def _columns(X: Any) -> dict[str, Any]:
    return {
        f"c{column:02d}": np.ascontiguousarray(values, dtype=np.float64) for column, values in enumerate(X.T)
    }


def _works(models: dict[str, Any], session: Any, scorer: Any, X: Any) -> dict[str, Work]:
    columns = _columns(X)
    works: dict[str, Callable[[], Any]] = answers(models, X, session)
    works[TYPED] = lambda: scorer.decide(columns)
    return {name: work for name, work in works.items() if len(X) <= MOST.get(name, len(X))}
