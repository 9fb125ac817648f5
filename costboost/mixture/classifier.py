"""Different kinds of learners, weighed by what they say of rows they have not seen."""

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from costboost.boosting._problem import CostsOfMistakes, Problem, labels_of, read_costs
from costboost.ensembles.mixtures import Mixture
from costboost.learners.weights import read_weights
from costboost.libm import exp, sigmoid
from costboost.mixture.members import N_ESTIMATORS, Bundle, Callback, Members
from costboost.mixture.mixing import Weights, enough, mixing_weights
from costboost.parameters import InCode, Range, check_parameters
from costboost.splits import Split, folds

__all__ = ["MixtureClassifier"]

Floats = NDArray[np.float64]


class MixtureClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture of boosted trees, extremely randomized trees, a kernel and a linear model.

    Each member gives log-odds; the mixture adds them up with weights that are not negative and were found on
    rows which the members were not fitted on (stacked generalization: Wolpert 1992; Breiman 1996). Members
    whose weight is 0 are left out; where none tells rows apart better than chance would, all are, and every
    row gets the base rate. Costs have no part in the members: they decide, at probabilities that hold
    none. Of many rows only some of the folds are fitted. More than two classes: each against the rest, with
    the same weights.

    Parameters
    ----------
    n_estimators : int, default 120
        Trees of each member that has trees.
    additive : bool, default False
        Only members whose score is a sum of functions of one column each (boosted stumps and a linear model).
        What a column adds to it does not depend on the others, unless a member reaches the bound of ±5.
    cost_matrix : CostMatrix, array-like of shape (K, K), "balanced" or None
        As of the boosters; here it moves only `vote_threshold_`.
    pos_label : label, optional
        Two classes: the positive one; the second in sorted order if left out.
    categorical_features : sequence of int, optional
        Columns that hold codes of categories, whole numbers from 0 to 254.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    ensemble_ : Mixture
    weights_ : ndarray of shape (M,)
        Of the members, in the order of `member_names_`.
    member_names_ : list of str
    vote_threshold_ : float
        Two classes: the score beyond which deciding for the positive class costs less.

    Examples
    --------
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) > 25
    >>> MixtureClassifier(random_state=0).fit(X, y).predict([[3.0], [39.0]]).tolist()
    [False, True]
    """

    classes_: NDArray[Any]
    ensemble_: Mixture
    weights_: Floats
    member_names_: list[str]
    vote_threshold_: float
    n_features_in_: int

    #: The members are no weak learners that rounds would repeat.
    machines_ = None

    def __init__(
        self,
        *,
        n_estimators: Annotated[int, Range(minimum=1, maximum=100_000)] = N_ESTIMATORS,
        additive: bool = False,
        cost_matrix: CostsOfMistakes = None,
        pos_label: Any = None,
        categorical_features: Annotated[Sequence[int], InCode()] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.additive = additive
        self.cost_matrix = cost_matrix
        self.pos_label = pos_label
        self.categorical_features = categorical_features
        self.random_state = random_state

    def conflicts(self) -> list[tuple[str, str]]:
        """No values of its parameters exclude each other; see `CostSensitiveBooster.conflicts`."""
        return []

    def members(self) -> Members:
        """The unfitted members, for whoever has folds of its own; `mix` then weighs them."""
        return Members(
            n_estimators=self.n_estimators,
            additive=self.additive,
            categorical_features=self.categorical_features,
            random_state=self.random_state,
        )

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_cost: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> "MixtureClassifier":
        """Fit the members, in five folds and on all rows, and weigh them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            NaN is a missing value.
        y : array-like of shape (n,)
        sample_cost : array-like of shape (n,), (n, 4) or (n, K), optional
            As of the boosters; here it moves only `vote_threshold_`.
        sample_weight : array-like of shape (n,), >= 0, optional
        callback : callable, optional
            ``callback(number, members, {})`` after each member of the last fit.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of bounds, shapes differ, y has fewer than two classes, or costs are not
            acceptable.
        """
        check_parameters(self)
        features, targets = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(targets)
        weights = read_weights(sample_weight, len(targets))
        problem = self._problem(targets, weights, sample_cost)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        learner = self.members().set_params(random_state=seed)
        codes = problem.labels.codes.astype(np.intp)
        said = None
        if np.bincount(codes[weights > 0], minlength=len(problem.labels.classes)).min() > 1:
            for train, valid in enough(folds(Split(), codes, seed=seed), codes):
                fold = learner.fit(features[train], codes[train], sample_weight=weights[train])
                part = fold.ensemble_.score(features[valid])
                said = np.full((len(codes), part.shape[1]), np.nan) if said is None else said
                said[valid] = part
        learner.fit(features, codes, sample_weight=weights, callback=callback)
        self.mix(learner, said, codes, weights)
        self.classes_ = problem.labels.classes
        self.price(targets, weights, sample_cost)
        return self

    def price(self, y: NDArray[Any], weights: Floats, sample_cost: ArrayLike | None) -> None:
        """Find the score beyond which deciding for the second of two classes costs less, on average."""
        problem = self._problem(y, weights, sample_cost)
        threshold = _threshold(problem)
        self.vote_threshold_ = -threshold if problem.labels.positive == 0 else threshold

    def mix(self, fitted: Members, said: Floats | None, codes: NDArray[np.intp], weights: Floats) -> Weights:
        """Weigh fitted members, and become what they make together.

        Parameters
        ----------
        fitted : Members
            On all rows.
        said : ndarray of shape (n, K' · M), or None
            What members not fitted on a row said of it, NaN where none did; None weighs them evenly.
        codes : ndarray of shape (n,), int
        weights : ndarray of shape (n,), >= 0

        Returns
        -------
        Weights
        """
        names = [name for name, _ in fitted.chosen]
        bundle = fitted.ensemble_
        n_outputs = bundle.n_outputs // len(names)
        found = Weights(np.full(len(names), 1.0 / len(names)), np.zeros(n_outputs))
        if said is not None:
            judged = (weights > 0) & ~np.isnan(said[:, 0])
            labels = _labels(codes[judged], n_outputs)
            scaled = weights[judged] * (np.count_nonzero(judged) / weights[judged].sum())
            found = mixing_weights(said[judged].reshape(-1, n_outputs, len(names)), labels, scaled)
        self.weights_, self.member_names_ = found.members, names
        self.classes_, self.n_features_in_ = fitted.classes_, fitted.n_features_in_
        self.ensemble_ = _mixture(bundle, found)
        return found

    def decision_function(self, X: ArrayLike) -> Floats:
        """Log-odds of rows, as the mixture sees them.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            Two classes: positive towards ``classes_[1]``. More: one score per class.
        """
        scores = self._scores(X)
        if scores.shape[1] > 1:
            return scores
        flat: Floats = scores[:, 0]
        return flat

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probabilities of shape (n, K), rows of sum 1."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            p = sigmoid(scores[:, 0])
            return np.column_stack([1.0 - p, p])
        raised = exp(scores - scores.max(axis=1, keepdims=True))
        shares: Floats = raised / raised.sum(axis=1, keepdims=True)
        return shares

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Classes of rows: of two the one that costs less, of more the one of the highest score."""
        scores = self._scores(X)
        codes = (
            (scores[:, 0] > self.vote_threshold_).astype(np.intp)
            if scores.shape[1] == 1
            else scores.argmax(axis=1)
        )
        named: NDArray[Any] = self.classes_[codes]
        return named

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _scores(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        features = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        return self.ensemble_.score(features)

    def _problem(self, y: NDArray[Any], weights: Floats, sample_cost: ArrayLike | None) -> Problem:
        labels = labels_of(y, self.pos_label)
        scalars = {"cost_fn": 1.0, "cost_fp": 1.0, "cost_tp": 0.0, "cost_tn": 0.0}
        shares = weights / weights.sum()
        return Problem(labels, shares, *read_costs(labels, shares, self.cost_matrix, scalars, sample_cost))


def _labels(codes: NDArray[np.intp], n_outputs: int) -> Floats:
    if n_outputs == 1:
        return np.asarray((codes == 1)[:, None], dtype=np.float64)
    return np.asarray(codes[:, None] == np.arange(n_outputs), dtype=np.float64)


def _mixture(bundle: Bundle, found: Weights) -> Mixture:
    """Leave out what has no weight."""
    n_outputs, count = len(found.constant), len(found.members)
    heavy = np.flatnonzero(found.members)
    kept = [k * count + m for k in range(n_outputs) for m in heavy.tolist()]
    return Mixture(
        members=tuple(bundle.members[i] for i in kept),
        probability=np.array([bundle.probability[i] for i in kept], dtype=np.int32),
        weight=np.tile(found.members[heavy], n_outputs),
        output=np.repeat(np.arange(n_outputs), heavy.size).astype(np.int32),
        constant=found.constant,
        n_features=bundle.n_features,
    )


def _threshold(problem: Problem) -> float:
    """Log-odds beyond which the positive class costs less, at the mean costs of the classes."""
    if problem.n_classes > 2:
        return 0.0
    false_alarm, miss = problem.class_means()
    return math.log(max(false_alarm, 1e-300)) - math.log(max(miss, 1e-300))
