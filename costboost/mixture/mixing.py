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


def mixing_weights(said: Floats, labels: Floats, sample_weight: Floats, ridge: float) -> Weights:
    """Weights ``w >= 0`` that minimize the log loss plus ``ridge/2 · Σ_m (w_m - 1/M)²``.

    Parameters
    ----------
    said : ndarray of shape (n, K', M), float64
        Log-odds of each class by each member, of rows that the member was not fitted on.
    labels : ndarray of shape (n, K'), float64
        1 where a row is of the class, else 0.
    sample_weight : ndarray of shape (n,), float64
        Of mean 1.
    ridge : float > 0
        Pull towards the plain mean of the members, in rows.
    """
    n_outputs, count = said.shape[1:]
    even = np.full(count, 1.0 / count)

    def loss(theta: Floats) -> tuple[float, Floats]:
        scores = Weights(theta[n_outputs:], theta[:n_outputs]).mix(said)
        away = libm.sigmoid(scores) - labels
        ahead = np.where(labels > 0, scores, -scores)
        losses = np.maximum(-ahead, 0.0) + np.log1p(np.exp(-np.abs(ahead)))
        pulled = away * sample_weight[:, None]
        pull = theta[n_outputs:] - even
        slopes = [float((pulled * said[:, :, m]).sum()) for m in range(count)]
        value = float((losses * sample_weight[:, None]).sum()) + 0.5 * ridge * float((pull * pull).sum())
        return value, np.concatenate([pulled.sum(axis=0), np.array(slopes) + ridge * pull])

    bounds = [(None, None)] * n_outputs + [(0.0, None)] * count
    begin = np.concatenate([np.zeros(n_outputs), even])
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500}).x
    weights = found[n_outputs:]
    return Weights(np.where(weights < _LEAST, 0.0, weights), found[:n_outputs])
