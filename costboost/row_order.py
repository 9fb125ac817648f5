"""An order of rows that their contents determine, and permutations that no release of numpy changes."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Rows: TypeAlias = NDArray[np.intp]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def canonical_order(
    X: NDArray[np.float64] | Mapping[str, NDArray[Any]],
    label_rank: NDArray[np.integer[Any]],
    *extra: NDArray[Any],
) -> Rows:
    """Order rows by what they contain.

    The key is a 64-bit hash of the row, ties are broken by the label and then by the extra columns, so that
    weights or costs in another unit change nothing. -0.0 counts as 0.0, and all missing values as one.

    Parameters
    ----------
    X : ndarray of shape (n, d), float64, or mapping of column name to array of shape (n,)
        Columns of a mapping (numbers, or objects such as text and None) are taken by name.
    label_rank : ndarray of shape (n,), int
    *extra : ndarrays of shape (n,)
        Numbers or text: weights, costs, groups, times.

    Returns
    -------
    ndarray of shape (n,), intp
        A permutation; rows that are equal in everything keep their order.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, np.nan]])
    >>> order = canonical_order(X, np.array([0, 1, 0]))
    >>> again = canonical_order(X[::-1], np.array([0, 1, 0]))
    >>> np.array_equal(X[order], X[::-1][again], equal_nan=True)
    True
    """
    key = _keys(X, len(label_rank))
    ties = [column if column.dtype.kind != "O" else bits_of(column) for column in map(np.asarray, extra)]
    return np.lexsort((*reversed(ties), label_rank, key))


def lots(X: Mapping[str, NDArray[Any]], n: int, seed: int) -> NDArray[np.float64]:
    """Draw a number in [0, 1) for each row, by what it contains: rows that are alike draw the same.

    Parameters
    ----------
    X : mapping of column name to array of shape (n,)
    n, seed : int

    Examples
    --------
    >>> drawn = lots({"a": np.array([1.0, 2.0, 1.0])}, 3, seed=0)
    >>> drawn[0] == drawn[2] != drawn[1]
    np.True_
    """
    start = _mix(np.array([seed % 2**64], dtype=np.uint64))
    numbers: NDArray[np.float64] = np.ldexp(
        (_mix(_keys(X, n) ^ start) >> np.uint64(11)).astype(np.float64), -53
    )
    return numbers


def _keys(X: NDArray[np.float64] | Mapping[str, NDArray[Any]], n: int) -> NDArray[np.uint64]:
    """64 bits that the contents of each row determine."""
    key = np.full(n, _GOLDEN, dtype=np.uint64)
    for column in _columns(X):
        key = _mix((key ^ bits_of(column)) + _GOLDEN)
    return key


def _columns(X: NDArray[np.float64] | Mapping[str, NDArray[Any]]) -> Iterator[NDArray[Any]]:
    if isinstance(X, Mapping):
        for name in sorted(X):
            yield np.asarray(X[name])
    else:
        yield from X.T


def bits_of(column: NDArray[Any]) -> NDArray[np.uint64]:
    """64 bits per value; equal values have equal bits."""
    if column.dtype.kind in "OUST":
        values = column.tolist()
        bits = {value: _text_bits(value) for value in set(values)}
        return np.fromiter((bits[value] for value in values), dtype=np.uint64, count=len(values))
    numbers = column.astype(np.float64) + 0.0  # -0.0 + 0.0 is 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


def _text_bits(value: object) -> int:
    # The first letter keeps a missing value apart from the text "None".
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    text = "n" if missing else f"s{value}"
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64 bits (the finaliser of splitmix64: Steele, Lea & Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def permutation(n: int, seed: int) -> Rows:
    """Permute 0..n-1; unlike a generator's stream this is the same in every release of numpy."""
    start = _mix(np.array([seed % 2**64], dtype=np.uint64))
    return np.argsort(_mix(start + _GOLDEN * np.arange(1, n + 1, dtype=np.uint64)), kind="stable")
