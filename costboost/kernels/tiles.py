"""Tiles of rows, turned into columns that stay in the nearest cache."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

__all__ = ["as_laid_out", "take_tile"]

#: float32 or float64.
Values = NDArray[Any]


@kernel
def take_tile(rows: Values, by_column: bool, begin: int, size: int, columns: Values) -> None:
    """Copy some rows, columns first, in the order in which they lie in memory.

    `rows` is (n, d), or (d, n) if `by_column`; `columns` (d, m) takes `size` of them from `begin` on, m or
    fewer.
    """
    if by_column:
        for j in range(columns.shape[0]):
            source, column = rows[j, begin : begin + size], columns[j]
            for i in range(size):
                column[i] = source[i]
    else:
        for i in range(size):
            for j in range(columns.shape[0]):
                columns[j, i] = rows[begin + i, j]


def as_laid_out(X: Values) -> tuple[Values, bool]:
    """Rows in one of two layouts, and whether it is that of columns: kernels are compiled for few types."""
    rows = X if X.dtype == np.float32 else X.astype(np.float64, copy=False)
    by_column = not rows.flags.c_contiguous and rows.flags.f_contiguous
    rows = np.ascontiguousarray(rows.T if by_column else rows).view()
    rows.flags.writeable = False
    return rows, by_column
