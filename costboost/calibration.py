"""Scores to probabilities, fitted on out-of-fold scores and unweighted labels.

A cost-trained booster shifts and stretches its scores; a non-decreasing map from score to probability, fitted
on rows the booster has not seen, brings them back to the base rate. Probabilities never contain costs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from costboost import libm

CalibrationKind = Literal["auto", "sigmoid", "isotonic", "none"]
CALIBRATION_KINDS: tuple[CalibrationKind, ...] = get_args(CalibrationKind)

#: A probability stays this far from 0 and from 1.
MARGIN = 1e-10
#: Scores within less than this do not vary: a slope over it would overflow.
_NARROW = 1e-90
#: How far the factors of classes may be from 1; more would let a probability round to 1.
_LARGEST_FACTOR = 10.0
#: Larger numbers are refused, so that a score times a slope does not overflow.
_LARGEST = 1e150
#: Rows that each class needs before `auto` trusts a step function more than two numbers.
_ISOTONIC_ROWS = 1000


class OutputCalibrator(Protocol):
    """A non-decreasing map from one score to a probability strictly inside (0, 1)."""

    def probability(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of scores of shape (n,); a row alone is mapped as in a batch, to the bit."""
        ...

    def to_state(self) -> dict[str, Any]:
        """Plain JSON values."""
        ...


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
        if not (0 <= self.slope <= _LARGEST and abs(self.intercept) <= _LARGEST):
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
        weight = _mean_one(scores, sample_weight)
        centre, width = _location(scores)
        if width < _NARROW:
            return cls.constant(positive, weight)
        slope, offset = _newton((scores - centre) / width, _platt_targets(positive, weight), weight)
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
        return _inside(libm.sigmoid(scores * self.slope + self.intercept))

    def to_state(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"kind": "sigmoid", "slope": self.slope, "intercept": self.intercept}


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
        if not (np.abs(x) <= _LARGEST).all() or (np.diff(x) <= 0).any():
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

        weight = _mean_one(scores, sample_weight)
        fitted = IsotonicRegression(increasing=True, out_of_bounds="clip")
        fitted.fit(scores, _platt_targets(positive, weight), sample_weight=weight)
        probabilities = np.maximum.accumulate(_inside(fitted.y_thresholds_))
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


