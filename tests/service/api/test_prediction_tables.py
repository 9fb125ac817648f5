"""Predictions in every media type: the same table gets the same answer, to the last bit."""

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.service.api.test_predictions import ROW, ROWS
from tests.service.conftest import Service, problem

only_sqlite = pytest.mark.parametrize("service", ["sqlite"], indirect=True)
CSV, NDJSON, JSON = "text/csv", "application/x-ndjson", "application/json"
PARQUET, ARROW = "application/vnd.apache.parquet", "application/vnd.apache.arrow.stream"
TABLES = (CSV, NDJSON, PARQUET, ARROW)
SENT = [{"id": f"tx-{i}", **row} for i, row in enumerate(ROWS[:60])]
PATH = "/v1/models/tables/predict"


@pytest.fixture(scope="module")
def tables(service: Service, fraud_csv: str) -> Service:
    """The service with a model `tables`."""
    costs = {"fn": {"per": {"amount": 1.0}}, "fp": 5}
    options = {"positive_class": "fraud"}
    job = service.train("tables", fraud_csv, costs, options=options, params={"n_estimators": 15})
    assert job["status"] == "succeeded", job
    return service


def written(rows: list[dict[str, Any]], media_type: str) -> bytes:
    """Rows in a media type, written by others than ourselves."""
    if media_type == NDJSON:
        return "\n".join(map(json.dumps, rows)).encode()
    if media_type == CSV:
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0])
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode()
    table, sink = pa.Table.from_pylist(rows), io.BytesIO()
    if media_type == PARQUET:
        pq.write_table(table, sink)
    else:
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    return sink.getvalue()


def read(body: bytes, media_type: str) -> list[dict[str, Any]]:
    """Rows of an answer; of CSV with its numbers read as Python reads them."""
    if media_type == NDJSON:
        return [json.loads(line) for line in body.splitlines()]
    if media_type == PARQUET:
        return pq.read_table(io.BytesIO(body)).to_pylist()
    if media_type == ARROW:
        return pa.ipc.open_stream(body).read_all().to_pylist()
    texts = ("id", "decision", "label", "prediction_id")
    return [
        {
            name: (text or None) if name in texts else float(text) if text else None
            for name, text in row.items()
        }
        for row in csv.DictReader(io.StringIO(body.decode()))
    ]


def flat(one: dict[str, Any]) -> dict[str, Any]:
    """A prediction of the JSON answer as a row of a table."""
    return {
        "id": one["id"],
        "decision": one["decision"],
        "label": one["label"],
        "score": one["score"],
        **{f"probability_{name}": p for name, p in one["probabilities"].items()},
        **{f"expected_cost_{name}": cost for name, cost in one["expected_cost"].items()},
        "threshold": one["threshold"],
    }


@only_sqlite
@pytest.mark.parametrize("given", TABLES)
def test_every_media_type_in_gives_the_same_predictions(tables: Service, given: str) -> None:
    body = written(SENT, given)
    answer = tables.http.post(PATH, content=body, headers={"Content-Type": given, "Accept": JSON})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == JSON
    assert answer.json()["predictions"] == tables.predict("tables", SENT)


@only_sqlite
def test_a_stream_that_a_guarded_child_must_open_gets_the_same_predictions(tables: Service) -> None:
    table = pa.Table.from_pylist(SENT)
    named = table.set_column(0, "id", table["id"].dictionary_encode())
    expected = tables.predict("tables", SENT)
    for sent, compression in ((table, "zstd"), (named, None)):
        sink = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_stream(sink, sent.schema, options=options) as stream:
            stream.write_table(sent)
        headers = {"Content-Type": ARROW, "Accept": JSON}
        answer = tables.http.post(PATH, content=sink.getvalue(), headers=headers)
        assert answer.json()["predictions"] == expected


@only_sqlite
@pytest.mark.parametrize("wanted", TABLES)
def test_every_media_type_out_has_the_same_numbers(tables: Service, wanted: str) -> None:
    answer = tables.http.post(PATH, json={"rows": SENT}, headers={"Accept": wanted})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == wanted
    expected = [flat(one) for one in tables.predict("tables", SENT)]
    found = read(answer.content, wanted)
    assert found == expected
    assert list(found[0]) == list(expected[0])


