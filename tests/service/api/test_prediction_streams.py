"""NDJSON bodies of any length: answered in their order, with the numbers of `/predict`, in bounded memory."""

import json
import socket
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from service.api import deadlines, prediction_streams
from tests.service.conftest import NewDatabase, Service, problem, running, settings_for, table

NDJSON = {"Content-Type": "application/x-ndjson"}
PATH = "/v1/models/streamed/predict"
MOST = 50


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def streamed(
    request: pytest.FixtureRequest, new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """A service that holds at most fifty rows in memory, with a model."""
    settings = settings_for(
        new_database(request.param), tmp_path_factory.mktemp("streamed"), max_predict_rows=MOST
    )
    with running(settings, with_worker=True) as service:
        costs = {"fn": {"per": {"amount": 1.0}}, "fp": 5}
        job = service.train("streamed", table(200), costs, params={"n_estimators": 5})
        assert job["status"] == "succeeded", job
        yield service


only_sqlite = pytest.mark.parametrize("streamed", ["sqlite"], indirect=True)


def row(number: int) -> dict[str, Any]:
    return {"id": f"r{number}", "amount": 1.5 * number, "hour": number % 24, "merchant": "abcd"[number % 4]}


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode() + b"\n"


def ask(service: Service, body: bytes | Iterator[bytes], query: str = "", **headers: str) -> Any:
    return service.http.post(PATH + query, content=body, headers=NDJSON | headers)


def told(answer: Any) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.mark.parametrize("query", ["", "?on_row_error=null", "?on_row_error=null&record=durable"])
def test_more_rows_than_memory_may_hold(streamed: Service, query: str) -> None:
    rows = [row(number) for number in range(5 * MOST + 3)]
    found = told(ask(streamed, lines(rows), query))
    assert [one["id"] for one in found] == [one["id"] for one in rows]
    for start in (0, 2 * MOST, 5 * MOST):
        some = streamed.predict("streamed", rows[start : start + 3])
        for one, expected in zip(found[start:], some, strict=False):
            assert one["decision"] == expected["decision"]
            assert one["probability_fraud"] == expected["probabilities"]["fraud"]
    if "record" in query:
        last = streamed.http.get(f"/v1/predictions/{found[-1]['prediction_id']}").json()
        assert last["decision"] == found[-1]["decision"]


@only_sqlite
def test_a_body_of_unknown_length_is_taken_too(streamed: Service) -> None:
    rows = [row(number) for number in range(3 * MOST)]
    body = (json.dumps(one).encode() + b"\n\n" for one in rows)  # empty lines are none
    assert len(told(ask(streamed, body))) == len(rows)
    assert len(told(ask(streamed, b"\n" * (3 * MOST) + lines(rows[:1])))) == 1


@only_sqlite
def test_a_fault_anywhere_refuses_all_rows_or_is_one_line(streamed: Service) -> None:
    rows = [row(number) for number in range(3 * MOST)]
    rows[2 * MOST + 7]["amount"] = "secret"
    refused = problem(ask(streamed, lines(rows)), 422, "invalid_rows")
    assert [one["pointer"] for one in refused["errors"]] == [f"/rows/{2 * MOST + 7}/amount"]
    assert "secret" not in json.dumps(refused)
    found = told(ask(streamed, lines(rows), "?on_row_error=null"))
    assert [one["id"] for one in found if one["decision"] is None] == [f"r{2 * MOST + 7}"]
    assert len(found) == len(rows)


@only_sqlite
def test_what_is_no_json_ends_the_answer_with_a_problem(streamed: Service) -> None:
    body = lines([row(number) for number in range(MOST)])
    wrong = body + body + b'{"amount": 1, \n'
    refused = problem(ask(streamed, wrong), 400, "malformed")
    assert [one["line"] for one in refused["errors"]] == [2 * MOST + 1]
    *found, last = told(ask(streamed, wrong, "?on_row_error=null"))
    assert len(found) == 2 * MOST
    assert last["problem"]["status"] == 400
    assert [one["line"] for one in last["problem"]["errors"]] == [2 * MOST + 1]
    problem(ask(streamed, b'{"amount": 1, \n' + body, "?on_row_error=null"), 400, "malformed")


@only_sqlite
def test_what_stays_refused(streamed: Service) -> None:
    many = lines([row(number) for number in range(2 * MOST)])
    found = problem(ask(streamed, many, "?record=true"), 422, "invalid")
    assert found["errors"][0]["pointer"] == "/query/record"
    assert len(told(ask(streamed, lines([row(1)]), "?record=true"))) == 1
    problem(ask(streamed, many, Accept="application/json"), 413, "too_many_rows")
    problem(ask(streamed, many, Accept="text/csv"), 413, "too_many_rows")
    problem(ask(streamed, b"\n \n"), 422, "empty_body")
    problem(ask(streamed, b""), 422, "empty_body")
    problem(ask(streamed, many, "?explain=2"), 422, "invalid")


@only_sqlite
def test_memory_does_not_grow_with_the_body(streamed: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a body four times as long, no more is held at a time; files on the disk leave nothing behind."""
    monkeypatch.setattr(prediction_streams, "MEMORY_BYTES", 1 << 16)
    peaks = []
    for rows in (2_000, 8_000):
        body = b"".join(lines([row(number)]) for number in range(rows))
        tracemalloc.start()
        with streamed.http.stream("POST", PATH, content=body, headers=NDJSON) as answer:
            assert answer.status_code == 200
            count = sum(chunk.count(b"\n") for chunk in answer.iter_bytes())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert count == rows
    assert peaks[1] < peaks[0] + (1 << 20), peaks
    incoming: Path = streamed.wiring.store.root / "incoming"
    assert list(incoming.iterdir()) == []


@only_sqlite
def test_empty_lines_are_no_rows_of_a_part(streamed: Service) -> None:
    """As many rows as one request may bring are kept as a whole, whatever empty lines are among them."""
    body = lines([row(number) for number in range(MOST)])
    for spaced in (
        body + b"\n" * 9,
        body + b" \n\r\n" * 40_000,
        body.replace(b"\n", b"\n\n"),
        b"\n" * 99 + body,
    ):
        assert len(told(ask(streamed, spaced, "?record=true"))) == MOST
    problem(ask(streamed, body + b"\n\n" + lines([row(0)]), "?record=true"), 422, "invalid")


@only_sqlite
def test_wide_rows_are_kept_as_a_whole_too(streamed: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_streams, "PART_BYTES", 500)
    body = lines([row(number) for number in range(MOST)])
    assert len(told(ask(streamed, body, "?record=true"))) == MOST
    assert len(told(ask(streamed, body))) == MOST


#: More than is decided before anybody can go away.
ENDLESS = lines([row(number) for number in range(MOST)]) * 6_000


@contextmanager
def sent(service: Service, query: str) -> Iterator[socket.socket]:
    """A connection that has sent many rows, of which some are decided already."""
    before, where = figure(service, "decisions"), service.http.base_url
    head = f"POST {PATH}{query} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\n"
    with socket.create_connection((where.host, where.port), timeout=60) as connection:
        connection.sendall(f"{head}Content-Length: {len(ENDLESS)}\r\n\r\n".encode() + ENDLESS)
        while figure(service, "decisions") == before:
            time.sleep(0.02)
        yield connection


def figure(service: Service, name: str, *labels: str) -> float:
    """Sum of a figure over the series that have these labels."""
    found = service.http.get("/metrics").text.splitlines()
    ours = [one for one in found if one.startswith(f"costboost_{name}_total{{")]
    return sum(float(one.rpartition(" ")[2]) for one in ours if all(label in one for label in labels))


def answered(service: Service) -> float:
    return figure(service, "requests", 'route="/v1/models/{model}/predict"')


@only_sqlite
@pytest.mark.parametrize("query", ["", "?on_row_error=null"])
def test_nothing_is_decided_for_a_client_that_has_gone(streamed: Service, query: str) -> None:
    before, begun = answered(streamed), figure(streamed, "decisions")
    with sent(streamed, query):
        pass
    while answered(streamed) == before:
        time.sleep(0.02)
    assert figure(streamed, "decisions") - begun < 3_000 * MOST


@only_sqlite
def test_a_client_that_does_not_take_its_answer_is_let_go(
    streamed: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "TAKE_SECONDS", 0.5)
    before, begun = answered(streamed), figure(streamed, "decisions")
    with sent(streamed, "?on_row_error=null"):
        while answered(streamed) == before:
            time.sleep(0.02)
    assert figure(streamed, "decisions") - begun < 6_000 * MOST
