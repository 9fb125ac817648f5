"""What serving needs of a fitted model: typed columns in, scores, probabilities and decisions out.

Imports numpy only, so a serving process need not load scikit-learn, numba or joblib. A row alone gets the
numbers it gets in a batch, to the bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from costboost import libm
from costboost.calibration.calibrator import Calibrator
from costboost.columns import Columns
from costboost.cost_specs import CostSpec
from costboost.decisions import Decisions, decide, decide_by_label, decide_by_threshold
from costboost.features import FeatureEncoder
from costboost.priors import correct_priors
from costboost.terms import Terms

__all__ = [
    "DECISION_RULES",
    "Answer",
    "DecisionRule",
    "DecisionSource",
    "ScoreFunction",
    "Scorer",
    "Scores",
    "Terms",
]

DecisionRule = Literal["expected_cost", "empirical", "sign"]
DECISION_RULES: tuple[DecisionRule, ...] = get_args(DecisionRule)
#: How a decision was reached: the rule of the model, or the threshold of the request.
DecisionSource = Literal["expected_cost", "empirical", "sign", "threshold"]

#: Rows encoded at a time.
_BLOCK = 4096
#: Log-odds are those of probabilities this far from 0 and 1, for display.
ODDS_MARGIN = 1e-6


class ScoreFunction(Protocol):
    """Whatever turns encoded rows into scores: `Terms`, `Trees`, `Planes`, `Expansions`, or any booster."""

    @property
    def n_outputs(self) -> int:
        """Number of scores per row: 1 for two classes, K for more."""
        ...

    @property
    def n_features(self) -> int:
        """Columns a row must have."""
        ...

    @property
    def scale(self) -> float:
        """Sum of the votes: what scores are divided by to be margins."""
        ...

    def score(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of shape (n, K') of rows of shape (n, d)."""
        ...


