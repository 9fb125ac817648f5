"""Maps of all scores of a row to the probabilities of its classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from costboost.calibration.isotonic import IsotonicCalibrator
from costboost.calibration.sigmoid import SigmoidCalibrator

CalibrationKind = Literal["auto", "sigmoid", "isotonic", "none"]
CALIBRATION_KINDS: tuple[CalibrationKind, ...] = get_args(CalibrationKind)

#: How far the factors of classes may be from 1; more would let a probability round to 1.
_LARGEST_FACTOR = 10.0
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
