"""A loaded version: rows of typed columns to probabilities and the decisions that cost the least."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import LARGEST_COST, unreasonable_rows
from costboost.decisions import Decisions
from costboost.explain import Explainer, Explanation
from costboost.scorer import Answer, Scorer
from costboost.single_row import RowAnswer, RowScorer
from service.domain.datasets import InputColumn
from service.domain.errors import ConflictError, FieldError, InvalidError, pointer
from service.learning.answers import Answers
from service.learning.pricing import AnyCosts, PricedCosts, cost_spec

#: Shares of classes that differ from 1 by no more than this sum to 1.
_SUM_TOLERANCE = 1e-6

__all__ = ["Explanation", "Predictor", "RowAnswer", "load"]


class Predictor:
    """A version ready to score; it keeps no state between calls and is safe in many threads."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.classes = scorer.classes
        self._own_inputs = self._inputs(scorer.costs)
        self._explainer = Explainer(scorer)
        self._row_scorer = RowScorer(scorer) if scorer.rule == "expected_cost" else None
        self.actions = tuple(action.name for action in scorer.costs.actions)

    @property
    def positive(self) -> str | None:
        """The positive class of two."""
        index = self._scorer.positive
        return None if index is None else self.classes[index]

    @property
    def costs(self) -> PricedCosts:
        """Those of training."""
        return self._scorer.costs

    @property
    def scale(self) -> float:
        """Sum of the votes, what scores are divided by to be margins."""
        return self._scorer.ensemble.scale

    @property
    def priors(self) -> tuple[float, ...]:
        """Share of each class in training."""
        return self._scorer.priors

    @property
    def explains_quickly(self) -> bool:
        """Whether reasons take hardly more time than the score itself."""
        return self._scorer.background is None or self._explainer.parts.method == "additive"

    def cost_spec(self, costs: AnyCosts, *, at: str = "/costs") -> PricedCosts:
        """Make costs of a request ready for this version.

        Raises
        ------
        InvalidError
            They do not fit its classes, are unreasonable, or read a feature that is no number.
        """
        spec = cost_spec(costs, self.classes, self.positive, at=at)
        types = self._scorer.encoder.types
        faults = [
            FieldError(
                f"{at}{pointer(*place)}",
                "wrong_type",
                f"costs are computed from numbers, and this column is a {types[name]}",
            )
            for name in spec.columns
            if types.get(name, "number") not in ("number", "boolean")
            for place in costs.places(name)
        ]
        if faults:
            raise InvalidError("wrong_type", "costs are computed from numbers", faults)
        return spec

    def reviewed_at(self, price: float | None) -> PricedCosts | None:
        """The costs of training with another price of a review; None where that changes nothing."""
        costs = self._scorer.costs
        if price is None or costs.review is None or self._scorer.rule != "expected_cost":
            return None
        if costs.review.shadow_price == price:
            return None
        return replace(costs, review=replace(costs.review, shadow_price=price))

    def inputs(self, costs: PricedCosts | None = None) -> tuple[InputColumn, ...]:
        """Columns that rows must have: the features, and what the costs in force read."""
        return self._own_inputs if costs is None else self._inputs(costs)

    def predict(
        self,
        columns: Mapping[str, NDArray[Any]],
        n: int,
        costs: PricedCosts | None = None,
        *,
        priors: Mapping[str, float] | None = None,
        threshold: float | None = None,
        reasons: int | None = None,
        cells: bool = False,
    ) -> Answers:
        """Score n rows and decide.

        Parameters
        ----------
        columns : mapping of name to ndarray of shape (n,)
            Those of `inputs(costs)`, as `service.rows` decodes them.
        costs : PricedCosts, optional
            From `cost_spec`; those of training when left out.
        priors : mapping of class to share, optional
            Classes left out share the rest as in training.
        threshold : float, optional
            Two classes: decide positive iff p is above it, whatever the costs.
        reasons : int, optional
            Explain the rows, and order so many columns of each by their push towards the decision.
        cells : bool
            Give the cost cells of the rows as well.

        Raises
        ------
        InvalidError
            A row's cost is not finite, priors are no shares, a threshold is given for more classes, or the
            version cannot explain.
        """
        if threshold is not None and self._scorer.positive is None:
            detail = "a threshold is for two classes"
            raise InvalidError.at("/threshold", "not_binary", detail)
        spec = self._scorer.costs if costs is None else costs
        odd = _odd_rows(spec, columns, n)
        shares = self.shares(priors)
        answer = self._decided(columns, costs, shares, threshold)
        scores, decided = answer.scores, answer.decisions
        return Answers(
            classes=self.classes,
            actions=tuple(action.name for action in answer.costs.actions),
            serves=answer.costs.serves,
            probabilities=scores.probabilities,
            score=scores.score,
            log_odds=scores.log_odds,
            decision=decided.decision,
            label=decided.label,
            expected_cost=decided.expected_cost,
            threshold=decided.threshold if odd is None or threshold is not None else _without(decided, odd),
            thresholds=decided.thresholds,
            thresholds_exact=decided.thresholds_exact,
            source=answer.source,
            repriced=answer.repriced,
            unknown=self._scorer.encoder.unknown(columns),
            unreasonable=odd,
            explanation=None if reasons is None else self._explained(columns, answer, shares, reasons),
            cells=answer.costs.evaluate(columns, n) if cells else None,
        )

    def _decided(
        self,
        columns: Mapping[str, NDArray[Any]],
        costs: PricedCosts | None,
        shares: Sequence[float] | None,
        threshold: float | None,
    ) -> Answer:
        try:
            return self._scorer.decide(columns, costs=costs, priors=shares, threshold=threshold)
        except ValueError:
            if shares is None:
                raise
            # Without them it can be decided, so the shares leave nothing of a probability of 0 or 1.
            self._scorer.decide(columns, costs=costs, threshold=threshold)
            raise impossible_priors() from None

    def predict_row(self, row: Mapping[str, float | str | None]) -> RowAnswer | None:
        """Score one row and decide it at the costs of training, by expected cost.

        Parameters
        ----------
        row : mapping of name to float, str or None
            The columns of `inputs()`, as `service.rows` decodes them.

        Returns
        -------
        RowAnswer or None
            As `predict` answers, to the bit; None where the version decides otherwise, or a cost is not
            finite, which `predict` refuses.
        """
        return None if self._row_scorer is None else self._row_scorer.decide(row)

    def costs_without(self, columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """Least expected cost of rows if a column contributed nothing, at the costs of training.

        Raises
        ------
        ValueError
            The version cannot explain.
        """
        found = self._explainer.costs_without(columns)
        return dict(zip(found.names, found.without.T, strict=True))

    def _explained(
        self,
        columns: Mapping[str, NDArray[Any]],
        answer: Answer,
        priors: Sequence[float] | None,
        top: int,
    ) -> Explanation:
        if self._scorer.background is None:
            detail = "the version was stored without what reasons start from; train it anew"
            raise InvalidError.at("/explain", "not_explainable", detail)
        return self._explainer.explain(columns, top, answer=answer, priors=priors)

    def _inputs(self, spec: PricedCosts) -> tuple[InputColumn, ...]:
        types = self._scorer.encoder.types
        features = tuple(InputColumn(name, kind, name not in spec.columns) for name, kind in types.items())
        extra = sorted(spec.columns - set(types))
        return features + tuple(InputColumn(name, "number", nullable=False) for name in extra)

    def shares(self, given: Mapping[str, float] | None) -> Sequence[float] | None:
        """Complete the shares of some classes by those of the others, which keep their ratios of training.

        Raises
        ------
        InvalidError
            They are no shares of the classes.
        """
        if given is None:
            return None
        faults = [
            FieldError(pointer("priors", name), "unknown_class", "is not a class of this version")
            for name in given
            if name not in self.classes
        ]
        faults += [
            FieldError(pointer("priors", name), "out_of_range", "a share lies between 0 and 1")
            for name, share in given.items()
            if not 0.0 <= share <= 1.0
        ]
        if faults:
            raise InvalidError("invalid_priors", "the priors are no shares of the classes", faults)
        return self._completed(given)

    def _completed(self, given: Mapping[str, float]) -> Sequence[float]:
        """Shares of all classes: what is not given is divided as in training."""
        trained = dict(zip(self.classes, self._scorer.priors, strict=True))
        open_classes = [name for name in self.classes if name not in given]
        rest = 1.0 - sum(given.values())
        if rest < -_SUM_TOLERANCE or (not open_classes and rest > _SUM_TOLERANCE):
            detail = "the shares of all classes must sum to 1"
            raise InvalidError("invalid_priors", detail, [FieldError("/priors", "sum", detail)])
        whole = sum(trained[name] for name in open_classes)
        shares = {name: max(rest, 0.0) * trained[name] / whole for name in open_classes}
        return [given.get(name, shares.get(name, 0.0)) for name in self.classes]


def load(artifact: bytes) -> Predictor:
    """Make a version ready from its stored bytes; nothing in them is executed.

    Raises
    ------
    ConflictError
        `artifact_corrupt`.
    """
    from costboost.persistence import load_scorer  # noqa: PLC0415 - only where something is loaded

    try:
        return Predictor(load_scorer(artifact))
    except ValueError:
        raise ConflictError("artifact_corrupt", "the stored bytes are not a version") from None


def _without(decided: Decisions, odd: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Thresholds of the rows that have one."""
    return np.where(odd, np.nan, decided.threshold)


def impossible_priors() -> InvalidError:
    """Refuse shares that leave some row without a class it can be of."""
    detail = "the priors leave no class that some row can be of"
    return InvalidError.at("/priors", "invalid_priors", detail)


def _odd_rows(spec: PricedCosts, columns: Mapping[str, NDArray[Any]], n: int) -> NDArray[np.bool_] | None:
    """Rows whose costs are unreasonable; a cost that is not finite is refused."""
    if not spec.per_row:
        return None
    costs = spec.evaluate(columns, n)
    bad = np.flatnonzero(~(np.abs(costs) <= LARGEST_COST).all(axis=(1, 2)))
    if bad.size:
        detail = "a cost of the row is not finite"
        faults = [FieldError(pointer("rows", int(row)), "cost_not_finite", detail) for row in bad]
        raise InvalidError("cost_not_finite", detail, faults)
    return unreasonable_rows(costs, spec.serves)
