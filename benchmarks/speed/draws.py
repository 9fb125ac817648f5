"""Data drawn for the benchmarks: float32, 2 % positives, half of the columns heavy-tailed."""

import numpy as np
from numpy.typing import NDArray

Floats32 = NDArray[np.float32]
Labels = NDArray[np.intp]

#: Levels of the categorical columns of `mixed`.
LEVELS = (4, 8, 12, 20, 40, 80, 120, 200)
_POSITIVE = 0.02
_MISSING = 0.05


def dense(rows: int, columns: int, seed: int = 0) -> tuple[Floats32, Labels]:
    """Draw numbers: every second column log-normal, the others normal."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((rows, columns), dtype=np.float32)
    y = _labels(normal, rng)
    normal[:, ::2] = np.exp(normal[:, ::2])
    return normal, y


def skewed(rows: int, columns: int, share: float = 0.9, seed: int = 0) -> tuple[Floats32, Labels]:
    """Draw columns of which a share of the rows is zero, as amounts and flags are."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    X[rng.random((rows, columns), dtype=np.float32) < share] = 0.0
    return X, _labels(X, rng)


def mixed(rows: int, seed: int = 0) -> tuple[Floats32, Labels]:
    """Draw 24 columns: the first 8 are codes of categories, 5 % of the others' cells are missing."""
    rng = np.random.default_rng(seed)
    X, _ = dense(rows, 24, seed)
    effects = np.zeros((rows, len(LEVELS)), dtype=np.float32)
    for column, levels in enumerate(LEVELS):
        codes = rng.integers(0, levels, rows)
        X[:, column] = codes
        effects[:, column] = rng.standard_normal(levels)[codes]
    y = _labels(np.column_stack([effects, np.log(X[:, 8::2]), X[:, 9::2]]), rng)
    holes = rng.random((rows, 16), dtype=np.float32) < _MISSING
    X[:, 8:][holes] = np.nan
    return X, y


def _labels(normal: Floats32, rng: np.random.Generator) -> Labels:
    """The highest 2 % of a sum of ten columns and noise."""
    used = min(10, normal.shape[1])
    noise = rng.standard_normal(len(normal))
    score = normal[:, :used] @ (1.0 / np.arange(1, used + 1)) + noise
    return (score > np.quantile(score, 1.0 - _POSITIVE)).astype(np.intp)
