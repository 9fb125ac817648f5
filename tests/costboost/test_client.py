"""The Python client where answers are late, lost or none of the service's."""

import inspect
import io
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest

from costboost.client import ApiError, AsyncClient, Client, ClientError, UnreachableError
from costboost.client.jobs import JobState, ProgressBar

ROW = {"amount": 640.0, "hour": 3, "merchant": "d"}


class Heard(NamedTuple):
    method: str
    key: str | None
    body: bytes


class Answer(NamedTuple):
    """One answer; status 0 closes the connection instead."""

    status: int
    document: Any = None
    headers: tuple[tuple[str, str], ...] = ()


BUSY = Answer(503, {"code": "busy", "detail": "later"}, (("Retry-After", "0"),))


@contextmanager
def answering(answers: Sequence[Answer]) -> Iterator[tuple[str, list[Heard]]]:
    """A server that gives these answers in turn."""
    left, heard = list(answers), list[Heard]()

    class Handler(BaseHTTPRequestHandler):
        def do_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            heard.append(Heard(self.command, self.headers.get("idempotency-key"), body))
            answer = left.pop(0)
            if answer.status == 0:
                self.connection.close()
                return
            content = json.dumps(answer.document).encode()
            self.send_response(answer.status)
            for name, value in (*answer.headers, ("Content-Length", str(len(content)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = do_any  # noqa: N815

        def handle(self) -> None:
            try:
                super().handle()
            except (OSError, ValueError):
                assert left is not None  # the connection was closed on purpose

        def log_message(self, *_: object) -> None:
            """Not on the test's output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


COST_SPEC = {
    "id": "cs_1",
    "name": "n",
    "revision": 1,
    "currency": None,
    "costs": {"fn": 5, "fp": 1},
    "consequences": [],
    "created_at": "2026-01-05T09:30:00Z",
    "a_field_of_a_later_release": True,
}


def test_a_try_after_busy_and_broken_connections_has_the_same_key_and_body() -> None:
    in_progress = Answer(409, {"code": "idempotency_in_progress"}, (("Retry-After", "0"),))
    with (
        answering([BUSY, Answer(0), in_progress, Answer(201, COST_SPEC)]) as (url, heard),
        Client(url) as client,
    ):
        made = client.create_cost_spec("n", {"fn": 5, "fp": 1})
    assert made.document["a_field_of_a_later_release"] is True
    assert len(heard) == 4
    assert len(set(heard)) == 1
    assert heard[0].key


def test_each_call_has_a_key_of_its_own() -> None:
    with answering([Answer(201, COST_SPEC)] * 2) as (url, heard), Client(url) as client:
        for _ in range(2):
            client.create_cost_spec("n", {"fn": 5, "fp": 1})
    assert heard[0].key != heard[1].key


def test_a_date_to_come_back_at_is_understood() -> None:
    soon = format_datetime(datetime.now(UTC), usegmt=True)
    busy = Answer(429, {"code": "rate_limited"}, (("Retry-After", soon),))
    with answering([busy, Answer(200, {"status": "ready"})]) as (url, heard), Client(url) as client:
        assert client.readiness() == {"status": "ready"}
    assert len(heard) == 2


def test_retries_have_an_end_and_the_last_problem_is_told() -> None:
    with (
        answering([BUSY] * 3) as (url, heard),
        Client(url, retries=2) as client,
        pytest.raises(ApiError) as caught,
    ):
        client.readiness()
    assert (caught.value.code, caught.value.status, len(heard)) == ("busy", 503, 3)


def test_what_would_count_twice_is_not_sent_twice() -> None:
    with answering([Answer(0)]) as (url, heard), Client(url) as client, pytest.raises(UnreachableError):
        client.predict("m", [ROW], record=True)
    assert len(heard) == 1


def test_an_answer_that_is_no_problem_is_still_an_error() -> None:
    with (
        answering([Answer(502, "a proxy's page")]) as (url, _),
        Client(url) as client,
        pytest.raises(ApiError) as caught,
    ):
        client.readiness()
    assert (caught.value.status, caught.value.code) == (502, "unknown")


def test_nobody_at_the_address_is_told_plainly() -> None:
    with (
        Client("http://127.0.0.1:1", retries=0) as client,
        pytest.raises(UnreachableError, match="no answer"),
    ):
        client.readiness()


def test_url_and_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering([Answer(200, {})]) as (url, _):
        monkeypatch.setenv("COSTBOOST_URL", url)
        with Client() as client:
            assert client.readiness() == {}


def test_a_file_whose_name_tells_nothing_is_refused_before_it_is_sent() -> None:
    with Client(retries=0) as client:
        with pytest.raises(ValueError, match=r"\.csv"):
            client.create_dataset("payments.xlsx")
        with pytest.raises(TypeError, match="DataFrame"):
            client.create_dataset(7)
        with pytest.raises(ValueError, match="begins with"):
            client.job("../models")


def test_both_clients_have_the_same_operations_with_docstrings() -> None:
    def operations(kind: type) -> dict[str, Any]:
        return {n: inspect.getattr_static(kind, n) for n in dir(kind) if not n.startswith("_")}

    blocking, awaiting = operations(Client), operations(AsyncClient)
    assert blocking.keys() == awaiting.keys()
    assert all(inspect.getdoc(one) for one in blocking.values())


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    base = dict.fromkeys(
        ("attempt", "queue_position", "result", "error", "created_at", "started_at", "finished_at")
    )
    begun = {**base, "id": "job_1", "status": "running", "done": False}
    states = [
        JobState.of({**begun, "progress": {"phase": "boosting", "fraction": share}}) for share in (0.25, 0.5)
    ]
    states.append(JobState.of({**begun, "status": "succeeded", "done": True, "progress": None}))
    live, plain = ProgressBar(Terminal()), ProgressBar(io.StringIO())
    for state in states:
        live(state)
        plain(state)
    assert " 50% boosting" in live.stream.getvalue()  # type: ignore[attr-defined]
    assert live.stream.getvalue().endswith("100% succeeded\033[K\n")  # type: ignore[attr-defined]
    assert plain.stream.getvalue() == "boosting\nsucceeded\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize("rows", [{"amount": [1.0]}, ROW, "rows", [["amount"]]])
def test_a_table_is_no_list_of_rows(rows: Any) -> None:
    with Client("http://127.0.0.1:9") as client, pytest.raises(TypeError, match="predict_table"):
        client.predict("shop", rows)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("url", "key", "told"),
    [
        ("nonsense", None, "nonsense is no address"),
        ("ftp://127.0.0.1", None, "is no address"),
        ("http://", None, "is no address"),
        (None, "cb_\u00e9", "letter that no key has"),
        (None, "cb_\n", "letter that no key has"),
    ],
)
def test_what_can_be_no_address_and_no_key_is_told_at_once(
    kind: type[Client | AsyncClient], url: str | None, key: str | None, told: str
) -> None:
    with pytest.raises(ClientError, match=told):
        kind(url, key)
