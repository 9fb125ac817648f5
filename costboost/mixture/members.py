"""The members of a mixture, each fitted for each class against the rest."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from costboost.ensembles.expansions import Expansions
from costboost.ensembles.lines import Lines
from costboost.ensembles.mixtures import log_odds
from costboost.ensembles.trees import Trees
from costboost.learners.weights import read_weights
from costboost.mixture.boosted import Boosted
from costboost.mixture.forest import Forest
from costboost.mixture.kernel import Kernel
from costboost.mixture.linear import Linear
from costboost.mixture.table import Table
from costboost.parameters import InCode

__all__ = ["MEMBERS", "N_ESTIMATORS", "Bundle", "Member", "Members"]

Floats = NDArray[np.float64]
Callback = Callable[[int, int, Mapping[str, float]], object]


@dataclass(frozen=True)
class Member:
    """A way of learning log-odds.

    Attributes
    ----------
    learner : Boosted, Forest, Kernel or Linear
    probability : bool
        Whether its score is a probability.
    used : tuple of bool
        Whether it is fitted where members need not be additive (False), and where they must (True).
    """

    learner: Boosted | Forest | Kernel | Linear
    probability: bool = False
    used: tuple[bool, ...] = (False,)


#: Trees of a member.
N_ESTIMATORS = 120
#: In this order everywhere.
MEMBERS: dict[str, Member] = {
    "boosted trees": Member(Boosted()),
    "extra trees": Member(Forest(), probability=True),
    "boosted stumps": Member(Boosted(step=0.2, leaves=2, columns=1.0), used=(True,)),
    "kernel": Member(Kernel()),
    "linear": Member(Linear(), used=(False, True)),
}


@dataclass(frozen=True, eq=False)
class Bundle:
    """Members side by side: score ``k · M + m`` is what member m says of class k.

    Attributes
    ----------
    members : tuple of K' · M Trees, Lines or Expansions
    probability : tuple of K' · M bool
    """

    members: tuple[Trees | Lines | Expansions, ...]
    probability: tuple[bool, ...]

    @property
    def n_outputs(self) -> int:
        """Number of scores per row."""
        return len(self.members)

    @property
    def n_features(self) -> int:
        """Columns a row must have."""
        return self.members[0].n_features

    @property
    def scale(self) -> float:
        """Log-odds are their own margins."""
        return 1.0

    def score(self, X: Floats) -> Floats:
        """Log-odds of shape (n, K' · M)."""
        each = zip(self.members, self.probability, strict=True)
        return np.column_stack([log_odds(m.score(X)[:, 0], probability=p) for m, p in each])


class Members(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fits the members alone; `MixtureClassifier` weighs them.

    Parameters
    ----------
    n_estimators : int
        Trees of each member that has trees.
    additive : bool
        Only members whose score is a sum of functions of one column each.
    categorical_features : sequence of int, optional
        Columns that hold codes of categories.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    ensemble_ : Bundle
    """

    classes_: NDArray[Any]
    ensemble_: Bundle
    n_features_in_: int

    def __init__(
        self,
        *,
        n_estimators: int = N_ESTIMATORS,
        additive: bool = False,
        categorical_features: Annotated[Sequence[int], InCode()] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.additive = additive
        self.categorical_features = categorical_features
        self.random_state = random_state

    @property
    def chosen(self) -> list[tuple[str, Member]]:
        """The members that are fitted, by name."""
        return [(name, member) for name, member in MEMBERS.items() if self.additive in member.used]

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_cost: ArrayLike | None = None,  # noqa: ARG002 - costs have no part in probabilities
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> "Members":
        """Fit every member for every class; of two for the second.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_cost : ignored
        sample_weight : array-like of shape (n,), optional
        callback : callable, optional
            ``callback(number, members, {})`` after each member; what it raises ends the fit.

        Returns
        -------
        self
        """
        features, targets = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(targets)
        weights = read_weights(sample_weight, len(targets))
        weights = weights * (np.count_nonzero(weights) / weights.sum())
        # In single precision weights in another unit are the same weights, to the bit.
        weights = np.asarray(weights, dtype=np.float32).astype(np.float64)
        self.classes_, codes = np.unique(targets, return_inverse=True)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        outputs = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        fitted: list[Trees | Lines | Expansions] = []
        for k in outputs:
            label = (codes == k).astype(np.float64)
            table = Table.of(features, label, weights, self._categories)
            for number, (_, member) in enumerate(self.chosen):
                rng = np.random.default_rng([seed, k, number])
                if isinstance(member.learner, Linear):
                    fitted.append(member.learner.fit(features, label, weights, self._categories))
                elif isinstance(member.learner, Kernel):
                    fitted.append(member.learner.fit(features, label, weights, self._categories, rng))
                else:
                    fitted.append(member.learner.fit(table, label, weights, self.n_estimators, rng))
                if callback is not None:
                    callback(len(fitted), len(outputs) * len(self.chosen), {})
        self.ensemble_ = Bundle(
            tuple(fitted), tuple(member.probability for _, member in self.chosen) * len(outputs)
        )
        return self

    @property
    def _categories(self) -> Collection[int]:
        return () if self.categorical_features is None else self.categorical_features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
