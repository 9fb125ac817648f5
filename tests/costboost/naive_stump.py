"""The slow twin of the stump search: every column, cut and side of missing values, in exact fractions."""

import itertools
import math
from fractions import Fraction
from typing import Any, NamedTuple

from numpy.typing import NDArray


class NaiveStump(NamedTuple):
    """Error (weight got wrong), column, cut, and classes named below, above and for missing values."""

    error: Fraction
    column: int
    cut: float
    below: int
    above: int
    missing: int


def midpoints(values: NDArray[Any]) -> list[float]:
    distinct = sorted({float(v) for v in values if not math.isnan(v)})
    return [(a + b) / 2 for a, b in itertools.pairwise(distinct)]


def naive_stump(X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any], n_classes: int = 2) -> NaiveStump:
    """First stump of least error in the order column, cut, class above, class of missing values."""
    candidates = [
        NaiveStump(_error(X[:, j], y, weights, cut, sides), j, cut, *sides)
        for j in range(X.shape[1])
        for cut in [-math.inf, *midpoints(X[:, j])]
        for sides in _sides(n_classes)
    ]
    return min(candidates, key=lambda stump: stump.error)


def _sides(n_classes: int) -> list[tuple[int, int, int]]:
    if n_classes == 2:
        return [(1 - above, above, missing) for above in (1, 0) for missing in (1, 0)]
    return [(b, a, m) for a, b, m in itertools.product(range(n_classes), repeat=3)]


def _error(
    column: NDArray[Any], y: NDArray[Any], weights: NDArray[Any], cut: float, sides: tuple[int, int, int]
) -> Fraction:
    below, above, missing = sides
    told = [missing if math.isnan(v) else above if v > cut else below for v in column]
    return sum((Fraction(w) for w, t, k in zip(weights, told, y, strict=True) if t != k), Fraction(0))
