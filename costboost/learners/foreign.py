"""Any scikit-learn classifier as a weak learner, taken as it is."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from costboost.learners.weak import Hypothesis, Labels, Sample

__all__ = ["ForeignLearner", "Response", "codes_of", "decision_scale", "respond"]

Response: TypeAlias = Literal["sign", "proba", "decision"]


@dataclass(frozen=True)
class ForeignLearner:
    """Clones the estimator once per fit and uses its answers unchanged.

    The clone is fitted with ``sample_weight`` of mean 1; if its ``fit`` knows no such parameter, on rows
    drawn in proportion to the weights. A ``random_state`` left at None is set from the booster's.
    """

    estimator: Any
    X: Any
    response: Response = "sign"

    def fit(self, sample: Sample, labels: Labels, rng: np.random.Generator) -> Hypothesis:
        """Fit a clone under these weights and answer for every training row."""
        fitted = _seeded(clone(self.estimator), rng)
        y = labels.classes[labels.codes]
        if has_fit_parameter(fitted, "sample_weight"):
            rows = slice(None) if sample.rows is None else sample.rows
            fitted.fit(
                self.X[rows],
                y[rows],
                sample_weight=sample.weights * (len(sample.weights) / sample.weights.sum()),
            )
        else:
            rows = _drawn(sample, labels, rng)
            fitted.fit(self.X[rows], y[rows])
        scale = decision_scale(fitted, self.X) if self.response == "decision" else 1.0
        answer = respond(fitted, self.X, labels.classes, labels.positive, response=self.response, scale=scale)
        return Hypothesis(fitted, answer, scale)


def respond(
    fitted: Any, X: Any, classes: NDArray[Any], positive: int, *, response: Response, scale: float
) -> NDArray[Any]:
    """Ask a fitted classifier about rows.

    Returns
    -------
    ndarray of shape (n,)
        Two classes: float64 in [-1, 1]; "sign" from `predict`, "proba" as 2p - 1, "decision" divided by
        `scale` and clipped. More classes: intp, the class predicted.
    """
    if response == "proba":
        own = list(getattr(fitted, "classes_", classes))
        answer = np.asarray(fitted.predict_proba(X), dtype=np.float64)
        return (
            2.0 * answer[:, own.index(classes[positive])] - 1.0
            if classes[positive] in own
            else -np.ones(len(answer))
        )
    if response == "decision":
        towards = 1.0 if positive == 1 else -1.0
        return np.clip(towards * np.asarray(fitted.decision_function(X), dtype=np.float64) / scale, -1.0, 1.0)
    codes = codes_of(fitted.predict(X), classes)
    return codes if len(classes) > 2 else np.where(codes == positive, 1.0, -1.0)


def decision_scale(fitted: Any, X: Any) -> float:
    """Return the largest magnitude of the decision function on these rows; 1 if it is 0 throughout."""
    return float(np.max(np.abs(fitted.decision_function(X)))) or 1.0


def codes_of(answers: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Find predicted labels among the classes.

    Raises
    ------
    ValueError
        If a prediction is not one of the labels it was trained on.
    """
    predicted = np.asarray(answers)
    codes = np.minimum(np.searchsorted(classes, predicted), len(classes) - 1)
    if not np.all(classes[codes] == predicted):
        raise ValueError("the weak learner predicted a label that is not among the training labels")
    return codes


def _seeded(estimator: Any, rng: np.random.Generator) -> Any:
    open_seeds = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]
    if open_seeds:
        estimator.set_params(**{name: int(rng.integers(2**31 - 1)) for name in open_seeds})
    return estimator


def _drawn(sample: Sample, labels: Labels, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw as many rows as there are, in proportion to their weights, no class left out."""
    rows = np.arange(len(labels.codes)) if sample.rows is None else sample.rows
    drawn = rows[rng.choice(len(rows), size=len(rows), p=sample.weights / sample.weights.sum())]
    # Many classifiers refuse a single class, so a class that was not drawn lends its heaviest row.
    absent = np.setdiff1d(labels.codes[rows], labels.codes[drawn])
    for place, code in enumerate(absent):
        own = np.flatnonzero(labels.codes[rows] == code)
        drawn[place] = rows[own[np.argmax(sample.weights[own])]]
    return drawn