@only_sqlite
@pytest.mark.parametrize("given", TABLES)
def test_a_table_is_answered_in_its_own_media_type(tables: Service, given: str) -> None:
    answer = tables.http.post(PATH, content=written(SENT, given), headers={"Content-Type": given})
    assert answer.headers["content-type"].partition(";")[0] == given
    assert len(read(answer.content, given)) == len(SENT)


def post(service: Service, rows: list[dict[str, Any]], path: str = PATH, **query: str) -> Any:
    """Send rows as CSV with options in the query, take JSON."""
    headers = {"Content-Type": CSV, "Accept": JSON}
    return service.http.post(path, params=query, content=written(rows, CSV), headers=headers)


def test_options_stand_in_the_query(tables: Service) -> None:
    spec = tables.http.post("/v1/cost-specs", json={"name": "harsh", "fn": 500, "fp": 10}).json()
    options: dict[str, Any] = {"priors": {"fraud": 0.01}, "explain": {"top": 2}, "cost_spec": spec["id"]}
    expected = tables.predict("tables", SENT, **options)
    found = post(tables, SENT, priors='{"fraud": 0.01}', explain="2", cost_spec="harsh", version="1")
    assert found.json()["predictions"] == expected
    by_threshold = post(tables, SENT, "/predict", model="tables", threshold="0.3", alias="champion")
    assert by_threshold.json()["predictions"] == tables.predict("tables", SENT, threshold=0.3)
    every = post(tables, SENT[:1], explain="all").json()["predictions"][0]
    assert len(every["reasons"]) == 3
    [kept] = post(tables, SENT[:1], record="durable").json()["predictions"]
    assert tables.http.get(f"/v1/predictions/{kept['prediction_id']}").json()["row_id"] == "tx-0"


def test_a_query_option_also_goes_with_json(tables: Service) -> None:
    answer = tables.http.post(PATH, params={"threshold": "0.3"}, json={"rows": [ROW]})
    assert answer.json()["predictions"] == tables.predict("tables", [ROW], threshold=0.3)
    twice = tables.http.post(PATH, params={"threshold": "0.3"}, json={"rows": [ROW], "threshold": 0.3})
    assert problem(twice, 422, "invalid")["errors"][0]["pointer"] == "/query/threshold"


@pytest.mark.parametrize(
    ("query", "status", "place", "code"),
    [
        ({"threshold": "2"}, 422, "/query/threshold", "out_of_range"),
        ({"threshold": "nan"}, 422, "/query/threshold", "out_of_range"),
        ({"threshold": "much"}, 422, "/query/threshold", "wrong_type"),
        ({"version": "one"}, 422, "/query/version", "wrong_type"),
        ({"version": "0"}, 422, "/query/version", "out_of_range"),
        ({"priors": "{"}, 400, "/query/priors", "json_syntax"),
        ({"priors": '{"nobody": 0.5}'}, 422, "/query/priors/nobody", "unknown_class"),
        ({"priors": "3"}, 422, "/query/priors", "wrong_type"),
        ({"cost_spec": "nobody"}, 422, "/query/cost_spec", "unknown_cost_spec"),
        ({"on_row_error": "skip"}, 422, "/query/on_row_error", "unknown_value"),
        ({"record": "often"}, 422, "/query/record", "unknown_value"),
        ({"explain": "0"}, 422, "/query/explain/top", "out_of_range"),
        ({"model": "other"}, 422, "/query/model", "exclusive"),
        ({"costs": "{}"}, 400, "/query/costs", "unknown_parameter"),
    ],
)
def test_a_wrong_option_is_refused_with_its_place(
    tables: Service, query: dict[str, str], status: int, place: str, code: str
) -> None:
    answer = post(tables, SENT[:1], **query)
    assert answer.status_code == status, answer.text
    assert [(one["pointer"], one["code"]) for one in answer.json()["errors"]] == [(place, code)]


