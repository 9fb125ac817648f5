"""SoftBoost: a soft margin within δ of the largest, in a number of rounds that is bounded.

Warmuth, Glocer, Rätsch: Boosting algorithms for maximizing the soft margin, NIPS 2007. Written from the
common literature.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from costboost.boosting._base import Cost, CostSensitiveBooster, Patience, Rounds, ValidationFraction
from costboost.boosting._problem import CostsOfMistakes, Floats, Problem
from costboost.boosting._rounds import EPSILON, NO_BETTER, Round, Rule, StopReason
from costboost.boosting._row_groups import RowGroups
from costboost.boosting.lp_boost import Nu, soft_margin
from costboost.kernels.elementary import exp_array, log_array
from costboost.kernels.fixed_point import total
from costboost.parameters import Range

__all__ = ["EntropyProjection", "SoftBoostClassifier"]

#: How far an edge may exceed its bound, and an entropy its largest value.
_SLACK = 1e-7

#: Exponents are kept above this, lest the lightest rows vanish from a sum.
_LEAST_EXPONENT = -600.0


@dataclass
class EntropyProjection:
    """The distribution nearest to a prior in relative entropy among those with small edges and weights.

    ``argmin Σ u ln(u/p)`` so that ``Σ_g u_g agreement_gt <= bound`` for every t, ``Σ u = 1`` and
    ``0 <= u <= limit · p``. Solved in the multipliers β >= 0 of the edges, of which
    ``u = p · min(limit, k exp(-agreement β))`` is a function.

    Parameters
    ----------
    prior : ndarray of shape (G,)
        p, sum 1, positive.
    agreement : ndarray of shape (G, T)
    bound : float
    limit : float
        1 at least.
    """

    prior: Floats
    agreement: Floats
    bound: float
    limit: float

    def solve(self, start: Floats) -> tuple[Floats, Floats] | None:
        """Find u and β from a first guess of β; None if no distribution keeps to the bounds."""
        found = minimize(
            self._negative_dual,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(start),
            callback=self._stop_beyond_all_entropies,
            options={"maxiter": 2000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-9},
        )
        weights = self.weights(found.x)
        if float(self._excess(weights).max()) > _SLACK:
            return None
        return weights, found.x

    def weights(self, beta: Floats) -> Floats:
        """Return u as a function of β."""
        exponent = -np.einsum("gt,t->g", self.agreement, beta)
        power = exp_array(np.maximum(exponent - exponent.max(), _LEAST_EXPONENT))
        order = np.argsort(-power, kind="stable")
        mass, product = self.prior[order], (self.prior * power)[order]
        capped = self.limit * (np.cumsum(mass) - mass)  # weight of the first j, all at their limit
        factor = (1.0 - capped) / np.cumsum(product[::-1])[::-1]  # k if those and no others are
        fits = factor * power[order] <= self.limit
        k = float(factor[np.argmax(fits)]) if fits.any() else math.inf
        weights = self.prior * np.minimum(self.limit, k * power)
        normalized: Floats = weights / weights.sum()
        return normalized

    def _negative_dual(self, beta: Floats) -> tuple[float, Floats]:
        weights = self.weights(beta)
        excess = self._excess(weights)
        present = weights > 0
        entropy = float((weights[present] * log_array(weights[present] / self.prior[present])).sum())
        return -(entropy + float((beta * excess).sum())), -excess

    def _excess(self, weights: Floats) -> Floats:
        # Not a product of matrices: how BLAS adds depends on the number of threads.
        edges: Floats = np.einsum("g,gt->t", weights, self.agreement)
        return edges - self.bound

    def _stop_beyond_all_entropies(self, intermediate_result: Any) -> None:
        # The dual is a lower bound of the entropy, and weights of at most limit · p have at most ln(limit).
        if -intermediate_result.fun > math.log(self.limit) + _SLACK:
            raise StopIteration


@dataclass
class SoftBoostRule(Rule):
    """``u = argmin Σ u ln(u/D_1)``, all edges ``<= min γ - δ``, ``u <= D_1/ν``; it stops when there is none.

    γ are the edges of the hypotheses when they were found. The votes are those of the largest soft margin.

    Parameters
    ----------
    y : ndarray of shape (n,), -1 or +1
    initial : ndarray of shape (n,)
        The user's weights.
    """

    y: Floats
    initial: Floats
    nu: float = 0.1
    delta: float = 0.1
    least_edge: float = field(default=1.0, init=False)

    def __post_init__(self) -> None:
        self.initial = self.initial / total(self.initial)
        self.groups, self.beta = RowGroups(self.initial), np.zeros(0)

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        agreement = self.y * response
        edge = total(weights * agreement)
        if edge <= EPSILON:
            return NO_BETTER
        self.groups.split(agreement)
        # Rounded, for the last bits depend on whether rows are repeated or weigh more.
        self.least_edge = min(self.least_edge, math.ldexp(round(math.ldexp(edge, 40)), -40))
        values = {"gamma": edge, "bound": self.least_edge - self.delta}
        verdict = Round(0.0, (1.0 - edge) / 2.0, exponent=None, values=values)
        if total(self.initial[agreement < 0]) <= EPSILON:
            return replace(verdict, stop="perfect")
        projected = self._project(values["bound"])
        if projected is None:
            return replace(verdict, stop="infeasible")
        return replace(verdict, weights=self.groups.spread(projected))

    def final_votes(self, alphas: list[float]) -> list[float]:  # noqa: ARG002
        votes: list[float] = soft_margin(self.groups.agreement, self.groups.share / self.nu).votes.tolist()
        return votes

    def _project(self, bound: float) -> Floats | None:
        prior = self.groups.share / self.groups.share.sum()
        projection = EntropyProjection(prior, self.groups.agreement, bound, 1.0 / self.nu)
        solved = projection.solve(np.append(self.beta, 0.0))
        if solved is None:
            return None
        weights, self.beta = solved
        return weights


class SoftBoostClassifier(CostSensitiveBooster):
    """SoftBoost of Warmuth, Glocer and Rätsch: a soft margin within `delta` of the largest.

    Weights stay as near to the start as the edges of all hypotheses so far allow, which bounds the rounds by
    about ``2 ln(1/ν)/δ²``; LPBoost has no such bound. When no weights are left that would make all of those
    hypotheses weak, one linear program sets all votes, which sum to 1. Works on noisy rows, with `nu` well
    above the share of rows that cannot be got right. Costs enter neither training nor prediction; they only
    decide which constant is predicted when no hypothesis is better than chance. A round costs one fit of the
    weak learner and one convex program with a variable per hypothesis, whose steps go over the groups of rows
    that all of them answered alike. More than two classes: each against the rest. Written from the common
    literature, without the paper at hand.

    Parameters
    ----------
    nu : float in (0, 1], default 0.1
        Bound on the share of rows that fall short of the margin. Below 1/n the margin is hard.
    delta : float in (0, 1], default 0.1
        How far from the largest soft margin the vote may end. Smaller takes more rounds.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster`; there is no learning rate. Staged scores are
    partial sums of the final vote. A hypothesis may end with a vote of 0.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 1, 0, 0]
    >>> model = SoftBoostClassifier().fit(X, y)
    >>> model.predict(X).tolist(), model.stop_reason_
    ([0, 0, 1, 1, 0, 0], 'infeasible')
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: Rounds = 50,
        nu: Nu = 0.1,
        delta: Annotated[float, Range(exclusive_minimum=0, maximum=1)] = 0.1,
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
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            cost_fn=cost_fn,
            cost_fp=cost_fp,
            cost_tp=cost_tp,
            cost_tn=cost_tn,
            cost_matrix=cost_matrix,
            pos_label=pos_label,
            random_state=random_state,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            warm_start=warm_start,
            record=record,
        )
        self.nu = nu
        self.delta = delta

    def _rule(self, problem: Problem) -> Rule:
        return SoftBoostRule(problem.sign, problem.weights, self.nu, self.delta)
