"""What a guarded child does: decide rows whose class is known, and price that in other circumstances."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service import learning
from service.domain.cautions import Caution
from service.domain.costs import COSTS, Capacity
from service.domain.datasets import Column, InputColumn
from service.domain.errors import InvalidError, listed
from service.domain.nearest import listed_for
from service.learning import Case, Predictor, PricedCosts
from service.rows import TypedArray, read_parquet
from service.usecases.labelled_rows import (
    check_inputs,
    codes_of,
    no_review_action,
    no_time_column,
    periods_of,
)

Columns = Mapping[str, TypedArray]
Send = Callable[[dict[str, Any]], None]

_TEXTUAL: Final = ("category", "text")


def run(payload: dict[str, Any], _send: Send) -> dict[str, Any]:
    """
    Simulate.

    Parameters
    ----------
    payload : dict
        Paths `artifact`, `test_part` (null: the whole dataset) and `content` (null: no dataset is there);
        `columns` and `label` of the dataset; `costs` with their pointer `at`, `priors`, `capacity`; and
        whether the version was tested on the latest rows, `by_time`.

    Returns
    -------
    dict
        What `learning.simulate` gives, and `warnings`: code and detail of each.

    Raises
    ------
    InvalidError, ConflictError
    """
    predictor = learning.load(Path(payload["artifact"]).read_bytes())
    table = _Table(payload)
    spec = predictor.costs
    if payload["costs"] is not None:
        spec = predictor.cost_spec(COSTS.validate_python(payload["costs"]), at=payload["at"])
    capacity, at = _capacity(payload, spec)
    if payload["test_part"] is None:
        case, prices, rows = _of_dataset(predictor, table, spec, payload["at"])
    else:
        case, prices, rows = _of_test_part(payload, table, spec)
    periods, places, warnings = _places(payload, table, capacity, rows, at)
    shares = predictor.shares(payload["priors"])
    circumstances = learning.Circumstances(
        spec=spec,
        prices=prices,
        old_priors=predictor.priors,
        priors=None if shares is None else tuple(shares),
        capacity=places,
        periods=periods,
    )
    return learning.simulate(case, circumstances) | {"warnings": warnings}


class _Table:
    """The dataset, of which only the columns that are needed are read."""

    def __init__(self, payload: Mapping[str, Any]) -> None:
        self._path = payload["content"]
        self.columns = {column["name"]: Column(**column) for column in payload["columns"]}
        self.label: str | None = payload["label"]

    def read(self, names: Sequence[str], rows: NDArray[np.int64] | None, at: str) -> Columns:
        """Read columns, of some rows if not of all."""
        if self._path is None:
            detail = "the rows themselves are not here: only costs that read no column can be tried"
            raise InvalidError.at(at, "no_rows", detail)
        missing = [name for name in names if name not in self.columns]
        if missing:
            known = listed_for(missing[0], self.columns)
            detail = f"the dataset has no column {listed(missing)}; its columns are {known}"
            raise InvalidError.at(at, "unknown_column", detail)
        with Path(self._path).open("rb") as file:
            schema = [InputColumn(name, self.columns[name].type) for name in names]
            found = read_parquet(file, schema)
        return found if rows is None else {name: values[rows] for name, values in found.items()}

    def amounts(self, spec: PricedCosts, rows: NDArray[np.int64] | None, at: str) -> Columns:
        """Read what costs are computed from."""
        names = sorted(spec.columns)
        texts = [name for name in names if name in self.columns and self.columns[name].type in _TEXTUAL]
        if texts:
            detail = f"costs are computed from numbers, and {listed(texts)} is none"
            raise InvalidError.at(at, "wrong_type", detail)
        return self.read(names, rows, at)

    def name_of(self, role: str) -> str | None:
        """Name of the column of a role."""
        return next((column.name for column in self.columns.values() if column.role == role), None)

    def periods(self, per: str, at: str) -> NDArray[Any]:
        """Number of the hour, day, week or month of each row."""
        name = self.name_of("time")
        if name is None:
            raise no_time_column(per, at)
        return periods_of(self.read([name], None, at)[name], per)


def _capacity(payload: Mapping[str, Any], spec: PricedCosts) -> tuple[Capacity | None, str]:
    """Reviews that can be done, and where that is said."""
    given = payload["capacity"]
    if given is not None:
        if spec.review is None:
            raise no_review_action()
        return Capacity.model_validate(given), "/capacity/per"
    if spec.review is None or spec.review.capacity is None:
        return None, ""
    at = f"{payload['at']}/review/capacity/per" if payload["costs"] is not None else "/capacity/per"
    return Capacity.model_validate({"max": spec.review.capacity, "per": spec.review.per or "file"}), at


def _places(
    payload: Mapping[str, Any],
    table: _Table,
    capacity: Capacity | None,
    rows: NDArray[np.int64] | None,
    at: str,
) -> tuple[NDArray[Any] | None, int | None, list[Caution]]:
    """Period of each row, reviews in each period, and what must be known about them.

    A test part that was not cut off by time holds a share of the rows of its periods, and gets that share of
    their reviews: all of them would hardly ever be too few.
    """
    if capacity is None or capacity.per == "file":
        return None, None if capacity is None else capacity.max, []
    periods = table.periods(capacity.per, at)
    if rows is None:
        return periods, capacity.max, []
    tested = periods[rows]
    if payload["by_time"]:
        return tested, capacity.max, []
    share = len(tested) / max(int(np.isin(periods, tested).sum()), len(tested))
    places = min(max(math.ceil(share * capacity.max), 1), capacity.max)
    detail = (
        f"the rows set aside are {share:.0%} of those of each {capacity.per}, so {places} reviews of "
        f"{capacity.max} are counted with; a dataset, or a version with a split by time, gives whole periods"
    )
    return tested, places, [("share_of_capacity", detail)] if share < 1 else []


def _of_test_part(
    payload: Mapping[str, Any], table: _Table, spec: PricedCosts
) -> tuple[Case, NDArray[np.float64], NDArray[np.int64] | None]:
    part = learning.load_test_part(Path(payload["test_part"]).read_bytes())
    case = learning.case_of_test_part(part)
    if payload["costs"] is None:
        return case, learning.prices_of_test_part(part, spec), part.rows
    columns = table.amounts(spec, part.rows, payload["at"]) if spec.per_row else {}
    return case, learning.prices_of(spec, columns, len(part.codes)), part.rows


def _of_dataset(
    predictor: Predictor, table: _Table, spec: PricedCosts, at: str
) -> tuple[Case, NDArray[np.float64], None]:
    inputs = predictor.inputs()
    check_inputs(inputs, table.columns)
    assert table.label is not None
    weight = table.name_of("weight")
    names = {*(column.name for column in inputs), table.label, *filter(None, [weight])}
    columns = table.read(sorted(names), None, "/dataset")
    codes = codes_of(columns[table.label], predictor.classes)
    if (codes < 0).any():
        detail = "the dataset has classes that the version does not know"
        raise InvalidError.at("/dataset", "classes_mismatch", detail)
    answers = predictor.predict(columns, len(codes))
    weights = None if weight is None else columns[weight]
    case = learning.case_of_answers(answers, predictor.costs, codes, weights)
    amounts = table.amounts(spec, None, at) if spec.per_row else {}
    return case, learning.prices_of(spec, amounts, len(codes)), None