@dataclass(frozen=True)
class Calibrator:
    """One map per score; with more than two classes ``p_k = f_k q_k / Σ_j f_j q_j`` of the mapped scores q.

    Parameters
    ----------
    kind : {"sigmoid", "isotonic", "none"}
        What was fitted; "none" is the raw link σ(2F) of the exponential loss.
    outputs : tuple of OutputCalibrator
        One for two classes (probability of class 1), K for more.
    factors : tuple of float
        f_k, which keep the mean of each p_k at the share of its class; none for two classes.

    Examples
    --------
    >>> scores, classes = np.array([[-1.0], [-0.5], [0.5], [1.0]]), np.array([0, 0, 1, 1])
    >>> calibrator = fit_calibrator("sigmoid", scores, classes, 2)
    >>> calibrator.kind, calibrator.probabilities(np.array([[2.0]])).round(2).tolist()
    ('sigmoid', [[0.06, 0.94]])
    """

    kind: CalibrationKind
    outputs: tuple[OutputCalibrator, ...]
    factors: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.outputs or len(self.outputs) == 2:
            raise ValueError("a calibrator has one output for two classes, or one per class")
        if len(self.factors) != (len(self.outputs) if len(self.outputs) > 1 else 0):
            raise ValueError("a calibrator of more than two classes has one factor per class")
        if not all(1.0 / _LARGEST_FACTOR <= factor <= _LARGEST_FACTOR for factor in self.factors):
            raise ValueError(f"the factors of a calibrator lie within a factor {_LARGEST_FACTOR} of 1")

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(2, len(self.outputs))

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Class probabilities of rows.

        Parameters
        ----------
        scores : ndarray of shape (n, K'), float64
            K' is 1 for two classes and K for more.

        Returns
        -------
        ndarray of shape (n, K), float64
            Strictly inside (0, 1), each row of sum 1.
        """
        mapped = [output.probability(scores[:, k]) for k, output in enumerate(self.outputs)]
        if len(mapped) == 1:
            return np.column_stack([1.0 - mapped[0], mapped[0]])
        return _shared(mapped, self.factors)

    def to_state(self) -> dict[str, Any]:
        """The calibrator as plain JSON values."""
        outputs = [output.to_state() for output in self.outputs]
        return {"kind": self.kind, "outputs": outputs, "factors": list(self.factors)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Calibrator":
        """The calibrator that `to_state` described.

        Raises
        ------
        ValueError
            If the state is not one that `to_state` can make.
        """
        if state["kind"] not in CALIBRATION_KINDS:
            raise ValueError("unknown kind of calibration")
        outputs = tuple(_output_from(output) for output in state["outputs"])
        return cls(state["kind"], outputs, tuple(_number(factor) for factor in state["factors"]))


def fit_calibrator(
    kind: CalibrationKind,
    scores: NDArray[np.float64],
    y_codes: NDArray[np.intp],
    n_classes: int,
    sample_weight: NDArray[np.float64] | None = None,
) -> Calibrator:
    """Fit a calibrator on out-of-fold scores.

    Parameters
    ----------
    kind : {"auto", "sigmoid", "isotonic", "none"}
        "auto" is isotonic when every class has at least 1000 rows, else sigmoid.
    scores : ndarray of shape (n, K'), float64
        K' is 1 for two classes (higher = class 1) and K for more (column k higher = class k).
    y_codes : ndarray of shape (n,), int
        Class of each row, in [0, n_classes).
    n_classes : int
    sample_weight : ndarray of shape (n,), optional
        Weights of the rows; never costs.

    Returns
    -------
    Calibrator

    Raises
    ------
    ValueError
        If the kind is unknown or a class has no weight.
    """
    if kind not in CALIBRATION_KINDS:
        raise ValueError(f"calibration must be one of {', '.join(CALIBRATION_KINDS)}")
    weight = np.ones(len(y_codes)) if sample_weight is None else sample_weight
    if (np.bincount(y_codes, weights=weight, minlength=n_classes) <= 0).any():
        raise ValueError("calibration needs rows of every class")
    rows = np.bincount(y_codes[weight > 0], minlength=n_classes)
    settled = ("isotonic" if rows.min() >= _ISOTONIC_ROWS else "sigmoid") if kind == "auto" else kind
    classes = [1] if n_classes == 2 else range(n_classes)
    fitted = tuple(_fit_output(settled, scores[:, j], y_codes == k, weight) for j, k in enumerate(classes))
    if n_classes == 2:
        return Calibrator(settled, fitted)
    mapped = [output.probability(scores[:, k]) for k, output in enumerate(fitted)]
    factors = (1.0,) * n_classes if settled == "none" else _balance(mapped, y_codes, weight)
    return Calibrator(settled, fitted, factors)


def calibrator_of_log_odds(
    scores: NDArray[np.float64],
    y_codes: NDArray[np.intp],
    n_classes: int,
    sample_weight: NDArray[np.float64] | None = None,
) -> Calibrator:
    """Calibrator of scores that are log-odds already, as those of a mixture that was fitted to these rows.

    Parameters
    ----------
    scores, y_codes, n_classes, sample_weight
        As of `fit_calibrator`; with more than two classes only the balance of the classes is fitted.

    Returns
    -------
    Calibrator
    """
    unit = SigmoidCalibrator(1.0, 0.0)
    if n_classes == 2:
        return Calibrator("sigmoid", (unit,))
    weight = np.ones(len(y_codes)) if sample_weight is None else sample_weight
    mapped = [unit.probability(scores[:, k]) for k in range(n_classes)]
    return Calibrator("sigmoid", (unit,) * n_classes, _balance(mapped, y_codes, weight))


def _shared(mapped: Sequence[NDArray[np.float64]], factors: Sequence[float]) -> NDArray[np.float64]:
    parts = [column * factor for column, factor in zip(mapped, factors, strict=True)]
    # One column after the other: a row's sum must not depend on the shape of the batch.
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return np.column_stack([part / total for part in parts])


def _balance(
    mapped: Sequence[NDArray[np.float64]], y_codes: NDArray[np.intp], weight: NDArray[np.float64]
) -> tuple[float, ...]:
    """Factors under which each class has its share, by proportional fitting (Deming & Stephan 1940).

    Each map alone keeps the share of its class; dividing by their sum does not.
    """
    shares = np.bincount(y_codes, weights=weight, minlength=len(mapped)) / weight.sum()
    factors = np.ones(len(mapped))
    for _ in range(100):
        means = (weight[:, None] * _shared(mapped, factors.tolist())).sum(axis=0) / weight.sum()
        if np.abs(means - shares).max() <= 1e-9:
            break
        factors = np.clip(factors * shares / means, 1.0 / _LARGEST_FACTOR, _LARGEST_FACTOR)
    return tuple(factors.tolist())


def _fit_output(
    kind: CalibrationKind,
    scores: NDArray[np.float64],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64],
) -> OutputCalibrator:
    if np.ptp(scores) == 0.0:  # nothing was learned
        return SigmoidCalibrator.constant(positive, weight)
    if kind == "none":
        return SigmoidCalibrator(2.0, 0.0)
    family = IsotonicCalibrator if kind == "isotonic" else SigmoidCalibrator
    return family.fit(scores, positive, weight)


def _output_from(state: Mapping[str, Any]) -> OutputCalibrator:
    if state["kind"] == "sigmoid":
        return SigmoidCalibrator(_number(state["slope"]), _number(state["intercept"]))
    if state["kind"] == "isotonic":
        points = [tuple(_number(value) for value in state[name]) for name in ("scores", "probabilities")]
        return IsotonicCalibrator(points[0], points[1])
    raise ValueError("unknown kind of calibrator")


def _number(value: object) -> float:
    if type(value) is not float:
        raise ValueError("expected a number")
    return value


def _inside(p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(p, MARGIN, 1.0 - MARGIN)


def _mean_one(scores: NDArray[np.float64], sample_weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Weights of mean 1: weights in another unit change nothing, and Platt's targets count rows."""
    if sample_weight is None:
        return np.ones(len(scores))
    return np.asarray(
        sample_weight * (np.count_nonzero(sample_weight) / sample_weight.sum()), dtype=np.float64
    )


def _location(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Centre and half width, so that Newton's method works on [-1, 1] whatever the scale of the booster."""
    low, high = float(scores.min()), float(scores.max())
    return low / 2 + high / 2, high / 2 - low / 2


def _platt_targets(positive: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    n_positive, n_negative = float(weight[positive].sum()), float(weight[~positive].sum())
    return np.where(positive, (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0))


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
