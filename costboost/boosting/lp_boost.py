"""LPBoost: the largest soft margin, by a linear program that gains a column in every round.

Demiriz, Bennett, Shawe-Taylor: Linear programming boosting via column generation, Machine Learning 46 (2002),
225-254. Written from the common literature; costs as caps of the rows are part of its formulation.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from costboost.boosting._base import Cost, CostSensitiveBooster, Patience, Rounds, ValidationFraction
from costboost.boosting._problem import CostsOfMistakes, Floats, Problem
from costboost.boosting._rounds import EPSILON, NO_BETTER, Round, Rule, StopReason
from costboost.boosting._row_groups import RowGroups
from costboost.kernels.fixed_point import total
from costboost.parameters import Range

__all__ = ["LPBoostClassifier", "Nu", "SoftMargin", "soft_margin"]

Nu: TypeAlias = Annotated[float, Range(exclusive_minimum=0, maximum=1)]

#: Tolerances HiGHS is asked for, the narrowest it knows first.
_TOLERANCES = (1e-10, 1e-7)


@dataclass(frozen=True)
class SoftMargin:
    """Optimum of the program.

    Parameters
    ----------
    edge : float
        b, the least largest edge of the hypotheses; as large as the soft margin.
    weights : ndarray of shape (G,)
        u, sum 1.
    votes : ndarray of shape (T,)
        α, sum 1: the duals of the edges.
    """

    edge: float
    weights: Floats
    votes: Floats


def soft_margin(agreement: Floats, caps: Floats) -> SoftMargin:
    """Minimise b so that ``Σ_g u_g agreement_gt <= b`` for every t, ``Σ u = 1`` and ``0 <= u <= caps``.

    By duality the same as to maximise ``ρ - Σ caps ξ`` so that ``Σ_t α_t agreement_gt >= ρ - ξ_g``,
    ``Σ α = 1``, ``α, ξ >= 0``.

    Parameters
    ----------
    agreement : ndarray of shape (G, T)
    caps : ndarray of shape (G,)
        Sum 1 at least.

    Raises
    ------
    RuntimeError
        If the solver fails.

    Examples
    --------
    >>> optimum = soft_margin(np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]), np.full(3, 1.0))
    >>> optimum.edge, optimum.votes.tolist(), optimum.weights.tolist()
    (0.0, [0.5, 0.5], [0.5, 0.5, 0.0])
    """
    n_groups, n_hypotheses = agreement.shape
    for tolerance in _TOLERANCES:
        solution = linprog(
            np.append(np.zeros(n_groups), 1.0),
            A_ub=np.column_stack([agreement.T, -np.ones(n_hypotheses)]),
            b_ub=np.zeros(n_hypotheses),
            A_eq=np.append(np.ones(n_groups), 0.0)[None],
            b_eq=np.ones(1),
            bounds=np.column_stack([np.append(np.zeros(n_groups), -np.inf), np.append(caps, np.inf)]),
            method="highs-ds",
            options={
                "primal_feasibility_tolerance": tolerance,
                "dual_feasibility_tolerance": tolerance,
            },
        )
        if solution.status == 0:
            weights = np.clip(solution.x[:-1], 0.0, caps)
            votes = np.maximum(-solution.ineqlin.marginals, 0.0)
            return SoftMargin(float(solution.fun), weights / weights.sum(), votes / votes.sum())
    raise RuntimeError(f"the linear program was not solved: {solution.message}")


@dataclass
class LPBoostRule(Rule):
    """The master program restricted to the hypotheses that were kept; its u are the next weights.

    ``D_1 ∝ c``; ``0 <= u_i <= c_i / (ν Σ c)``. A hypothesis whose edge under u is not above b by `tol` cannot
    improve the optimum, and is the first that is not kept.

    Parameters
    ----------
    y : ndarray of shape (n,), -1 or +1
    initial : ndarray of shape (n,)
        Costs times the user's weights.
    """

    y: Floats
    initial: Floats
    nu: float = 0.1
    tol: float = 1e-6
    optimum: SoftMargin | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.initial = self.initial / total(self.initial)
        self.groups = RowGroups(self.initial)

    def start(self) -> Floats:
        return self.initial

    def judge(self, weights: Floats, response: NDArray[Any]) -> Round | StopReason:
        agreement = self.y * response
        edge = total(weights * agreement)
        if edge <= EPSILON:
            return NO_BETTER
        if self.optimum is not None and edge <= self.optimum.edge + self.tol:
            return "converged"
        self.groups.split(agreement)
        self.optimum = soft_margin(self.groups.agreement, self.groups.share / self.nu)
        # u may be 0 for most rows, so that only all of them tell whether a hypothesis is perfect.
        missed = total(self.initial[agreement < 0])
        return Round(
            alpha=float(self.optimum.votes[-1]),
            error=(1.0 - edge) / 2.0,
            exponent=None,
            weights=self.groups.spread(self.optimum.weights),
            stop="perfect" if missed <= EPSILON else None,
            values={"edge": edge, "b": self.optimum.edge},
        )

    def final_votes(self, alphas: list[float]) -> list[float]:
        votes: list[float] = alphas if self.optimum is None else self.optimum.votes.tolist()
        return votes


class LPBoostClassifier(CostSensitiveBooster):
    """LPBoost of Demiriz, Bennett and Shawe-Taylor: the vote of the largest soft margin.

    All votes are set anew in every round by a linear program over the hypotheses found so far, and sum to 1.
    The cost of a row caps the weight it can get, which makes dear mistakes dear to the margin too: a sound
    way to give a margin costs. Works with few, strong hypotheses and `nu` well above the share of rows that
    cannot be got right; with `nu` below it the vote approaches a tie. Votes are poor until the program has
    nearly converged, which may take as many rounds as there are rows: give it many, or use SoftBoost. A round
    costs one fit of the weak learner and one linear program with a row per hypothesis and a column per group
    of rows that all of them answered alike: meant for up to some 10,000 rows. More than two classes: each
    against the rest. Written from the common literature, without the paper at hand.

    Parameters
    ----------
    nu : float in (0, 1], default 0.1
        Bound on the share of the cost of rows that fall short of the margin. Below 1/n the margin is hard.
    tol : float > 0, default 1e-6
        The fit has converged when the best edge exceeds the soft margin by no more.

    Notes
    -----
    Other parameters and attributes: see `CostSensitiveBooster`; there is no learning rate. Staged scores are
    partial sums of the final vote, not the votes of an earlier round. A hypothesis may end with a vote of 0.
    Weights and votes of an optimum need not be unique; those found depend neither on the order of rows nor on
    whether a row is repeated or weighs more.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 1, 0, 0]
    >>> model = LPBoostClassifier(cost_fn=4.0).fit(X, y)
    >>> model.predict(X).tolist(), model.stop_reason_
    ([0, 0, 1, 1, 0, 0], 'converged')
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: Rounds = 50,
        nu: Nu = 0.1,
        tol: Annotated[float, Range(exclusive_minimum=0, maximum=1)] = 1e-6,
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
        self.tol = tol

    def _rule(self, problem: Problem) -> Rule:
        return LPBoostRule(problem.sign, problem.weights * problem.cost, self.nu, self.tol)
