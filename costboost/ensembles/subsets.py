"""Subsets of the codes of a category, as bits: which codes go above at a node of a tree.

Codes are the whole numbers from 0 to 254. Every other value, as of a category that has no code, has the one
place 255, so that a subset decides for all values.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CODES", "PLACES", "WORDS", "pack", "place", "places", "unpack"]

#: Codes a column may have, and places of a subset.
CODES, PLACES = 255, 256
#: Integers of 32 bits that hold a subset.
WORDS = PLACES // 32


def place(value: float) -> int:
    """Place of a present value, its fraction cut off."""
    return int(value) if 0.0 <= value < CODES else CODES


def places(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Place of each value; the last one for a missing value."""
    return np.where((values >= 0.0) & (values < CODES), values, CODES).astype(np.intp)


def pack(subsets: NDArray[np.bool_]) -> NDArray[np.int32]:
    """(S, 256) truths as (8 · S,) integers: place p is bit p mod 32 of word p // 32."""
    octets: NDArray[Any] = np.packbits(subsets, axis=-1, bitorder="little")
    return octets.reshape(-1).view("<i4").astype(np.int32)


def unpack(words: NDArray[np.int32]) -> NDArray[np.bool_]:
    """(S, 256) truths of (8 · S,) integers."""
    octets: NDArray[Any] = words.astype("<i4").view(np.uint8)
    return np.unpackbits(octets.reshape(-1, PLACES // 8), axis=1, bitorder="little").astype(np.bool_)
