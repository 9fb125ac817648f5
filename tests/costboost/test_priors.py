import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.priors import correct_priors
from tests.costboost.strategies import probabilities


def test_priors_worked_by_hand():
    # Trained on 1:1, used on 9:1. p = 0.8 gives odds 4 / 9, so p' = 4 / 13.
    corrected = correct_priors(np.array([[0.2, 0.8]]), np.array([0.5, 0.5]), np.array([0.9, 0.1]))
    np.testing.assert_allclose(corrected, [[9 / 13, 4 / 13]])


@given(st.data(), st.integers(2, 4))
def test_priors_there_and_back(data, n_classes):
    p = data.draw(probabilities(n_classes)) * 0.9 + 0.1 / n_classes
    shares = [
        np.random.default_rng(data.draw(st.integers(0, 99))).dirichlet(np.full(n_classes, 3.0)) for _ in "ab"
    ]
    there = correct_priors(p, *shares)
    np.testing.assert_allclose(there.sum(axis=1), 1.0)
    np.testing.assert_allclose(correct_priors(there, *shares[::-1]), p, rtol=1e-9)
    np.testing.assert_array_equal(correct_priors(p, shares[0], shares[0].copy()), p)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ([0.0, 1.0], [0.5, 0.5], "^the old priors must be positive"),
        ([0.5, 0.5], [0.5, 0.6], "new priors"),
        ([0.5, 0.5], [np.nan, 0.5], "new priors"),
        ([0.5, 0.5, 0.0], [0.5, 0.5], "old priors"),
        ([0.5, 0.5], [0.0, 1.0], "^the new priors leave some row without a possible class"),
    ],
)
def test_impossible_priors_are_refused(old, new, message):
    with pytest.raises(ValueError, match=message):
        correct_priors(np.array([[1.0, 0.0]]), np.array(old), np.array(new))
