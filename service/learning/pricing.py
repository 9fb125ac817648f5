"""From costs as requests write them to the library's cost spec, and what they mean in words."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.actions import Action, Review, UnservedActionsError
from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.costs import LARGEST_COST, unreasonable_rows
from costboost.decisions import decide
from service.domain.cost_cells import Cell
from service.domain.costs import ActionCosts, BinaryCosts, MatrixCosts
from service.domain.errors import InvalidError
from service.learning.cost_faults import (
    refuse_unreasonable,
    refuse_unserved_class,
    refuse_zero,
    unserved_actions,
)

#: Costs made ready for a list of classes; opaque to the rest of the service.
PricedCosts: TypeAlias = CostSpec
AnyCosts: TypeAlias = BinaryCosts | MatrixCosts | ActionCosts

#: Amounts at which per-row costs are told in words.
_AMOUNTS = (20.0, 100.0, 500.0, 2500.0)
#: Probabilities are tried in steps of 1 / this.
_STEPS = 1000
_BINARY_CLASSES = ("negative", "positive")
_DEPENDS = (
    "the costs depend on the row: a training counts the rows in which a wrong decision costs no more than "
    "the right one, and is refused when that is so in all of them"
)


def cost_spec(
    costs: AnyCosts,
    classes: Sequence[str] | None = None,
    positive: str | None = None,
    *,
    at: str = "/costs",
) -> PricedCosts:
    """Make costs ready for the classes of a dataset or version.

    Parameters
    ----------
    costs : BinaryCosts, MatrixCosts or ActionCosts
    classes : sequence of str, optional
        In the order that class indices have; without it the classes that the costs name.
    positive : str, optional
        Positive class of two; the second one when left out.
    at : str
        Pointer of the costs in the request.

    Raises
    ------
    InvalidError
        The classes do not match, `zero_costs`, `unserved_class`, or `unreasonable_costs` with all the cells.
    """
    named = list(_BINARY_CLASSES) if isinstance(costs, BinaryCosts) else list(costs.classes)
    wanted = list(classes) if classes is not None else named
    _check_classes(costs, wanted, at)
    order = wanted if isinstance(costs, BinaryCosts) else named
    index = (order.index(positive) if positive is not None else 1) if len(order) == 2 else None
    refuse_zero(costs, at)
    try:
        spec = _compile(costs, order, index).reordered(wanted)
    except UnservedActionsError as error:
        raise unserved_actions(costs, error.actions, at) from None
    refuse_unserved_class(costs, spec, at)
    refuse_unreasonable(costs, spec, at)
    return spec


def describe(spec: PricedCosts) -> list[dict[str, Any]]:
    """List the cells with their names: true class, action, and the cost as a number or an object."""
    priced = [a for a, action in enumerate(spec.actions) if action.serves is not None]
    return [
        {
            "name": spec.cell_name(k, a),
            "true": true,
            "action": spec.actions[a].name,
            "cost": spec.cells[k][i].to_json(),
        }
        for k, true in enumerate(spec.classes)
        for i, a in enumerate(priced)
    ]


def checks(spec: PricedCosts) -> dict[str, Any]:
    """What was checked: `reasonable` is null for costs that depend on the row."""
    return {
        "reasonable": None if spec.per_row else True,
        "explanation": _DEPENDS if spec.per_row else None,
        "per_row": spec.per_row,
        "dominated_actions": list(spec.dominated_actions()),
    }


def consequences(spec: PricedCosts) -> list[str]:
    """Say in words what the costs lead to, for constant costs once and for per-row costs at a few amounts."""
    if not spec.per_row:
        return _sentences(spec, spec.evaluate()[None], "")
    told = list[str]()
    for amount in _AMOUNTS:
        columns = {name: np.array([amount]) for name in spec.columns}
        told += _sentences(spec, spec.evaluate(columns, 1), f" at {_named(sorted(spec.columns))} {amount:g}")
    return told


def threshold_at(spec: PricedCosts, columns: Mapping[str, float], positive: str) -> float | None:
    """Probability of two classes above which a row of these columns is positive; None where there is none."""
    given = {name: np.array([value]) for name, value in columns.items()}
    costs = spec.evaluate(given, 1)
    if not (np.abs(costs) <= LARGEST_COST).all() or unreasonable_rows(costs, spec.serves).any():
        return None
    evenly = np.full((1, len(spec.classes)), 1.0 / len(spec.classes))
    decided = decide(evenly, costs, serves=spec.serves, positive=spec.classes.index(positive))
    threshold = float(decided.threshold[0])
    return None if np.isnan(threshold) else threshold


def count_unreasonable(spec: PricedCosts, columns: Mapping[str, NDArray[Any]], n: int) -> int:
    """Count the rows in which a wrong decision costs no more than the right one."""
    if not spec.per_row or not n:
        return 0
    return int(unreasonable_rows(spec.evaluate(columns, n), spec.serves).sum())


def _compile(costs: AnyCosts, classes: Sequence[str], positive: int | None) -> CostSpec:
    match costs:
        case BinaryCosts():
            return CostSpec.binary(
                *(_cell(cell) for cell in (costs.fn, costs.fp, costs.tp, costs.tn)),
                classes=tuple(classes),
                positive=1 if positive is None else positive,
            )
        case MatrixCosts():
            return CostSpec.from_matrix(costs.rows_true, classes, positive)
        case ActionCosts():
            cells = {(item.true, item.action): _cell(item.cost) for item in costs.costs}
            return CostSpec.from_actions(
                classes, _actions(costs), cells, review=_review(costs), positive=positive
            )


def _cell(cell: float | Cell) -> CostCell:
    if isinstance(cell, Cell):
        return CostCell(fixed=cell.fixed, per=cell.per, min=cell.min, max=cell.max)
    return CostCell(fixed=cell)


def _actions(costs: ActionCosts) -> list[Action | str]:
    actions = list[Action | str]()
    for action in costs.actions:
        if action.kind == "review":
            actions.append(Action(action.name, None))
        elif action.serves is None:
            actions.append(action.name)
        else:
            actions.append(Action(action.name, costs.classes.index(action.serves)))
    return actions


def _review(costs: ActionCosts) -> Review | None:
    given = costs.review
    if given is None:
        return None
    capacity = given.capacity
    return Review(
        fee=given.fee,
        accuracy=tuple(given.accuracy[name] for name in costs.classes),
        capacity=None if capacity is None else capacity.max,
        per=None if capacity is None else capacity.per,
        shadow_price=given.shadow_price,
    )


def _check_classes(costs: AnyCosts, classes: Sequence[str], at: str) -> None:
    if isinstance(costs, BinaryCosts):
        if len(classes) != 2:
            detail = "fn, fp, tp and tn price two classes; write a matrix or actions for more"
            raise InvalidError.at(at, "not_binary", detail)
    elif sorted(costs.classes) != sorted(classes):
        detail = f"must name the {len(classes)} classes of the data, each once"
        raise InvalidError.at(f"{at}/classes", "classes_mismatch", detail)


def _sentences(spec: CostSpec, costs: Any, where: str) -> list[str]:
    """What is decided at these (1, K, A) costs."""
    names = [action.name for action in spec.actions]
    if spec.positive is not None:
        return [f"{_intervals(spec, costs, names)}{where}"]
    even = np.full((1, len(spec.classes)), 1.0 / len(spec.classes))
    decided = decide(even, costs, serves=spec.serves)
    if decided.thresholds_exact[0]:
        named = zip(spec.classes, decided.thresholds[0], strict=True)
        limits = ", ".join(f"{name} {limit:.3g}" for name, limit in named)
        return [f"choose the class with the largest p / t{where}, where t is {limits}"]
    return [f"when all classes are equally likely, choose {names[int(decided.decision[0])]}{where}"]


def _intervals(spec: CostSpec, costs: Any, names: Sequence[str]) -> str:
    """Two classes: which action is chosen from which probability of the positive class on."""
    positive = spec.positive or 0
    p = np.linspace(0.0, 1.0, _STEPS + 1)
    both = np.column_stack([1.0 - p, p] if positive == 1 else [p, 1.0 - p])
    decided = decide(both, np.repeat(costs, len(p), axis=0), serves=spec.serves, positive=positive)
    starts = [0, *(np.flatnonzero(np.diff(decided.decision)) + 1).tolist()]
    chosen = [names[a] for a in decided.decision[starts]]
    limit = float(decided.threshold[0])
    if chosen[-1] == spec.classes[positive] and len(chosen) == 2 and not np.isnan(limit):
        return f"flag when p > {limit:.3g}"
    if len(chosen) == 1:
        return f"always choose {chosen[0]}"
    exact = [p[start - 1] if np.isnan(limit) else limit for start in starts[1:]]
    later = [f"{name} when p > {cut:.3g}" for name, cut in zip(chosen[1:], exact, strict=True)]
    return ", ".join([f"choose {chosen[0]}", *later])


def _named(columns: Sequence[str]) -> str:
    return " = ".join(columns)
