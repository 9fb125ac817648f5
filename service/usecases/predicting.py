"""Rows to answers, with a version that is at hand: decode, score, decide. Nothing here waits."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from service.domain import strict_json
from service.domain.cost_specs import AnyCosts
from service.domain.costs import COSTS
from service.domain.errors import FieldError, InvalidError, TooLargeError, pointer
from service.domain.faults import field_errors
from service.domain.nearest import listed_for, nearest
from service.domain.outcomes import CONTROL
from service.domain.predictions import PredictOptions
from service.learning import Answers, Predictor, PricedCosts
from service.rows import Decoded, Sent, TypedArray, text_of

#: Databases index no longer texts, and `DELETE /v1/subjects/…` takes no more characters.
MAX_SUBJECT_BYTES: Final = 1000


@dataclass(frozen=True, eq=False)
class Control:
    """
    What chance did to n decisions.

    Attributes
    ----------
    drawn : ndarray of shape (n,), bool
        Rows that were let through although the rule refused them.
    rule_decision : ndarray of shape (n,), int
        Index of the action that the rule chose.
    propensity : ndarray of shape (n,)
        Probability with which the row was answered as it was.
    """

    drawn: NDArray[np.bool_]
    rule_decision: NDArray[np.intp]
    propensity: NDArray[np.float64]


@dataclass(frozen=True)
class Predicted:
    """What is answered to n rows.

    Attributes
    ----------
    answers : Answers or None
        Of the rows in `sound`, in this order; None when there is none.
    sound : ndarray of shape (m,), int
        Indices of the rows that could be scored.
    faults : tuple of FieldError
        The first faults of the others; empty unless `on_row_error` is "null".
    faults_total : int
    extra : tuple of str
        Columns that some row has and the version does not ask for.
    columns : mapping of name to ndarray of shape (m,)
        The typed columns of the rows in `sound`.
    control : Control or None
        None where chance had no part in the decisions.
    """

    answers: Answers | None
    sound: NDArray[np.intp]
    faults: tuple[FieldError, ...]
    faults_total: int
    extra: tuple[str, ...]
    columns: Mapping[str, TypedArray]
    control: Control | None = None

    @property
    def sources(self) -> list[str]:
        """Why each sound row was decided as it was."""
        assert self.answers is not None
        labels = self.answers.label.tolist()
        found = [self.answers.source if label >= 0 else "review" for label in labels]
        if self.control is not None:
            for row in np.flatnonzero(self.control.drawn):
                found[row] = CONTROL
        return found


@dataclass(frozen=True)
class Priced:
    """
    Costs of a request, ready for a version.

    Attributes
    ----------
    spelled : costs as they were written
        They know where each column is named.
    cost_spec, revision : str and int, or None
        Which stored cost spec they are.
    """

    costs: PricedCosts
    spelled: AnyCosts
    cost_spec: str | None = None
    revision: int | None = None

    def places(self, column: str) -> list[str]:
        """Pointers to where the request names a column; a stored cost spec is named as a whole."""
        if self.cost_spec is not None:
            return ["/cost_spec"]
        return [f"/costs{pointer(*place)}" for place in self.spelled.places(column)]


def price(predictor: Predictor, costs: bytes) -> Priced:
    """
    Make the costs of a request ready.

    Raises
    ------
    InvalidError
        They are misspelled, do not fit the classes, or are unreasonable.
    """
    value = strict_json.parse(costs, at="/costs")
    try:
        spelled = COSTS.validate_python(value)
    except ValidationError as error:
        faults = field_errors(error.errors(), value, "/costs")
        raise InvalidError("invalid_costs", "the costs are not spelled as they should be", faults) from None
    return Priced(predictor.cost_spec(spelled), spelled)


def predict(
    predictor: Predictor,
    wish: PredictOptions,
    sent: Sent,
    priced: Priced | None,
    max_rows: int,
    *,
    review_price: float | None = None,
    subject: str | None = None,
) -> Predicted:
    """
    Decode, score and decide the rows.

    Parameters
    ----------
    review_price : float, optional
        What a review must save beyond its fee, where the request brings no costs.
    subject : str, optional
        Column that says whom rows are about, where that will be kept.

    Raises
    ------
    TooLargeError
        More than `max_rows` rows.
    InvalidError
        A row has a fault and `on_row_error` is "fail", or priors or threshold do not fit the version.
    """
    if len(sent) > max_rows:
        detail = f"one request may bring at most {max_rows} rows"
        raise TooLargeError("too_many_rows", detail, [FieldError("/rows", "too_many_rows", detail)])
    costs = predictor.reviewed_at(review_price) if priced is None else priced.costs
    decoded = sent.decode(predictor.inputs(costs))
    if decoded.faults.total and priced is not None:
        _refuse_misspelled(predictor, sent, priced)
    if subject is not None:
        _note_long_subjects(decoded, sent, subject)
    if wish.on_row_error == "fail":
        decoded.refuse_faults()
    return _predict_sound(predictor, decoded, wish, costs)


def _note_long_subjects(decoded: Decoded, sent: Sent, subject: str) -> None:
    """Count rows as failed whose subject is too long to be found again by it."""
    for row in range(len(sent)):
        given = text_of(sent.cell(row, subject))
        if given is not None and len(given.encode()) > MAX_SUBJECT_BYTES:
            detail = f"a subject has at most {MAX_SUBJECT_BYTES} bytes"
            decoded.note(row, "cell_too_long", detail, column=subject)


def _refuse_misspelled(predictor: Predictor, sent: Sent, priced: Priced) -> None:
    """Refuse costs that read a column which nobody has, where one of nearly this name exists."""
    known = [column.name for column in predictor.inputs()]
    faults = [
        FieldError(place, "unknown_column", f"there is no such column; known are {listed_for(name, known)}")
        for name in sorted(priced.costs.columns - sent.names - set(known))
        if nearest(name, [*known, *sent.names])
        for place in priced.places(name)
    ]
    if faults:
        raise InvalidError(
            "unknown_column", "the costs name a column that neither version nor rows have", faults
        )


def _predict_sound(
    predictor: Predictor, decoded: Decoded, wish: PredictOptions, costs: PricedCosts | None
) -> Predicted:
    sound = np.delete(np.arange(decoded.n), sorted(decoded.failed))
    if not sound.size:
        return Predicted(None, sound, decoded.errors, decoded.faults.total, decoded.extra, {})
    columns = decoded.columns
    if decoded.failed:
        columns = {name: values[sound] for name, values in columns.items()}
    try:
        answers = predictor.predict(
            columns,
            len(sound),
            costs,
            priors=wish.priors,
            threshold=wish.threshold,
            reasons=_top(wish),
            cells=wish.record is not False,
        )
    except InvalidError as error:
        if error.code != "cost_not_finite":
            raise
        _note(decoded, sound, error)
        if wish.on_row_error == "fail":
            raise InvalidError(error.code, error.detail, decoded.errors, decoded.faults.total) from None
        return _predict_sound(predictor, decoded, wish, costs)
    return Predicted(answers, sound, decoded.errors, decoded.faults.total, decoded.extra, columns)


def _top(wish: PredictOptions) -> int | None:
    """How many reasons each row shall have; None for no explanation at all."""
    if wish.explain is None:
        return None
    return sys.maxsize if wish.explain.top is None else wish.explain.top


def _note(decoded: Decoded, sound: NDArray[np.intp], error: InvalidError) -> None:
    """Count rows whose costs are not finite as failed; the error numbers the sound rows alone."""
    for fault in error.errors:
        row = int(sound[int(fault.pointer.rpartition("/")[2])])
        decoded.note(row, fault.code, fault.detail)
