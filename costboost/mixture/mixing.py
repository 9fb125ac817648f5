"""How much each member counts: a stack of their out-of-fold log-odds, with weights that are not negative.

Stacking after Wolpert (1992) and Breiman (1996), who found that weights must not be negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from costboost import libm

__all__ = ["Weights", "enough", "mixing_weights"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

#: Rows, and rows of each class, on which weights are found well enough: further folds are not fitted.
_ENOUGH, _ENOUGH_OF_A_CLASS = 15_000, 500
#: A lighter member is left out.
_LEAST = 1e-3
#: Pull of the weights towards each other, over the rows of the rarest class, and of their sum towards 1. How
#: far log-odds must be stretched is known from few rows already, which member is the better one is not.
_ALIKE, _SUM = 10.0, 0.03
#: Log loss that a mixture saves by chance alone, once in twenty times, where nothing can be learned.
_BY_CHANCE = 2.0
#: A class of no row has this share.
_NEVER = 1e-6


@dataclass(frozen=True, eq=False)
class Weights:
    """Weight of each of M members, the same for every class, and the constant of each score."""

    members: Floats
    constant: Floats

    def mix(self, said: Floats) -> Floats:
        """Scores (n, K') of what the members say, (n, K', M)."""
        totals = np.tile(self.constant, (len(said), 1))
        for m, weight in enumerate(self.members.tolist()):
            totals += weight * said[:, :, m]
        return totals


def enough(parts: Sequence[tuple[Rows, Rows]], codes: Rows) -> list[tuple[Rows, Rows]]:
    """Take the first parts (train, valid) whose validated rows are enough to find weights on.

    Parameters
    ----------
    parts : sequence of (train, valid) row indices
    codes : ndarray of shape (n,), int
        Class of each row.
    """
    taken: list[tuple[Rows, Rows]] = []
    counts = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int64)
    for part in parts:
        if counts.sum() >= _ENOUGH and counts.min() >= _ENOUGH_OF_A_CLASS:
            break
        taken.append(part)
        counts += np.bincount(codes[part[1]], minlength=counts.size)
    return taken


def mixing_weights(said: Floats, labels: Floats, sample_weight: Floats, alike: float = _ALIKE) -> Weights:
    """Weights ``w >= 0`` that minimize the log loss, pulled towards each other where a class has few rows.

    With w̄ the mean of the weights and r the rows of the rarest class, ``a/(2r) · Σ_m (w_m - w̄)²`` and
    ``0.03/2 · (Σ_m w_m - 1)²`` are added to the log loss. All weights are 0 where the best of them save no
    more of the log loss of a constant than chance would.

    Parameters
    ----------
    said : ndarray of shape (n, K', M), float64
        Log-odds of each class by each member, of rows that the member was not fitted on.
    labels : ndarray of shape (n, K'), float64
        1 where a row is of the class, else 0.
    sample_weight : ndarray of shape (n,), float64
        Of mean 1.
    alike : float > 0
        a.
    """
    n_outputs, count = said.shape[1:]
    pull = alike / _rarest(labels, sample_weight)

    def loss(theta: Floats) -> tuple[float, Floats]:
        scores = Weights(theta[n_outputs:], theta[:n_outputs]).mix(said)
        pulled = (libm.sigmoid(scores) - labels) * sample_weight[:, None]
        apart = theta[n_outputs:] - theta[n_outputs:].mean()
        beyond = float(theta[n_outputs:].sum()) - 1.0
        slopes = np.array([float((pulled * said[:, :, m]).sum()) for m in range(count)])
        penalty = 0.5 * (pull * float((apart * apart).sum()) + _SUM * beyond * beyond)
        value = _log_loss(scores, labels, sample_weight) + penalty
        return value, np.concatenate([pulled.sum(axis=0), slopes + pull * apart + _SUM * beyond])

    bounds = [(None, None)] * n_outputs + [(0.0, None)] * count
    begin = np.concatenate([np.zeros(n_outputs), np.full(count, 1.0 / count)])
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500}).x
    weights = found[n_outputs:]
    mixed = Weights(np.where(weights < _LEAST, 0.0, weights), found[:n_outputs])
    alone = Weights(np.zeros(count), _base_rates(labels, sample_weight))
    lost = [_log_loss(one.mix(said), labels, sample_weight) for one in (alone, mixed)]
    return mixed if lost[0] - lost[1] > _BY_CHANCE else alone


def _rarest(labels: Floats, sample_weight: Floats) -> float:
    """Rows of the rarest class, at least one."""
    rows = (labels * sample_weight[:, None]).sum(axis=0)
    if rows.size == 1:
        rows = np.append(rows, sample_weight.sum() - rows)
    return max(float(rows.min()), 1.0)


def _log_loss(scores: Floats, labels: Floats, sample_weight: Floats) -> float:
    ahead = np.where(labels > 0, scores, -scores)
    losses = np.maximum(-ahead, 0.0) + np.log1p(np.exp(-np.abs(ahead)))
    return float((losses * sample_weight[:, None]).sum())


def _base_rates(labels: Floats, sample_weight: Floats) -> Floats:
    """Log-odds of each class in (0, 1)."""
    rates = (labels * sample_weight[:, None]).sum(axis=0) / sample_weight.sum()
    return libm.log_odds(np.clip(rates, _NEVER, 1.0 - _NEVER))
