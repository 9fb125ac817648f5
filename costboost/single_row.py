"""One row, decided in plain Python: what a service is asked for most, in a fifth of the time of arrays.

The same numbers as `Scorer.decide` gives, to the bit.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.calibration.calibrator import OutputCalibrator
from costboost.calibration.isotonic import IsotonicCalibrator
from costboost.calibration.sigmoid import SigmoidCalibrator
from costboost.calibration.targets import MARGIN
from costboost.costs import LARGEST_COST, unreasonable_rows
from costboost.decisions import RowDecision, decide_row
from costboost.ensembles.trees import Trees
from costboost.scorer import ODDS_MARGIN, ScoreFunction, Scorer
from costboost.terms import Terms

__all__ = ["RowAnswer", "RowScorer"]

#: Name of a column -> what the row holds there: a float, NaN where it is missing; text or None.
Row = Mapping[str, float | str | None]


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """What a model says about one row and what to do with it.

    Attributes
    ----------
    score, log_odds : list of float
        One for two classes, K for more.
    probabilities : list of K floats
    decided : RowDecision
    unreasonable : bool
        Whether at the costs of this row a wrong decision costs no more than the right one.
    unknown : list of str
        Columns whose category has no cell or code of its own.
    """

    score: list[float]
    probabilities: list[float]
    log_odds: list[float]
    decided: RowDecision
    unreasonable: bool
    unknown: list[str]


class RowScorer:
    """Decides single rows by expected cost, at the costs of training.

    Parameters
    ----------
    scorer : Scorer
        Its rule is "expected_cost".

    Examples
    --------
    >>> from costboost import CostSensitiveModel
    >>> X = {"amount": np.arange(40.0)}
    >>> scorer = CostSensitiveModel().fit(X, X["amount"] > 25).scorer()
    >>> [RowScorer(scorer).decide({"amount": amount}).decided.label for amount in (3.0, 39.0)]
    [0, 1]
    """

    def __init__(self, scorer: Scorer) -> None:
        if scorer.rule != "expected_cost":
            raise ValueError("single rows are decided by expected cost")
        self._encoder, self._costs, self._codes = scorer.encoder, scorer.costs, scorer.codes
        self._scores = _scores_of(scorer.ensemble)
        self._positive = 1 if scorer.positive is None else scorer.positive
        self._serves = scorer.costs.serves
        self._maps = [_map_of(output) for output in scorer.calibrator.outputs]
        self._factors = scorer.calibrator.factors

    def decide(self, row: Row) -> RowAnswer | None:
        """Score a row and decide it.

        Parameters
        ----------
        row : mapping of name to float, str or None
            Those of the columns that features and costs of training need; may hold others.

        Returns
        -------
        RowAnswer or None
            None where a cost is not finite.
        """
        costs = self._costs_of(row)
        if costs is None:
            return None
        raw = self._scores(self._encoder.encode_row(row))
        by_code = self._probabilities(raw)
        probabilities = [by_code[code] for code in self._codes]
        is_single = len(raw) == 1
        shown = [probabilities[self._positive]] if is_single else probabilities
        return RowAnswer(
            score=raw if is_single else [raw[code] for code in self._codes],
            probabilities=probabilities,
            log_odds=[libm.log_odds_of(_within(p, ODDS_MARGIN)) for p in shown],
            decided=decide_row(probabilities, costs, serves=self._serves, positive=self._positive),
            unreasonable=self._costs.per_row and bool(unreasonable_rows(np.array([costs]), self._serves)[0]),
            unknown=self._encoder.unknown_of(row),
        )

    def _probabilities(self, raw: Sequence[float]) -> list[float]:
        """Of the classes in the order of their codes."""
        mapped = [map_(score) for map_, score in zip(self._maps, raw, strict=True)]
        if len(mapped) == 1:
            return [1.0 - mapped[0], mapped[0]]
        parts = [p * factor for p, factor in zip(mapped, self._factors, strict=True)]
        # `sum` may add in a better way than one after the other, which is what batches do.
        total = parts[0]
        for part in parts[1:]:
            total += part
        return [part / total for part in parts]

    def _costs_of(self, row: Row) -> list[list[float]] | None:
        """(K, A)."""
        if not self._costs.per_row:
            return self._constant_costs
        columns = {name: np.array([row[name]]) for name in self._costs.columns}
        costs = self._costs.evaluate(columns, 1)[0]
        return costs.tolist() if bool((np.abs(costs) <= LARGEST_COST).all()) else None

    @cached_property
    def _constant_costs(self) -> list[list[float]]:
        costs: list[list[float]] = self._costs.evaluate().tolist()
        return costs


def _scores_of(ensemble: ScoreFunction) -> Callable[[list[float]], list[float]]:
    """`ensemble.score` for one row."""
    if isinstance(ensemble, Terms | Trees):
        return ensemble.score_row

    def scores(row: list[float]) -> list[float]:
        of_row: list[float] = ensemble.score(np.array([row]))[0].tolist()
        return of_row

    return scores


def _map_of(output: OutputCalibrator) -> Callable[[float], float]:
    """`output.probability` for one score."""
    if isinstance(output, SigmoidCalibrator):
        slope, intercept = output.slope, output.intercept
        return lambda score: _within(libm.sigmoid_of(score * slope + intercept), MARGIN)
    if isinstance(output, IsotonicCalibrator):
        return _line_of(output)
    return lambda score: float(output.probability(np.array([score]))[0])


def _line_of(output: IsotonicCalibrator) -> Callable[[float], float]:
    x, p, rise = _lists(*output.lines)

    def probability(score: float) -> float:
        left = min(max(bisect_right(x, score) - 1, 0), len(x) - 1)
        run = min(max(score, x[0]), x[-1]) - x[left]
        return min(p[left] + rise[left] * run, p[min(left + 1, len(x) - 1)])

    return probability


def _lists(*arrays: NDArray[np.float64]) -> list[list[float]]:
    return [array.tolist() for array in arrays]


def _within(p: float, margin: float) -> float:
    return min(max(p, margin), 1.0 - margin)
