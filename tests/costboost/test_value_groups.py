"""Columns cut into bins, against slow obvious twins."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from costboost.learners.columns import BinnedColumns
from costboost.learners.value_groups import ColumnValues, floats, group, keys_of_columns

EVEN = np.empty(0, dtype=np.int64)


def columns(width: int) -> st.SearchStrategy[NDArray[Any]]:
    """(n, d) floats of all sizes, denormals, both zeros and NaN among them, many of them equal."""
    elements = st.floats(width=width, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, 5e-45])
    dtype = np.float32 if width == 32 else np.float64
    return hnp.arrays(dtype, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12), elements=elements)


def hostile(kind: str, n: int, dtype: type = np.float64) -> NDArray[Any]:
    rng = np.random.default_rng(0)
    columns: dict[str, NDArray[np.float64]] = {
        "normal": rng.normal(size=n),
        "amounts": rng.lognormal(3.0, 3.0, n),
        "mostly zero": np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(size=n)),
        "huge range": rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-300, 300, n),
        "seconds of a day": 1.6e9 + rng.integers(0, 86_400, n),
        "neighbours": 1e15 + rng.integers(0, 4000, n) / 8.0,
        "two places": np.where(rng.random(n) < 0.01, 1e300, 1.0 + rng.integers(0, 3000, n) * 2.0**-52),
        "some missing": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
        "denormals": rng.integers(0, 5000, n) * 5e-324,
    }
    with np.errstate(over="ignore"):
        column = columns[kind].astype(dtype)
    column[np.isinf(column)] = np.nan
    return column


KINDS = (
    "normal",
    "amounts",
    "mostly zero",
    "huge range",
    "seconds of a day",
    "neighbours",
    "two places",
    "some missing",
    "denormals",
)


@pytest.mark.parametrize("width", [32, 64])
@given(st.data())
def test_keys_are_in_the_order_of_values(width: int, data: st.DataObject) -> None:
    X = data.draw(columns(width))
    for layout in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        for column, keys in zip(X.T, keys_of_columns(layout), strict=True):
            missing = np.isnan(column)
            assert np.array_equal(keys == np.iinfo(keys.dtype).max, missing)
            assert np.array_equal(floats(keys[~missing]), column[~missing])
            order = np.argsort(keys[~missing], kind="stable")
            assert (np.diff(column[~missing][order]) >= 0).all()
            equal = np.diff(column[~missing][order]) == 0
            assert np.array_equal(np.diff(keys[~missing][order]) == 0, equal)


def naive_groups(column: NDArray[Any], masses: NDArray[np.int64]) -> dict[float, int]:
    """Mass of each distinct value, ascending."""
    sums: dict[float, int] = {}
    for value, mass in zip(column.tolist(), masses.tolist(), strict=True):
        if value == value and mass > 0:
            sums[value + 0.0] = sums.get(value + 0.0, 0) + mass
    return dict(sorted(sums.items()))


@pytest.mark.parametrize("width", [32, 64])
@given(st.data())
def test_few_values_are_each_a_group(width: int, data: st.DataObject) -> None:
    X = data.draw(columns(width))
    masses = data.draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 3)))
    for column, keys in zip(X.T, keys_of_columns(X), strict=True):
        values, expected = ColumnValues(keys, masses), naive_groups(column, masses)
        groups = group(values, 2)
        numbers = values.names[groups.places]
        assert groups.masses.tolist() == list(expected.values())
        for value, mass, row in zip(column, masses, values.rows, strict=True):
            counted = mass > 0 and not np.isnan(value)
            assert row == (numbers[list(expected).index(value + 0.0)] if counted else values.absent)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_many_values_are_neighbours_none_too_heavy(kind: str, dtype: type, weighted: bool) -> None:
    column = hostile(kind, 20_000, dtype)
    masses = np.random.default_rng(1).integers(0, 5, column.size) if weighted else EVEN
    counts = masses if weighted else np.ones(column.size, dtype=np.int64)
    (keys,) = keys_of_columns(column[:, None])
    values = ColumnValues(keys, masses)
    groups = group(values, 510)
    numbered = [values.rows == number for number in values.names[groups.places]]
    held = [(column[rows], counts[rows]) for rows in numbered]
    for (own, masses_of_group), mass in zip(held, groups.masses, strict=True):
        assert mass == masses_of_group.sum() > 0
        assert own.min() == own.max() or mass * 510 <= groups.masses.sum()
    assert all(a.max() < b.min() for (a, _), (b, _) in itertools.pairwise(held))
    assert groups.masses.sum() == counts[~np.isnan(column)].sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_a_code_counts_the_cuts_below_a_value(kind: str, dtype: type) -> None:
    column = hostile(kind, 20_000, dtype)
    weights = np.random.default_rng(2).integers(0, 3, column.size).astype(float)
    for given_weights in (np.ones(column.size), weights):
        binned = BinnedColumns.of(column[:, None], given_weights, 255)
        (cuts,) = binned.cuts
        assert (np.diff(cuts) > 0).all()
        assert np.array_equal(cuts.astype(dtype), cuts)  # comparisons in either type agree
        expected = np.where(np.isnan(column), len(cuts) + 1, np.searchsorted(cuts, column))
        assert np.array_equal(binned.codes[0], expected)
        present = np.unique(column[~np.isnan(column) & (given_weights > 0)])
        assert len(cuts) == min(len(present), 255) - 1 or len(present) > 255


def test_a_constant_an_empty_and_a_single_row() -> None:
    X = np.column_stack([np.full(5, 7.0), np.full(5, np.nan)])
    assert [len(c) for c in BinnedColumns.of(X, np.ones(5), 255).cuts] == [0, 0]
    assert BinnedColumns.of(X, np.ones(5), 255).codes.tolist() == [[0] * 5, [1] * 5]
    assert BinnedColumns.of(X[:1], np.ones(1), 255).codes.tolist() == [[0], [1]]


@pytest.mark.parametrize("kind", KINDS)
def test_bins_ignore_the_order_of_rows_and_take_a_weight_for_repetition(kind: str) -> None:
    column = hostile(kind, 6000)
    times = np.random.default_rng(3).integers(0, 4, column.size)
    order = np.random.default_rng(4).permutation(column.size)
    weighed = BinnedColumns.of(column[:, None], times.astype(float), 255).cuts[0]
    shuffled = BinnedColumns.of(column[order, None], times[order].astype(float), 255).cuts[0]
    repeated = BinnedColumns.of(np.repeat(column, times)[:, None], np.ones(times.sum()), 255).cuts[0]
    assert weighed.tolist() == shuffled.tolist() == repeated.tolist()


@example(1024)
@example(1025)
@given(st.integers(256, 3000))
def test_bins_are_about_equal_whatever_the_number_of_values(n: int) -> None:
    X = np.random.default_rng(n).permutation(n).astype(np.float64)[:, None]
    sizes = np.bincount(BinnedColumns.of(X, np.ones(n), 100).codes[0])
    assert len(sizes) == 100
    assert sizes.max() <= 1.1 * n / 100 + 1


def test_more_than_an_octet_of_bins_are_found_by_sorting() -> None:
    X = np.random.default_rng(5).normal(size=(3000, 2))
    X[::7, 0] = np.nan
    weights = np.random.default_rng(6).integers(0, 3, 3000).astype(float)
    binned = BinnedColumns.of(X, weights, 1000)
    for column, cuts, codes in zip(X.T, binned.cuts, binned.codes, strict=True):
        assert 900 < len(cuts) < 1000
        expected = np.where(np.isnan(column), len(cuts) + 1, np.searchsorted(cuts, column))
        assert np.array_equal(codes, expected)


@pytest.mark.parametrize("d", range(1, 10))
def test_columns_are_read_in_blocks_and_none_is_left_out(d: int) -> None:
    X = np.random.default_rng(d).normal(size=(3, d))
    assert [floats(keys).tolist() for keys in keys_of_columns(X)] == X.T.tolist()
