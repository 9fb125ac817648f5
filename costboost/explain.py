"""Why a row was decided as it was: what each column of the table adds, and what it is worth in money.

Contributions are in log-odds where those are a straight line in the score, else in the score; they are
measured from the mean over training rows. Imports numpy only, as the scorer does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.calibration.sigmoid import SigmoidCalibrator
from costboost.columns import TEXTUAL, Columns, ColumnType
from costboost.contributions.columns import Contributions
from costboost.contributions.of_ensembles import contributions_of
from costboost.cost_specs import CostSpec
from costboost.decisions import decide
from costboost.scorer import Answer, Scorer

__all__ = ["CostsWithout", "Explainer", "Explanation", "Reason", "costs_without", "explain"]

Floats = NDArray[np.float64]
Explained = Literal["log_odds", "score"]

#: Rows, each once per column, that are priced at a time.
_BLOCK = 2**18
#: Smaller class shares count as this one.
_RAREST = 1e-300


@dataclass(frozen=True)
class Reason:
    """One column's part in a decision.

    Attributes
    ----------
    feature : str
    value : float, bool, str or None
        What the row holds there; None if it is missing, seconds since 1970 UTC for a time.
    contribution : float
    """

    feature: str
    value: float | bool | str | None
    contribution: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each column adds to the explained number of n rows.

    Attributes
    ----------
    method : {"additive", "tree_shapley", "reference_shapley", "reference_permutations"}
        "additive" and "tree_shapley" are exact; the others exchange columns with those of a typical row.
    explained : {"log_odds", "score"}
        Log-odds of the positive class where calibration is a straight line in the score (two classes, sigmoid
        or none), else the score; with more classes the score of the decided class.
    names : tuple of S str
        The columns, one entry each however many matrix columns they make.
    types : tuple of S ColumnType
    values : tuple of S ndarrays of shape (n,)
        What the rows hold in them.
    decided : ndarray of shape (n,), intp
        Index of the class that the reasons are about; for a reviewed row that of the cheapest other action.
    baseline : ndarray of shape (n,)
        What the contributions start from: the mean over training rows, or the typical row's number.
    contributions : ndarray of shape (n, S)
    number : ndarray of shape (n,)
        What is explained: ``baseline + Σ contributions`` up to rounding. Log-odds are not clipped here.
    order : ndarray of shape (n, top), intp
        Columns by their push towards the decision, the strongest first.

    Examples
    --------
    >>> from costboost import CostSensitiveModel
    >>> X = {"amount": np.arange(40.0), "country": np.array(["ch", "de"] * 20)}
    >>> model = CostSensitiveModel("cgada").fit(X, X["amount"] > 25)
    >>> row = {"amount": np.array([39.0]), "country": np.array(["de"])}
    >>> explanation = Explainer(model.scorer()).explain(row)
    >>> explanation.names, explanation.contributions.shape
    (('amount', 'country'), (1, 2))
    >>> bool(np.isclose(explanation.baseline + explanation.contributions.sum(), explanation.number)[0])
    True
    """

    method: str
    explained: Explained
    names: tuple[str, ...]
    types: tuple[ColumnType, ...]
    values: tuple[NDArray[Any], ...]
    decided: NDArray[np.intp]
    baseline: Floats
    contributions: Floats
    number: Floats
    order: NDArray[np.intp]

    def reasons(self, row: int) -> tuple[Reason, ...]:
        """The columns of one row by their push towards its decision, as many as were asked for."""
        return tuple(
            Reason(
                self.names[s], _plain(self.values[s][row], self.types[s]), float(self.contributions[row, s])
            )
            for s in self.order[row].tolist()
        )


