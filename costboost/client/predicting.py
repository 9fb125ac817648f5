"""Decisions, what they would cost otherwise, and what they turned out to be."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import pyarrow as pa

from costboost.client.asking import given, path
from costboost.client.exchange import Plan, Request, as_json, keyed, operation
from costboost.client.jobs import JobState, path_of
from costboost.client.results import Predictions
from costboost.client.tables import (
    ARROW,
    arrow_of,
    dataset_of,
    file_of,
    like,
    parts_of,
    read_stream,
    stream_of,
    with_id,
)
from costboost.client.training import JobOperations

J = TypeVar("J", bound=JobState)

#: Rows of a table that are sent at a time; each row is decided by itself, so parts change nothing.
ROWS_AT_A_TIME = 5_000


class PredictingOperations(JobOperations[J]):
    """What is asked once there is a model."""

    @operation
    def predict(
        self,
        /,
        model: str,
        rows: Sequence[Mapping[str, Any]],
        *,
        version: int | None = None,
        alias: str | None = None,
        costs: Mapping[str, Any] | None = None,
        cost_spec: str | None = None,
        explain: int | None = None,
        record: bool | str = False,
        **more: Any,
    ) -> Plan[Predictions]:
        """Decide rows.

        Parameters
        ----------
        model : str
        rows : sequence of dict
            Columns by name, in any order.
        version, alias : int and str, optional
            One of them may say which version answers; the champion if left out.
        costs : dict, optional
            Others than those of the training: they move decisions, never probabilities.
        cost_spec : str, optional
            The same, by the id or name they are stored under (`create_cost_spec`).
        explain : int, optional
            How many reasons to give for each row.
        record : bool or "durable"
            Whether the decisions are kept, so that feedback can be given on them.
        **more
            Anything else of the API: `priors`, `threshold`, `on_row_error`.

        Raises
        ------
        TypeError
            Rows are a table, or a single dict.
        """
        if not (isinstance(rows, list | tuple) and all(isinstance(one, Mapping) for one in rows)):
            raise TypeError("rows must be a list of dicts; for a table there is predict_table")
        asked = {"version": version, "alias": alias, "costs": costs, "cost_spec": cost_spec, **more}
        body = given(asked) | {"rows": [dict(row) for row in rows]}
        if explain is not None:
            body["explain"] = {"top": explain}
        if record:
            body["record"] = record
        # What is kept twice would count twice.
        request = as_json("POST", path("models", model, "predict"), body, repeatable=not record)
        return Predictions.of((yield from self._document(request)))

    @operation
    def predict_table(
        self,
        model: str,
        table: Any,
        *,
        version: int | None = None,
        alias: str | None = None,
        cost_spec: str | None = None,
        priors: Mapping[str, float] | None = None,
        threshold: float | None = None,
        id_column: str | None = None,
    ) -> Plan[Any]:
        """Decide the rows of a data frame; the answer is a data frame of the same kind.

        Parameters
        ----------
        model : str
        table : pandas or polars DataFrame, or pyarrow Table
            Any number of rows; they are sent in parts.
        version, alias : int and str, optional
            One of them may say which version answers; the champion if left out.
        cost_spec : str, optional
            Other costs, by the id or name they are stored under (`create_cost_spec`).
        priors : mapping of class to share, optional
            Shares of the classes where the rows come from.
        threshold : float, optional
            Two classes: probability above which the positive one is decided, whatever the costs.
        id_column : str, optional
            Column that says which row it is; it comes first in the answer, as it was given. Left out, a
            column `id` does, else the one that was the id in training, as text.

        Returns
        -------
        DataFrame or Table
            `id`, `decision`, `label`, `score`, `probability_<class>`, `expected_cost_<action>`, `threshold`.

        Raises
        ------
        ValueError
            The table has no column of this name.
        """
        rows = arrow_of(table)
        if id_column is not None and id_column not in rows.column_names:
            raise ValueError(f"the table has no column {id_column!r}; it has {', '.join(rows.column_names)}")
        asked = {"version": version, "alias": alias, "cost_spec": cost_spec, "threshold": threshold}
        params = given(asked | {"priors": None if priors is None else json.dumps(dict(priors))})
        headers = {"Content-Type": ARROW}
        answers = []
        for part in parts_of(rows, ROWS_AT_A_TIME):
            request = Request("POST", path("models", model, "predict"), params, headers, stream_of(part))
            answers.append(read_stream((yield from self._ask(request)).content))
        decided = pa.concat_tables(answers)
        return like(decided if id_column is None else with_id(decided, rows, id_column), table)

    @operation
    def predict_batch(self, /, model: str, data: Any, **spec: Any) -> Plan[J]:
        """Ask for decisions on a whole dataset or table, as a job; `batch_output` has them when it is done.

        Parameters
        ----------
        model : str
        data : str, Dataset or table
            As in `train`.
        **spec
            Of the API: `version`, `costs`, `cost_spec`, `priors`, `explain`, `capacity`, `label`, `output`.
        """
        body = {"model": model, **spec}
        where = path("batch-predictions")
        if (dataset := dataset_of(data)) is not None:
            request = as_json("POST", where, {**body, "dataset": dataset}, keyed())
        else:
            fields = {"spec": json.dumps(body)}
            request = Request("POST", where, headers=keyed(), fields=fields, file=("file", file_of(data)))
        return self._made_job((yield from self._document(request)))

    @operation
    def batch_output(self, job_id: str) -> Plan[bytes]:
        """The file that a batch prediction has made, in the format that was asked for (CSV by default)."""
        return (yield from self._ask(Request("GET", f"{path_of(job_id)}/output"))).content

    @operation
    def delete_batch(self, job_id: str) -> Plan[None]:
        """Remove a batch prediction with its output and the file that came with it."""
        yield from self._ask(Request("DELETE", path_of(job_id), repeatable=False))

    @operation
    def decision_record(self, prediction_id: str) -> Plan[dict[str, Any]]:
        """What was decided in one case, on which probabilities and costs."""
        return (yield from self._read(path("predictions", prediction_id)))

    @operation
    def simulate(
        self, /, model: str, *, version: int | None = None, alias: str | None = None, **spec: Any
    ) -> Plan[dict[str, Any]]:
        """What decisions would cost at other `costs`, `priors` or within a `capacity` of reviews."""
        body = given({"model": model, "version": version, "alias": alias, **spec})
        return (yield from self._document(as_json("POST", path("simulations"), body)))

    @operation
    def give_feedback(self, items: Iterable[Mapping[str, Any]]) -> Plan[dict[str, int]]:
        """Tell what recorded decisions turned out to be; sent twice they count once.

        Parameters
        ----------
        items : iterable of dict
            `prediction_id`, `label`, and if known `observed_at` (a datetime or text) and `amount`.
        """
        body = {"items": [_sendable(item) for item in items]}
        return (yield from self._document(as_json("POST", path("feedback"), body)))

    @operation
    def performance(self, /, model: str, **query: Any) -> Plan[dict[str, Any]]:
        """What decisions cost in the end: `since`, `until`, `window`, `drift`."""
        told = _sendable(given(query))
        return (yield from self._read(path("models", model, "performance"), **told))


def _sendable(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in item.items()}
