"""The estimator all boosters inherit: reads the data and runs the loop."""

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from costboost.boosting._against_the_rest import RoundCounter, in_a_row
from costboost.boosting._early_stopping import (
    Aside,
    Patience,
    ValidationCost,
    ValidationFraction,
    parts_of,
)
from costboost.boosting._ensembles import ensemble_of
from costboost.boosting._going_on import Course, Start, check_unchanged, fingerprint
from costboost.boosting._history import History
from costboost.boosting._kinds import weighing_of
from costboost.boosting._problem import (
    EQUAL_MISTAKES,
    CostsOfMistakes,
    Floats,
    Problem,
    labels_of,
    read_costs,
)
from costboost.boosting._rounds import Callback, Ensemble, Rule, StopReason
from costboost.boosting._row_checks import checked, is_binned, takes_many_classes, training_row_checks
from costboost.boosting._scores import Votes
from costboost.boosting._voting import VotingBooster
from costboost.kernels.fixed_point import total
from costboost.learners.foreign import Response
from costboost.learners.named import WEAK_LEARNERS, weak_learner
from costboost.learners.prepare import prepare
from costboost.learners.stump import DecisionStump
from costboost.learners.tape import Tape
from costboost.learners.weights import read_weights
from costboost.parameters import Range, check_parameters
from costboost.scorer import ScoreFunction
from costboost.terms import Terms

__all__ = ["Cost", "CostSensitiveBooster", "LearningRate", "Patience", "Rounds", "ValidationFraction"]

Rounds: TypeAlias = Annotated[int, Range(minimum=1, maximum=100_000)]
LearningRate: TypeAlias = Annotated[float, Range(exclusive_minimum=0, maximum=100)]
Cost: TypeAlias = float


