"""What runs in a guarded child: reading an uploaded file, and describing a stored one."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from service.domain.datasets import Column, InputColumn, IntakeLimits, IntakeOptions
from service.rows.intake import read_table
from service.rows.parquet import read_parquet, write_parquet
from service.rows.profile import profile_of
from service.rows.reading import read_raw

# At its first array pyarrow looks for pandas; once here, in the nursery, is better than in each child.
pa.array([""])

Send = Callable[[dict[str, Any]], None]


def take_in(payload: dict[str, Any], _send: Send) -> dict[str, Any]:
    """Read the file at `source` and write its typed columns to `target` as Parquet.

    Parameters
    ----------
    payload : dict
        `source`, `target`, `owner`, `media_type`, `options` and `limits`, as plain values.

    Returns
    -------
    dict
        `rows`, `columns`, and the fields of `service.rows.labels.Labels`.

    Raises
    ------
    InvalidError, MalformedError
        The table is refused.
    """
    table = read_table(
        Path(payload["source"]),
        payload["media_type"],
        IntakeOptions.model_validate(payload["options"]),
        IntakeLimits(**payload["limits"]),
    )
    schema = [InputColumn(column.name, column.type) for column in table.described]
    write_parquet(Path(payload["target"]), table.columns, schema, payload["owner"])
    return {
        "rows": table.rows,
        "columns": [asdict(column) for column in table.described],
        "labels": asdict(table.labels),
    }


def flatten(payload: dict[str, Any], _send: Send) -> None:
    """Read the Parquet file or Arrow stream at `source`, write it to `target` as a plain Arrow stream.

    A small file may stand for gigabytes: here it can only end the child.
    """
    with Path(payload["source"]).open("rb") as file:
        raw = read_raw(file, payload["media_type"], IntakeLimits(**payload["limits"]))
    table = pa.Table.from_arrays(list(raw.columns), names=list(raw.names))
    with pa.ipc.new_stream(payload["target"], table.schema) as writer:
        writer.write_table(table)


def describe(payload: dict[str, Any], _send: Send) -> dict[str, Any]:
    """Profile the stored file at `source`."""
    described = [Column(**column) for column in payload["columns"]]
    with Path(payload["source"]).open("rb") as file:
        columns = read_parquet(file, [InputColumn(column.name, column.type) for column in described])
    return profile_of(columns, described, payload["label"], payload["classes"])
