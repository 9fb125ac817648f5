"""Loss and slopes of logistic regression on numbers and levels of categories, added up in one fixed order."""

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

# ruff: noqa: PLR0917 - a kernel takes its arrays one by one

import math

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

Floats = NDArray[np.float64]


@kernel
def logistic_slopes(
    numbers: Floats,
    levels: NDArray[np.int32],
    labels: Floats,
    weights: Floats,
    theta: Floats,
    slopes: Floats,
) -> float:
    """Weighted log loss of ``theta`` and its derivatives, into `slopes`.

    ``theta`` holds the constant, one factor per column of `numbers` of shape (n, a), and what levels add;
    `levels` of shape (n, c) holds their places in it, -1 for none.
    """
    n, a = numbers.shape
    c = levels.shape[1]
    slopes[:] = 0.0
    loss = 0.0
    for i in range(n):
        score = theta[0]
        for j in range(a):
            score += theta[1 + j] * numbers[i, j]
        for j in range(c):
            if levels[i, j] >= 0:
                score += theta[levels[i, j]]
        small = math.exp(-abs(score))
        p = (1.0 if score >= 0 else small) / (1.0 + small)
        ahead = score if labels[i] > 0 else -score
        loss += weights[i] * (max(-ahead, 0.0) + math.log1p(small))
        pull = weights[i] * (p - labels[i])
        slopes[0] += pull
        for j in range(a):
            slopes[1 + j] += pull * numbers[i, j]
        for j in range(c):
            if levels[i, j] >= 0:
                slopes[levels[i, j]] += pull
    return loss
