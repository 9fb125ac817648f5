"""How sure the figures are: intervals over the rows, mean ranks and the difference that matters."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range

__all__ = ["Estimate", "Ranks", "geometric_mean", "mean_ranks", "resampled", "summary"]

Floats = NDArray[np.float64]

DRAWS = 1000
#: Rows resampled at a time, to hold the counts of few draws only.
_AT_ONCE = 100


@dataclass(frozen=True)
class Estimate:
    """A figure and its interval of 95 %."""

    value: float
    low: float
    high: float


def resampled(charged: Floats, seed: int, draws: int = DRAWS) -> Floats:
    """Totals of the columns: first as they are, then over rows drawn with replacement.

    The same draws for every column, so that what two of them have in common cancels out.

    Parameters
    ----------
    charged : ndarray of shape (n, M)
        Cost of each row under each contestant.
    seed, draws : int

    Returns
    -------
    ndarray of shape (1 + draws, M)
    """
    n = len(charged)
    rng = np.random.default_rng(seed)
    totals = [charged.sum(axis=0)[None]]
    for begin in range(0, draws, _AT_ONCE):
        counts = rng.multinomial(n, np.full(n, 1.0 / n), size=min(_AT_ONCE, draws - begin))
        totals.append(counts @ charged)
    return np.concatenate(totals)


def summary(replicates: Floats) -> Estimate:
    """The first replicate is the figure; the others, as far as they have a value, give its interval."""
    known = replicates[1:][np.isfinite(replicates[1:])]
    if not known.size:
        return Estimate(float(replicates[0]), math.nan, math.nan)
    low, high = np.quantile(known, [0.025, 0.975])
    return Estimate(float(replicates[0]), float(low), float(high))


def geometric_mean(ratios: Mapping[str, Sequence[Floats]]) -> Floats:
    """Replicates of the geometric mean over sets; the cases of one set count as one together.

    Parameters
    ----------
    ratios : mapping of set to sequence of ndarray of shape (1 + draws,)
        One for each of its cases.
    """
    logs = [np.mean([np.log(case) for case in cases], axis=0) for cases in ratios.values()]
    mean: Floats = np.exp(np.mean(logs, axis=0))
    return mean


@dataclass(frozen=True)
class Ranks:
    """Mean ranks over sets.

    Attributes
    ----------
    mean : dict of contestant to float
        1 is the cheapest.
    p : float
        Of Friedman's test that all are alike.
    critical : float
        Difference of two mean ranks beyond which they differ (Nemenyi, 5 %).
    n_sets : int
    """

    mean: dict[str, float]
    p: float
    critical: float
    n_sets: int


def mean_ranks(costs: Mapping[str, Sequence[Mapping[str, float]]]) -> Ranks:
    """Rank contestants on each case, average over the cases of a set, then over sets (Demšar 2006).

    Parameters
    ----------
    costs : mapping of set to sequence of (mapping of contestant to cost)
        The same contestants in all of them.
    """
    names = list(next(iter(costs.values()))[0])
    by_set = np.array([
        np.mean([rankdata([case[name] for name in names]) for case in cases], axis=0)
        for cases in costs.values()
    ])  # fmt: skip
    n, k = by_set.shape
    means = by_set.mean(axis=0)
    p = float(friedmanchisquare(*by_set.T).pvalue) if k > 2 and n > 1 else math.nan
    critical = float(studentized_range.ppf(0.95, k, np.inf)) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))
    return Ranks(
        dict(sorted(zip(names, means.tolist(), strict=True), key=lambda one: one[1])), p, critical, n
    )
