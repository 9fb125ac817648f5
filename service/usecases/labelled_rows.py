"""Whether a table fits a version, and what its labels and times mean."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.domain.datasets import Column, InputColumn
from service.domain.errors import MAX_LISTED_ERRORS, FieldError, InvalidError, listed
from service.domain.nearest import nearest
from service.rows import TypedArray

#: Seconds of a period, and what is added so that a week begins on its Monday (1970 began on a Thursday).
_PERIODS: Final = {"hour": (3600.0, 0.0), "day": (86_400.0, 0.0), "week": (604_800.0, 259_200.0)}
_TEXTUAL: Final = frozenset({"category", "text"})


def check_inputs(inputs: Sequence[InputColumn], columns: Mapping[str, Column]) -> None:
    """
    Refuse a dataset without the columns that a version needs.

    Raises
    ------
    InvalidError
        `missing_column` or `wrong_type`, with all of them.
    """
    faults = list[FieldError]()
    for column in inputs:
        found = columns.get(column.name)
        if found is None:
            near = nearest(column.name, columns) if len(faults) < MAX_LISTED_ERRORS else []
            detail = f"the version needs a column {listed([column.name])}, which the dataset does not have"
            detail += f"; it has {listed(near)}" if near else ""
            faults.append(FieldError("/dataset", "missing_column", detail, column=column.name))
        elif found.type != column.type and not {found.type, column.type} <= _TEXTUAL:
            detail = f"the version knows {listed([column.name])} as {column.type}, not as {found.type}"
            faults.append(FieldError("/dataset", "wrong_type", detail, column=column.name))
    if faults:
        raise InvalidError(faults[0].code, "the dataset does not fit the version", faults)


def periods_of(seconds: NDArray[np.float64], per: str) -> NDArray[Any]:
    """Number of the hour, day, week or month of each moment."""
    if per == "month":
        return np.floor(seconds).astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)
    length, shift = _PERIODS[per]
    return np.floor((seconds + shift) / length)


def no_time_column(per: str, at: str) -> InvalidError:
    """Make the error of a capacity that is counted by time in a table that has none."""
    detail = (
        f"a capacity per {per} needs a column of the role time, which is given in `roles` when the table is "
        "uploaded; per file needs none"
    )
    return InvalidError.at(at, "no_time_column", detail)


def no_review_action() -> InvalidError:
    """Make the error of a capacity for reviews where none of the actions is one."""
    detail = (
        "none of the actions is a review: send costs in the form with actions, one of them "
        '{"name": "review", "kind": "review"}, and with "review": {"fee": 3.5, "accuracy": {class: 0.95}}'
    )
    return InvalidError.at("/capacity", "no_review_action", detail)


def codes_of(labels: TypedArray, classes: Sequence[str]) -> NDArray[np.intp]:
    """Index of the class of each row; -1 for a class that is not listed, and where none is known."""
    place = {name: code for code, name in enumerate(classes)}
    return np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)
