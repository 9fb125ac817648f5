"""The histogram tree: cuts upon cuts, a few levels deep."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from costboost.ensembles.trees import Branches
from costboost.kernels.fixed_point import scaled
from costboost.learners.columns import BinnedColumns
from costboost.learners.foreign import Response
from costboost.learners.ledger import ABOVE, BELOW, SCALE, Account, Accounts, Elsewhere, Ledger
from costboost.learners.tape import Tape, note_of_tree, tree_of_note
from costboost.learners.tree_growth import GrownTree, Limits, NodeRows, RowsOfNodes, WeighedRows, grow
from costboost.learners.weak import Hypothesis, Labels, Sample, classes_of
from costboost.learners.weights import read_weights
from costboost.parameters import InCode, Range, check_parameters

__all__ = ["HistogramTree", "PreparedTree"]

Floats = NDArray[np.float64]


class HistogramTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A tree of few levels, each cut chosen for the least Gini impurity of its two sides.

    All nodes of a level are cut before those of the next. A cut must lower the weighted impurity
    ``Σ m - Σ_k m_k² / Σ m`` (m_k: weight of class k), which unlike the error also falls where both sides
    keep the same heaviest class, so that later cuts can build on it. Of cuts within rounding of the best, the
    first column wins, then the lowest cut. Missing values (NaN) go to the side that lowers the impurity more;
    where it makes no difference, for instance because the node has none, to the heavier side.

    Weights are summed as integers, so the order of rows changes nothing.

    A column of categories is parted by a subset of its codes. The categories of a node are put in the order
    of their share of the second of two classes, or of the node's heaviest class (the first of several) of
    more, and cut like a number: with two classes and `smoothing` 0 no subset has a lower impurity (Breiman,
    Friedman, Olshen, Stone 1984, Classification and Regression Trees, theorem 4.5). Those of the highest
    share go above. Categories of one share stay together, so that the codes mean nothing. What the node has
    no weight of goes to its heavier side, values that are no code too.

    Parameters
    ----------
    max_depth : int from 1 to 8, default 3
        Cuts between the root and a leaf at most.
    max_bins : int from 2 to 255, default 255
        A column of at most so many distinct values is cut between any two of them, another into so many bins
        of about equal weight.
    min_samples_leaf : int, default 1
        Rows of positive weight that a leaf holds at least.
    min_weight_leaf : float from 0 to 0.5, default 0.0
        Share of the whole weight that a leaf holds at least.
    smoothing : float from 0 to 1, default 0.001
        Share of the whole weight that is added to each leaf, equally for all classes, before its class
        frequencies are taken: the probabilities of a leaf with little weight stay away from 0 and 1. As much
        is added to each category, in the classes' shares of the node, before categories are put in order.
    categorical_features : sequence of int, optional
        Columns that hold codes of categories, whole numbers from 0 to 254, or NaN; `max_bins` is not for
        them. A `CostSensitiveModel` finds them by the types of its columns.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    tree_ : Branches
        The nodes, level by level.
    frequencies_ : ndarray of shape (N, K)
        Smoothed class frequencies of each node.
    n_features_in_ : int

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]]
    >>> tree = HistogramTree(max_depth=2).fit(X, ["same", "odd", "odd", "same", "same"])
    >>> tree.predict([[0.0, 1.0], [1.0, 1.0]]).tolist()
    ['odd', 'same']
    """

    classes_: NDArray[Any]
    tree_: Branches
    frequencies_: Floats
    n_features_in_: int

    def __init__(
        self,
        *,
        max_depth: Annotated[int, Range(minimum=1, maximum=8)] = 3,
        max_bins: Annotated[int, Range(minimum=2, maximum=255)] = 255,
        min_samples_leaf: Annotated[int, Range(minimum=1, maximum=1_000_000_000)] = 1,
        min_weight_leaf: Annotated[float, Range(minimum=0, maximum=0.5)] = 0.0,
        smoothing: Annotated[float, Range(minimum=0, maximum=1)] = 0.001,
        categorical_features: Annotated[Sequence[int] | None, InCode()] = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.smoothing = smoothing
        self.categorical_features = categorical_features

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "HistogramTree":
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n, d)
            NaN is a missing value; infinite values are refused.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), >= 0, optional

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter or a weight is out of bounds, shapes differ, y is not a classification target, or a
            column of categories holds something else than codes.
        """
        check_parameters(self)
        features, targets = validate_data(
            self, X, y, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )
        check_classification_targets(targets)
        weights = read_weights(sample_weight, len(targets))
        classes, codes = classes_of(targets)
        columns = self._binned(features, weights)
        weighed = WeighedRows(*scaled(weights), codes, len(classes))
        limits = self._limits()
        self._adopt(grow(columns, NodeRows(columns, weighed, limits), limits), classes)
        return self

    def _binned(self, X: Floats, weights: Floats) -> BinnedColumns:
        return BinnedColumns.of(X, weights, self.max_bins, self.categorical_features or ())

    def _limits(self) -> Limits:
        return Limits(self.max_depth, self.min_samples_leaf, self.min_weight_leaf, self.smoothing)

    def _adopt(self, grown: GrownTree, classes: NDArray[Any]) -> "HistogramTree":
        self.classes_, self.tree_, self.n_features_in_ = classes, grown.branches, grown.branches.n_features
        masses = grown.masses.astype(np.float64)
        added = self.smoothing * masses[0].sum()
        self.frequencies_ = (masses + added / len(classes)) / (masses.sum(axis=1, keepdims=True) + added)
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Smoothed class frequencies of the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
            Columns in the order of `classes_`, rows of sum 1.
        """
        check_is_fitted(self)
        features = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        (leaves,) = self.tree_.leaves(features)
        return self.frequencies_[leaves]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Name the heaviest class of the leaf of each row, the first of several.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
            Labels of `classes_`.
        """
        shares = self.predict_proba(X)
        named: NDArray[Any] = self.classes_[_heaviest(shares)]
        return named

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(frozen=True)
class PreparedTree:
    """A tree learner over columns that were binned once; it looks on its tape before it searches."""

    estimator: HistogramTree
    columns: BinnedColumns
    response: Response = "sign"
    tape: Tape = field(default_factory=Tape, kw_only=True)

    @classmethod
    def of(cls, estimator: HistogramTree, X: Floats, weights: Floats, response: Response) -> "PreparedTree":
        """Bin the columns of X.

        Raises
        ------
        ValueError
            If a parameter of the estimator is out of bounds, a column of categories holds something else than
            codes, or answers are to be read from a decision function, which a tree has not.
        """
        check_tree(estimator, response)
        return cls(clone(estimator), estimator._binned(X, weights), response)

    def fit(self, sample: Sample, labels: Labels, rng: np.random.Generator) -> Hypothesis:  # noqa: ARG002
        """Fit a tree under these weights and answer for every training row."""
        limits = self.estimator._limits()

        def rows() -> RowsOfNodes:
            weights = sample.weights if sample.rows is None else self._spread(sample.rows, sample.weights)
            weighed = WeighedRows(*scaled(weights), labels.codes, len(labels.classes))
            return self._node_rows(weighed, limits)

        grown = self._grown(rows, limits)
        fitted = copy(self.estimator)._adopt(grown, labels.classes)
        said = grown.by_leaf(answers(fitted, labels.positive, self.response))
        return Hypothesis(fitted, said[grown.leaves])

    @property
    def keeps_ledger(self) -> bool:
        """Whether answers are two, so that a ledger can be kept."""
        return self.response == "sign"

    @cached_property
    def _elsewhere(self) -> Elsewhere:
        return Elsewhere.of(self.columns)

    def ledger(self, kinds: NDArray[np.uint8], signs: NDArray[np.int64], weights: Floats) -> Ledger:
        """Open an account of weights, for `fit_ledger`.

        Parameters
        ----------
        kinds, weights
            As of an `Account`.
        signs : ndarray of shape (k,), int64
            +1 or -1, the class of each kind.
        """
        return Ledger(self._account(kinds, np.array([signs < 0, signs > 0], dtype=np.int64), weights))

    def _account(self, kinds: NDArray[np.uint8], counts: NDArray[np.int64], weights: Floats) -> Accounts:
        return Account(self.columns, self._elsewhere, kinds, counts, weights)

    def fit_ledger(
        self, ledger: Ledger, labels: Labels
    ) -> tuple[HistogramTree, NDArray[np.int64], NDArray[np.int64]]:
        """Fit a tree under the weights of a ledger, and part its rows by the tree's answers.

        Returns
        -------
        tree : HistogramTree
        masses : ndarray of shape (k, 3), int64
            Weight of each kind that gets each answer, the last of which none gets.
        answers : ndarray of shape (3,), int
            1 for an answer that is positive, else 0.
        """
        limits = self.estimator._limits()
        grown = self._grown(lambda: self._ledger_rows(ledger, labels, limits), limits)
        ledger.is_searched = self.tape.is_over
        fitted = copy(self.estimator)._adopt(grown, labels.classes)
        positive = grown.by_leaf(answers(fitted, labels.positive, self.response)) > 0
        sides = np.where(positive, ABOVE, BELOW).astype(np.uint8)
        return fitted, ledger.part(grown.leaves, sides), np.array([0, 1, 0])

    def _grown(self, rows: Callable[[], RowsOfNodes], limits: Limits) -> GrownTree:
        note = self.tape.next()
        if note is not None:
            return tree_of_note(note, self.columns)
        grown = grow(self.columns, rows(), limits)
        self.tape.add(note_of_tree(grown))
        return grown

    def _node_rows(self, weighed: WeighedRows, limits: Limits) -> RowsOfNodes:
        return NodeRows(self.columns, weighed, limits)

    def _ledger_rows(self, ledger: Ledger, labels: Labels, limits: Limits) -> RowsOfNodes:
        return NodeRows(self.columns, weighed_by(cast(Account, ledger.accounts), labels), limits)

    def _spread(self, rows: NDArray[np.intp], weights: Floats) -> Floats:
        spread = np.zeros(self.columns.codes.shape[1])
        np.add.at(spread, rows, weights)
        return spread


def check_tree(estimator: HistogramTree, response: Response) -> None:
    """Refuse parameters out of bounds, and answers that a tree does not give.

    Raises
    ------
    ValueError
        It says which.
    """
    check_parameters(estimator)
    if response == "decision":
        raise ValueError("a tree has no decision function")


def weighed_by(account: Account, labels: Labels) -> WeighedRows:
    """Rows as a ledger of trees weighs them, and what it has added up already."""
    sums = account.sums if labels.positive == 1 else account.sums[:, ::-1]
    return WeighedRows(account.weights, SCALE, labels.codes, 2, sums)


def answers(tree: HistogramTree, positive: int, response: Response) -> NDArray[Any]:
    """(N,): what the tree says of a row in each of its nodes, as `Hypothesis` holds it."""
    if response == "proba":
        return 2.0 * tree.frequencies_[:, positive] - 1.0
    codes = _heaviest(tree.frequencies_)
    return codes if len(tree.classes_) > 2 else np.where(codes == positive, 1.0, -1.0)


def _heaviest(shares: Floats) -> NDArray[np.intp]:
    """Class of the largest share, the first of those that differ by rounding alone.

    A leaf whose classes weigh the same would else be decided by how its weights were added up.
    """
    heaviest: NDArray[np.intp] = np.round(shares, 12).argmax(axis=1)
    return heaviest
