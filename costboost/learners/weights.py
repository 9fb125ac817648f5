"""Row weights as users give them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["read_weights"]


def read_weights(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Check the weights of n rows.

    Parameters
    ----------
    sample_weight : array-like of shape (n,), or None
        None gives each row the weight 1.
    n : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n,), float64

    Raises
    ------
    ValueError
        If the shape differs, a weight is negative or not finite, or all are 0.
    """
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), not {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative")
    if not weights.any():
        raise ValueError("sample_weight must not be all zero")
    return weights
