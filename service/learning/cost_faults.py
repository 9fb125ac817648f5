"""What is wrong with costs that are spelled as they should be: each fault where it is written."""

from collections.abc import Sequence
from typing import TypeAlias

from costboost.cost_specs import CostSpec
from service.domain.cost_cells import Cell, Place
from service.domain.costs import ActionCosts, BinaryCosts, MatrixCosts
from service.domain.errors import FieldError, InvalidError, pointer

AnyCosts: TypeAlias = BinaryCosts | MatrixCosts | ActionCosts


def refuse_zero(costs: AnyCosts, at: str) -> None:
    """Refuse costs that are all zero, also beside a review that is not."""
    if any(isinstance(cell, Cell) or cell for _, cell in costs.cells()):
        return
    detail = "all costs are zero: no decision would cost less than another"
    place = f"{at}/costs" if isinstance(costs, ActionCosts) else at
    raise InvalidError.at(place, "zero_costs", detail)


def unserved_actions(costs: AnyCosts, names: Sequence[str], at: str) -> InvalidError:
    """Make the answer to actions whose class is not clear."""
    assert isinstance(costs, ActionCosts)
    order = [action.name for action in costs.actions]
    faults = [
        FieldError(
            at + pointer("actions", order.index(name)),
            "unserved_class",
            f"{name} is the cheapest action for no class: say with `for` which class it is for",
        )
        for name in names
    ]
    return InvalidError("unserved_class", "it is not clear which class an action is for", faults)


def refuse_unserved_class(costs: AnyCosts, spec: CostSpec, at: str) -> None:
    """Refuse actions that are all for one class: the others could never be decided.

    With more than two classes some may be left to a review, or have no action of their own.
    """
    served = {one for one in spec.serves if one is not None}
    if not isinstance(costs, ActionCosts) or len(served) > 1:
        return
    faults = [
        FieldError(
            at + pointer("classes", position),
            "unserved_class",
            f"no action is for {name}, so it could never be decided: say with `for` which class each is for",
        )
        for position, name in enumerate(costs.classes)
        if spec.classes.index(name) not in served
    ]
    raise InvalidError("unserved_class", "all actions are for one class", faults)


def refuse_unreasonable(costs: AnyCosts, spec: CostSpec, at: str) -> None:
    """Refuse constant costs of wrong decisions that are no dearer than those of the right ones."""
    found = list[tuple[Place, str]]()
    for true, wrong, right in spec.unreasonable_cells():
        place, said = _cell(costs, spec, true, wrong)
        other, said_right = _cell(costs, spec, true, right)
        detail = f"{said} must cost more than {said_right}: it is the wrong decision"
        found.append((place or other or ("costs",), detail))
    if found:
        faults = [
            FieldError(at + pointer(*where), "unreasonable_costs", told) for where, told in sorted(found)
        ]
        detail = "a wrong decision must cost more than the right one"
        raise InvalidError("unreasonable_costs", faults[0].detail if len(faults) == 1 else detail, faults)


def _cell(costs: AnyCosts, spec: CostSpec, k: int, a: int) -> tuple[Place | None, str]:
    """Where the cost of an action is written, None where it is left out, and what it is called there."""
    true, action = spec.classes[k], spec.actions[a].name
    match costs:
        case BinaryCosts():
            return (spec.cell_name(k, a),), spec.cell_name(k, a)
        case MatrixCosts():
            row, column = costs.classes.index(true), costs.classes.index(action)
            if costs.orientation == "rows_predicted":
                row, column = column, row
            return ("matrix", row, column), f"matrix[{row}][{column}]"
        case ActionCosts():
            named = f"{action} when {true} is true"
            for i, item in enumerate(costs.costs):
                if (item.true, item.action) == (true, action):
                    return ("costs", i, "cost"), named
            return None, f"{named} (left out, so 0)"
