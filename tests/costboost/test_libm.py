"""exp and log: to the bit the C library's, whatever the size of the array."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost import libm

SIZES = [0, 1, 2, 511, 512, 513, 2000]


def _numbers(size: int, low: float, high: float) -> np.ndarray:
    return np.random.default_rng(size).uniform(low, high, size)


@pytest.mark.parametrize("size", SIZES)
def test_exp_equals_the_scalar_function_to_the_bit(size):
    x = _numbers(size, -750.0, 709.0)
    assert libm.exp(x).tolist() == [math.exp(value) for value in x]


@pytest.mark.parametrize("size", SIZES)
def test_log_equals_the_scalar_function_to_the_bit(size):
    x = np.exp2(_numbers(size, -1074.0, 1023.0))
    assert libm.log(x).tolist() == [math.log(value) for value in x]


@pytest.mark.parametrize("size", [1, 1000])
def test_edges_are_numbers_or_infinite_and_never_a_warning(size):
    def of(function, value):
        return function(np.full(size, value))[-1]

    assert of(libm.exp, 709.7827128933841) == math.inf
    assert of(libm.exp, -math.inf) == 0.0
    assert math.isnan(of(libm.exp, math.nan))
    assert of(libm.log, 0.0) == -math.inf
    assert of(libm.log, -0.0) == -math.inf
    assert of(libm.log, math.inf) == math.inf
    assert math.isnan(of(libm.log, -1.0))
    assert math.isnan(of(libm.log, math.nan))


@pytest.mark.parametrize("function", [libm.exp, libm.log, libm.sigmoid, libm.log_odds])
def test_a_value_alone_equals_the_same_value_among_many(function):
    x = _numbers(3000, 0.0, 1.0)
    assert [function(value).item() for value in x[::100]] == function(x)[::100].tolist()


@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (30, 40)])
def test_the_shape_stays(shape):
    assert libm.exp(np.zeros(shape)).shape == shape
    assert libm.log(np.ones(shape)).shape == shape
    assert libm.sigmoid(np.ones(shape)).shape == shape


def test_views_and_integers_are_taken():
    x = np.arange(2000)
    assert libm.exp(-x[::2]).tolist() == [math.exp(-value) for value in range(0, 2000, 2)]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_sigmoid_lies_in_the_unit_interval_and_is_symmetric(x):
    p = libm.sigmoid(x).item()
    assert 0.0 <= p <= 1.0
    assert p + libm.sigmoid(-x).item() == pytest.approx(1.0, abs=1e-15)


@given(st.floats(-30, 30), st.floats(-30, 30))
def test_sigmoid_never_falls(a, b):
    low, high = libm.sigmoid(sorted([a, b]))
    assert low <= high


@given(st.floats(1e-300, 1 - 1e-9))
def test_log_odds_undoes_sigmoid(p):
    assert libm.sigmoid(libm.log_odds(p)).item() == pytest.approx(p, rel=1e-9)