@dataclass(frozen=True, eq=False)
class Scores:
    """What a model says about n rows, before any cost.

    Attributes
    ----------
    score : ndarray of shape (n,) for two classes, (n, K) for more
        F of the booster; higher means the positive class (class k).
    probabilities : ndarray of shape (n, K)
        Strictly inside (0, 1), each row of sum 1.
    log_odds : ndarray of the shape of `score`
        log(p / (1 - p)) of the positive class (of class k), p kept 1e-6 away from 0 and 1.
    """

    score: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    log_odds: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a model says about n rows and what to do with them.

    Attributes
    ----------
    scores : Scores
    decisions : Decisions
        `threshold` is on the scale of the probability also where a threshold of the score decided.
    source : {"expected_cost", "empirical", "sign", "threshold"}
        How it was decided.
    costs : CostSpec
        The costs in force: its `actions` name what `decisions.decision` counts.
    repriced : bool
        Whether these costs came with the request.
    """

    scores: Scores
    decisions: Decisions
    source: DecisionSource
    costs: CostSpec
    repriced: bool


@dataclass(frozen=True, eq=False)
class Scorer:
    """A fitted model as values: typed columns in, scores, probabilities and decisions out.

    Parameters
    ----------
    encoder : FeatureEncoder
    ensemble : ScoreFunction
        Output 0 of a two-class ensemble rises with its class of code 1, output k of another with its class
        of code k.
    calibrator : Calibrator
    classes : tuple of str
        Names of the classes, in the order of all arrays that come out.
    codes : tuple of int
        Code that the ensemble gives each class.
    priors : tuple of float
        Share of each class in training.
    costs : CostSpec
        The costs of training, in force unless a request brings its own.
    rule : {"expected_cost", "empirical", "sign"}
    score_threshold : float
        Two classes: positive iff the score is above it (rules "empirical" and "sign"); may be infinite.
    background : ndarray of one dimension, float64, optional
        What explanations measure contributions from, as `background_of` found it on the training rows.

    Raises
    ------
    ValueError
        If the parts do not fit together.

    Examples
    --------
    >>> from costboost import CostSensitiveModel
    >>> X = {"amount": np.arange(40.0)}
    >>> scorer = CostSensitiveModel().fit(X, X["amount"] > 25).scorer()
    >>> answer = scorer.decide({"amount": np.array([3.0, 39.0])})
    >>> scorer.classes, answer.decisions.label.tolist()
    (('false', 'true'), [0, 1])
    """

    encoder: FeatureEncoder
    ensemble: ScoreFunction
    calibrator: Calibrator
    classes: tuple[str, ...]
    codes: tuple[int, ...]
    priors: tuple[float, ...]
    costs: CostSpec
    rule: DecisionRule
    score_threshold: float = 0.0
    background: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        n_classes = len(self.classes)
        if self.costs.classes != self.classes or self.calibrator.n_classes != n_classes:
            raise ValueError("the classes of model, costs and calibrator differ")
        if self.ensemble.n_outputs != len(self.calibrator.outputs):
            raise ValueError("ensemble and calibrator have another number of outputs")
        if self.ensemble.n_features != self.encoder.n_features:
            raise ValueError("ensemble and encoder have another number of features")
        if sorted(self.codes) != list(range(n_classes)) or (
            n_classes == 2 and self.codes[self._positive] != 1
        ):
            raise ValueError("the codes of the classes are not sound")
        if len(self.priors) != n_classes or not all(0 < share < 1 for share in self.priors):
            raise ValueError("the class shares are not sound")
        if self.rule not in DECISION_RULES or (self.rule == "empirical" and n_classes > 2):
            raise ValueError(f"decision rule {self.rule!r} is not one for {n_classes} classes")
        if np.isnan(self.score_threshold):
            raise ValueError("the threshold must be a number")

    @property
    def positive(self) -> int | None:
        """Index of the positive class of two; None for more."""
        return self.costs.positive

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns a row must have: features, and what the costs of training read."""
        return frozenset(self.encoder.types) | self.costs.columns

    def score(self, columns: Columns, priors: Sequence[float] | None = None) -> Scores:
        """Scores and probabilities; costs have no part in them.

        Parameters
        ----------
        columns : mapping of name to ndarray of shape (n,)
            Typed columns, in any order; others than the features are ignored.
        priors : sequence of K floats, optional
            Share of each class where the rows come from, if it differs from training.

        Returns
        -------
        Scores
            A row alone gets the same numbers as in a batch, to the bit.

        Raises
        ------
        ValueError
            If a feature has no column, or the priors are no distribution.
        """
        raw = self._raw(columns)
        probabilities = self.probabilities(raw, priors)
        score = raw[:, 0] if raw.shape[1] == 1 else raw[:, list(self.codes)]
        shown = probabilities[:, self._positive] if raw.shape[1] == 1 else probabilities
        return Scores(score, probabilities, libm.log_odds(np.clip(shown, ODDS_MARGIN, 1.0 - ODDS_MARGIN)))

    def _raw(self, columns: Columns) -> NDArray[np.float64]:
        """(n, K'): scores as the ensemble gives them; rows are encoded and scored block by block."""
        taken = {name: columns[name] for name in self.encoder.types if name in columns}
        n = max((len(values) for values in taken.values()), default=0)
        if n <= _BLOCK:
            return self.ensemble.score(self.encoder.transform(columns))
        return np.concatenate(
            [
                self.ensemble.score(
                    self.encoder.transform(
                        {name: values[start : start + _BLOCK] for name, values in taken.items()}
                    )
                )
                for start in range(0, n, _BLOCK)
            ]
        )

    def probabilities(
        self, raw: NDArray[np.float64], priors: Sequence[float] | None = None
    ) -> NDArray[np.float64]:
        """Class probabilities (n, K) of scores (n, K') as the ensemble gives them."""
        by_class = self.calibrator.probabilities(raw)[:, list(self.codes)]
        if priors is None:
            return by_class
        return correct_priors(by_class, np.array(self.priors), np.array(priors, dtype=np.float64))

    def decide(
        self,
        columns: Columns,
        *,
        costs: CostSpec | NDArray[np.float64] | None = None,
        priors: Sequence[float] | None = None,
        threshold: float | None = None,
    ) -> Answer:
        """Scores, and the decisions that follow from them.

        Parameters
        ----------
        columns : mapping of name to ndarray of shape (n,)
            Typed columns, with those that the costs read.
        costs : CostSpec or ndarray of shape (K, A) or (n, K, A), optional
            Instead of the costs of training; an array keeps the actions of training. They are weighed by the
            probabilities, whatever the rule of the model.
        priors : sequence of K floats, optional
            As in `score`.
        threshold : float, optional
            Two classes: decide positive iff its probability is above this, whatever the costs.

        Returns
        -------
        Answer

        Raises
        ------
        ValueError
            If a column is missing, a cost is not finite, classes differ, or a threshold is given for more
            than two classes or is no probability.
        """
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise ValueError("threshold must lie between 0 and 1: a probability is compared with it")
        scores = self.score(columns, priors)
        spec = self._spec(costs)
        prices = costs if isinstance(costs, np.ndarray) else spec.evaluate(columns, len(scores.score))
        source: DecisionSource = "threshold" if threshold is not None else self.rule
        if source in ("empirical", "sign") and costs is not None:
            source = "expected_cost"
        decisions = self._decisions(source, scores, prices, spec.serves, threshold)
        if source in ("empirical", "sign") and self.positive is not None:
            shown = np.full(len(scores.score), self._shown_threshold(priors))
            decisions = replace(decisions, threshold=shown)
        return Answer(scores, decisions, source, spec, repriced=costs is not None)

    @property
    def _positive(self) -> int:
        return 1 if self.costs.positive is None else self.costs.positive

    def _spec(self, costs: CostSpec | NDArray[np.float64] | None) -> CostSpec:
        if not isinstance(costs, CostSpec):
            return self.costs
        return costs if costs.classes == self.classes else costs.reordered(self.classes)

    def _decisions(
        self,
        source: DecisionSource,
        scores: Scores,
        prices: NDArray[np.float64],
        serves: Sequence[int | None],
        threshold: float | None,
    ) -> Decisions:
        p, positive = scores.probabilities, self.positive
        if source == "expected_cost":
            return decide(p, prices, serves=serves, positive=positive)
        if source == "threshold" and threshold is not None:
            values, cut = p[:, self._positive], threshold
        elif positive is None:
            return decide_by_label(scores.score.argmax(axis=1), p, prices, serves=serves)
        else:
            values, cut = scores.score, self.score_threshold
        return decide_by_threshold(values, cut, p, prices, serves=serves, positive=positive)

    def _shown_threshold(self, priors: Sequence[float] | None) -> float:
        """The threshold of the score as a probability."""
        if np.isinf(self.score_threshold):
            return float(self.score_threshold > 0)
        return float(self.probabilities(np.array([[self.score_threshold]]), priors)[0, self._positive])
