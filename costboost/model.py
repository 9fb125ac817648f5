"""The estimator that a user fits: encoder, booster, calibrator and decision rule in one.

Probabilities and decisions live here, never in a booster. Nothing depends on the order of the rows, on the
order of a table's columns or on the names of the classes: rows are learned in an order that their contents
give, columns are taken by name, and classes are coded by their size.
"""

import warnings
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from costboost.calibration.calibrator import (
    CalibrationKind,
    Calibrator,
    calibrator_of_log_odds,
    fit_calibrator,
)
from costboost.checkpoints import NO_CHECKPOINTS, Checkpoints, tape_of
from costboost.columns import Columns, ColumnType, table_of, typed_columns
from costboost.contributions.of_ensembles import background_of
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix
from costboost.cross_fitting import Fitted, Rows, TrainingSet, fit_rows, mixed, out_of_fold_scores
from costboost.deciding import DecidingModel, has_names
from costboost.features import FeatureEncoder
from costboost.labels import NamedCosts, codes_of_classes, given_costs, meant_costs, ordered_classes, spec_of
from costboost.mixture.classifier import MixtureClassifier
from costboost.mixture.mixing import enough
from costboost.parameters import Range, check_parameters
from costboost.prepared import Prepared, booster_of, given_columns, weights_of_all
from costboost.progress import Progress, rounds_of
from costboost.row_order import canonical_order
from costboost.scorer import DecisionRule, Scorer
from costboost.splits import Split, SplitKind, folds
from costboost.thresholds import Aim, FoundThreshold, find_threshold
from costboost.training_costs import TrainCosts, TrainingCosts

Types = Mapping[str, ColumnType]

#: Rows, in an order of chance, on which a score that varies does so.
_TELLING = 5000
#: What the parts of a booster that stops early must respect, by the kind of split that does.
_APART: dict[str, SplitKind] = {"groups": "group", "times": "time"}


