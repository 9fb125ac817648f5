"""Whole fits on a million rows; for `make bench-full` alone."""

from functools import partial

from . import draws
from .peers import HISTGB, LIGHTGBM, XGBOOST, fits
from .results import OURS, Samples, Table, rounded
from .timing import Work, interleaved
from .training import ROUNDS, SETTINGS, case

ROWS, COLUMNS = 1_000_000, 30


def measure(quick: bool) -> list[Table]:
    """Measure stumps and trees of depth 3."""
    if quick:
        return []
    X, y = draws.dense(ROWS, COLUMNS)
    cases = {case(ROWS, COLUMNS, depth): _samples(X, y, depth) for depth in (1, 3)}
    title = "Training on a million rows, whole fit, 100 rounds"
    return [Table("large", title, "s of CPU", rounded(cases), SETTINGS)]


def _samples(X: draws.Floats32, y: draws.Labels, depth: int) -> Samples:
    works: dict[str, Work] = {}
    for name in (OURS, LIGHTGBM, XGBOOST, HISTGB):
        fits(depth, 3)[name](*draws.dense(2_000, COLUMNS))  # warm
        works[name] = partial(fits(depth, ROUNDS)[name], X, y)
    return interleaved(works, 2)
