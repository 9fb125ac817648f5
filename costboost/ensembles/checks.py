"""Checks that all stored ensembles share: whoever wrote the arrays may be hostile."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "check_finite", "check_indices", "check_lengths"]

#: Larger values are refused, so that no sum overflows.
LARGEST = 1e100


def check_lengths(length: int, **arrays: NDArray[Any]) -> None:
    """Require one dimension and this length of each array.

    Raises
    ------
    ValueError
        Naming the array.
    """
    for name, array in arrays.items():
        if array.shape != (length,):
            raise ValueError(f"{name} must have the shape ({length},)")


def check_finite(most: float = LARGEST, **arrays: NDArray[np.float64]) -> None:
    """Require numbers of at most this magnitude.

    Raises
    ------
    ValueError
        Naming the array.
    """
    for name, array in arrays.items():
        if not (np.abs(array) <= most).all():
            raise ValueError(f"{name} must be finite and at most {most}")


def check_indices(least: int, size: int, **arrays: NDArray[np.int32]) -> None:
    """Require indices in [least, size).

    Raises
    ------
    ValueError
        Naming the array.
    """
    for name, array in arrays.items():
        if array.size and (int(array.min()) < least or int(array.max()) >= size):
            raise ValueError(f"{name} is out of range")