class CostSensitiveModel(DecidingModel):
    """A booster with typed columns before it and calibrated probabilities and decisions behind it.

    `fit` scores each row by a booster that was not fitted on it, fits a calibrator on these scores, and then
    fits encoder and booster on all rows. `predict` names the class of the decision that is expected to cost
    least.

    Parameters
    ----------
    estimator : booster or str, optional
        Unfitted, or the name of an algorithm of `ALGORITHMS`; the default algorithm if left out. Its own
        costs are replaced by those of the model.
    costs : CostSpec, CostMatrix or dict, optional
        Money per decision; a `CostMatrix` has the classes in sorted order, of two the second is positive. So
        has a dict of fn, fp, tp and tn, each a number or the parts of a `CostCell`:
        ``{"fn": {"per": {"amount": 1}}, "fp": 10}``.
        Without costs every wrong decision costs the same, and the rarer of two classes is the positive one.
    calibration : {"auto", "sigmoid", "isotonic", "none"}
        "auto" is isotonic when each class has at least 1000 rows, else sigmoid; the scores of the default
        algorithm are log-odds fitted to out-of-fold rows, and stay as they are. "none" is the raw link.
    decision_rule : {"expected_cost", "empirical", "sign"}
        Least expected cost under the calibrated probabilities; the threshold on the score that did best on
        out-of-fold rows (two classes); or the vote of the booster.
    threshold_aim : {"cost", "g_mean", "f1"}
        With the rule "empirical": the threshold of the least cost, or of the largest G-mean or F1.
    min_recall : float in [0, 1], optional
        With the rule "empirical": share of the positive rows that the threshold must find, out of fold;
        `threshold_found_` says what that costs.
    train_costs : {"class_mean", "row"}
        What a booster learns from: the mean regret of each class, or the costs of each row. With "row" and
        "expected_cost" the amounts count twice.
    split : Split, optional
        How the folds are made; 5 stratified ones if left out. Its test part is not set aside here.
    random_state : int, RandomState instance or None, default 0
    n_jobs : int, optional
        Folds fitted at a time; changes no number.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        In the order of the cost spec, else sorted; the order of the columns of `predict_proba`.
    costs_ : CostSpec
        Costs in force at prediction.
    booster_ : estimator
        Fitted on all rows; not there after loading an artifact.
    encoder_ : FeatureEncoder
    calibrator_ : Calibrator
    threshold_ : float or None
        With the rule "empirical" the threshold on the score.
    threshold_found_ : FoundThreshold or None
        What that threshold does to the out-of-fold rows: cost, recall, specificity, and the price of its aim
        and of `min_recall`. Costs are those of the training rows, times their weights. Not there after
        loading an artifact.
    priors_ : ndarray of shape (K,)
        Share of each class in training.
    oof_score_, oof_probabilities_ : ndarray of shape (n,) or (n, K), and (n, K)
        Of the training rows in the caller's order; NaN for rows that no fold validated. The score of two
        classes rises with the positive one.
    n_folds_ : int
    column_types_ : dict of str to ColumnType
        The features.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Only if X has names.

    Examples
    --------
    >>> from costboost.costs import CostMatrix
    >>> X = {"amount": np.arange(40.0), "country": np.array(["ch", "de"] * 20)}
    >>> y = np.where(X["amount"] > 25, "fraud", "legit")
    >>> model = CostSensitiveModel(costs=CostMatrix(cost_fn=1, cost_fp=9)).fit(X, y)
    >>> model.predict({"amount": [3.0, 39.0], "country": ["de", "at"]}).tolist()
    ['legit', 'fraud']
    """

    classes_: NDArray[Any]
    costs_: CostSpec
    booster_: Any
    encoder_: FeatureEncoder
    calibrator_: Calibrator
    threshold_: float | None
    threshold_found_: FoundThreshold | None
    priors_: NDArray[np.float64]
    oof_score_: NDArray[np.float64]
    oof_probabilities_: NDArray[np.float64]
    n_folds_: int
    library_versions_: dict[str, str]
    column_types_: dict[str, ColumnType]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        estimator: Any = None,
        *,
        costs: CostSpec | CostMatrix | NamedCosts | None = None,
        calibration: CalibrationKind = "auto",
        decision_rule: DecisionRule = "expected_cost",
        threshold_aim: Aim = "cost",
        min_recall: Annotated[float, Range(minimum=0, maximum=1)] | None = None,
        train_costs: TrainCosts = "class_mean",
        split: Split | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.calibration = calibration
        self.decision_rule = decision_rule
        self.threshold_aim = threshold_aim
        self.min_recall = min_recall
        self.train_costs = train_costs
        self.split = split
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sample_cost: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        times: ArrayLike | None = None,
        parts: ArrayLike | None = None,
        types: Types | None = None,
        progress: Progress | None = None,
        checkpoints: Checkpoints = NO_CHECKPOINTS,
    ) -> "CostSensitiveModel":
        """Fit encoder, booster, calibrator and decision rule.

        Parameters
        ----------
        X : DataFrame, Arrow table, dict of columns, list of dicts, or array-like of shape (n, d)
            Features, and the columns that per-row costs read. Missing values are fine, infinite ones are not.
        y : array-like of shape (n,)
        sample_cost : array-like of shape (n,), (n, 4) or (n, K), optional
            Costs of the rows for training, instead of those of the model: of getting the row wrong; or fn,
            fp, tp, tn (two classes; without a cost spec the second of `classes_` is meant as positive); or of
            deciding each class, in the order of `classes_`. Decisions use the costs of the model, and without
            those the class means.
        sample_weight : array-like of shape (n,), >= 0, optional
        groups, times, parts : array-like of shape (n,), optional
            What the split asks for: rows of one group stay together; seconds, or anything that sorts; fold
            numbers.
        types : mapping of name to ColumnType, optional
            The features and their types; every column of X, with the type its values suggest, if left out.
        progress : callable, optional
            ``progress(phase, round, rounds, fraction, figures)``, the phase being "out_of_fold", "boosting"
            or "calibration", the figures those of a booster's callback; what it returns is ignored, what it
            raises ends the fit.
        checkpoints : Checkpoints, optional
            Where scores of folds and rounds of fits are kept; those found there are not fitted again.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter, the data, or costs are not acceptable; the message says which.
        """
        side = {"groups": groups, "times": times, "parts": parts}
        ready = self.prepare(X, y, sample_cost=sample_cost, sample_weight=sample_weight, types=types, **side)
        rows, where, learner = ready.rows, ready.parts, ready.booster
        if isinstance(learner, MixtureClassifier):
            learner, where = learner.members(), enough(where, rows.y)
        raw = out_of_fold_scores(
            learner, rows, where, n_jobs=self.n_jobs, progress=progress, checkpoints=checkpoints
        )
        last = rounds_of(progress, "boosting", len(where), len(where) + 1)
        fitted = fit_rows(learner, rows, last, tape_of("all rows", checkpoints))
        if learner is not ready.booster:
            fitted, raw = mixed(ready.booster, fitted, raw, rows)
        self.settle(ready, fitted, raw, n_folds=len(where))
        if progress is not None:
            progress("calibration", 1, 1, 1.0, {})
        return self

    def prepare(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sample_cost: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        times: ArrayLike | None = None,
        parts: ArrayLike | None = None,
        types: Types | None = None,
    ) -> Prepared:
        """Do all of `fit` that comes before the first booster; for those who fit the folds themselves.

        Parameters
        ----------
        X, y, sample_cost, sample_weight, groups, times, parts, types
            As in `fit`.

        Returns
        -------
        Prepared
        """
        check_parameters(self)
        aims_otherwise = self.threshold_aim != "cost" or self.min_recall is not None
        if aims_otherwise and self.decision_rule != "empirical":
            raise ValueError("threshold_aim and min_recall are for the decision rule 'empirical'")
        columns, targets = self._read_training(X, y, types)
        self.classes_, y_class = ordered_classes(targets, self._meant)
        weight = weights_of_all(sample_weight, y_class)
        given = given_costs(self._meant, columns, y_class, self.classes_)
        costs = self._training_costs(given, sample_cost, columns, y_class, weight)
        codes = codes_of_classes(columns, y_class, given.positive)
        side = given_columns(len(targets), groups=groups, times=times, parts=parts)
        order = canonical_order(
            columns, codes[y_class], weight, *costs.recoded(codes).labelled.T, *side.values()
        )
        costs = costs.of_rows(order)
        self.costs_ = given
        if sample_cost is not None and self._meant is None:
            self.costs_ = spec_of(costs.class_means(), self.classes_, given.positive)
        ordered_side = {name: values[order] for name, values in side.items()}
        recoded = costs.recoded(codes)
        booster, rows = self._priced(columns, recoded, order, ordered_side)
        where = folds(self.split or Split(), rows.y, seed=self._seed(), **ordered_side)
        return Prepared(booster, rows, where, recoded, codes, order)

    def settle(
        self, ready: Prepared, fitted: Fitted, raw: NDArray[np.float64], *, n_folds: int
    ) -> "CostSensitiveModel":
        """Do all of `fit` that comes after the last booster; for those who fit the folds themselves.

        Parameters
        ----------
        ready : Prepared
            From `prepare`.
        fitted : Fitted
            The booster of all rows, and its encoder.
        raw : ndarray of shape (n, K'), float64
            Score of each row in the order of `ready`, by a booster that was not fitted on it; NaN where there
            is none.
        n_folds : int

        Returns
        -------
        self
        """
        rows, judged, varying = ready.rows, np.flatnonzero(~np.isnan(raw[:, 0])), _varying(fitted, ready.rows)
        is_mixture = isinstance(fitted.booster, MixtureClassifier)
        if is_mixture and not varying.any():
            warnings.warn("no member tells the classes apart: the score is a constant", stacklevel=3)
        scores = np.where(varying, raw[judged], 0.0)
        judgement = (scores, rows.y[judged], len(self.classes_), rows.weight[judged])
        if self.calibration == "auto" and is_mixture and varying.all():
            self.calibrator_ = calibrator_of_log_odds(*judgement)
        else:
            self.calibrator_ = fit_calibrator(self.calibration, *judgement)
        self.threshold_ = self.threshold_found_ = None
        if self.decision_rule == "empirical":
            self.threshold_found_ = self.find_threshold(scores[:, 0], ready.costs.of_rows(judged))
            self.threshold_ = self.threshold_found_.threshold
        shares = np.bincount(rows.y, weights=rows.weight, minlength=len(self.classes_))
        self.priors_ = (shares / shares.sum())[ready.codes]
        self.booster_, self.encoder_, self.n_folds_ = fitted.booster, fitted.encoder, n_folds
        self._scorer = self._scorer_of(fitted, ready)
        self._keep_out_of_fold(raw, ready.order)
        return self

    def find_threshold(self, scores: NDArray[np.float64], costs: TrainingCosts) -> FoundThreshold:
        """Threshold that the rule "empirical" takes on scores of two classes, class 1 being positive."""
        priced = costs.labelled * costs.weight[:, None]
        return find_threshold(
            scores,
            costs.y == 1,
            priced[:, 1],
            priced[:, 0],
            costs.weight,
            aim=self.threshold_aim,
            min_recall=0.0 if self.min_recall is None else float(self.min_recall),
        )

    # Reading

    def _read_training(
        self, X: Any, y: ArrayLike, types: Types | None
    ) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
        named = has_names(X := table_of(X))
        if named:
            targets = column_or_1d(y)
        else:
            X, targets = validate_data(self, X, y, dtype=None, ensure_all_finite="allow-nan")
        check_classification_targets(targets)
        self._meant = meant_costs(self.costs, targets)
        read_by_costs = self._meant.columns if isinstance(self._meant, CostSpec) else frozenset()
        only = None if types is None else {*types, *read_by_costs}
        columns, self._known_types = typed_columns(X, types, only)
        if any(len(values) != len(targets) for values in columns.values()):
            raise ValueError(f"X and y have different numbers of rows; y has {len(targets)}")
        features = list(columns) if types is None else list(types)
        if not set(features) <= set(columns):
            raise ValueError(f"these features have no column: {sorted(set(features) - set(columns))}")
        self.column_types_ = {name: self._known_types[name] for name in features}
        if named:
            self.n_features_in_ = len(features)
            self.feature_names_in_ = np.array(features, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return columns, targets

    # Costs

    def _training_costs(
        self,
        spec: CostSpec,
        sample_cost: ArrayLike | None,
        columns: Columns,
        y: NDArray[np.intp],
        weight: NDArray[np.float64],
    ) -> TrainingCosts:
        if sample_cost is None:
            return TrainingCosts.of_spec(spec, columns, y, weight)
        n_classes = len(self.classes_)
        named = spec.positive if isinstance(self._meant, CostSpec) or n_classes > 2 else 1
        return TrainingCosts.of_samples(sample_cost, y, weight, n_classes, named)

    def _priced(
        self, columns: Columns, costs: TrainingCosts, order: Rows, side: Mapping[str, NDArray[Any]]
    ) -> tuple[Any, TrainingSet]:
        """The booster with its costs, and the rows in their order with theirs."""
        booster = booster_of(self.estimator)
        booster.set_params(cost_matrix=costs.matrix(), random_state=self._seed(), pos_label=None)
        by_row = costs.rows() if self.train_costs == "row" else None
        ordered = {name: values[order] for name, values in columns.items()}
        split = self.split or Split()
        apart = {name: side[name] for name, kind in _APART.items() if kind == split.kind and name in side}
        return booster, TrainingSet(ordered, self.column_types_, costs.y, costs.weight, by_row, apart)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    # Results

    def _scorer_of(self, fitted: Fitted, ready: Prepared) -> Scorer:
        threshold = self.threshold_
        return Scorer(
            encoder=fitted.encoder,
            ensemble=fitted.ensemble,
            calibrator=self.calibrator_,
            classes=self.costs_.classes,
            codes=tuple(ready.codes.tolist()),
            priors=tuple(self.priors_.tolist()),
            costs=self.costs_,
            rule=self.decision_rule,
            score_threshold=float(fitted.booster.vote_threshold_) if threshold is None else threshold,
            background=background_of(fitted.encoder, fitted.ensemble, ready.rows.columns, ready.rows.weight),
        )

    def _keep_out_of_fold(self, raw: NDArray[np.float64], order: Rows) -> None:
        by_class = raw if raw.shape[1] == 1 else raw[:, list(self._scorer.codes)]
        judged = ~np.isnan(raw[:, 0])
        probabilities = np.full((len(raw), len(self.classes_)), np.nan)
        probabilities[judged] = self._scorer.probabilities(raw[judged])
        back = np.argsort(order)
        self.oof_score_ = by_class[back, 0] if raw.shape[1] == 1 else by_class[back]
        self.oof_probabilities_ = probabilities[back]


def _varying(fitted: Fitted, rows: TrainingSet) -> NDArray[np.bool_]:
    """Which scores are no constants: such a one says nothing, whatever the ensembles of the folds said."""
    some = rows if len(rows.y) <= _TELLING else rows.take(np.arange(_TELLING))
    varying: NDArray[np.bool_] = np.ptp(fitted.score(some.columns), axis=0) > 0
    return varying
