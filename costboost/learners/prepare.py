"""From an estimator to a weak learner that has seen the rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.learners.columns import BinnedColumns
from costboost.learners.foreign import ForeignLearner, Response
from costboost.learners.stump import DecisionStump, PreparedStump
from costboost.learners.svm import WeightedSVM
from costboost.learners.svm_prepared import PreparedSVM
from costboost.learners.tape import Tape
from costboost.learners.tree import HistogramTree, PreparedTree
from costboost.learners.weak import PreparedLearner

__all__ = ["prepare"]


def prepare(
    estimator: Any,
    X: Any,
    weights: NDArray[np.float64],
    response: Response = "sign",
    tape: Tape | None = None,
) -> PreparedLearner:
    """Show the rows to a weak learner once.

    Parameters
    ----------
    estimator : object
        A `DecisionStump` or `HistogramTree`, whose columns are binned here for all rounds; a `WeightedSVM`,
        whose columns are scaled and mapped once; or any scikit-learn classifier.
    X : ndarray or sparse matrix of shape (n, d)
    weights : ndarray of shape (n,), float64
        The user's weights of the rows.
    response : {"sign", "proba", "decision"}
        How answers are read; a stump's is always its sign.
    tape : Tape, optional
        Read and written by stumps and trees.
    """
    tape = Tape() if tape is None else tape
    if isinstance(estimator, DecisionStump):
        return PreparedStump(BinnedColumns.of(X, weights, estimator.max_bins), estimator.max_bins, tape=tape)
    if isinstance(estimator, HistogramTree):
        return replace(PreparedTree.of(estimator, X, weights, response), tape=tape)
    if isinstance(estimator, WeightedSVM):
        return PreparedSVM(estimator, X, weights, decision=response == "decision")
    return ForeignLearner(estimator, X, response)
