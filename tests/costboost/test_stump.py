"""The stump against its slow twin, and its edges."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from costboost.learners.columns import BinnedColumns
from costboost.learners.stump import DecisionStump
from tests.costboost.naive_stump import naive_stump


@st.composite
def weighted_rows(draw: st.DrawFn, n_classes: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    n = draw(st.integers(n_classes, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.sampled_from([2, 4, 100])), size=(n, draw(st.integers(1, 3)))).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    weights = rng.integers(0, 9, n) / 8.0
    weights[:n_classes] += 1.0
    return X, y, weights


def error_of(stump: DecisionStump, X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any]) -> Fraction:
    wrong = stump.predict(X) != y
    return sum((Fraction(w) for w in weights[wrong]), Fraction(0))


@given(weighted_rows(2))
def test_two_classes_least_error_first_column_lowest_cut(rows: tuple[NDArray[Any], ...]) -> None:
    X, y, weights = rows
    stump = DecisionStump().fit(X, y, weights)
    kept = weights > 0
    expected = naive_stump(X[kept], y[kept], weights[kept])
    assert error_of(stump, X, y, weights) == expected.error
    assert (stump.feature_, stump.cut_) == (expected.column, expected.cut)
    assert (stump.below_, stump.above_) == (expected.below, expected.above)


@given(weighted_rows(3))
def test_three_classes_least_error_first_column_lowest_cut(rows: tuple[NDArray[Any], ...]) -> None:
    X, y, weights = rows
    stump = DecisionStump().fit(X, y, weights)
    kept = weights > 0
    expected = naive_stump(X[kept], y[kept], weights[kept], n_classes=3)
    assert error_of(stump, X, y, weights) == expected.error
    assert (stump.feature_, stump.cut_) == (expected.column, expected.cut)


@given(weighted_rows(2))
def test_the_order_of_rows_does_not_matter(rows: tuple[NDArray[Any], ...]) -> None:
    X, y, weights = rows
    one, other = DecisionStump().fit(X, y, weights), DecisionStump().fit(X[::-1], y[::-1], weights[::-1])
    assert vars(one).keys() == vars(other).keys()
    assert [one.feature_, one.cut_, one.below_, one.above_, one.missing_] == [
        other.feature_,
        other.cut_,
        other.below_,
        other.above_,
        other.missing_,
    ]


def test_weights_of_any_size_give_the_same_stump() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    weights = np.array([1.0, 3.0, 2.0, 5.0])
    for factor in (1e-300, 1e-9, 1.0, 7.0, 1e300):
        stump = DecisionStump().fit(X, y, weights * factor)
        assert (stump.cut_, stump.above_) == (0.5, 1)


def test_missing_values_go_to_the_side_that_lowers_the_error() -> None:
    X = np.array([[0.0], [1.0], [5.0], [6.0], [np.nan], [np.nan], [np.nan]])
    for missing in (0, 1):
        y = np.array([0, 0, 1, 1, missing, missing, 1 - missing])
        stump = DecisionStump().fit(X, y)
        assert (stump.cut_, stump.missing_) == (3.0, missing)
        assert stump.predict([[np.nan]]).tolist() == [missing]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_missing_values_never_seen_go_to_the_heavier_side(n_classes: int) -> None:
    y = np.array([0, 0, 0, 1, 1, n_classes - 1])
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    assert DecisionStump().fit(X, y, [2, 2, 2, 1, 1, 1]).missing_ == 0
    assert DecisionStump().fit(X, y, [1, 1, 1, 2, 2, 2]).missing_ == 1


def test_a_column_that_is_present_or_missing_can_be_told_apart() -> None:
    stump = DecisionStump().fit([[4.0], [4.0], [np.nan], [np.nan]], [0, 0, 1, 1])
    assert stump.cut_ == -math.inf
    assert stump.predict([[4.0], [np.nan], [-7.0]]).tolist() == [0, 1, 0]


def test_constant_duplicate_and_missing_columns_are_harmless() -> None:
    signal = np.array([1.0, 2.0, 3.0, 4.0])
    X = np.column_stack([np.full(4, 7.0), np.full(4, np.nan), signal, signal])
    stump = DecisionStump().fit(X, [0, 0, 1, 1])
    assert (stump.feature_, stump.cut_) == (2, 2.5)


def test_large_amounts_keep_their_cuts_in_double_precision() -> None:
    X = np.array([[1e12], [1e12 + 1], [1e12 + 2], [1e12 + 3]])
    assert DecisionStump().fit(X, [0, 0, 1, 1]).cut_ == 1e12 + 1.5


def test_between_neighbouring_floats_the_cut_is_the_lower_one() -> None:
    low = 1.0
    high = np.nextafter(low, 2.0)
    stump = DecisionStump().fit([[low], [high]], [0, 1])
    assert stump.cut_ == low
    assert stump.predict([[low], [high]]).tolist() == [0, 1]
    assert DecisionStump().fit([[-1.7e308], [1.7e308]], [0, 1]).cut_ == 0.0


def test_up_to_255_distinct_values_all_midpoints_are_cuts() -> None:
    X = np.arange(255.0)[:, None]
    weights = np.ones(255)
    assert BinnedColumns.of(X, weights, 255).cuts[0].tolist() == (np.arange(254.0) + 0.5).tolist()
    assert BinnedColumns.of(X, weights, 255).codes.dtype == np.uint8


@pytest.mark.parametrize("max_bins", [2, 7, 255, 300])
def test_more_values_are_cut_into_bins_of_about_equal_weight(max_bins: int) -> None:
    X = np.random.default_rng(0).lognormal(size=(5000, 1))
    columns = BinnedColumns.of(X, np.ones(5000), max_bins)
    sizes = np.bincount(columns.codes[0])
    assert len(sizes) == max_bins
    assert sizes.max() <= 1.05 * 5000 / max_bins + 1
    # A code counts the cuts below its value.
    assert np.array_equal(columns.codes[0], (columns.cuts[0] < X).sum(axis=1))


def test_a_heavy_value_takes_one_bin_and_leaves_the_rest_to_the_others() -> None:
    amounts = np.random.default_rng(1).lognormal(size=1000)
    X = np.concatenate([np.zeros(9000), amounts])[:, None]
    columns = BinnedColumns.of(X, np.ones(10_000), 255)
    sizes = np.bincount(columns.codes[0])
    assert sizes[0] == 9000
    assert len(sizes) == 255
    assert sizes[1:].max() <= 8


def test_exact_cuts_find_what_bins_cannot() -> None:
    X = np.arange(1000.0)[:, None]
    y = (np.arange(1000) > 500).astype(int)
    assert DecisionStump(max_bins=None).fit(X, y).cut_ == 500.5
    assert DecisionStump(max_bins=4).fit(X, y).cut_ != 500.5


def test_weights_move_the_bins_and_rows_of_weight_zero_make_none() -> None:
    X = np.arange(1000.0)[:, None]
    weights = np.where(np.arange(1000) < 900, 0.0, 1.0)
    cuts = BinnedColumns.of(X, weights, 10).cuts[0]
    assert cuts.min() > 900
    heavy = BinnedColumns.of(X, np.where(np.arange(1000) < 100, 50.0, 1.0), 10).cuts[0]
    assert (heavy < 100).sum() >= 7


def test_missing_values_are_numbered_after_the_last_bin() -> None:
    X = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 0.0]])
    columns = BinnedColumns.of(X, np.ones(3), 255)
    assert columns.codes.tolist() == [[0, 2, 1], [1, 1, 0]]
    assert columns.starts.tolist() == [0, 3, 5]


def test_predictions_are_labels_of_y() -> None:
    stump = DecisionStump().fit([[0.0], [1.0]], ["b", "a"])
    assert stump.classes_.tolist() == ["a", "b"]
    assert stump.predict([[0.0], [1.0]]).tolist() == ["b", "a"]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "must have shape"),
        ([-1.0, 1.0], "not negative"),
        ([np.nan, 1.0], "finite"),
        ([0.0, 0.0], "all zero"),
    ],
)
def test_unusable_weights_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DecisionStump().fit([[0.0], [1.0]], [0, 1], weights)


def test_infinite_values_and_wrong_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="infinity"):
        DecisionStump().fit([[np.inf], [1.0]], [0, 1])
    with pytest.raises(
        ValueError, match="DecisionStump: max_bins must be an integer at least 2 and at most 65535, or null"
    ):
        DecisionStump(max_bins=1).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(NotFittedError):
        DecisionStump().predict([[0.0]])
