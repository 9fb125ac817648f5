"""Parameters of a booster found by what its decisions cost on rows that it was not fitted on."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from costboost.calibration.calibrator import fit_calibrator
from costboost.checkpoints import NO_CHECKPOINTS, Checkpoints
from costboost.cross_fitting import Rows, TrainingSet, score_part
from costboost.decisions import decide
from costboost.model import CostSensitiveModel
from costboost.prepared import Prepared
from costboost.progress import Progress

__all__ = ["SearchResult", "SearchStrategy", "Trial", "search_params"]

SearchStrategy: TypeAlias = Literal["random", "halving"]
Params: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Trial:
    """Parameters that were tried.

    Attributes
    ----------
    params : mapping of str to value
    folds : int
        On how many folds it was judged.
    cost : float or None
        Mean cost of a row in these folds, in money; None where it could not be fitted.
    error : str or None
        Why it could not be fitted.

    Examples
    --------
    >>> Trial({"n_estimators": 20}, folds=5, cost=1.5).params["n_estimators"]
    20
    """

    params: Params
    folds: int = 0
    cost: float | None = None
    error: str | None = None


@dataclass(frozen=True)
class SearchResult:
    """What a search came to.

    Attributes
    ----------
    best : Trial
        The cheapest of those that were judged on all folds; of equals the one drawn first.
    trials : tuple of Trial
        All, in the order in which they were drawn.

    Examples
    --------
    >>> cheap, dear = Trial({"n_estimators": 20}, 5, cost=1.5), Trial({"n_estimators": 5}, 5, cost=2.0)
    >>> SearchResult(cheap, (dear, cheap)).best.cost
    1.5
    """

    best: Trial
    trials: tuple[Trial, ...]


def search_params(
    model: CostSensitiveModel,
    X: Any,
    y: Any,
    candidates: Sequence[Params],
    *,
    strategy: SearchStrategy = "random",
    progress: Progress | None = None,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
    **fit_params: Any,
) -> SearchResult:
    """Try parameters on the folds of a model, and tell which decide at the least cost.

    Rows are calibrated and decided as `fit` does with them; each is judged by a booster that was not fitted
    on it. With the rule "empirical" the cost is that at the threshold the rule would take.

    Parameters
    ----------
    model : CostSensitiveModel
        Its folds, costs, calibration, `n_jobs` and booster hold; it is left as it is.
    X, y, **fit_params
        As for `CostSensitiveModel.fit`.
    candidates : sequence of mappings
        Parameters of the booster, as `draw_params` gives them.
    strategy : {"random", "halving"}
        All candidates on all folds; or fold by fold, after each of which the cheaper half goes on
        (successive halving, Jamieson, Talwalkar 2016, with folds as the resource).
    progress : callable, optional
        ``progress("search", trial, trials, fraction, {})``: trials that are through, and the share
        of the fits.
    checkpoints : Checkpoints, optional
        Where the scores of fits that are done are kept; those found there are not done again.

    Returns
    -------
    SearchResult

    Raises
    ------
    ValueError
        If no candidate could be fitted, the rule is "sign", or as `fit` does.

    Examples
    --------
    >>> from costboost.search_space import Interval, draw_params
    >>> X = {"x": np.arange(40.0)}
    >>> y = (X["x"] > 25) ^ (X["x"] == 3)
    >>> model = CostSensitiveModel("adaboost", costs={"fn": 5, "fp": 1})
    >>> candidates = draw_params({"n_estimators": Interval(1, 9, whole=True)}, 4, seed=1)
    >>> found = search_params(model, X, y, candidates)
    >>> len(found.trials), found.best.folds, found.best.cost <= max(trial.cost for trial in found.trials)
    (4, 5, True)
    """
    if strategy not in get_args(SearchStrategy):
        raise ValueError(f"strategy must be one of {', '.join(get_args(SearchStrategy))}, not {strategy!r}")
    if model.decision_rule == "sign":
        raise ValueError("a search looks for the least cost, which the rule 'sign' does not")
    if not candidates:
        raise ValueError("there is nothing to try")
    judge = clone(model)
    race = _Race(
        judge,
        judge.prepare(X, y, **fit_params),
        candidates,
        strategy,
        progress=progress,
        checkpoints=checkpoints,
    )
    return race.run()


class _Race:
    """The candidates, and what their boosters said about the rows so far."""

    def __init__(
        self,
        model: CostSensitiveModel,
        ready: Prepared,
        candidates: Sequence[Params],
        strategy: SearchStrategy,
        *,
        progress: Progress | None,
        checkpoints: Checkpoints,
    ) -> None:
        self.model, self.ready, self.progress, self.checkpoints = model, ready, progress, checkpoints
        self.trials = [Trial(dict(params)) for params in candidates]
        self.scores: list[NDArray[np.float64] | None] = [None] * len(candidates)
        self.halves = strategy == "halving"
        self.fits = 0
        self.total = sum(self._planned(len(candidates)))

    def run(self) -> SearchResult:
        running = list(range(len(self.trials)))
        parts = self.ready.parts
        for fold in range(len(parts)):
            self._score(running, fold)
            running = [index for index in running if self.trials[index].error is None]
            if fold + 1 == len(parts) or self.halves:
                self._judge(running)
                if fold + 1 < len(parts):
                    running = self._cheaper_half(running)
        if not running:
            raise ValueError(f"no parameters could be fitted: {self.trials[0].error}")
        best = min(running, key=self._cost)
        return SearchResult(self.trials[best], tuple(self.trials))

    def _planned(self, running: int) -> Iterator[int]:
        """Fits of each fold; where a fold cannot be calibrated alone there will be a few more."""
        for _ in self.ready.parts:
            yield running
            running = math.ceil(running / 2) if self.halves else running

    def _score(self, running: Sequence[int], fold: int) -> None:
        part, names = self.ready.parts[fold], {index: f"trial {index}, fold {fold}" for index in running}
        found = {index: self.checkpoints.find(name) for index, name in names.items()}
        known = {index: scores for index, scores in found.items() if scores is not None}
        missing = [index for index in running if index not in known]
        boosters = [clone(self.ready.booster).set_params(**self.trials[index].params) for index in missing]
        tasks = (delayed(_attempt)(booster, self.ready.rows, part) for booster in boosters)
        done = Parallel(n_jobs=self.model.n_jobs, return_as="generator")(tasks)
        for index, scores in known.items():
            self._keep(index, part[1], scores)
            self._report()
        for index, (scores, error) in zip(missing, done, strict=True):
            if scores is None:
                self.trials[index] = replace(self.trials[index], error=error)
            else:
                self.checkpoints.keep(names[index], scores)
                self._keep(index, part[1], scores)
            self._report()

    def _keep(self, index: int, valid: Rows, found: NDArray[np.float64]) -> None:
        scores = self.scores[index]
        if scores is None:
            scores = self.scores[index] = np.full((len(self.ready.rows.y), found.shape[1]), np.nan)
        scores[valid] = found
        self.trials[index] = replace(self.trials[index], folds=self.trials[index].folds + 1)

    def _report(self) -> None:
        self.fits += 1
        if self.progress is not None:
            share = min(self.fits / self.total, 1.0)
            self.progress("search", round(share * len(self.trials)), len(self.trials), share, {})

    def _judge(self, running: Sequence[int]) -> None:
        for index in running:
            scores = self.scores[index]
            assert scores is not None
            self.trials[index] = replace(self.trials[index], cost=_mean_cost(self.model, self.ready, scores))

    def _cheaper_half(self, running: Sequence[int]) -> list[int]:
        if any(self.trials[index].cost is None for index in running):
            return list(running)
        cheapest = sorted(running, key=self._cost)[: math.ceil(len(running) / 2)]
        return sorted(cheapest)

    def _cost(self, index: int) -> float:
        cost = self.trials[index].cost
        return math.inf if cost is None else cost


def _attempt(
    booster: Any, rows: TrainingSet, part: tuple[Rows, Rows]
) -> tuple[NDArray[np.float64] | None, str | None]:
    try:
        return score_part(booster, rows, part), None
    except (ValueError, ArithmeticError) as error:
        return None, str(error)


def _mean_cost(model: CostSensitiveModel, ready: Prepared, scores: NDArray[np.float64]) -> float | None:
    """Mean cost of the rows judged so far; None while a class is not among them."""
    judged = np.flatnonzero(~np.isnan(scores[:, 0]))
    raw, rows, costs = scores[judged], ready.rows.take(judged), ready.costs.of_rows(judged)
    n_classes = len(ready.codes)
    if (np.bincount(rows.y, weights=rows.weight, minlength=n_classes) <= 0).any():
        return None
    whole = math.fsum(rows.weight.tolist())
    if model.decision_rule == "empirical":
        return model.find_threshold(raw[:, 0], costs).cost / whole
    calibrator = fit_calibrator(model.calibration, raw, rows.y, n_classes, rows.weight)
    spec = model.costs_
    priced = spec.evaluate(rows.columns, len(judged))
    p = calibrator.probabilities(raw)[:, ready.codes]
    decided = decide(p, priced, serves=spec.serves, positive=spec.positive).decision
    true, each = np.argsort(ready.codes)[rows.y], np.arange(len(judged))
    own = priced[true, decided] if priced.ndim == 2 else priced[each, true, decided]
    return math.fsum((rows.weight * own).tolist()) / whole
