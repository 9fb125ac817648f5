"""From values to bins: where to cut a column, and how many cuts lie below each value."""

import numpy as np
from numpy.typing import NDArray

from costboost.kernels._jit import kernel

Ints = NDArray[np.int64]


@kernel
def end_bins(masses: Ints, max_bins: int, ends: NDArray[np.bool_]) -> None:
    """Mark the distinct values after which a bin ends, so that bins have about equal mass.

    A value as heavy as a whole bin gets one of its own; what it takes away is shared by the others.
    """
    rest = 0.0
    for mass in masses:
        rest += mass
    heavy = rest / max_bins
    bins_left, current = max_bins, 0.0
    for v in range(masses.size - 1):
        current += masses[v]
        full = current * bins_left >= rest
        before_heavy = masses[v + 1] >= heavy and current * bins_left * 2 >= rest
        if (full or before_heavy) and bins_left > 1:
            ends[v] = True
            rest -= current
            bins_left -= 1
            current = 0.0


@kernel
def count_cuts(values: NDArray[np.float64], cuts: NDArray[np.float64], out: NDArray[np.uint8]) -> None:
    """Count the cuts below each value; `cuts` holds 256 numbers in ascending order, the last one infinite.

    Sixteen comparisons find the block of sixteen cuts, sixteen more the place in it: no branch depends on the
    data, so the compiler makes vector instructions of them.
    """
    last_of_block = cuts[15::16].copy()
    for i in range(values.size):
        value = values[i]
        block = 0
        for k in range(16):
            block += last_of_block[k] < value
        first = 16 * block
        count = first
        for k in range(16):
            count += cuts[first + k] < value
        out[i] = count
