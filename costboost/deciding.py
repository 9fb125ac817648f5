"""What a fitted model does with rows: probabilities, and the decisions of least expected cost."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from costboost.calibration.calibrator import Calibrator
from costboost.columns import Columns, ColumnType, table_of, typed_columns
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix
from costboost.features import FeatureEncoder
from costboost.labels import NamedCosts, named_costs
from costboost.parameters import check_parameters
from costboost.scorer import Answer, Scorer


class DecidingModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The half of a model that answers, which is all that an artifact brings back.

    Parameters and attributes: see `CostSensitiveModel`.
    """

    classes_: NDArray[Any]
    costs_: CostSpec
    encoder_: FeatureEncoder
    calibrator_: Calibrator
    threshold_: float | None
    priors_: NDArray[np.float64]
    column_types_: dict[str, ColumnType]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    _scorer: Scorer
    #: Of all columns that were read in training, those of costs included.
    _known_types: dict[str, ColumnType]

    def decide(
        self,
        X: Any,
        *,
        costs: CostSpec | CostMatrix | NamedCosts | NDArray[np.float64] | None = None,
        priors: Sequence[float] | None = None,
        threshold: float | None = None,
    ) -> Answer:
        """Scores, probabilities, and the decisions of least expected cost.

        Parameters
        ----------
        X : as in `fit`
            Columns by name in any order; others than those needed are ignored.
        costs : CostSpec, CostMatrix, dict as in the constructor, or ndarray of shape (K, A) or (n, K, A)
            Other costs than those of training; probabilities do not move.
        priors : sequence of K floats, optional
            Share of each class where the rows come from.
        threshold : float, optional
            Two classes: probability above which the positive class is decided, whatever the costs.

        Returns
        -------
        Answer

        Raises
        ------
        ValueError
            If a column is missing or holds something else, a cost is not finite, constant costs are
            unreasonable or all zero, or the threshold is no probability.
        """
        scorer = self.scorer()
        if isinstance(costs, CostMatrix):
            costs = CostSpec.from_matrix(costs.matrix, scorer.classes, scorer.positive)
        elif isinstance(costs, Mapping):
            costs = named_costs(costs, scorer.classes, scorer.positive)
        read = frozenset[str]()
        if isinstance(costs, CostSpec):
            costs.check()
            read = costs.columns
        return scorer.decide(self._read(X, read), costs=costs, priors=priors, threshold=threshold)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of the decision for each row; a reviewed row gets that of the cheapest other action.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        ndarray of shape (n,)
            Labels of `classes_`.
        """
        decisions = self.decide(X).decisions
        serving = [a for a, served in enumerate(self.costs_.serves) if served is not None]
        served = np.array([self.costs_.serves[a] for a in serving], dtype=np.intp)
        otherwise = served[decisions.expected_cost[:, serving].argmin(axis=1)]
        labels: NDArray[Any] = self.classes_[np.where(decisions.label < 0, otherwise, decisions.label)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Calibrated class probabilities of shape (n, K), strictly inside (0, 1), free of costs."""
        return self.scorer().score(self._read(X)).probabilities

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores F of shape (n,) for two classes, rising with the second of `classes_`, or (n, K)."""
        score = self.scorer().score(self._read(X)).score
        return -score if self.costs_.positive == 0 else score

    def scorer(self) -> Scorer:
        """The fitted model as values, without scikit-learn."""
        check_is_fitted(self, "_scorer")
        return self._scorer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _read(self, X: Any, also: frozenset[str] = frozenset()) -> Columns:
        check_is_fitted(self, "_scorer")
        if not has_names(X := table_of(X)) or not hasattr(self, "feature_names_in_"):
            if hasattr(self, "feature_names_in_"):
                X = _named_as(X, list(self.feature_names_in_))
            else:
                X = validate_data(self, X, reset=False, dtype=None, ensure_all_finite="allow-nan")
        return typed_columns(X, self._known_types, only=self._scorer.columns | also)[0]

    def _restore(
        self,
        scorer: Scorer,
        labels: NDArray[Any],
        known_types: Mapping[str, ColumnType],
        features: Sequence[str],
        *,
        named: bool,
    ) -> None:
        """Become fitted again, from an artifact; booster and out-of-fold results are not in it."""
        check_parameters(self)
        self._scorer, self.classes_, self.costs_ = scorer, labels, scorer.costs
        self.encoder_, self.calibrator_ = scorer.encoder, scorer.calibrator
        self.threshold_ = scorer.score_threshold if scorer.rule == "empirical" else None
        self.priors_ = np.array(scorer.priors)
        self._known_types = dict(known_types)
        self.column_types_ = {name: known_types[name] for name in features}
        if named:
            self.feature_names_in_ = np.array(list(features), dtype=object)


def has_names(X: Any) -> bool:
    """Whether a table brings the names of its columns."""
    # One of scipy's sparse formats is a dict.
    return (isinstance(X, Mapping) and not issparse(X)) or hasattr(X, "columns")


def _named_as(X: Any, names: list[str]) -> dict[str, NDArray[Any]]:
    array = np.asarray(X)
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ValueError(f"expected {len(names)} columns, got an array of shape {array.shape}")
    return {name: array[:, j] for j, name in enumerate(names)}
