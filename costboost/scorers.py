"""What decisions cost, as scikit-learn scores: `cross_validate` and `GridSearchCV` then optimise money."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from costboost.columns import canonical_text, typed_columns
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix
from costboost.metrics.money import savings
from costboost.metrics.weighted import row_weights
from costboost.training_costs import TrainingCosts

__all__ = ["CostScorer"]

Metric = Literal["expected_cost", "savings"]
Floats = NDArray[np.float64]

_EQUAL_MISTAKES = {"cost_fn": 1.0, "cost_fp": 1.0, "cost_tp": 0.0, "cost_tn": 0.0}


class CostScorer:
    """Scores an estimator by what its decisions cost on rows whose class is known; more is better.

    Costs are, in this order: `sample_cost`, routed as metadata; `costs` given here; those the estimator was
    fitted with. To compare estimators of different costs, give the costs here or as `sample_cost`.

    Parameters
    ----------
    metric : {"expected_cost", "savings"}
        Minus the mean cost of a row, in money; or the share of the cost of the cheapest constant decision
        that is saved.
    costs : CostSpec or CostMatrix, optional
        A `CostMatrix` of two classes has the positive one last; otherwise classes are in sorted order. Cells
        of a `CostSpec` read columns of X.
    pos_label : label, optional
        Two classes: the positive one, for costs that name cells; that of the estimator if left out.

    Notes
    -----
    With metadata routing, `sample_cost` and `sample_weight` are used where they are passed;
    `set_score_request` changes that. A review counts what it costs where the model decided with these very
    costs; elsewhere it counts as the cheapest action for the predicted class.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from costboost.boosting.ada_boost import CGAdaClassifier
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) >= 30
    >>> scorer = CostScorer(costs=CostMatrix(cost_fn=9, cost_fp=1))
    >>> search = GridSearchCV(CGAdaClassifier(), {"n_estimators": [1, 2]}, scoring=scorer, cv=2).fit(X, y)
    >>> search.best_params_
    {'n_estimators': 1}
    """

    def __init__(
        self,
        metric: Metric = "expected_cost",
        *,
        costs: CostSpec | CostMatrix | None = None,
        pos_label: Any = None,
    ) -> None:
        if metric not in get_args(Metric):
            raise ValueError(f"the metric is one of {', '.join(get_args(Metric))}, not {metric!r}")
        self.metric = metric
        self.costs = costs
        self.pos_label = pos_label
        self._requests: dict[str, bool | str | None] = {"sample_cost": True, "sample_weight": True}

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        *,
        sample_cost: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score a fitted estimator.

        Parameters
        ----------
        estimator : classifier
            Fitted; alone or as the last step of a pipeline.
        X : as the estimator takes it
        y_true : array-like of shape (n,)
        sample_cost : array-like of shape (n,), (n, 4) or (n, K), optional
            As `CostSensitiveModel.fit` takes it, in the order of the estimator's classes.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If there are no costs, a label is unknown, or the savings are undefined.
        """
        labels = np.asarray(y_true)
        y = _codes_of(labels, estimator.classes_)
        given = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weight = row_weights(y, given)
        charged, constant = self._charged(estimator, X, y, weight, sample_cost)
        if self.metric == "savings":
            return savings(charged, constant, weight)
        return -float((weight * charged).sum() / weight.sum())

    def set_score_request(
        self, *, sample_cost: bool | str | None = UNCHANGED, sample_weight: bool | str | None = UNCHANGED
    ) -> "CostScorer":
        """Choose which metadata the score asks for, as scikit-learn's scorers do.

        Parameters
        ----------
        sample_cost, sample_weight : bool, None or str
            True: used if passed; False: ignored; None: passing it is an error; a name: under that name.

        Returns
        -------
        CostScorer
            This one.
        """
        asked = {"sample_cost": sample_cost, "sample_weight": sample_weight}
        self._requests |= {name: request for name, request in asked.items() if request != UNCHANGED}
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Which metadata the score asks for."""
        routing = MetadataRequest(owner=self)
        for name, request in self._requests.items():
            routing.score.add_request(param=name, alias=request)
        return routing

    def __sklearn_clone__(self) -> "CostScorer":
        return deepcopy(self)

    def __repr__(self) -> str:
        return f"CostScorer({self.metric!r}, costs={self.costs!r}, pos_label={self.pos_label!r})"

    # Costs

    def _charged(
        self, estimator: Any, X: Any, y: NDArray[np.intp], weight: Floats, sample_cost: ArrayLike | None
    ) -> tuple[Floats, Floats]:
        """(n,) cost of what was decided, and (n, A) of what could have been decided for all rows."""
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        positive = self._positive(last, estimator.classes_)
        if sample_cost is not None:
            costs = TrainingCosts.of_samples(sample_cost, y, weight, len(estimator.classes_), positive)
            return _by_label(estimator, X, y, costs)
        spec = self._spec(last, estimator.classes_, positive)
        columns = _columns_of(X, spec)
        if spec.review is not None and spec == getattr(estimator, "costs_", None):
            prices = np.broadcast_to(spec.evaluate(columns, len(y)), (len(y), *_shape_of(spec)))
            own = prices[np.arange(len(y)), y]
            serving = [a for a, served in enumerate(spec.serves) if served is not None]
            return own[np.arange(len(y)), estimator.decide(X).decisions.decision], own[:, serving]
        return _by_label(estimator, X, y, TrainingCosts.of_spec(spec, columns, y, weight))

    def _positive(self, last: Any, classes: NDArray[Any]) -> int | None:
        if len(classes) > 2:
            return None
        label = self.pos_label if self.pos_label is not None else getattr(last, "pos_label", None)
        if label is not None:
            return int(_codes_of(np.array([label]), classes)[0])
        # A model's costs say which class is positive if they name classes.
        spec = last.costs if isinstance(getattr(last, "costs", None), CostSpec) else None
        return 1 if spec is None else spec.positive

    def _spec(self, last: Any, classes: NDArray[Any], positive: int | None) -> CostSpec:
        names = tuple(canonical_text(label) for label in classes)
        costs = self.costs if self.costs is not None else _own_costs(last, len(classes), positive)
        if isinstance(costs, CostSpec):
            return costs if costs.classes == names else costs.reordered(names)
        matrix = costs.matrix[::-1, ::-1] if positive == 0 else costs.matrix
        return CostSpec.from_matrix(matrix, names, positive)


def _by_label(estimator: Any, X: Any, y: NDArray[np.intp], costs: TrainingCosts) -> tuple[Floats, Floats]:
    told = _codes_of(np.asarray(estimator.predict(X)), estimator.classes_)
    return costs.labelled[np.arange(len(y)), told], costs.labelled


def _own_costs(estimator: Any, n_classes: int, positive: int | None) -> CostSpec | CostMatrix:
    """Costs that an estimator of this library was fitted with."""
    if isinstance(getattr(estimator, "costs_", None), CostSpec):
        spec: CostSpec = estimator.costs_
        return spec
    params: Mapping[str, Any] = estimator.get_params(deep=False)
    matrix = params.get("cost_matrix")
    if isinstance(matrix, CostMatrix):
        return matrix
    if matrix is not None and not isinstance(matrix, str):
        cells = np.asarray(matrix, dtype=np.float64)  # in the order of the classes
        return CostMatrix.from_matrix(cells[::-1, ::-1] if positive == 0 else cells)
    scalars = {name: params[name] for name in _EQUAL_MISTAKES if name in params}
    if matrix is None and n_classes == 2 and len(scalars) == 4:
        return CostMatrix(**scalars)
    if matrix is None and scalars == _EQUAL_MISTAKES:
        return CostMatrix.from_matrix(1.0 - np.eye(n_classes))
    raise ValueError("this estimator has no costs of its own: give costs to the scorer, or sample_cost")


def _columns_of(X: Any, spec: CostSpec) -> dict[str, NDArray[Any]]:
    if not spec.columns:
        return {}
    return typed_columns(X, dict.fromkeys(spec.columns, "number"), spec.columns)[0]


def _shape_of(spec: CostSpec) -> tuple[int, int]:
    return len(spec.classes), len(spec.actions)


def _codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    place = {label: code for code, label in enumerate(classes.tolist())}
    try:
        return np.array([place[label] for label in labels.tolist()], dtype=np.intp)
    except KeyError as unknown:
        raise ValueError(f"the estimator has not seen the label {unknown}") from None
