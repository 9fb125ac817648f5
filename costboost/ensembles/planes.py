"""The additive score of linear machines: one weight vector per round over columns that are scaled once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.ensembles.checks import check_finite, check_lengths
from costboost.ensembles.sides import ScaledSides

__all__ = ["Planes", "products"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Planes(ScaledSides):
    """An additive score: each round adds one of two values, by the side of a plane on which a row lies.

    ``f_t(x) = coef_t · z`` with ``z = (x · unit - center) / spread``, and a last coordinate of 1 if the
    planes have an intercept. Inner products and sums are added in one fixed order, whatever the batch.

    Parameters
    ----------
    unit, center, spread : ndarray of shape (d,), float64
        How columns are scaled; `spread` is positive. A missing value becomes 0.
    coef : ndarray of shape (T · d,) or (T · (d + 1),), float64
        Weights of the rounds, one after another.
    below, above, reach, output, constant
        As in `Sides`.

    Raises
    ------
    ValueError
        If shapes differ, an index is out of range, or a value is not finite or beyond 1e100.

    Examples
    --------
    >>> floats = lambda *v: np.array(v, np.float64)
    >>> planes = Planes(floats(1), floats(2), floats(1), floats(1), floats(-0.5), floats(0.5), floats(0),
    ...                 np.array([0], np.int32), floats(0))
    >>> planes.score(np.array([[1.0], [3.0]]))[:, 0]
    array([-0.5,  0.5])
    """

    unit: Floats
    center: Floats
    spread: Floats
    coef: Floats
    below: Floats
    above: Floats
    reach: Floats
    output: NDArray[np.int32]
    constant: Floats

    def __post_init__(self) -> None:
        self._check_columns()
        rounds, d = self.sides.below.size, self.n_features
        check_lengths(rounds * (d + 1 if self.coef.size > rounds * d else d), coef=self.coef)
        check_finite(coef=self.coef)

    def _width(self) -> int:
        return self.below.size

    def _functions(self, rows: Floats) -> Floats:
        rounds = self.below.size
        weights = self.coef.reshape(rounds, -1) if rounds else np.empty((0, self.n_features))
        if weights.shape[1] > rows.shape[1]:
            rows = np.column_stack([rows, np.ones(len(rows))])
        return products(rows, weights)


def products(rows: Floats, vectors: Floats) -> Floats:
    """(n, m): inner products of rows (n, d) with vectors (m, d), as the learner's kernel adds them.

    In eight running sums, the d mod 8 last products to the first of them: whatever the batch, and equal to
    the bit to what training saw. A matrix product of a tuned library promises neither.
    """
    sums = np.zeros((8, len(rows), len(vectors)))
    d = rows.shape[1]
    for j in range(d):
        sums[j % 8 if j < d - d % 8 else 0] += rows[:, j, None] * vectors[:, j]
    total: Floats = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
    return total
