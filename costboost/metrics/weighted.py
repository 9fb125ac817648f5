"""Weights of rows, and sums over them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def total(amounts: NDArray[np.float64]) -> float:
    """Sum rounded once, so that it does not depend on the order of the rows."""
    return math.fsum(amounts.tolist())


def row_weights(y_codes: NDArray[np.intp], sample_weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Weights of the rows, 1 if none are given; some must be positive."""
    weight = np.ones(len(y_codes)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if len(weight) == 0 or not weight.sum() > 0:
        raise ValueError("metrics need at least one row with weight")
    return weight
