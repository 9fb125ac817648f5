"""Two numbers, fitted by Newton's method: Platt (1999)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.calibration.targets import LARGEST, MARGIN, inside, mean_one, platt_targets

#: Scores within less than this do not vary: a slope over it would overflow.
_NARROW = 1e-90


@dataclass(frozen=True)
class SigmoidCalibrator:
    """``p = 1 / (1 + exp(-(slope · F + intercept)))``, Platt (1999), with slope ≥ 0.

    Examples
    --------
    >>> scores, positive = np.array([-1.0, -0.5, 0.5, 1.0]), np.array([False, True, False, True])
    >>> calibrator = SigmoidCalibrator.fit(scores, positive)
    >>> bool(calibrator.probability(np.array([0.0]))[0] == 0.5)
    True
    """

    slope: float
    intercept: float

    def __post_init__(self) -> None:
        if not (0 <= self.slope <= LARGEST and abs(self.intercept) <= LARGEST):
            raise ValueError("a sigmoid needs a finite slope, not below 0, and a finite intercept")

    @classmethod
    def fit(
        cls,
        scores: NDArray[np.float64],
        positive: NDArray[np.bool_],
        sample_weight: NDArray[np.float64] | None = None,
    ) -> "SigmoidCalibrator":
        """Fit by Newton's method to Platt's targets ``(n₊ + 1)/(n₊ + 2)`` and ``1/(n₋ + 2)``.

        Parameters
        ----------
        scores : ndarray of shape (n,), float64
            Scores of rows that the booster was not fitted on.
        positive : ndarray of shape (n,), bool
            Whether a row is of the class; both kinds must have weight.
        sample_weight : ndarray of shape (n,), optional

        Returns
        -------
        SigmoidCalibrator
            Scores that do not rise with the class, or do not vary, give the base rate everywhere.
        """
        weight = mean_one(scores, sample_weight)
        centre, width = _location(scores)
        if width < _NARROW:
            return cls.constant(positive, weight)
        slope, offset = _newton((scores - centre) / width, platt_targets(positive, weight), weight)
        if slope <= 0.0:
            return cls.constant(positive, weight)
        return cls(slope / width, offset - slope * (centre / width))

    @classmethod
    def constant(
        cls, positive: NDArray[np.bool_], sample_weight: NDArray[np.float64] | None = None
    ) -> "SigmoidCalibrator":
        """The base rate, whatever the score."""
        weight = np.ones(len(positive)) if sample_weight is None else sample_weight
        rate = float(weight[positive].sum() / weight.sum())
        return cls(0.0, float(libm.log_odds(min(max(rate, MARGIN), 1.0 - MARGIN))))

    def probability(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of scores of shape (n,)."""
        return inside(libm.sigmoid(scores * self.slope + self.intercept))

    def to_state(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"kind": "sigmoid", "slope": self.slope, "intercept": self.intercept}


def _location(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Centre and half width, so that Newton's method works on [-1, 1] whatever the scale of the booster."""
    low, high = float(scores.min()), float(scores.max())
    return low / 2 + high / 2, high / 2 - low / 2


def _newton(
    x: NDArray[np.float64], target: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[float, float]:
    """Slope and intercept of least log loss: Newton steps, halved until it falls (Lin, Lin & Weng 2007)."""
    slope, intercept = 0.0, float(libm.log_odds((weight * target).sum() / weight.sum()))
    loss = _log_loss(x, target, weight, slope, intercept)
    for _ in range(100):
        p = libm.sigmoid(slope * x + intercept)
        slope_step, intercept_step = _newton_step(x, weight * (target - p), weight * p * (1.0 - p))
        share = 1.0
        while share > 1e-10:
            tried = slope + share * slope_step, intercept + share * intercept_step
            tried_loss = _log_loss(x, target, weight, *tried)
            if tried_loss < loss:
                break
            share /= 2.0
        else:
            break
        fall, (slope, intercept), loss = loss - tried_loss, tried, tried_loss
        if fall <= 1e-13 * abs(loss):
            break
    return slope, intercept


def _newton_step(
    x: NDArray[np.float64], gradient: NDArray[np.float64], curvature: NDArray[np.float64]
) -> tuple[float, float]:
    # The small ridge keeps the system solvable when the curvature vanishes.
    h11 = float((curvature * x * x).sum()) + 1e-12
    h12 = float((curvature * x).sum())
    h22 = float(curvature.sum()) + 1e-12
    g1, g2 = float((gradient * x).sum()), float(gradient.sum())
    determinant = h11 * h22 - h12 * h12
    return (h22 * g1 - h12 * g2) / determinant, (h11 * g2 - h12 * g1) / determinant


def _log_loss(
    x: NDArray[np.float64],
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
    slope: float,
    intercept: float,
) -> float:
    z = slope * x + intercept
    # -(t log p + (1 - t) log(1 - p)) = max(z, 0) - t z + log(1 + exp(-|z|))
    return float((weight * (np.maximum(z, 0.0) - target * z + libm.log(1.0 + libm.exp(-np.abs(z))))).sum())