class CostSensitiveBooster(VotingBooster):
    """What all boosters share; a subclass adds its formula.

    Boosters never calibrate: `predict` is the sign of the score, `predict_proba` the raw link
    ``1 / (1 + exp(-2F))``, whose numbers are not probabilities of anything until they are calibrated on rows
    that the booster has not seen.

    Parameters
    ----------
    estimator : {"stump", "tree", "svm"}, dict or classifier, optional
        Weak learner; a decision stump if left out. By name: `DecisionStump`, `HistogramTree` or
        `WeightedSVM`, in a dict with its parameters, as in ``{"name": "tree", "max_depth": 3}``. Any
        scikit-learn classifier is taken as it is: cloned once per round, fitted with ``sample_weight`` of
        mean 1 (on drawn rows if it takes none). Of more than two classes, each is told from the rest if it
        is for two.
    n_estimators : int, default 50
        Number of rounds planned.
    learning_rate : float, default 1.0
        Factor of each vote, applied before the weights are updated.
    cost_fn, cost_fp, cost_tp, cost_tn : float, default 1, 1, 0, 0
        Two classes: money lost by a miss, a false alarm, a hit and a rightful rest.
    cost_matrix : CostMatrix, array-like of shape (K, K), "balanced" or None
        Goes before the four costs. Rows are true classes in the order of `classes_`, columns decisions.
    pos_label : label, optional
        Two classes: the positive one; the second in sorted order if left out.
    random_state : int, RandomState instance or None
    early_stopping : int >= 1 or None, default None
        Rounds in a row that may fail to lower the cost of rows set aside, before the fit ends; the rounds up
        to the cheapest are kept. Without it all planned rounds are fitted, on all rows. The cost is the least
        that a threshold on the score reaches, at the costs and weights of training; of more than two classes
        that are voted for directly, the cost of the vote.
    validation_fraction : float in (0, 1), default 0.1
        Share of the rows set aside for early stopping, of every class and of whole groups.
    warm_start : bool, default False
        Whether the next `fit` goes on where the last one ended, up to a larger `n_estimators`: the outcome is
        that of one longer fit. It must get the same rows, which are held in memory until then.
    record : bool, default False
        Whether to keep the arrays of each round in `history_`.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    estimators_ : list
        Weak learners that were kept; several ensembles follow one another if classes are told from the rest.
    estimator_weights_, estimator_errors_ : ndarray of shape (T,)
        Their votes and weighted errors.
    machines_ : list of boosters, or None
        One per class if each class is told from the rest.
    ensemble_ : Terms, Trees, Planes, Expansions or None
        The score as values that can be stored; None if the weak learners are not ours.
    terms_ : Terms or None
        The same, if every weak learner is a stump.
    vote_threshold_ : float
        Two classes: the positive one is predicted where its score exceeds this.
    stop_reason_ : str
    history_ : History
        Only with ``record=True``.
    validation_cost_ : ndarray
        Only with `early_stopping`: cost of the rows set aside after each round, those not kept included, in
        money per row beyond that of right decisions. If each class is told from the rest, see `machines_`.
    n_features_in_ : int
    feature_names_in_ : ndarray

    Examples
    --------
    >>> from costboost import ALGORITHMS
    >>> all(issubclass(algorithm.cls, CostSensitiveBooster) for algorithm in ALGORITHMS.values())
    True
    """

    classes_: NDArray[Any]
    estimators_: list[Any]
    estimator_weights_: Floats
    estimator_errors_: Floats
    machines_: "list[CostSensitiveBooster] | None"
    ensemble_: ScoreFunction | None
    terms_: Terms | None
    vote_threshold_: float
    stop_reason_: StopReason
    history_: History
    validation_cost_: Floats
    n_features_in_: int

    #: What `estimator` may name.
    weak_learners: ClassVar[Mapping[str, type]] = WEAK_LEARNERS

    # Between the fits of a warm start, and during one.
    _start: Start
    _key: str
    _params: dict[str, Any]
    _rngs: list[np.random.Generator]
    _course: Course

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: Rounds = 50,
        learning_rate: LearningRate = 1.0,
        cost_fn: Cost = 1.0,
        cost_fp: Cost = 1.0,
        cost_tp: Cost = 0.0,
        cost_tn: Cost = 0.0,
        cost_matrix: CostsOfMistakes = None,
        pos_label: Any = None,
        random_state: Any = None,
        early_stopping: Patience = None,
        validation_fraction: ValidationFraction = 0.1,
        warm_start: bool = False,
        record: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.cost_fn = cost_fn
        self.cost_fp = cost_fp
        self.cost_tp = cost_tp
        self.cost_tn = cost_tn
        self.cost_matrix = cost_matrix
        self.pos_label = pos_label
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.record = record

    @abstractmethod
    def _rule(self, problem: Problem) -> Rule:
        """Return the formula on this training set."""

    @property
    def _votes_for_classes(self) -> bool:
        """Whether more than two classes are voted for directly; otherwise each is told from the rest.

        In either case each is told from the rest if the weak learner is for two classes.
        """
        return False

    @property
    def _spreads_costs_over_rounds(self) -> bool:
        """Whether the first round already depends on how many are planned."""
        return False

    def _weak_learner(self) -> Any:
        """Return the estimator that is fitted in each round."""
        return DecisionStump() if self.estimator is None else weak_learner(self.estimator)

    def _response(self, estimator: Any) -> Response:  # noqa: ARG002
        """Choose how answers of the weak learner are read."""
        return "sign"

    def conflicts(self) -> list[tuple[str, str]]:
        """Parameters that are each within bounds, but with which no fit can go together.

        Returns
        -------
        list of (name, message)
            Empty if there are none.
        """
        return []

    def _threshold(self, problem: Problem) -> float:  # noqa: ARG002
        """Return the score above which the positive class is predicted."""
        return 0.0

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_cost: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        callback: Callback | None = None,
        *,
        groups: ArrayLike | None = None,
        times: ArrayLike | None = None,
        tape: Tape | None = None,
    ) -> "CostSensitiveBooster":
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n, d)
            NaN is a missing value, where the weak learner takes it (stumps do).
        y : array-like of shape (n,)
        sample_cost : array-like of shape (n,), (n, 4) or (n, K), optional
            Goes before all other costs. (n,): money lost if the row is got wrong, >= 0. (n, 4), two
            classes: cost of fn, fp, tp, tn for the row. (n, K), more classes: cost of each decision for the
            row.
        sample_weight : array-like of shape (n,), >= 0, optional
            A weight of 2 is the row twice.
        callback : callable, optional
            ``callback(round, rounds, figures)`` after each round; a true answer stops the fit. The figures
            are the weighted `error` of the round's hypothesis and, with early stopping,
            `valid_expected_cost`, the newest of `validation_cost_`.
        groups, times : array-like of shape (n,), optional
            For early stopping: rows of one group are set aside together, or the latest rows are.
        tape : Tape, optional
            What an interrupted fit of the same had found, which is not searched for again; stumps and trees.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of bounds, shapes differ, y has fewer than two classes, costs are
            unreasonable, not finite or all zero, too few rows are there to set some aside, or a warm start
            meets other rows.

        Warns
        -----
        UserWarning
            If no hypothesis was better than chance: the score is then a constant for the cheaper prediction.
        """
        check_parameters(self)
        estimator = self._weak_learner()
        features, targets = checked(self, X, y, **training_row_checks(estimator))
        check_classification_targets(targets)
        weights = read_weights(sample_weight, len(targets))
        # Columns are cut alike whatever it is that all rows weigh, so that needs no array of its own.
        spare = weights if sample_weight is None and is_binned(estimator) else None
        shares = np.divide(weights, total(weights), out=spare)
        problem = self._read_problem(targets, shares, sample_cost)
        self.classes_ = problem.labels.classes
        key = fingerprint(features, problem) if self.warm_start else ""
        if not (self.warm_start and hasattr(self, "_start")):
            self._begin(features, weights, problem, groups, times, tape=tape)
        elif key != self._key:
            raise ValueError("a warm start needs the rows, weights and costs it began with")
        else:
            self._check_unchanged()
        self._key, self._params = key, self.get_params(deep=False)
        self._fit_rounds(callback)
        return self

    def _read_problem(self, y: NDArray[Any], weights: Floats, sample_cost: ArrayLike | None) -> Problem:
        labels = labels_of(y, self.pos_label)
        scalars = {name: getattr(self, name) for name in ("cost_fn", "cost_fp", "cost_tp", "cost_tn")}
        costs = read_costs(labels, weights, self.cost_matrix, scalars, sample_cost)
        told = sample_cost is not None or self.cost_matrix is not None or scalars != EQUAL_MISTAKES
        return Problem(labels, weights, *costs, told=told)

    def _begin(
        self,
        features: Any,
        weights: Floats,
        problem: Problem,
        groups: ArrayLike | None,
        times: ArrayLike | None,
        *,
        tape: Tape | None,
    ) -> None:
        self._forget()
        self.machines_ = None
        seeds = check_random_state(self.random_state)
        rng, aside = np.random.default_rng(seeds.randint(2**31 - 1)), None
        if self.early_stopping is not None:
            seed, share = int(seeds.randint(2**31 - 1)), self.validation_fraction
            train, apart = parts_of(features, problem, share, groups=groups, times=times, seed=seed)
            aside = Aside(features[apart], problem.take(apart), self.early_stopping)
            features, weights, problem = features[train], weights[train], problem.take(train)
        estimator = self._weak_learner()
        learner = prepare(estimator, features, weights, self._response(estimator), tape)
        self._start = Start(problem, learner, rng, aside)

    def _fit_rounds(self, callback: Callback | None) -> None:
        start, going_on = self._start, False
        together = self._votes_for_classes and takes_many_classes(self._weak_learner())
        try:
            if start.problem.n_classes == 2 or together:
                self._fit_votes(start.problem, start, callback)
            else:
                self._fit_against_the_rest(start.problem, start, callback)
            going_on = self.warm_start
        finally:  # what a callback raises leaves a formula between two rounds
            if not going_on:
                self._forget()
        self._warn_if_constant(stacklevel=4)

    def _check_unchanged(self) -> None:
        check_unchanged(self._params, self.get_params(deep=False))
        if self._spreads_costs_over_rounds and self.n_estimators != self._params["n_estimators"]:
            raise ValueError(
                f"{type(self).__name__} spreads the costs over the planned rounds; with more, fit anew"
            )

    def _forget(self) -> None:
        """Let go of the training rows."""
        for machine in (self, *(getattr(self, "machines_", None) or ())):
            for name in ("_start", "_key", "_params", "_rngs", "_course"):
                vars(machine).pop(name, None)

    def _fit_votes(self, problem: Problem, start: Start, callback: Callback | None) -> None:
        response: Response = getattr(start.learner, "response", "sign")
        if not hasattr(self, "_course"):
            watch = None if start.aside is None else ValidationCost(start.aside, response)
            weighing = weighing_of(self._rule(problem), start.learner, problem.labels, start.rng)
            self._course = Course(weighing, watch)
        ensemble = self._course.advance(self.n_estimators, callback, record=self.record)
        self._adopt(ensemble)
        cheapest = 0 if ensemble.hypotheses else problem.cheapest_constant()
        self._votes = Votes.of(ensemble, problem.labels, cheapest, response)
        self._keep_score([self._votes])
        # A constant decides by itself: its sign is already the cheaper prediction.
        self.vote_threshold_ = self._threshold(problem) if ensemble.hypotheses else 0.0
        self.machines_ = None
        if self._course.watch is not None:
            self.validation_cost_ = np.array(self._course.watch.costs)

    def _adopt(self, ensemble: Ensemble) -> None:
        self.estimators_ = [hypothesis.estimator for hypothesis in ensemble.hypotheses]
        self.estimator_weights_ = np.array(ensemble.alphas, dtype=np.float64)
        self.estimator_errors_ = np.array(ensemble.errors, dtype=np.float64)
        self.stop_reason_ = ensemble.stop_reason
        if self.record:
            self.history_ = History(ensemble.history)

    def _fit_against_the_rest(self, problem: Problem, start: Start, callback: Callback | None) -> None:
        counter = RoundCounter(callback, self.n_estimators * problem.n_classes)
        if self.machines_ is None:
            self.machines_ = [clone(self) for _ in range(problem.n_classes)]
            self._rngs = start.rng.spawn(problem.n_classes)
        for code, (machine, own_rng) in enumerate(zip(self.machines_, self._rngs, strict=True)):
            machine.n_features_in_, machine.classes_ = self.n_features_in_, np.array([0, 1])
            machine.n_estimators, counter.before = self.n_estimators, code * self.n_estimators
            own = start.against_the_rest(code, own_rng)
            machine._fit_votes(own.problem, own, counter)
        self._adopt(in_a_row([machine._votes.ensemble for machine in self.machines_]))
        self._keep_score([machine._votes for machine in self.machines_])
        self.vote_threshold_ = 0.0

    def _keep_score(self, parts: Sequence[Votes]) -> None:
        self.ensemble_ = ensemble_of(parts, self.n_features_in_)
        self.terms_ = self.ensemble_ if isinstance(self.ensemble_, Terms) else None

    def _warn_if_constant(self, stacklevel: int) -> None:
        machines = [self] if self.machines_ is None else self.machines_
        empty = sum(not machine.estimators_ for machine in machines)
        if empty:
            where = "" if self.machines_ is None else f" for {empty} of {len(machines)} classes"
            warnings.warn(
                f"{type(self).__name__} kept no hypothesis{where} ({self.stop_reason_}): "
                "the score is a constant for the cheaper prediction",
                UserWarning,
                stacklevel=stacklevel,
            )
