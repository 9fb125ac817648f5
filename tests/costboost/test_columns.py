from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from costboost.columns import canonical_text, table_of, typed_column, typed_columns


def test_a_frame_a_mapping_and_an_array_read_alike():
    array = np.array([[1.0, 2.0], [3.0, np.nan]])
    as_array, types = typed_columns(array)
    as_frame, _ = typed_columns(pd.DataFrame(array, columns=["x0", "x1"]))
    as_mapping, _ = typed_columns({"x0": [1, 3], "x1": [2, None]})
    assert types == {"x0": "number", "x1": "number"}
    for other in (as_frame, as_mapping):
        assert {k: v.tobytes() for k, v in other.items()} == {k: v.tobytes() for k, v in as_array.items()}


def test_types_follow_from_the_values():
    frame = pd.DataFrame(
        {
            "flag": [True, False, True],
            "text": ["a", None, "b"],
            "count": pd.array([1, None, 3], dtype="Int64"),
            "level": pd.Categorical(["lo", "hi", None]),
            "at": pd.to_datetime(["1970-01-02", None, "1970-01-01 00:00:01.5"], format="ISO8601"),
            "zoned": pd.to_datetime(["1970-01-02", None, "1970-01-01"]).tz_localize("Europe/Berlin"),
            "mixed": [True, None, False],
        }
    )
    columns, types = typed_columns(frame)
    assert types == {
        "flag": "boolean",
        "text": "category",
        "count": "number",
        "level": "category",
        "at": "timestamp",
        "zoned": "timestamp",
        "mixed": "boolean",
    }
    assert columns["flag"].tolist() == [1.0, 0.0, 1.0]
    assert columns["text"].tolist() == ["a", None, "b"]
    assert np.array_equal(columns["count"], [1, np.nan, 3], equal_nan=True)
    assert columns["level"].tolist() == ["lo", "hi", None]
    assert np.array_equal(columns["at"], [86400, np.nan, 1.5], equal_nan=True)
    assert np.array_equal(columns["zoned"], [82800, np.nan, -3600], equal_nan=True)
    assert np.array_equal(columns["mixed"], [1, np.nan, 0], equal_nan=True)


def test_times_without_a_zone_are_utc():
    values = np.array([datetime(1970, 1, 2), datetime(1970, 1, 2, tzinfo=UTC)], dtype=object)
    assert typed_column("at", values, "timestamp").tolist() == [86400.0, 86400.0]


def test_a_number_declared_a_category_has_one_spelling():
    values = np.array([1, 1.0, "1", True, None, np.nan], dtype=object)
    assert typed_column("c", values, "category").tolist() == ["1", "1", "1", "true", None, None]
    assert canonical_text(-0.0) == "0"
    assert canonical_text(1e300) == str(int(1e300))


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (np.array(["a"], dtype=object), "number", "not a number"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "number", "not a number"),
        (np.array(["2020-01-01"], dtype="datetime64[ns]"), "number", "not a number"),
        (np.array([1 + 2j]), "number", "not a number"),
        (np.array([np.inf]), "number", "infinite"),
        (np.array([-np.inf], dtype=object), "number", "infinite"),
        (np.array([2.0]), "boolean", "neither true nor false"),
        (np.array(["x"], dtype=object), "timestamp", "not a timestamp"),
        (np.array([1.0]), "colour", "not a column type"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_the_name_of_its_column(values, kind, message):
    with pytest.raises(ValueError, match=message) as raised:
        typed_column("amount", values, kind)
    assert "'amount'" in str(raised.value)


@pytest.mark.parametrize(
    "table",
    [
        {"a": [1, 2], "b": [1]},
        {"a": [[1, 2], [3, 4]]},
        {1: [1], "1": [2]},
        np.zeros(3),
        pd.DataFrame(np.zeros((2, 2)), columns=["a", "a"]),
    ],
)
def test_tables_that_are_none_are_refused(table):
    with pytest.raises(ValueError):
        typed_columns(table)


def test_only_the_columns_asked_for_are_read():
    columns, types = typed_columns({"a": [1.0], "junk": [object()]}, only={"a", "b"})
    assert list(columns) == list(types) == ["a"]


def test_arrow_and_rows_with_names_read_as_a_frame_does():
    rows = [{"amount": 5.0, "zip": "01"}, {"zip": "02", "amount": None}, {"amount": 7.0}]
    frame = pd.DataFrame(rows)
    table = pa.Table.from_pylist(rows)
    wanted, types = typed_columns(frame)
    assert types == {"amount": "number", "zip": "category"}
    for other in (rows, tuple(rows), table, table.to_batches()[0], table.set_column(1, "zip", coded(table))):
        columns, found = typed_columns(other)
        assert found == types
        assert columns["zip"].tolist() == ["01", "02", None]
        assert columns["amount"].tobytes() == wanted["amount"].tobytes()
    with pytest.raises(ValueError, match="names of the columns must differ"):
        typed_columns(pa.table([[1], [2]], names=["a", "a"]))


def coded(table: pa.Table) -> pa.ChunkedArray:
    return table["zip"].dictionary_encode()


@pytest.mark.parametrize("thing", ["cards.csv", None, 5, iter([1]), [{"a": 1}, 2], pl.LazyFrame({"a": [1]})])
def test_what_is_no_table_is_refused_by_saying_what_is_one(thing):
    with pytest.raises(TypeError, match=r"^a table is a DataFrame, an Arrow table, .* this is of type "):
        table_of(thing)
