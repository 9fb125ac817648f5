"""A line that never falls, fitted by pooling adjacent violators."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.calibration.targets import LARGEST, inside, mean_one, platt_targets


@dataclass(frozen=True)
class IsotonicCalibrator:
    """A non-decreasing line through points (score, probability), constant beyond the first and the last.

    Examples
    --------
    >>> calibrator = IsotonicCalibrator((0.0, 1.0), (0.25, 0.75))
    >>> calibrator.probability(np.array([-9.0, 0.5, 9.0]))
    array([0.25, 0.5 , 0.75])
    """

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        x, p = np.array(self.scores), np.array(self.probabilities)
        if x.ndim != 1 or x.shape != p.shape or not x.size:
            raise ValueError("an isotonic calibrator needs as many scores as probabilities, and at least one")
        if not (np.abs(x) <= LARGEST).all() or (np.diff(x) <= 0).any():
            raise ValueError("the scores of an isotonic calibrator must be finite and rise")
        if not ((p > 0) & (p < 1)).all() or (np.diff(p) < 0).any():
            raise ValueError("the probabilities of an isotonic calibrator must be inside (0, 1) and not fall")

    @classmethod
    def fit(
        cls,
        scores: NDArray[np.float64],
        positive: NDArray[np.bool_],
        sample_weight: NDArray[np.float64] | None = None,
    ) -> "IsotonicCalibrator":
        """Fit by pooling adjacent violators to Platt's targets, which keep the ends away from 0 and 1.

        Parameters
        ----------
        scores : ndarray of shape (n,), float64
            Scores of rows that the booster was not fitted on.
        positive : ndarray of shape (n,), bool
        sample_weight : ndarray of shape (n,), optional

        Returns
        -------
        IsotonicCalibrator
        """
        from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415 - serving must not load scikit-learn

        weight = mean_one(scores, sample_weight)
        fitted = IsotonicRegression(increasing=True, out_of_bounds="clip")
        fitted.fit(scores, platt_targets(positive, weight), sample_weight=weight)
        probabilities = np.maximum.accumulate(inside(fitted.y_thresholds_))
        return cls(tuple(fitted.X_thresholds_.tolist()), tuple(probabilities.tolist()))

    def probability(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of scores of shape (n,)."""
        x, p, rise = self.lines
        left = np.clip(np.searchsorted(x, scores, side="right") - 1, 0, len(x) - 1)
        run = np.clip(scores, x[0], x[-1]) - x[left]
        # A rounded step must not climb over its end: the map stays non-decreasing.
        return np.minimum(p[left] + rise[left] * run, p[np.minimum(left + 1, len(x) - 1)])

    def to_state(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"kind": "isotonic", "scores": list(self.scores), "probabilities": list(self.probabilities)}

    @cached_property
    def lines(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Scores and probabilities of the points, and how steeply the line rises after each."""
        x, p = np.array(self.scores), np.array(self.probabilities)
        # The ends may lie so close together that the slope overflows: then the line is a step.
        with np.errstate(over="ignore"):
            rise = np.append(np.diff(p) / np.diff(x), 0.0)
        return x, p, np.where(np.isfinite(rise), rise, 0.0)
