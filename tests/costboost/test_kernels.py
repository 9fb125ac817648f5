"""Kernels against slow obvious twins."""

import math

import numpy as np

from costboost.kernels.elementary import exp_array, log_array


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
