"""The account of weights against sums of Python integers: made anew or brought up to date, it is exact."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from costboost.kernels.ledger import TILE
from costboost.learners import ledger as module
from costboost.learners.columns import BinnedColumns
from costboost.learners.ledger import Account, Elsewhere, Ledger

SCALE = 2**57


def hostile_columns(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """A column of many values, a constant, an empty one, and some that mostly hold one value."""
    mostly = np.where(rng.random((n, 2)) < [0.7, 0.95], 3.0, rng.normal(size=(n, 2)))
    return np.column_stack(
        [
            rng.normal(size=n),
            np.full(n, 7.0),
            np.full(n, np.nan),
            mostly,
            np.where(rng.random(n) < 0.8, np.nan, rng.integers(0, 3, n)),
            rng.integers(0, 2, n),
        ]
    )


class Naive:
    """The same accounts, row by row."""

    def __init__(self, ledger: Any) -> None:
        self.ledger = ledger

    def sums(self) -> list[list[int]]:
        columns, counts = (
            self.ledger.accounts.columns,
            self.ledger.accounts.counts[:, self.ledger.accounts.kinds].T.tolist(),
        )
        sums = [[0] * len(self.ledger.accounts.counts) for _ in range(columns.starts[-1])]
        for codes, start in zip(columns.codes, columns.starts[:-1], strict=True):
            for code, own, mass in zip(codes, counts, self.masses(), strict=True):
                for account, count in enumerate(own):
                    sums[start + code][account] += count * mass
        return sums

    def masses(self) -> list[int]:
        return [round(w * SCALE) for w in self.ledger.accounts.weights.tolist()]

    def parted(self, codes: NDArray[np.uint8], sides: NDArray[np.uint8]) -> list[list[int]]:
        parted = [[0] * 3 for _ in self.ledger.accounts.counts[0]]
        rows = zip(self.ledger.accounts.kinds, sides[codes], self.masses(), strict=True)
        for kind, side, mass in rows:
            parted[kind][side] += mass
        return parted


def opened(seed: int, n: int, kinds: int = 3) -> tuple[Any, np.random.Generator]:
    rng = np.random.default_rng(seed)
    columns = BinnedColumns.of(hostile_columns(rng, n), np.ones(n), 255)
    weights = rng.lognormal(0, rng.choice([0.0, 1.0, 30.0]), n) * (rng.random(n) < 0.9)
    weights[0] = 1.0
    signs = rng.choice([-1, 1], kinds)
    # As stumps keep it, and as trees do.
    counts = signs[None, :] if rng.random() < 0.5 else np.array([signs < 0, signs > 0], dtype=np.int64)
    rows = rng.integers(0, kinds, n).astype(np.uint8)
    account = Account(columns, Elsewhere.of(columns), rows, counts, weights / weights.sum())
    return Ledger(account), rng


def random_sides(rng: np.random.Generator, ledger: Any) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    column = int(rng.integers(len(ledger.accounts.columns.cuts)))
    sides = rng.integers(0, 3, len(ledger.accounts.columns.cuts[column]) + 2).astype(np.uint8)
    return ledger.accounts.columns.codes[column], sides


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from([0.1, 1.0, 12.0, 200.0]))
def test_the_sums_are_those_of_the_integers_whatever_the_factors(seed: int, n: int, spread: float) -> None:
    ledger, rng = opened(seed, n)
    naive = Naive(ledger)
    for _ in range(6):
        assert ledger.sums.tolist() == naive.sums()
        assert ledger.mass == sum(naive.masses()) > 0
        sides = random_sides(rng, ledger)
        assert ledger.part(*sides).tolist() == naive.parted(*sides)
        exponents = np.minimum(rng.normal(0.0, spread, (3, 3)) * (rng.random((3, 3)) < 0.7), 700.0)
        shares = rng.choice([1.0, 0.5, 1e-3, 0.0], (3, 3), p=[0.7, 0.1, 0.1, 0.1])
        masses = ledger.part(*sides)
        if not ((masses > 0) & (shares > 0)).any():
            break  # no weight would be left
        side = ledger.accounts.sides_of_rows()
        weighed = masses[ledger.accounts.kinds, side] > 0
        expected = (ledger.accounts.weights * (np.exp(exponents) * shares)[ledger.accounts.kinds, side])[
            weighed
        ]
        ledger.reweigh(exponents, shares)
        if spread < 100.0:
            weights = ledger.accounts.weights[weighed]
            np.testing.assert_allclose(
                weights / weights.sum(), expected / expected.sum(), rtol=1e-9, atol=1e-300
            )


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n", [TILE - 1, TILE, 2 * TILE + 5, 30_000])
def test_changes_and_sums_made_anew_agree_to_the_bit(
    monkeypatch: pytest.MonkeyPatch, n: int, seed: int
) -> None:
    outcomes = []
    for many in (-1.0, 0.35, 2.0):  # always anew, as it pays, never anew
        monkeypatch.setattr(module, "_MANY", many)
        ledger, rng = opened(seed, n, kinds=4)
        for _ in range(12):
            ledger.part(*random_sides(rng, ledger))
            ledger.reweigh(rng.choice([0.0, 0.7, -0.4], (4, 3), p=[0.6, 0.2, 0.2]), np.ones((4, 3)))
        outcomes.append((ledger.sums.tobytes(), ledger.accounts.weights.tobytes(), ledger.mass))
    assert outcomes[0] == outcomes[1] == outcomes[2]


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_rows_changes_nothing(seed: int) -> None:
    ledger, rng = opened(seed, 50)
    order = np.random.default_rng(seed + 1).permutation(50)
    columns = BinnedColumns(ledger.accounts.columns.codes[:, order].copy(), ledger.accounts.columns.cuts)
    own = ledger.accounts
    other = Ledger(
        Account(columns, Elsewhere.of(columns), own.kinds[order], own.counts, own.weights[order].copy())
    )
    for _ in range(8):
        codes, sides = random_sides(rng, ledger)
        assert ledger.part(codes, sides).tolist() == other.part(codes[order].copy(), sides).tolist()
        exponents = rng.normal(size=(3, 3))
        for one in (ledger, other):
            one.reweigh(exponents, np.ones((3, 3)))
        assert ledger.sums.tolist() == other.sums.tolist()
        assert ledger.accounts.weights[order].tolist() == other.accounts.weights.tolist()


def test_only_rows_outside_the_most_frequent_bin_are_listed() -> None:
    rng = np.random.default_rng(2)
    columns = BinnedColumns.of(hostile_columns(rng, 3 * TILE // 2), np.ones(3 * TILE // 2), 255)
    elsewhere = Elsewhere.of(columns)
    shares = [np.bincount(codes).max() / len(codes) for codes in columns.codes]
    assert [int(j) >= 0 for j in elsewhere.frequent] == [share > 0.6 for share in shares]
    for codes, frequent, starts in zip(columns.codes, elsewhere.frequent, elsewhere.starts, strict=True):
        if frequent < 0:
            continue
        for tile, first in enumerate(range(0, len(codes), TILE)):
            own = codes[first : first + TILE]
            part = slice(starts[tile], starts[tile + 1])
            assert elsewhere.rows[part].tolist() == np.flatnonzero(own != frequent).tolist()
            assert elsewhere.bins[part].tolist() == own[own != frequent].tolist()


def test_weights_that_grow_for_long_stay_numbers() -> None:
    ledger, rng = opened(3, 40)
    for _ in range(500):
        ledger.part(*random_sides(rng, ledger))
        ledger.reweigh(np.full((3, 3), 5.0) * rng.choice([-1, 1], (3, 3)), np.ones((3, 3)))
        assert 2**50 < ledger.mass < 2**62
        assert np.isfinite(ledger.accounts.weights).all()
    assert math.isclose(ledger.accounts.weights.sum() * SCALE, ledger.mass, rel_tol=1e-12)


def test_the_sums_of_many_rows_are_those_of_the_integers() -> None:
    for seed in range(4):  # both ways to count
        ledger, rng = opened(seed, 30_000)
        for _ in range(2):
            ledger.part(*random_sides(rng, ledger))
            ledger.reweigh(rng.choice([0.0, 0.7], (3, 3)), np.ones((3, 3)))
        masses = np.rint(ledger.accounts.weights * SCALE).astype(np.int64)
        for codes, start in zip(
            ledger.accounts.columns.codes, ledger.accounts.columns.starts[:-1], strict=True
        ):
            for account, counts in enumerate(ledger.accounts.counts):
                sums = np.zeros(int(codes.max()) + 1, dtype=np.int64)
                np.add.at(sums, codes, counts[ledger.accounts.kinds] * masses)
                assert ledger.sums[start : start + len(sums), account].tolist() == sums.tolist()
