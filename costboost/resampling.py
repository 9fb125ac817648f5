"""Sums of rows as chance could have drawn them: what bootstrap intervals are made of."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["resampled_totals"]

_RESAMPLES = 1000
_BLOCKS = 2048


def resampled_totals(rows: NDArray[np.float64], seed: int = 0) -> NDArray[np.float64]:
    """Sums of 1000 bootstrap resamples (Efron & Tibshirani 1993, ch. 13), whatever the order of the rows.

    Above 2048 rows whole blocks of rows, put together at random, are drawn instead of rows: their sums have
    the same variance, and a resample costs the same for any number of rows.

    Parameters
    ----------
    rows : ndarray of shape (n, V)
    seed : int

    Returns
    -------
    ndarray of shape (1000, V)
    """
    rng = np.random.default_rng(seed)
    sums = _blocks(rows, rng)
    n = len(sums)
    drawn = rng.integers(0, n, size=(_RESAMPLES, n)) + n * np.arange(_RESAMPLES)[:, None]
    times = np.bincount(drawn.ravel(), minlength=_RESAMPLES * n).reshape(_RESAMPLES, n)
    # einsum sums in one thread and one order; a threaded product would not.
    totals: NDArray[np.float64] = np.einsum("rb,bv->rv", times.astype(np.float64), sums)
    return totals


def _blocks(rows: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    # Sorted first: which rows share a block must not depend on the order they came in.
    rows = rows[np.lexsort(rows.T)]
    if len(rows) <= _BLOCKS:
        return rows
    starts = np.arange(_BLOCKS) * len(rows) // _BLOCKS
    blocks: NDArray[np.float64] = np.add.reduceat(rows[rng.permutation(len(rows))], starts, axis=0)
    return blocks
