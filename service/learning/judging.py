"""Rows whose class is known beside what a model says about them, and how good that is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import unreasonable_rows
from costboost.curves import evaluate_curves
from costboost.decisions import Decisions, decide, decide_by_label, decide_by_threshold
from costboost.metrics.evaluation import evaluate
from costboost.scorer import Scorer
from service.learning.answers import Answers
from service.learning.pricing import PricedCosts

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Judged:
    """
    What a model says about n rows whose class is known.

    Attributes
    ----------
    codes : ndarray of shape (n,), int
        Class of each row.
    weight : ndarray of shape (n,), or None
    costs : ndarray of shape (K, A) or (n, K, A)
        Those of training, evaluated.
    probabilities : ndarray of shape (n, K)
    score : ndarray of shape (n,) or (n, K)
    scale : float
        Sum of the votes.
    """

    spec: PricedCosts
    codes: NDArray[np.intp]
    weight: NDArray[np.float64] | None
    costs: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    score: NDArray[np.float64]
    decisions: Decisions
    scale: float

    @property
    def class_counts(self) -> dict[str, int]:
        """Rows of each class."""
        return {name: int((self.codes == k).sum()) for k, name in enumerate(self.spec.classes)}

    def metrics(self, seed: int) -> dict[str, Any]:
        """Money first, then the usual figures; undefined ones are None with a reason."""
        found = evaluate(
            self.codes,
            self.probabilities,
            self.costs,
            self.spec.serves,
            self.spec.positive,
            self.decisions,
            self.score,
            self.weight,
            seed,
            score_scale=self.scale,
        )
        per_row = self.costs.ndim == 3
        unreasonable = int(unreasonable_rows(self.costs, self.spec.serves).sum()) if per_row else 0
        actions = [action.name for action in self.spec.actions]
        return found | {
            "baseline_action": actions[found["baseline_action"]],
            "confusion_columns": actions,
            "unreasonable_rows": unreasonable,
        }

    def curves(self) -> dict[str, Any]:
        """All curves; of more than two classes those of each against the rest, with its name."""
        found = evaluate_curves(
            self.codes,
            self.probabilities,
            self.costs,
            serves=self.spec.serves,
            positive=self.spec.positive,
            sample_weight=self.weight,
        )
        if self.spec.positive is not None:
            return {"positive_class": self.spec.classes[self.spec.positive], **found}
        named = zip(self.spec.classes, found["classes"], strict=True)
        return {"positive_class": None, "classes": [{"class": name, **curves} for name, curves in named]}


def judge_answers(
    spec: PricedCosts, answers: Answers, prices: NDArray[np.float64], codes: NDArray[np.intp], scale: float
) -> Judged:
    """What was answered to rows whose class is known, at the costs of the request."""
    decisions = Decisions(
        decision=answers.decision,
        label=answers.label,
        expected_cost=answers.expected_cost,
        threshold=answers.threshold,
        thresholds=answers.thresholds,
        thresholds_exact=answers.thresholds_exact,
    )
    return Judged(spec, codes, None, prices, answers.probabilities, answers.score, decisions, scale)


def judge(
    scorer: Scorer, columns: Columns, codes: NDArray[np.intp], weight: NDArray[np.float64] | None
) -> Judged:
    """What a model says about rows that it has not seen."""
    answer = scorer.decide(columns)
    return Judged(
        scorer.costs,
        codes,
        weight,
        scorer.costs.evaluate(columns, len(codes)),
        answer.scores.probabilities,
        answer.scores.score,
        answer.decisions,
        scorer.ensemble.scale,
    )


def judge_out_of_fold(
    model: Any, columns: Columns, codes: NDArray[np.intp], weight: NDArray[np.float64] | None
) -> Judged:
    """The rows that were trained on, each judged by what was fitted without it; those that no fold validated
    are left out.
    """
    scorer: Scorer = model.scorer()
    judged = np.flatnonzero(~np.isnan(model.oof_probabilities_).any(axis=1))
    probabilities, score = model.oof_probabilities_[judged], model.oof_score_[judged]
    own = {name: values[judged] for name, values in columns.items()}
    costs = scorer.costs.evaluate(own, len(judged))
    return Judged(
        scorer.costs,
        codes[judged],
        None if weight is None else weight[judged],
        costs,
        probabilities,
        score,
        _decided(scorer, score, probabilities, costs),
        scorer.ensemble.scale,
    )


def threshold_found(model: Any) -> dict[str, float | None] | None:
    """The threshold on the score that the rule "empirical" took, and its price; None with another rule.

    An infinite threshold, above or below which all rows are decided alike, is None.
    """
    found = model.threshold_found_
    if found is None:
        return None
    told = {name: float(value) for name, value in vars(found).items()}
    return {name: value if np.isfinite(value) else None for name, value in told.items()}


def _decided(
    scorer: Scorer,
    score: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> Decisions:
    serves, positive = scorer.costs.serves, scorer.costs.positive
    if scorer.rule == "expected_cost":
        return decide(probabilities, costs, serves=serves, positive=positive)
    if positive is None:
        return decide_by_label(score.argmax(axis=1), probabilities, costs, serves=serves)
    cut = scorer.score_threshold
    return decide_by_threshold(score, cut, probabilities, costs, serves=serves, positive=positive)
