"""Coordinate ascent on the dual of the weighted SVM.

The dual of the problem of eq. (6) and (7) (Lu, Zhang & Zhai 2023) has one variable per row::

    maximise  Σ (b_i − lower_i) − ½ ‖Σ b_i y_i x_i‖²     with  lower_i ≤ b_i ≤ upper_i

where lower = λ1 v and upper = (λ1 + λ2) v. The weights are w = Σ b_i y_i x_i.
"""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel
from costboost.kernels.svm import add_row, dot
from costboost.kernels.svm_cholesky import cholesky_row, solve_lower, solve_upper

__all__ = [
    "ascend_gram",
    "ascend_rows",
    "combine_rows",
    "dual_value",
    "finish_gram",
    "primal_loss",
]


@kernel
def combine_rows(
    rows: NDArray[np.float64], sign: NDArray[np.float64], dual: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Weights of a dual point: w = Σ b_i y_i x_i."""
    out[:] = 0.0
    for i in range(rows.shape[0]):
        if dual[i] != 0.0:
            add_row(out, dual[i] * sign[i], rows[i])


@kernel
def primal_loss(margin: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> float:
    """Second and third term of eq. (6): −Σ lower m + Σ (upper − lower) max(0, 1 − m)."""
    total = 0.0
    for i in range(margin.size):
        total -= lower[i] * margin[i]
        if margin[i] < 1.0:
            total += (upper[i] - lower[i]) * (1.0 - margin[i])
    return total


@kernel
def dual_value(dual: NDArray[np.float64], lower: NDArray[np.float64], norm: float) -> float:
    """Objective of the dual, given ‖w‖² of its weights."""
    total = 0.0
    for i in range(dual.size):
        total += dual[i] - lower[i]
    return total - 0.5 * norm


@kernel
def _shuffle(order: NDArray[np.int64], size: int, state: np.uint64) -> np.uint64:
    """Shuffle the first ``size`` entries by an xorshift generator; return its new state."""
    for k in range(size - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        other = np.int64((state >> np.uint64(11)) % np.uint64(k + 1))
        order[k], order[other] = order[other], order[k]
    return state


@kernel
def _moved(value: float, slope: float, norm: float, lower: float, upper: float) -> float:
    """Maximise over one variable inside its box."""
    if norm > 0.0:
        return min(max(value - slope / norm, lower), upper)
    return upper if slope < 0.0 else lower


@kernel
def _pass_rows(
    rows: NDArray[np.float64],
    sign: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    norms: NDArray[np.float64],
    dual: NDArray[np.float64],
    weights: NDArray[np.float64],
    order: NDArray[np.int64],
    size: int,
    limits: NDArray[np.float64],
) -> int:
    """Visit the active rows once; rows firmly at a bound leave the active set (Hsieh et al. 2008, §3.2).

    ``limits`` holds the smallest and largest slope of the last pass, and receives those of this one.
    """
    lowest, highest = np.inf, -np.inf
    k = 0
    while k < size:
        i = order[k]
        slope = sign[i] * dot(rows[i], weights) - 1.0
        at_lower, at_upper = dual[i] <= lower[i], dual[i] >= upper[i]
        if (at_lower and slope > limits[1]) or (at_upper and slope < limits[0]):
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        k += 1
        if (at_lower and slope >= 0.0) or (at_upper and slope <= 0.0):
            continue
        lowest, highest = min(lowest, slope), max(highest, slope)
        value = _moved(dual[i], slope, norms[i], lower[i], upper[i])
        add_row(weights, (value - dual[i]) * sign[i], rows[i])
        dual[i] = value
    limits[0] = lowest if lowest < 0.0 else -np.inf
    limits[1] = highest if highest > 0.0 else np.inf
    return size


@kernel
def ascend_rows(
    rows: NDArray[np.float64],
    sign: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    norms: NDArray[np.float64],
    dual: NDArray[np.float64],
    weights: NDArray[np.float64],
    order: NDArray[np.int64],
    passes: int,
    state: np.uint64,
) -> np.uint64:
    """Improve the dual point and its weights by passes over the rows in random order."""
    limits = np.array([-np.inf, np.inf])
    size = order.size
    for _ in range(passes):
        state = _shuffle(order, size, state)
        size = _pass_rows(rows, sign, lower, upper, norms, dual, weights, order, size, limits)
    return state


@kernel
def _best_coordinate(
    gram: NDArray[np.float64],
    shift: float,
    sign: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    dual: NDArray[np.float64],
    score: NDArray[np.float64],
) -> int:
    """Row whose own maximum raises the dual most; -1 at the optimum."""
    best, found = 0.0, -1
    for i in range(dual.size):
        slope = sign[i] * score[i] - 1.0
        norm = gram[i, i] + shift
        change = _moved(dual[i], slope, norm, lower[i], upper[i]) - dual[i]
        gain = -change * (slope + 0.5 * norm * change)
        if gain > best:
            best, found = gain, i
    return found


@kernel
def ascend_gram(
    gram: NDArray[np.float64],
    shift: float,
    sign: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    dual: NDArray[np.float64],
    score: NDArray[np.float64],
    steps: int,
) -> int:
    """Improve the dual point and the scores, each step at the most rewarding row; return the steps taken."""
    for step in range(steps):
        i = _best_coordinate(gram, shift, sign, lower, upper, dual, score)
        if i < 0:
            return step
        value = _moved(dual[i], sign[i] * score[i] - 1.0, gram[i, i] + shift, lower[i], upper[i])
        change = (value - dual[i]) * sign[i]
        dual[i] = value
        for j in range(score.size):
            score[j] += change * (gram[i, j] + shift)
    return steps


@kernel
def _factor_free(
    gram: NDArray[np.float64],
    shift: float,
    sign: NDArray[np.float64],
    free: NDArray[np.int64],
    factor: NDArray[np.float64],
) -> int:
    """Cholesky factor of the dual's matrix over the free rows; dependent rows are moved behind the rest."""
    products, size, count = np.empty(free.size), 0, free.size
    while size < count:
        i = free[size]
        for a in range(size):
            products[a] = (gram[i, free[a]] + shift) * sign[i] * sign[free[a]]
        if cholesky_row(factor, size, products, gram[i, i] + shift, 1e-12):
            size += 1
        else:
            count -= 1
            free[size], free[count] = free[count], free[size]
    return size


@kernel
def _share_inside(
    free: NDArray[np.int64],
    step: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    dual: NDArray[np.float64],
) -> float:
    """Largest share of the step that leaves no box."""
    share = 1.0
    for a in range(step.size):
        i = free[a]
        room = upper[i] - dual[i] if step[a] > 0.0 else lower[i] - dual[i]
        if abs(step[a]) * share > abs(room):
            share = room / step[a]
    return share


@kernel
def finish_gram(
    gram: NDArray[np.float64],
    shift: float,
    sign: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    dual: NDArray[np.float64],
    free: NDArray[np.int64],
    score: NDArray[np.float64],
) -> bool:
    """Newton step over the free rows, cut at the first bound it meets; tell whether it was taken whole."""
    factor = np.empty((free.size, free.size))
    size = _factor_free(gram, shift, sign, free, factor)
    gradient, step = np.empty(size), np.empty(size)
    for a in range(size):
        gradient[a] = 1.0 - sign[free[a]] * score[free[a]]
    solve_lower(factor, size, gradient, step)
    solve_upper(factor, size, step)
    share = _share_inside(free, step, lower, upper, dual)
    for a in range(size):
        i = free[a]
        value = min(max(dual[i] + share * step[a], lower[i]), upper[i])
        change = (value - dual[i]) * sign[i]
        dual[i] = value
        for j in range(score.size):
            score[j] += change * (gram[i, j] + shift)
    return share == 1.0
