"""The decision stump: one cut on one column."""

from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from costboost.kernels.fixed_point import quantize
from costboost.kernels.stump import find_class_cut, find_signed_cut, lean_of_sides, sum_by_class, sum_signed
from costboost.learners.columns import BinnedColumns
from costboost.learners.ledger import ABOVE, BELOW, MISSING, Account, Accounts, Elsewhere, Ledger
from costboost.learners.tape import Tape
from costboost.learners.weak import Hypothesis, Labels, Sample, classes_of
from costboost.learners.weights import read_weights
from costboost.parameters import Range, check_parameters

__all__ = ["DecisionStump", "PreparedStump", "Split"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """A fitted cut and the class (by index) that it names for each side and for a missing value."""

    column: int
    index: int
    below: int
    above: int
    missing: int


class DecisionStump(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """One cut on one column, chosen for the least weighted error.

    With two classes ``h(x) = s if x_j > cut else -s`` over all columns j, both signs s, and the cuts -inf and
    midway between neighbouring distinct values. Missing values (NaN) go to the side that lowers the error;
    where they cannot, for instance because training rows had none, to the heavier side. Of cuts within
    rounding of the best, the first column wins, then the lowest cut, then s = +1. With more classes each
    side names its heaviest class.

    It knows no subsets of categories: those are learned from one 0/1 column each. Over the rounds such cuts
    add up to any value per category, and an ensemble of stumps stays one table of values per column, which a
    subset per round would not.

    Parameters
    ----------
    max_bins : int or None, default 255
        A column of at most so many distinct values is cut between any two of them, another into so many bins
        of about equal weight. None cuts between all.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    feature_ : int
        Column of the cut.
    cut_ : float
        A value lies above iff it is greater; -inf: every present value does.
    below_, above_, missing_ : int
        Index in `classes_` named for each side and for NaN.
    n_features_in_ : int

    Examples
    --------
    >>> stump = DecisionStump().fit([[1.0], [2.0], [8.0]], ["low", "low", "high"])
    >>> stump.cut_, stump.predict([[4.0], [6.0]]).tolist()
    (5.0, ['low', 'high'])
    """

    classes_: NDArray[Any]
    feature_: int
    cut_: float
    below_: int
    above_: int
    missing_: int
    n_features_in_: int

    def __init__(self, *, max_bins: Annotated[int, Range(minimum=2, maximum=65_535)] | None = 255) -> None:
        self.max_bins = max_bins

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "DecisionStump":
        """Find the best cut.

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
            If shapes differ, y is not a classification target, or a weight is negative.
        """
        check_parameters(self)
        features, targets = validate_data(
            self, X, y, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )
        check_classification_targets(targets)
        weights = read_weights(sample_weight, len(targets))
        classes, codes = classes_of(targets)
        labels = Labels(codes, classes)
        learner = PreparedStump(BinnedColumns.of(features, weights, self.max_bins), self.max_bins)
        self._adopt(learner.split(weights, labels), learner.columns, classes)
        return self

    def _adopt(self, split: Split, columns: BinnedColumns, classes: NDArray[Any]) -> "DecisionStump":
        self.classes_, self.n_features_in_ = classes, len(columns.cuts)
        self.feature_, self.cut_ = split.column, columns.cut(split.column, split.index)
        self.below_, self.above_, self.missing_ = split.below, split.above, split.missing
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Name a class for each row.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
            Labels of `classes_`.
        """
        check_is_fitted(self)
        features = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        column = features[:, self.feature_]
        codes = np.where(column > self.cut_, self.above_, self.below_)
        named: NDArray[Any] = self.classes_[np.where(np.isnan(column), self.missing_, codes)]
        return named

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.poor_score = True  # one cut cannot separate what scikit-learn's checks ask for
        return tags


@dataclass(frozen=True)
class PreparedStump:
    """A stump learner over columns that were binned once; it looks on its tape before it searches."""

    columns: BinnedColumns
    max_bins: int | None
    tape: Tape = field(default_factory=Tape, kw_only=True)

    def fit(self, sample: Sample, labels: Labels, rng: np.random.Generator) -> Hypothesis:  # noqa: ARG002
        """Fit a stump under these weights and answer for every training row."""
        split = self._known()
        if split is None:
            weights = sample.weights if sample.rows is None else self._spread(sample.rows, sample.weights)
            split = self._noted(self.split(weights, labels))
        stump = DecisionStump(max_bins=self.max_bins)._adopt(split, self.columns, labels.classes)
        return Hypothesis(stump, self._respond(split, labels))

    def split(self, weights: Floats, labels: Labels) -> Split:
        """Choose the cut of least weighted error."""
        masses = quantize(weights)
        slack = _slack(int(masses.sum()), masses.size)
        if len(labels.classes) == 2:
            return self._split_two(masses, labels, slack)
        return self._split_many(masses, labels, slack)

    @cached_property
    def _elsewhere(self) -> Elsewhere:
        return Elsewhere.of(self.columns)

    @property
    def keeps_ledger(self) -> bool:
        """Whether bins are few enough for a ledger."""
        return bool(self.columns.codes.dtype == np.uint8)

    def ledger(self, kinds: NDArray[np.uint8], signs: NDArray[np.int64], weights: Floats) -> Ledger:
        """Open an account of weights, for `fit_ledger`.

        Parameters
        ----------
        kinds, weights
            As of an `Account`.
        signs : ndarray of shape (k,), int64
            +1 or -1, the class of each kind.
        """
        return Ledger(self._account(kinds, signs[None, :], weights))

    def _account(self, kinds: NDArray[np.uint8], counts: NDArray[np.int64], weights: Floats) -> Accounts:
        return Account(self.columns, self._elsewhere, kinds, counts, weights)

    def fit_ledger(
        self, ledger: Ledger, labels: Labels
    ) -> tuple[DecisionStump, NDArray[np.int64], NDArray[np.int64]]:
        """Fit a stump under the weights of a ledger, and part its rows by the stump's sides.

        Returns
        -------
        stump : DecisionStump
        masses : ndarray of shape (k, 3), int64
            Weight of each kind on each side: below, above, missing.
        answers : ndarray of shape (3,), int
            1 for each side that the stump calls positive, else 0.
        """
        split = self._known()
        if split is None:
            slack = _slack(ledger.mass, ledger.n_rows)
            # An edge moves by twice what its error moves.
            found = find_signed_cut(self.columns.starts, ledger.sums.reshape(-1), 2 * slack)
            masses = self._parted(ledger, found[0], found[1])
            weighed = masses.sum(axis=0)
            lean = int(weighed[ABOVE] - weighed[BELOW])
            split = self._noted(_named_sides(found, slack, lean, labels))
        else:
            masses = self._parted(ledger, split.column, split.index)
        ledger.is_searched = self.tape.is_over
        answers = np.array([split.below, split.above, split.missing])
        stump = DecisionStump(max_bins=self.max_bins)._adopt(split, self.columns, labels.classes)
        return stump, masses, answers if labels.positive == 1 else 1 - answers

    def _parted(self, ledger: Ledger, column: int, index: int) -> NDArray[np.int64]:
        sides = np.full(len(self.columns.cuts[column]) + 2, ABOVE, dtype=np.uint8)
        sides[: index + 1], sides[-1] = BELOW, MISSING
        return ledger.part_by_column(column, sides)

    def _known(self) -> Split | None:
        note = self.tape.next()
        return None if note is None else Split(*note.tolist())

    def _noted(self, split: Split) -> Split:
        self.tape.add(np.array(astuple(split), dtype=np.int64))
        return split

    def _spread(self, rows: NDArray[np.intp], weights: Floats) -> Floats:
        spread = np.zeros(self.columns.codes.shape[1])
        np.add.at(spread, rows, weights)
        return spread

    def _split_two(self, masses: NDArray[np.int64], labels: Labels, slack: int) -> Split:
        signed = np.where(labels.codes == labels.positive, masses, -masses)
        # An edge moves by twice what its error moves.
        found = find_signed_cut(self.columns.starts, self.signed_sums(signed), 2 * slack)
        return _named_sides(found, slack, self.lean(found[0], found[1], masses), labels)

    def signed_sums(self, signed: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum of the rows' signed weights in each bin of each column."""
        sums = np.empty(self.columns.starts[-1], dtype=np.int64)
        sum_signed(self.columns.codes, self.columns.starts, signed, sums)
        return sums

    def lean(self, column: int, index: int, masses: NDArray[np.int64]) -> int:
        """Weight above a cut less the weight below it."""
        return lean_of_sides(self.columns.codes[column], index, len(self.columns.cuts[column]) + 1, masses)

    def _split_many(self, masses: NDArray[np.int64], labels: Labels, slack: int) -> Split:
        starts, sums = self.columns.starts, self.class_sums(len(labels.classes), masses, labels.codes)
        column, index = find_class_cut(starts, sums, slack)
        bins = sums[starts[column] : starts[column + 1]]
        below, above = bins[: index + 1].sum(axis=0), bins[index + 1 : -1].sum(axis=0)
        named = [_heaviest(side, slack) for side in (below, above, bins[-1])]
        if bins[-1].max() <= slack:
            named[2] = named[1] if above.sum() > below.sum() + slack else named[0]
        return Split(column, index, *named)

    def class_sums(
        self, n_classes: int, masses: NDArray[np.int64], codes: NDArray[np.uint16]
    ) -> NDArray[np.int64]:
        """(bins, K): sum of the rows' weights in each bin of each column, by class."""
        sums = np.empty((self.columns.starts[-1], n_classes), dtype=np.int64)
        sum_by_class(self.columns.codes, self.columns.starts, masses, codes, sums)
        return sums

    def _respond(self, split: Split, labels: Labels) -> NDArray[Any]:
        """Look the answer of each row up by its bin."""
        answers: NDArray[Any] = np.full(len(self.columns.cuts[split.column]) + 2, split.above, dtype=np.intp)
        answers[: split.index + 1], answers[-1] = split.below, split.missing
        if len(labels.classes) == 2:
            answers = np.where(answers == labels.positive, 1.0, -1.0)
        response: NDArray[Any] = answers[self.bins(split.column)]
        return response

    def bins(self, column: int) -> NDArray[Any]:
        """(n,): the bin of each row."""
        codes: NDArray[Any] = self.columns.codes[column]
        return codes


def _slack(mass: int, n: int) -> int:
    """Return the difference of integer weights that is within rounding."""
    return max(int(1e-12 * mass), n)


def _named_sides(found: tuple[int, int, int, int], slack: int, lean: int, labels: Labels) -> Split:
    """Name the sides of a cut; missing values by their own weight, else as the heavier side."""
    column, index, sign, missing = found
    side = {1: labels.positive, -1: 1 - labels.positive}
    if abs(missing) > 2 * slack:
        unknown = side[1 if missing > 0 else -1]
    else:
        unknown = side[sign if lean > slack else -sign]
    return Split(column, index, side[-sign], side[sign], unknown)


def _heaviest(masses: NDArray[np.int64], slack: int) -> int:
    """First class within rounding of the heaviest."""
    return int(np.argmax(masses >= masses.max() - slack))
