"""What decisions would cost in other circumstances, on rows whose class is known."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from costboost.costs import LARGEST_COST, costs_of_true_class
from costboost.curves import evaluate_curves
from costboost.decisions import decide
from costboost.intervals import total_interval
from costboost.metrics.threshold_table import threshold_table
from costboost.priors import correct_priors
from costboost.review import plan_reviews
from service.domain.errors import InvalidError
from service.learning.answers import Answers
from service.learning.held_out import TestPart
from service.learning.pricing import PricedCosts
from service.learning.scoring import impossible_priors

_ROWS: Final = 512

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Case:
    """
    n rows whose class is known, and what a version says about them.

    Attributes
    ----------
    codes : ndarray of shape (n,), int
        Class of each.
    weight : ndarray of shape (n,)
    probabilities : ndarray of shape (n, K)
    decided : ndarray of shape (n,), int
        Index among `actions` of what the version decides as it is.
    actions : tuple of str
    serves : tuple of int or None
        Class that each of them serves; None for a review.
    """

    codes: Ints
    weight: Floats
    probabilities: Floats
    decided: Ints
    actions: tuple[str, ...]
    serves: tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class Circumstances:
    """
    What is supposed to hold for the rows of a case.

    Attributes
    ----------
    spec : PricedCosts
    prices : ndarray of shape (K, A) or (n, K, A)
        What its actions cost, the shadow price of the review not counted.
    old_priors, priors : sequence of K shares, or None
        Of training, and those that shall hold instead; None: as in the rows.
    capacity : int or None
        Reviews in each period.
    periods : ndarray of shape (n,), or None
    """

    spec: PricedCosts
    prices: Floats
    old_priors: tuple[float, ...]
    priors: tuple[float, ...] | None
    capacity: int | None
    periods: NDArray[Any] | None


def prices_of(spec: PricedCosts, columns: Mapping[str, NDArray[Any]], n: int) -> Floats:
    """What actions cost n rows in money: (K, A), or (n, K, A) where costs depend on the row.

    Raises
    ------
    InvalidError
        The cost of a row is not finite.
    """
    plain = spec if spec.review is None else replace(spec, review=replace(spec.review, shadow_price=0.0))
    prices: Floats = plain.evaluate(columns, n) if plain.per_row else plain.evaluate()
    if not (np.abs(prices) <= LARGEST_COST).all():
        detail = "the costs of some rows are not finite: a column that they read is missing there"
        raise InvalidError.at("/costs", "cost_not_finite", detail)
    return prices


def case_of_test_part(part: TestPart) -> Case:
    """The rows that were set aside in training."""
    return Case(
        codes=part.codes.astype(np.intp),
        weight=part.weight,
        probabilities=part.probabilities,
        decided=part.decision.astype(np.intp),
        actions=part.actions,
        serves=part.serves,
    )


def case_of_answers(answers: Answers, spec: PricedCosts, codes: Ints, weight: Floats | None) -> Case:
    """Rows that a version has just decided at its own costs."""
    return Case(
        codes=codes,
        weight=np.ones(len(codes)) if weight is None else weight,
        probabilities=answers.probabilities,
        decided=answers.decision,
        actions=answers.actions,
        serves=tuple(spec.serves),
    )


def prices_of_test_part(part: TestPart, spec: PricedCosts) -> Floats:
    """What training says actions cost, without the shadow price of the review that is in it."""
    if spec.review is None:
        return part.costs
    prices = part.costs.copy()
    prices[..., part.serves.index(None)] -= spec.review.shadow_price
    return prices


def within_capacity(
    answers: Answers, spec: PricedCosts, prices: Floats, capacity: int, periods: NDArray[Any] | None
) -> tuple[Answers, dict[str, Any]]:
    """
    Give the places in the review to the rows for which it saves most.

    Returns
    -------
    Answers
        With the decisions within the capacity, and expected costs without any shadow price.
    dict
        `rows` reviewed, `tied` and `shadow_price`, see `costboost.review.ReviewPlan`.
    """
    plan = plan_reviews(
        answers.probabilities,
        prices,
        capacity,
        serves=spec.serves,
        positive=spec.positive,
        periods=periods,
    )
    decided = plan.decisions
    told = {"rows": int(plan.reviewed.sum()), "tied": plan.tied, "shadow_price": plan.price}
    within = replace(
        answers, decision=decided.decision, label=decided.label, expected_cost=decided.expected_cost
    )
    return within, told


def simulate(case: Case, given: Circumstances) -> dict[str, Any]:
    """Price what the version decides as it is, what it would decide best, and every threshold.

    Raises
    ------
    InvalidError
        No row has a weight.

    Returns
    -------
    dict
        Plain JSON: `rows`, `positives`, `class_counts`, `current`, `optimum`, `saved`, `baselines`,
        `table` (two classes), `review`, `shadow_price`, `curves`.
    """
    spec = given.spec
    p, weight = _with_priors(case, given)
    if not weight.sum() > 0:
        detail = "no row has a class that these priors allow, or any weight"
        raise InvalidError.at("/priors", "invalid_data", detail)
    own = costs_of_true_class(given.prices, case.codes)
    best, price, tied = _optimum(p, given)
    present = _present(case, given, p)
    charged = {"current": _charged(own, present), "optimum": _charged(own, best)}
    counts = np.bincount(case.codes, minlength=len(spec.classes)).tolist()
    reviewed = np.array([spec.serves[a] is None for a in range(len(spec.serves))])[best]
    return {
        "rows": len(case.codes),
        "positives": None if spec.positive is None else counts[spec.positive],
        "class_counts": dict(zip(spec.classes, counts, strict=True)),
        "current": _cost(charged["current"], weight) | _actions(spec, present),
        "optimum": _cost(charged["optimum"], weight) | _actions(spec, best),
        "saved": _cost(charged["current"] - charged["optimum"], weight),
        "baselines": {
            "constant": {
                action.name: float((weight * own[:, a]).sum()) for a, action in enumerate(spec.actions)
            },
            "perfect": float((weight * own.min(axis=1)).sum()),
        },
        "table": _table(given, case.codes, p, weight, reviewed),
        "review": None if spec.review is None else {"rows": int(reviewed.sum()), "tied": tied},
        "shadow_price": price,
        "curves": _curves(case, given, p, weight),
    }


def _with_priors(case: Case, given: Circumstances) -> tuple[Floats, Floats]:
    """Probabilities and weights of the rows where the classes have other shares."""
    if given.priors is None:
        return case.probabilities, case.weight
    try:
        p = correct_priors(case.probabilities, np.array(given.old_priors), np.array(given.priors))
    except ValueError:
        raise impossible_priors() from None
    mass = np.bincount(case.codes, case.weight, minlength=len(given.priors))
    share = mass / mass.sum()
    factor = np.divide(given.priors, share, out=np.zeros(len(share)), where=share > 0)
    weight: Floats = case.weight * factor[case.codes]
    return p, weight


def _charged(own: Floats, decided: Ints) -> Floats:
    charged: Floats = own[np.arange(len(decided)), decided]
    return charged


def _optimum(p: Floats, given: Circumstances) -> tuple[Ints, float | None, int]:
    """Decisions of least expected cost, the price of a place in the review, rows that a tie leaves out."""
    spec = given.spec
    serves, positive = spec.serves, spec.positive
    if spec.review is None:
        return decide(p, given.prices, serves=serves, positive=positive).decision, None, 0
    if given.capacity is not None:
        plan = plan_reviews(
            p, given.prices, given.capacity, serves=serves, positive=positive, periods=given.periods
        )
        return plan.decisions.decision, plan.price, plan.tied
    raised = given.prices.copy()
    raised[..., serves.index(None)] += spec.review.shadow_price
    decided = decide(p, raised, serves=serves, positive=positive)
    return decided.decision, spec.review.shadow_price, 0


def _present(case: Case, given: Circumstances, p: Floats) -> Ints:
    """Decisions of the version as it is, as actions of the costs in force.

    An action is found again by its name, else by the class it serves; for a review where there is none any
    more, what costs least is taken.
    """
    spec = given.spec
    names = [action.name for action in spec.actions]
    decisions = decide(p, given.prices, serves=spec.serves, positive=spec.positive)
    present = np.empty(len(case.decided), dtype=np.intp)
    for a, (name, served) in enumerate(zip(case.actions, case.serves, strict=True)):
        rows = case.decided == a
        same = [names.index(name)] if name in names else []
        choices = same or [b for b, other in enumerate(spec.serves) if other == served]
        if not choices:
            present[rows] = decisions.decision[rows]
            continue
        present[rows] = np.array(choices)[decisions.expected_cost[rows][:, choices].argmin(axis=1)]
    return present


def _cost(charged: Floats, weight: Floats) -> dict[str, Any]:
    """Total, and its 95 % interval as that of a sum of independent rows."""
    paid = weight * charged
    total = float(paid.sum())
    interval = list(total_interval(paid)) if len(paid) > 1 else None
    mass = float(weight.sum())
    return {"cost": total, "ci95": interval, "cost_per_row": total / mass if mass > 0 else None}


def _actions(spec: PricedCosts, decided: Ints) -> dict[str, Any]:
    counts = np.bincount(decided, minlength=len(spec.actions)).tolist()
    return {"decisions": {action.name: count for action, count in zip(spec.actions, counts, strict=True)}}


def _table(
    given: Circumstances, codes: Ints, p: Floats, weight: Floats, reviewed: NDArray[np.bool_]
) -> list[dict[str, float]] | None:
    """Two classes: what each threshold costs when these rows are reviewed and the others are cut by it."""
    spec = given.spec
    rest = np.flatnonzero(~reviewed)
    if spec.positive is None or not weight[rest].sum() > 0:
        return None
    prices = given.prices if given.prices.ndim == 2 else given.prices[rest]
    table = threshold_table(
        codes[rest],
        p[rest, spec.positive],
        prices,
        serves=spec.serves,
        positive=spec.positive,
        sample_weight=weight[rest],
        max_rows=_ROWS,
    )
    looked = float(weight[reviewed].sum())
    if looked:
        paid = costs_of_true_class(given.prices, codes)[reviewed, spec.serves.index(None)]
        table["cost"] += float((weight[reviewed] * paid).sum())
    rows = zip(*(table[name].tolist() for name in table), strict=True)
    return [dict(zip(table, row, strict=True)) | {"review": looked} for row in rows]


def _curves(case: Case, given: Circumstances, p: Floats, weight: Floats) -> dict[str, Any]:
    spec = given.spec
    found = evaluate_curves(
        case.codes, p, given.prices, serves=spec.serves, positive=spec.positive, sample_weight=weight
    )
    if spec.positive is not None:
        return {name: curve for name, curve in found.items() if name != "thresholds"}
    named = zip(spec.classes, found["classes"], strict=True)
    return {"classes": [{"class": name, **curves} for name, curves in named]}