@dataclass(frozen=True, eq=False)
class CostsWithout:
    """Least expected cost of n rows as they are, and without what one of the columns contributes.

    Attributes
    ----------
    names : tuple of S str
    expected_cost : ndarray of shape (n,)
        In the money of the costs.
    without : ndarray of shape (n, S)
        If this column contributed nothing, as on average over training rows.

    Examples
    --------
    >>> from costboost import CostSensitiveModel
    >>> X = {"amount": np.arange(40.0), "country": np.array(["ch", "de"] * 20)}
    >>> model = CostSensitiveModel("cgada").fit(X, X["amount"] > 25)
    >>> row = {"amount": np.array([39.0]), "country": np.array(["de"])}
    >>> costs = costs_without(model.scorer(), row)
    >>> costs.names, bool(costs.without[0, 0] > costs.expected_cost[0])
    (('amount', 'country'), True)
    """

    names: tuple[str, ...]
    expected_cost: Floats
    without: Floats


@dataclass(frozen=True, eq=False)
class Explainer:
    """Explains rows of one model; what it needs is computed once, so keep it beside its scorer.

    Parameters
    ----------
    scorer : Scorer
        With its `background`, as a fitted or loaded model has it.

    Raises
    ------
    ValueError
        If the scorer has no background, or that of another ensemble.

    Examples
    --------
    >>> from costboost import CostSensitiveModel
    >>> X = {"amount": np.arange(40.0), "country": np.array(["ch", "de"] * 20)}
    >>> model = CostSensitiveModel("cgada").fit(X, X["amount"] > 25)
    >>> row = {"amount": np.array([39.0]), "country": np.array(["de"])}
    >>> explanation = Explainer(model.scorer()).explain(row)
    >>> explanation.method, explanation.explained, explanation.reasons(0)[0].feature
    ('additive', 'log_odds', 'amount')
    """

    scorer: Scorer

    @cached_property
    def parts(self) -> Contributions:
        """Contributions to the scores of the ensemble."""
        return contributions_of(self.scorer)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, as everything here orders them."""
        return tuple(self.scorer.encoder.types)

    @cached_property
    def line(self) -> tuple[float, float] | None:
        """Slope and intercept of the log-odds in the score; None where they are no straight line in it."""
        outputs = self.scorer.calibrator.outputs
        if len(outputs) > 1 or not isinstance(outputs[0], SigmoidCalibrator):
            return None
        return outputs[0].slope, outputs[0].intercept

    @property
    def explained(self) -> Explained:
        """Which number is explained."""
        return "score" if self.line is None else "log_odds"

    def explain(
        self,
        columns: Columns,
        top: int | None = None,
        *,
        answer: Answer | None = None,
        priors: Sequence[float] | None = None,
    ) -> Explanation:
        """What each column adds to the explained number.

        Parameters
        ----------
        columns : mapping of name to ndarray of shape (n,)
            Typed columns, with those that the costs read if no answer is given.
        top : int, optional
            How many reasons a row has; all if left out. Contributions are there for all columns.
        answer : Answer, optional
            What `Scorer.decide` said about the rows, if it was asked already.
        priors : sequence of K floats, optional
            As given to `Scorer.decide`; they shift log-odds and their baseline.

        Returns
        -------
        Explanation
            A row alone gets the same numbers as in a batch, to the bit.

        Raises
        ------
        ValueError
            If a column is missing or `top` is negative.
        """
        if top is not None and top < 0:
            raise ValueError("top must not be negative")
        said = self.scorer.decide(columns, priors=priors) if answer is None else answer
        decided = _decided(said)
        baseline, added, number = self._numbers(columns, said, decided, priors)
        negative = decided != self.scorer.positive
        push = np.where(negative[:, None], -added, added) if len(self.scorer.classes) == 2 else added
        order = np.argsort(-push, axis=1, kind="stable")[:, :top]
        return Explanation(
            method=self.parts.method,
            explained=self.explained,
            names=self.names,
            types=tuple(self.scorer.encoder.types.values()),
            values=tuple(columns[name] for name in self.names),
            decided=decided,
            baseline=baseline,
            contributions=added,
            number=number,
            order=order,
        )

    def costs_without(
        self,
        columns: Columns,
        *,
        costs: CostSpec | None = None,
        priors: Sequence[float] | None = None,
    ) -> CostsWithout:
        """Explain in money: the least expected cost of a row if a column contributed nothing.

        The contribution is taken out of the scores; probabilities and the least expected cost follow anew.

        Parameters
        ----------
        columns : mapping of name to ndarray of shape (n,)
            Typed columns, with those that the costs read.
        costs : CostSpec, optional
            Instead of those of training.
        priors : sequence of K floats, optional

        Returns
        -------
        CostsWithout

        Raises
        ------
        ValueError
            If a column is missing, a cost is not finite, or classes differ.
        """
        scorer, count = self.scorer, len(self.names)
        spec = scorer.costs if costs is None else costs.reordered(scorer.classes)
        X = scorer.encoder.transform(columns)
        prices = np.broadcast_to(
            spec.evaluate(columns, len(X)), (len(X), len(spec.classes), len(spec.serves))
        )
        raw = scorer.ensemble.score(X)
        with_all, without = np.empty(len(X)), np.empty((len(X), count))
        block = max(1, _BLOCK // count)
        for start in range(0, len(X), block):
            rows = slice(start, start + block)
            changed = raw[rows, None] - self.parts.contributions(X[rows])
            stacked = np.concatenate([raw[rows], changed.reshape(-1, raw.shape[1])])
            priced = np.concatenate([prices[rows], np.repeat(prices[rows], count, axis=0)])
            p = scorer.probabilities(stacked, priors)
            least = decide(p, priced, serves=spec.serves, positive=spec.positive).expected_cost.min(axis=1)
            size = len(raw[rows])
            with_all[rows], without[rows] = least[:size], least[size:].reshape(size, count)
        return CostsWithout(self.names, with_all, without)

    def _numbers(
        self, columns: Columns, said: Answer, decided: NDArray[np.intp], priors: Sequence[float] | None
    ) -> tuple[Floats, Floats, Floats]:
        """Baseline (n,), contributions (n, S) and the explained number (n,) of rows."""
        added = self.parts.contributions(self.scorer.encoder.transform(columns))
        baseline, score = self.parts.baseline, said.scores.score
        if len(self.scorer.classes) > 2:
            output = np.array(self.scorer.codes)[decided]
            rows = np.arange(len(decided))
            return baseline[output], added[rows, :, output], score[rows, decided]
        start, own = np.repeat(baseline, len(decided)), added[:, :, 0]
        if self.line is None:
            return start, own, score
        slope, intercept = self.line
        shift = intercept + self._shift(priors)
        return start * slope + shift, own * slope, score * slope + shift

    def _shift(self, priors: Sequence[float] | None) -> float:
        """What other class shares add to the log-odds of the positive class."""
        if priors is None:
            return 0.0
        positive = self.scorer.costs.positive
        assert positive is not None
        # A class that cannot occur would shift without bound.
        ratio = np.maximum(priors, _RAREST) / np.array(self.scorer.priors)
        logs = libm.log(ratio)
        return float(logs[positive] - logs[1 - positive])


def explain(scorer: Scorer, columns: Columns, top: int | None = None) -> Explanation:
    """What each column adds to the explained number; see `Explainer.explain`."""
    return Explainer(scorer).explain(columns, top)


def costs_without(scorer: Scorer, columns: Columns) -> CostsWithout:
    """What rows are expected to cost without what each column contributes; see `Explainer.costs_without`."""
    return Explainer(scorer).costs_without(columns)


def _decided(answer: Answer) -> NDArray[np.intp]:
    """Class of each decision; of a review that of the cheapest other action."""
    decisions, serves = answer.decisions, answer.costs.serves
    serving = [a for a, served in enumerate(serves) if served is not None]
    served = np.array([serves[a] for a in serving], dtype=np.intp)
    otherwise = served[decisions.expected_cost[:, serving].argmin(axis=1)]
    return np.where(decisions.label < 0, otherwise, decisions.label)


def _plain(value: Any, kind: ColumnType) -> float | bool | str | None:
    if value is None or kind in TEXTUAL:
        return None if value is None else str(value)
    number = float(value)
    if np.isnan(number):
        return None
    return bool(number) if kind == "boolean" else number
