"""Weights under a tree learner, in Python integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from costboost.learners.tree_ledger import TreeLedger


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([0.1, 3.0, 200.0]))
def test_weights_count_as_integers_of_a_sum_that_stays(seed: int, n: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    kinds, weights = rng.integers(0, 3, n).astype(np.uint8), rng.lognormal(0, 3, n) * (rng.random(n) < 0.9)
    weights[0] = 1.0
    ledger = TreeLedger(kinds, 3, weights / weights.sum())
    for _ in range(5):
        assert 2**58 < ledger.mass == sum(ledger.masses.tolist()) <= 2**60 + n
        shares = ledger.weights / ledger.weights.sum()
        np.testing.assert_allclose(ledger.masses / ledger.mass, shares, rtol=1e-12, atol=1e-17)
        answers = rng.integers(0, 2, n).astype(np.uint8)
        masses = ledger.part(answers)
        for kind in range(3):
            for answer in range(2):
                own = (kinds == kind) & (answers == answer)
                assert masses[kind, answer] == sum(ledger.masses[own].tolist())
        exponents = rng.normal(0, spread, (3, 2))
        heavy = masses[kinds, answers] > 0
        steps = np.minimum(exponents - exponents[masses > 0].max(), 0.0)
        expected = ledger.weights * np.exp(steps)[kinds, answers]
        ledger.reweigh(exponents, np.ones((3, 2)))
        if spread < 100.0:
            now = ledger.weights[heavy] / ledger.weights[heavy].sum()
            np.testing.assert_allclose(now, expected[heavy] / expected[heavy].sum(), rtol=1e-9, atol=1e-300)


def test_weights_do_not_vanish_in_time() -> None:
    ledger = TreeLedger(np.array([0, 1], dtype=np.uint8), 2, np.array([0.5, 0.5]))
    for _ in range(3000):
        ledger.part(np.array([0, 1], dtype=np.uint8))
        ledger.reweigh(np.array([[-0.7, 0.0], [0.0, -0.7]]), np.ones((2, 2)))
    assert ledger.masses[0] == ledger.masses[1] >= 2**58
