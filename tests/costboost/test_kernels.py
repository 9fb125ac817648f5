"""Kernels against slow obvious twins."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from costboost.kernels.elementary import exp_array, log_array
from costboost.kernels.fixed_point import quantize, total


def test_exponential_is_libms_to_the_bit() -> None:
    values = np.random.default_rng(0).uniform(-745.0, 709.0, 20_000)
    assert exp_array(values).tolist() == [math.exp(v) for v in values]


def test_logarithm_is_libms_to_the_bit() -> None:
    values = np.exp(np.random.default_rng(1).uniform(-700.0, 700.0, 20_000))
    assert log_array(values).tolist() == [math.log(v) for v in values]


def test_elementary_functions_keep_the_shape_and_the_ends_of_the_range() -> None:
    assert exp_array(np.zeros((2, 3))).shape == (2, 3)
    assert exp_array(np.float64(0.0) * np.ones(())).shape == ()
    assert exp_array(np.array([1000.0, -1000.0])).tolist() == [math.inf, 0.0]
    assert log_array(np.array([0.0, math.inf])).tolist() == [-math.inf, math.inf]
    assert math.isnan(log_array(np.array([-1.0]))[0])
    assert exp_array(np.arange(10.0)[::3]).tolist() == [math.exp(v) for v in (0.0, 3.0, 6.0, 9.0)]


values = st.floats(-1e6, 1e6)


@given(hnp.arrays(np.float64, st.integers(0, 200), elements=values), st.randoms())
def test_totals_do_not_depend_on_the_order_and_agree_with_exact_sums(
    numbers: NDArray[np.float64], random: Random
) -> None:
    order = list(range(len(numbers)))
    random.shuffle(order)
    shuffled = numbers[order]
    assert total(shuffled) == total(numbers)
    exact = math.fsum(numbers)
    assert abs(total(numbers) - exact) <= 1e-12 * np.abs(numbers).sum()


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_totals_of_any_size(scale: float) -> None:
    numbers = np.array([1.0, 2.0, 3.0, 4.0]) * scale
    assert total(numbers) == pytest.approx(10.0 * scale, rel=1e-12, abs=1e-320)


def test_totals_refuse_what_is_not_finite() -> None:
    for value in (math.inf, -math.inf, math.nan):
        with pytest.raises(FloatingPointError):
            total(np.array([1.0, value]))
    assert total(np.array([])) == 0.0
    assert total(np.zeros(3)) == 0.0


@given(hnp.arrays(np.float64, st.integers(1, 300), elements=st.floats(0, 1e9)))
def test_integer_weights_use_the_range_and_cannot_overflow(weights: NDArray[np.float64]) -> None:
    assume(weights.any())
    rounded = quantize(weights)
    mass = sum(int(q) for q in rounded)
    assert 2**58 <= mass <= 2**61
    assert np.allclose(rounded / mass, weights / weights.sum(), rtol=1e-12, atol=1e-14)
    assert np.array_equal(quantize(weights[::-1]), rounded[::-1])
