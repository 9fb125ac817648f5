"""How far a sample has moved away from a reference: stability index and Kolmogorov-Smirnov distance.

The population stability index is the symmetric Kullback-Leibler divergence of two binned distributions,
sum (a - e) ln(a / e) (Siddiqi 2006, ch. 5, who calls less than 0.1 little and more than 0.25 much). Numbers
are binned by the deciles of the reference, what is missing is a bin of its own, and half a row is added to
every bin so that an empty one is no infinity. What chance alone gives is told beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["Drift", "category_drift", "number_drift", "stability_index"]

Floats = NDArray[np.float64]

BINS = 10
#: The most frequent categories of the reference have a bin each, all others one together.
CATEGORIES = 20


@dataclass(frozen=True)
class Drift:
    """How far a sample is from a reference.

    Attributes
    ----------
    psi : float
        Population stability index.
    psi_by_chance : float
        What it is on average where nothing has moved: (bins - 1) (1/m + 1/n).
    ks : float or None
        Largest distance of the two distribution functions, without what is missing; None for categories, and
        where a side has no value.
    reference, sample : int
        Rows of both.
    missing_reference, missing : float
        Shares of them without value.
    bins : tuple of str
        What is counted together: a stretch of numbers, a category, all others, what is missing. Bins that are
        empty on both sides are left out.
    shares_reference, shares : tuple of float
        Share of each bin in the rows of both.

    Examples
    --------
    >>> drift = number_drift(np.arange(100.0), np.arange(50.0))
    >>> round(drift.psi, 2), drift.ks
    (1.38, 0.5)
    """

    psi: float
    psi_by_chance: float
    ks: float | None
    reference: int
    sample: int
    missing_reference: float
    missing: float
    bins: tuple[str, ...]
    shares_reference: tuple[float, ...]
    shares: tuple[float, ...]


def stability_index(reference: Floats, sample: Floats) -> float:
    """Compute the index of two vectors of counts over the same bins.

    Examples
    --------
    >>> round(stability_index(np.array([50.0, 50.0]), np.array([90.0, 10.0])), 3)
    0.853
    """
    expected = (reference + 0.5) / (reference.sum() + 0.5 * len(reference))
    actual = (sample + 0.5) / (sample.sum() + 0.5 * len(sample))
    return float(((actual - expected) * np.log(actual / expected)).sum())


def number_drift(reference: Floats, sample: Floats) -> Drift:
    """Compare numbers; NaN is missing.

    Raises
    ------
    ValueError
        A side has no rows.
    """
    _require_rows(len(reference), len(sample))
    given, seen = reference[~np.isnan(reference)], sample[~np.isnan(sample)]
    cuts = np.unique(np.quantile(given, np.arange(1, BINS) / BINS)) if given.size else np.empty(0)
    counts = [_binned(values, cuts, len(whole)) for values, whole in ((given, reference), (seen, sample))]
    return _drift(_stretches(cuts), counts[0], counts[1], _distance(given, seen))


def category_drift(reference: Sequence[str | None], sample: Sequence[str | None]) -> Drift:
    """Compare categories; None is missing.

    Raises
    ------
    ValueError
        A side has no rows.
    """
    _require_rows(len(reference), len(sample))
    given = Counter(one for one in reference if one is not None)
    frequent = [name for name, _ in given.most_common(CATEGORIES)]
    return _drift([*frequent, "others"], _counted(reference, frequent), _counted(sample, frequent), None)


def _stretches(cuts: Floats) -> list[str]:
    """Say which numbers each bin holds."""
    if not cuts.size:
        return ["any number"]
    told = [f"{one:.5g}" for one in cuts]
    between = [f"{low} to {high}" for low, high in pairwise(told)]
    return [f"<= {told[0]}", *between, f"> {told[-1]}"]


def _require_rows(reference: int, sample: int) -> None:
    if not (reference and sample):
        raise ValueError("both sides need a row")


def _binned(values: Floats, cuts: Floats, rows: int) -> Floats:
    """Rows of each bin; a value on a cut belongs below it. The last bin is for what is missing."""
    counts = np.bincount(np.searchsorted(cuts, values, side="left"), minlength=len(cuts) + 1)
    return np.append(counts, rows - len(values)).astype(np.float64)


def _counted(values: Sequence[str | None], frequent: Sequence[str]) -> Floats:
    counts = Counter(values)
    named = [counts[name] for name in frequent]
    missing = counts[None]
    return np.array([*named, len(values) - sum(named) - missing, missing], dtype=np.float64)


def _drift(names: Sequence[str], reference: Floats, sample: Floats, ks: float | None) -> Drift:
    """Put it together; the last bin holds what is missing, and bins empty on both sides tell nothing."""
    used = (reference > 0.0) | (sample > 0.0)
    m, n = reference.sum(), sample.sum()
    return Drift(
        psi=stability_index(reference[used], sample[used]),
        psi_by_chance=float((used.sum() - 1) * (1.0 / m + 1.0 / n)),
        ks=ks,
        reference=int(m),
        sample=int(n),
        missing_reference=float(reference[-1] / m),
        missing=float(sample[-1] / n),
        bins=tuple(name for name, is_used in zip([*names, "missing"], used, strict=True) if is_used),
        shares_reference=tuple((reference[used] / m).tolist()),
        shares=tuple((sample[used] / n).tolist()),
    )


def _distance(reference: Floats, sample: Floats) -> float | None:
    if not (reference.size and sample.size):
        return None
    at = np.concatenate((reference, sample))
    below = [np.searchsorted(np.sort(side), at, side="right") / side.size for side in (reference, sample)]
    return float(np.abs(below[0] - below[1]).max())
