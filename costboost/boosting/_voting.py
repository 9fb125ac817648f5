"""What a fitted booster says of rows: scores, the class that the vote is for, and the raw link."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from costboost.boosting._against_the_rest import staged_against_the_rest
from costboost.boosting._problem import Floats
from costboost.boosting._row_checks import checked, row_checks
from costboost.boosting._scores import Votes, softmax
from costboost.ensembles.trees import Trees
from costboost.kernels.elementary import any_infinite
from costboost.libm import sigmoid
from costboost.scorer import ScoreFunction
from costboost.terms import Terms


class VotingBooster(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The half of a booster that answers; parameters and attributes: see `CostSensitiveBooster`."""

    classes_: NDArray[Any]
    estimators_: list[Any]
    machines_: "list[Any] | None"
    ensemble_: ScoreFunction | None
    vote_threshold_: float
    n_features_in_: int
    pos_label: Any

    #: The score by asking each weak learner; of more ensembles than one, see `machines_`.
    _votes: Votes

    @abstractmethod
    def _weak_learner(self) -> Any:
        """Return the estimator that is fitted in each round."""

    def decision_function(self, X: ArrayLike) -> Floats:
        """Score of rows.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            Two classes: positive towards ``classes_[1]``. More: one score per class.
        """
        return _flat(self._scores(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Floats]:
        """Scores after each round, shaped as those of `decision_function`."""
        check_is_fitted(self)
        return (_flat(score) for score in self._staged(self._read_rows(X)))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class that the vote is for.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
            Two classes: the positive one where its score exceeds `vote_threshold_`. More: the highest score.
        """
        return self._named(self._scores(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Predictions after each round."""
        check_is_fitted(self)
        return (self._named(score) for score in self._staged(self._read_rows(X)))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Raw link of the scores, not calibrated.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
            Columns in the order of `classes_`, rows of sum 1.
        """
        return self._linked(self._scores(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = self._weak_learner()
        if hasattr(learner, "__sklearn_tags__"):  # a learner need not inherit from scikit-learn
            tags.input_tags.allow_nan = get_tags(learner).input_tags.allow_nan
            tags.input_tags.sparse = get_tags(learner).input_tags.sparse
        return tags

    def _read_rows(self, X: ArrayLike) -> Any:
        return checked(self, X, reset=False, **row_checks(self._weak_learner()))

    def _are_plain(self, X: Any) -> TypeGuard[Floats]:
        """Whether rows need no reading: scikit-learn's takes longer than scoring them, and copies float32."""
        return (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.shape == (len(X), self.n_features_in_)
            and len(X) > 0
            and not hasattr(self, "feature_names_in_")
            and not any_infinite(X)
        )

    def _scores(self, X: ArrayLike) -> Floats:
        ensemble = getattr(self, "ensemble_", None)
        if isinstance(ensemble, Terms | Trees) and self.estimators_ and self._are_plain(X):
            return ensemble.score(X)
        check_is_fitted(self)
        features = self._read_rows(X)
        if self.ensemble_ is not None and self.estimators_:  # a constant takes rows of any kind
            return self.ensemble_.score(features)
        if self.machines_ is not None:
            return np.column_stack([machine._votes.score(features) for machine in self.machines_])
        return self._votes.score(features)

    def _staged(self, features: Any) -> Iterator[Floats]:
        if self.machines_ is None:
            return self._votes.staged(features)
        return staged_against_the_rest([machine._votes for machine in self.machines_], features)

    def _named(self, scores: Floats) -> NDArray[Any]:
        if len(self.classes_) > 2:
            named: NDArray[Any] = self.classes_[np.argmax(scores, axis=1)]
            return named
        positive = self._positive()
        score = scores[:, 0] if positive == 1 else -scores[:, 0]
        codes = np.where(score > self.vote_threshold_, positive, 1 - positive)
        chosen: NDArray[Any] = self.classes_[codes]
        return chosen

    def _positive(self) -> int:
        return 1 if self.pos_label is None else self.classes_.tolist().index(self.pos_label)

    def _linked(self, scores: Floats) -> Floats:
        if len(self.classes_) == 2:
            return np.column_stack([sigmoid(-2.0 * scores[:, 0]), sigmoid(2.0 * scores[:, 0])])
        # Votes for classes: p_k is proportional to exp(F_k), which for K = 2 is the link above.
        return softmax(scores if self.machines_ is None else 2.0 * scores)


def _flat(scores: Floats) -> Floats:
    return scores[:, 0] if scores.shape[1] == 1 else scores
