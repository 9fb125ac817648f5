"""The weighted support vector machine, linear and with kernels."""

import warnings
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from costboost.learners.svm_machine import Machine
from costboost.learners.svm_prepared import PreparedSVM
from costboost.learners.weak import Labels, classes_of
from costboost.learners.weights import read_weights
from costboost.parameters import InCode, Range

__all__ = ["WeightedSVM"]

Floats = NDArray[np.float64]

#: A duality gap above this, and above what was asked for, is worth a warning.
_WARN_ABOVE = 1e-3


class WeightedSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Support vector machine with a margin mean term and weights, the base learner of PCADA.

    Minimises eq. (6) of the reference, and with a kernel eq. (7)::

        F(w) = ½‖w‖² − λ1 Σ v_i y_i f(x_i) + λ2 Σ v_i max(0, 1 − y_i f(x_i)),    v_i = sample_weight_i · μ_i

    where μ = (n₋/n₊)^p for positives and (n₊/n₋)^p for negatives, and n₊, n₋ count the rows of positive
    weight. With weights of mean 1, as boosting gives them, v_i = n D_i μ_i: the printed problem at D = 1/n.
    The positive class is ``classes_[1]``; f(x) = 0 is a negative.

    Columns are standardised here, under the rows' weights, and missing values (NaN) put in the centre: at the
    column's mean, or at 0 if columns are not standardised. The intercept is the weight of a constant column
    (with a kernel: 1 is added to it) and so is part of ‖w‖, unlike in the reference, which has none.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"}, default "linear"
        "rbf": exp(-gamma ‖x - z‖²). "poly": (gamma x·z + coef0)^degree. "precomputed": X holds kernel values
        with the training rows.
    lambda1 : float >= 0, default 0.0
        Weight of the margin mean. As it grows, w turns towards the difference of the class means.
    lambda2 : float >= 0 or None, default None
        Weight of the hinge loss. None: 0.1 for "linear", 1.0 for kernels.
    p : float in [0, 1], default 0.0
        How far the classes are balanced.
    gamma : {"scale", "auto"} or float > 0, default "scale"
        "scale": 1 / (d Var X) on the scaled columns; "auto": 1 / d.
    degree : int from 1 to 10, default 3
    coef0 : float, default 1.0
    solver : {"dual", "svrg", "sgd"}, default "dual"
        "dual" is exact and draws no random numbers. "svrg" and "sgd" take 2 n stochastic steps an epoch from
        w = 0; the hinge is not smooth, so they only come near, within about 1e-3 of F at small `lambda2`
        and 20 % at 10.
    eta : "auto" or float > 0, default "auto"
        Step of the first epoch of "svrg" and "sgd", at most n/2; epoch s (from 0) uses eta / (1 + s).
        "auto": 1 / ((λ1 + λ2) mean(v_i ‖x_i‖²)).
    n_epochs : int >= 1, default 20
        Of "svrg" and "sgd".
    average : bool, default True
        An epoch of "svrg" and "sgd" ends at the mean of its iterates, else at the last.
    fit_intercept : bool, default True
    standardize : bool, default True
        False leaves the columns as they are.
    exact_rows : int >= 1, default 4000
        Kernels of more rows are approximated from landmarks (Nyström): memory n · nystroem_components.
    nystroem_components : int >= 1, default 256
        Landmarks, drawn from the rows of positive weight.
    tol : float >= 0 or None, default None
        Relative duality gap at which "dual" stops. None: 1e-10 if its matrix has at most 4 million numbers,
        else 1e-3.
    max_iter : int >= 1, default 1000
        Passes of "dual" over the rows at most.
    random_state : int, RandomState instance or None
        Draws landmarks and stochastic steps.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    machine_ : Machine
        The fitted function.
    coef_ : ndarray
        Linear: of the scaled columns, (d,). Kernel: of the vectors' kernels, (m,).
    intercept_ : float
    objective_ : float
        F at the fitted weights.
    n_iter_ : int
        Passes over the rows, or epochs.
    gap_ : float
        F is at most this share above its minimum; NaN for "svrg" and "sgd", which do not know.
    n_features_in_ : int

    References
    ----------
    Lu Shuxia, Zhang Zhenlian & Zhai Junhai (2023), 代价敏感惩罚AdaBoost算法的非平衡数据分类
    (classification of imbalanced data by cost-sensitive penalized AdaBoost), doi
    10.16356/j.1005-2615.2023.02.020, eq. (6) and (7), after Cheng, Zhang, Wen et al. (2016),
    Neurocomputing. Johnson & Zhang (2013) for SVRG; Hsieh et al. (2008) for coordinate ascent.

    Examples
    --------
    >>> svm = WeightedSVM(lambda2=10.0).fit([[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> svm.predict([[1.5], [2.5]]).tolist()
    ['no', 'yes']
    """

    classes_: NDArray[Any]
    machine_: Machine
    coef_: Floats
    intercept_: float
    objective_: float
    gap_: float
    n_iter_: int
    n_features_in_: int

    def __init__(
        self,
        kernel: Literal["linear", "rbf", "poly"] | Annotated[Literal["precomputed"], InCode()] = "linear",
        *,
        lambda1: Annotated[float, Range(minimum=0, maximum=1e100)] = 0.0,
        lambda2: Annotated[float, Range(minimum=0, maximum=1e100)] | None = None,
        p: Annotated[float, Range(minimum=0, maximum=1)] = 0.0,
        gamma: Literal["scale", "auto"]
        | Annotated[float, Range(exclusive_minimum=0, maximum=1e100)] = "scale",
        degree: Annotated[int, Range(minimum=1, maximum=10)] = 3,
        coef0: float = 1.0,
        solver: Literal["dual", "svrg", "sgd"] = "dual",
        eta: Literal["auto"] | Annotated[float, Range(exclusive_minimum=0, maximum=1e100)] = "auto",
        n_epochs: Annotated[int, Range(minimum=1, maximum=10_000)] = 20,
        average: bool = True,
        fit_intercept: bool = True,
        standardize: bool = True,
        exact_rows: Annotated[int, Range(minimum=1, maximum=100_000)] = 4000,
        nystroem_components: Annotated[int, Range(minimum=1, maximum=10_000)] = 256,
        tol: Annotated[float, Range(minimum=0, maximum=1)] | None = None,
        max_iter: Annotated[int, Range(minimum=1, maximum=1_000_000)] = 1000,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.p = p
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.eta = eta
        self.n_epochs = n_epochs
        self.average = average
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.exact_rows = exact_rows
        self.nystroem_components = nystroem_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "WeightedSVM":
        """Minimise eq. (6) or (7).

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) kernel values if `kernel` is "precomputed"
        y : array-like of shape (n,)
            Two classes.
        sample_weight : array-like of shape (n,), >= 0, optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter or a weight is out of bounds, shapes differ, a value is infinite, or y does not
            have two classes.
        """
        features, targets = validate_data(self, X, y, **self._checks)
        classes, codes = _two_classes(targets)
        weights = read_weights(sample_weight, len(codes))
        learner = PreparedSVM(self, features, weights)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        learner.train(self, weights, Labels(codes, classes), np.asarray(weights > 0, dtype=np.float64), rng)
        if self.gap_ > max(self.tol or 0.0, _WARN_ABOVE):
            message = f"the duality gap is {self.gap_:.1e} after max_iter={self.max_iter} passes"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Score each row.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n_train) kernel values if `kernel` is "precomputed"

        Returns
        -------
        ndarray of shape (n,), float64
            f(x); above 0 for ``classes_[1]``.
        """
        check_is_fitted(self)
        return self.machine_.scores(validate_data(self, X, reset=False, **self._checks))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Name a class for each row.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n_train) kernel values if `kernel` is "precomputed"

        Returns
        -------
        ndarray of shape (n,)
            ``classes_[1]`` where f(x) > 0, else ``classes_[0]``.
        """
        positive = self.decision_function(X) > 0
        named: NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return named

    @property
    def _checks(self) -> dict[str, Any]:
        """How rows are checked."""
        finite: bool | str = True if self.kernel == "precomputed" else "allow-nan"
        return {"dtype": np.float64, "order": "C", "ensure_all_finite": finite}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.kernel != "precomputed"
        tags.classifier_tags.multi_class = False
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _two_classes(targets: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.uint16]]:
    check_classification_targets(targets)
    kind = type_of_target(targets, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, codes = classes_of(targets)
    if len(classes) < 2:
        raise ValueError("WeightedSVM needs two classes, but y has only one class")
    return classes, codes
