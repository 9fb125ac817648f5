"""Predictions as a table: one row each, columns of plain values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.domain.datasets import InputColumn
from service.learning import Answers
from service.rows import TypedArray, chosen

_OBJECTS = np.dtype(object)


def prediction_columns(
    answers: Answers | None,
    sound: NDArray[np.intp],
    n: int,
    *,
    classes: Sequence[str],
    actions: Sequence[str],
) -> dict[str, TypedArray]:
    """
    Make the columns of n predictions, of which only the rows in `sound` hold something.

    Parameters
    ----------
    answers : Answers or None
        Of the sound rows; None where there is none.
    classes, actions : sequence of str
        Of the version, and of the costs in force.

    Returns
    -------
    dict of arrays of shape (n,)
        `decision`, `label`, `score` (for more than two classes one each), `probability_<class>`,
        `expected_cost_<action>`, `threshold`; text may be an Arrow array.
    """
    if answers is None:
        nothing, empty = np.full(n, np.nan), texts([None] * n)
        return {"decision": empty, "label": empty} | dict.fromkeys(_number_names(classes, actions), nothing)
    numbers = [
        *([answers.score] if answers.score.ndim == 1 else answers.score.T),
        *answers.probabilities.T,
        *answers.expected_cost.T,
        answers.threshold,
    ]
    names = _number_names(answers.classes, answers.actions)
    return {
        "decision": chosen([*answers.actions, None], _placed(answers.decision, sound, n)),
        "label": chosen([*answers.classes, None], _placed(answers.label, sound, n)),
        **{name: spread(values, sound, n) for name, values in zip(names, numbers, strict=True)},
    }


def schema_of(columns: dict[str, TypedArray]) -> list[InputColumn]:
    """Describe such columns, as `service.rows` writes them."""
    return [
        InputColumn(name, "text" if getattr(values, "dtype", _OBJECTS) == _OBJECTS else "number")
        for name, values in columns.items()
    ]


def texts(values: Sequence[str | None]) -> TypedArray:
    """A column of text."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def spread(values: NDArray[Any], sound: NDArray[np.intp], n: int) -> TypedArray:
    """Values of the sound rows among all n; the others hold nothing."""
    if len(values) == n:
        return values
    column: TypedArray = texts([None] * n) if values.dtype == object else np.full(n, np.nan)
    column[sound] = values
    return column


def _placed(places: NDArray[np.intp], sound: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Places of the sound rows among all n; the others have -1, as a review has no label."""
    if len(places) == n:
        return places
    column = np.full(n, -1, dtype=np.intp)
    column[sound] = places
    return column


def _number_names(classes: Sequence[str], actions: Sequence[str]) -> list[str]:
    return [
        *(["score"] if len(classes) == 2 else [f"score_{name}" for name in classes]),
        *(f"probability_{name}" for name in classes),
        *(f"expected_cost_{name}" for name in actions),
        "threshold",
    ]