@pytest.mark.parametrize("amount", ["x", "", "1e999"])
def test_a_fault_of_a_csv_has_its_line_and_column_beside_the_pointer(tables: Service, amount: str) -> None:
    body = f"amount,hour,merchant\n1,2,a\n{amount},2,b\n".encode()
    answer = tables.http.post(PATH, content=body, headers={"Content-Type": CSV})
    refused = problem(answer, 422, "invalid_rows")
    (fault,) = refused["errors"]
    assert (fault["pointer"], fault["line"], fault["column"]) == ("/rows/1/amount", 3, "amount")
    assert refused["detail"] == f"line 3, column amount: {fault['detail']}"


def test_reasons_are_not_for_tables(tables: Service) -> None:
    headers = {"Content-Type": CSV}
    answer = tables.http.post(PATH, params={"explain": "3"}, content=written(SENT, CSV), headers=headers)
    assert problem(answer, 422, "invalid")["errors"][0]["pointer"] == "/query/explain"


@only_sqlite
@pytest.mark.parametrize("given", TABLES)
def test_a_faulty_row_is_empty_or_refuses_all(tables: Service, given: str) -> None:
    rows = [{**SENT[0], "amount": "x"}, *SENT[1:3]]
    rows = [{**row, "amount": str(row["amount"])} for row in rows] if given in (PARQUET, ARROW) else rows
    headers = {"Content-Type": given}
    problem(tables.http.post(PATH, content=written(rows, given), headers=headers), 422, "invalid_rows")
    if given in (PARQUET, ARROW):  # a column of text is no column of numbers
        return
    answer = tables.http.post(
        PATH, params={"on_row_error": "null"}, content=written(rows, given), headers=headers
    )
    bad, *good = read(answer.content, given)
    assert (bad["id"], bad["decision"], bad["probability_fraud"]) == ("tx-0", None, None)
    assert good == [flat(one) for one in tables.predict("tables", SENT[1:3])]


HOSTILE: list[tuple[str, bytes, int]] = [
    (CSV, b"", 422),
    (CSV, b"amount,hour,merchant\n", 422),
    (CSV, b"amount,hour,merchant\n1,2\n", 422),
    (CSV, b"amount,hour\n1,2\n", 422),
    (CSV, b"\xff\xfe", 422),
    (NDJSON, b"{", 400),
    (NDJSON, b'{"amount": NaN}', 400),
    (NDJSON, b'{"id": {}}', 422),
    (NDJSON, b'{"id": "\\ud800"}', 400),
    (NDJSON, b"5", 422),
    (PARQUET, b"PAR1", 400),
    (PARQUET, b"", 422),
    (ARROW, b"\x00" * 64, 400),
]


@only_sqlite
@pytest.mark.parametrize(("given", "body", "status"), HOSTILE, ids=[str(i) for i in range(len(HOSTILE))])
def test_what_is_no_table_is_refused(tables: Service, given: str, body: bytes, status: int) -> None:
    answer = tables.http.post(PATH, content=body, headers={"Content-Type": given})
    assert answer.status_code == status, answer.text
    problem(answer, status, answer.json()["code"])


@only_sqlite
@pytest.mark.parametrize("given", [CSV, NDJSON, ARROW])
def test_more_rows_than_allowed_are_too_many(tables: Service, given: str) -> None:
    body = written([ROW] * (tables.settings.max_predict_rows + 1), given)
    answer = tables.http.post(PATH, content=body, headers={"Content-Type": given, "Accept": JSON})
    problem(answer, 413, "too_many_rows")


@only_sqlite
def test_ids_of_any_kind_come_back_as_text(tables: Service) -> None:
    rows = [{**row, "id": i} for i, row in enumerate(SENT[:3])]
    for given in (CSV, ARROW):
        headers = {"Content-Type": given}
        answer = tables.http.post(PATH, content=written(rows, given), headers=headers)
        assert [one["id"] for one in read(answer.content, given)] == ["0", "1", "2"]
    lines = tables.http.post(
        PATH, content=written(rows, NDJSON), headers={"Content-Type": NDJSON, "Accept": JSON}
    )
    assert [one["id"] for one in lines.json()["predictions"]] == [0, 1, 2]
