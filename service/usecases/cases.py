"""One row looked at closely: why it was decided so, what each reason is worth, and what would turn it."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.domain.decision_records import DecisionRecord
from service.domain.predictions import PredictOptions, Selector
from service.learning import Answers, Predictor
from service.rows import JsonRows
from service.usecases.control import controlled
from service.usecases.predicting import predict
from service.usecases.recording import records_of
from service.usecases.scoring import Loaded
from service.usecases.threshold_reasons import ThresholdReason, threshold_reasons

#: Columns that are moved to find out what would turn the decision.
_MOVED: Final = 6
#: Values that are tried of each, twice: first far and wide, then where it turns.
_TRIED: Final = 401
#: Times that the stretch between two of them, in which the decision turns, is parted again.
_NARROWED: Final = 3
#: How far they are moved, in sizes of the value itself.
_REACH: Final = (-1.0, 3.0)


@dataclass(frozen=True)
class Reason:
    """
    What one column adds.

    Attributes
    ----------
    expected_cost : float or None
        What the row would cost if the column added nothing; None where costs were others.
    """

    feature: str
    value: Any
    contribution: float
    expected_cost: float | None


@dataclass(frozen=True)
class Turn:
    """Beyond `bound` in one column, all others as they are, something else would be decided."""

    feature: str
    bound: float
    is_below: bool
    decision: str


@dataclass(frozen=True)
class Case:
    """
    A row and the answer to it.

    Attributes
    ----------
    explained : str
        "log_odds" or "score", which baseline and contributions sum to.
    expected_cost : mapping of action to money
    threshold : float or None
    """

    row: Mapping[str, Any]
    probabilities: Mapping[str, float]
    decision: str
    expected_cost: Mapping[str, float]
    threshold: float | None
    explained: str
    explained_class: str
    baseline: float
    number: float
    reasons: list[Reason]
    turns: list[Turn]
    threshold_reason: ThresholdReason | None
    cautions: list[str]


def look_at(
    loaded: Loaded, row: Mapping[str, Any], costs: Mapping[str, Mapping[str, float]] | None = None
) -> Case:
    """
    Explain the decision of a row.

    Parameters
    ----------
    costs : mapping of class to mapping of action to money, optional
        The cells that were in force; where they are not those of training, no reason has a price, and nothing
        is said of what would turn the decision.

    Raises
    ------
    InvalidError
        The row has a fault, or the version cannot explain.
    """
    predictor = loaded.predictor
    decoded = JsonRows([dict(row)]).decode(predictor.inputs())
    decoded.refuse_faults()
    answers = predictor.predict(decoded.columns, 1, reasons=sys.maxsize, cells=True)
    assert answers.explanation is not None
    priced = costs is None or _cells(answers) == costs
    explanation, threshold = answers.explanation, float(answers.threshold[0])
    reasons = list(_reasons(predictor, decoded.columns, answers, priced=priced))
    return Case(
        row=row,
        probabilities=dict(zip(answers.classes, answers.probabilities[0].tolist(), strict=True)),
        decision=answers.actions[answers.decision[0]],
        expected_cost=dict(zip(answers.actions, answers.expected_cost[0].tolist(), strict=True)),
        threshold=None if np.isnan(threshold) else threshold,
        explained=explanation.explained,
        explained_class=predictor.positive or answers.classes[explanation.decided[0]],
        baseline=float(explanation.baseline[0]),
        number=float(explanation.number[0]),
        reasons=reasons,
        turns=list(_turns(loaded, decoded.columns, answers, reasons)) if priced else [],
        threshold_reason=_moved(loaded, decoded.columns, answers) if priced else None,
        cautions=list(_cautions(answers)),
    )


def _cautions(answers: Answers) -> Iterator[str]:
    for name, unknown in answers.unknown.items():
        if unknown[0]:
            yield f"this value of {name} did not occur in training: it counts as one that is not known"
    if answers.unreasonable is not None and answers.unreasonable[0]:
        yield "in this row a wrong decision costs no more than the right one: look at what its costs read"


def decide_row(loaded: Loaded, selector: Selector, row: Mapping[str, Any]) -> DecisionRecord:
    """
    Decide one row, and make the record of it; the caller writes it.

    Raises
    ------
    InvalidError
        The row has a fault.
    """
    sent = JsonRows([dict(row)])
    wish = PredictOptions(record="durable")
    predicted = predict(
        loaded.predictor,
        wish,
        sent,
        None,
        1,
        review_price=loaded.model.review_price,
        subject=loaded.version.schema.get("subject"),
    )
    return records_of(loaded, selector, sent, controlled(predicted, loaded), None)[0]


def _moved(loaded: Loaded, columns: Mapping[str, NDArray[Any]], answers: Answers) -> ThresholdReason | None:
    if answers.source != "expected_cost":
        return None
    found = threshold_reasons(loaded, loaded.predictor.costs, columns)
    return None if found is None else found[0]


def _cells(answers: Answers) -> dict[str, dict[str, float]]:
    assert answers.cells is not None
    cells = answers.cells if answers.cells.ndim == 2 else answers.cells[0]
    return {
        name: dict(zip(answers.actions, row, strict=True))
        for name, row in zip(answers.classes, cells.tolist(), strict=True)
    }


def _reasons(
    predictor: Predictor, columns: Mapping[str, NDArray[Any]], answers: Answers, *, priced: bool
) -> Iterator[Reason]:
    assert answers.explanation is not None
    without = predictor.costs_without(columns) if priced else {}
    for one in answers.explanation.reasons(0):
        cost = float(without[one.feature][0]) if one.feature in without else None
        yield Reason(one.feature, one.value, one.contribution, cost)


def _turns(
    loaded: Loaded, columns: Mapping[str, NDArray[Any]], answers: Answers, reasons: list[Reason]
) -> Iterator[Turn]:
    schema = loaded.version.schema
    numbers = {one["name"] for one in schema["columns"] if one["type"] == "number"}
    moved = [*schema["cost_columns"], *(one.feature for one in reasons if one.contribution)]
    for name in [one for one in dict.fromkeys(moved) if one in numbers][:_MOVED]:
        value = float(columns[name][0])
        if value and np.isfinite(value):
            yield from _turns_of(loaded.predictor, columns, answers, name, value)


def _turns_of(
    predictor: Predictor, columns: Mapping[str, NDArray[Any]], answers: Answers, name: str, value: float
) -> Iterator[Turn]:
    present = answers.decision[0]
    tried = np.sort(value + abs(value) * np.linspace(*_REACH, _TRIED))
    decided = _decided(predictor, columns, name, tried)
    other = np.flatnonzero(decided != present)
    below, above = other[tried[other] < value], other[tried[other] > value]
    for found, step in ((below[-1:], 1), (above[:1], -1)):
        for at in found.tolist():
            inner = min(max(at + step, 0), len(tried) - 1)
            bound = _bound(predictor, columns, name, present, (tried[at], tried[inner]))
            yield Turn(name, bound, step == 1, answers.actions[decided[at]])


def _bound(
    predictor: Predictor,
    columns: Mapping[str, NDArray[Any]],
    name: str,
    present: np.intp,
    neighbours: tuple[float, float],
) -> float:
    """Where the decision turns between two values, of which the second is decided as at present."""
    turned, kept = neighbours
    for _ in range(_NARROWED):
        between = np.linspace(turned, kept, _TRIED)
        other = np.flatnonzero(_decided(predictor, columns, name, between) != present)
        if not other.size:
            break
        last = int(other[-1])
        turned, kept = between[last], between[min(last + 1, _TRIED - 1)]
    return float(turned)


def _decided(
    predictor: Predictor, columns: Mapping[str, NDArray[Any]], name: str, values: NDArray[np.float64]
) -> NDArray[np.intp]:
    n = len(values)
    moved = {other: np.repeat(cells, n) for other, cells in columns.items()} | {name: values}
    return predictor.predict(moved, n).decision
