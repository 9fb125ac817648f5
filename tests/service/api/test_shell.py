"""What holds for every route: ids, limits, guards, strict JSON, problems."""

import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.service.conftest import Service, problem

JSON = {"Content-Type": "application/json"}


def test_the_request_id_of_the_caller_is_echoed(sqlite_service: Service) -> None:
    answer = sqlite_service.http.get("/livez", headers={"X-Request-ID": "abc-1"})
    assert answer.headers["x-request-id"] == "abc-1"


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "a\tb"])
def test_a_request_id_that_could_forge_a_log_line_is_replaced(sqlite_service: Service, given: str) -> None:
    answer = sqlite_service.http.get("/livez", headers={"X-Request-ID": given})
    assert answer.headers["x-request-id"] not in ("", given)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "[", ""])
def test_a_foreign_host_is_refused(sqlite_service: Service, host: str) -> None:
    problem(sqlite_service.http.get("/v1/models", headers={"Host": host}), 403, "foreign_origin")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:8000", "LOCALHOST"])
def test_a_loopback_host_is_served(sqlite_service: Service, host: str) -> None:
    assert sqlite_service.http.get("/v1/models", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_post_from_another_site_is_refused(sqlite_service: Service, headers: dict[str, str]) -> None:
    answer = sqlite_service.http.post("/predict", json={"rows": []}, headers=headers)
    problem(answer, 403, "foreign_origin")


def test_the_own_origin_is_served(sqlite_service: Service) -> None:
    own = str(sqlite_service.http.base_url).rstrip("/")
    assert sqlite_service.http.get("/v1/models", headers={"Origin": own}).status_code == 200


@pytest.mark.parametrize("name", ["Host", "Origin"])
def test_a_host_or_origin_that_comes_twice_is_malformed(sqlite_service: Service, name: str) -> None:
    where = urlsplit(str(sqlite_service.http.base_url))
    own = where.netloc if name == "Host" else f"http://{where.netloc}"
    lines = [f"{name}: {own}", f"{name}: evil.example"] + [f"Host: {where.netloc}"] * (name != "Host")
    with socket.create_connection((where.hostname, where.port), timeout=5) as connection:
        connection.sendall("\r\n".join(["GET /v1/models HTTP/1.1", *lines, "", ""]).encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "headers",
    [
        [("Content-Encoding", "gzip")],
        [("Content-Encoding", "identity"), ("Content-Encoding", "br")],
    ],
)
def test_a_compressed_body_is_refused(sqlite_service: Service, headers: list[tuple[str, str]]) -> None:
    body = iter([b"\x1f\x8b"])
    answer = sqlite_service.http.post("/predict", content=body, headers=[*JSON.items(), *headers])
    problem(answer, 415, "unsupported_media_type")


def test_a_body_that_is_compressed_on_its_way_is_refused(sqlite_service: Service) -> None:
    url = sqlite_service.http.base_url
    with closing(HTTPConnection(url.host, url.port or 80, timeout=30)) as connection:
        connection.putrequest("POST", "/predict")
        connection.putheader("Transfer-Encoding", "gzip, chunked")
        connection.endheaders()
        assert connection.getresponse().status == 415


def test_a_body_of_two_media_types_is_refused(sqlite_service: Service) -> None:
    headers = [*JSON.items(), ("Content-Type", "text/csv")]
    problem(sqlite_service.http.post("/predict", content=b"{}", headers=headers), 400, "malformed")


def test_giant_headers_are_refused(sqlite_service: Service) -> None:
    answer = sqlite_service.http.get("/v1/models", headers={"X-Large": "x" * 70_000})
    problem(answer, 431, "headers_too_large")


def test_nul_in_an_address_is_refused(sqlite_service: Service) -> None:
    problem(sqlite_service.http.get("/v1/models/a%00b"), 400, "malformed")
    problem(sqlite_service.http.get("/v1/models?after=%00"), 400, "malformed")


def test_a_body_that_says_it_is_too_large_is_refused_unread(sqlite_service: Service) -> None:
    answer = sqlite_service.http.patch("/v1/models/m", content=b" " * (1 << 21), headers=JSON)
    problem(answer, 413, "body_too_large")


def test_an_endless_body_is_cut_off(sqlite_service: Service) -> None:
    """Chunked: nothing says how long it will be."""

    def endless() -> Iterator[bytes]:
        while True:
            yield b" " * 65_536

    try:
        answer = sqlite_service.http.patch("/v1/models/m", content=endless(), headers=JSON)
    except httpx2.TransportError:
        return  # the connection was closed while we still wrote
    problem(answer, 413, "body_too_large")


@pytest.mark.parametrize(
    "body",
    [
        b'{"description": NaN}',
        b'{"tags": {"a": -Infinity}}',
        b"{",
        b'{"description": "\xff"}',
        b'{"description": "\\u0000"}',
        b'{"\\ud800": 1}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_json_is_malformed(sqlite_service: Service, body: bytes) -> None:
    answer = sqlite_service.http.patch("/v1/models/m", content=body, headers=JSON)
    problem(answer, 400, "malformed")


def test_unknown_fields_and_wrong_types_have_pointers_and_no_values(sqlite_service: Service) -> None:
    body = {"description": ["canary"], "tenant_id": "canary", "tags": {"a/b": 1}}
    found = problem(sqlite_service.http.patch("/v1/models/m", json=body), 422, "invalid")
    assert {(one["pointer"], one["code"]) for one in found["errors"]} == {
        ("/description", "string_type"),
        ("/tenant_id", "unknown_field"),
        ("/tags/a~1b", "string_type"),
    }
    assert found["errors_total"] == 3
    assert "canary" not in str(found)


def test_an_unknown_query_parameter_is_refused(sqlite_service: Service) -> None:
    problem(sqlite_service.http.get("/v1/models", params={"sort": "name"}), 400, "unknown_parameter")


@pytest.mark.parametrize("params", [{"limit": 0}, {"limit": 201}, {"limit": "nan"}])
def test_a_wrong_query_parameter_is_invalid(sqlite_service: Service, params: dict[str, Any]) -> None:
    found = problem(sqlite_service.http.get("/v1/models", params=params), 422, "invalid")
    assert found["errors"][0]["pointer"] == "/query/limit"


@pytest.mark.parametrize("after", ["x", "!!", "AA", "%C3%A9"])
def test_a_cursor_that_is_none_is_malformed(sqlite_service: Service, after: str) -> None:
    problem(sqlite_service.http.get(f"/v1/models?after={after}"), 400, "malformed")
    assert sqlite_service.http.get(f"/v1/models/m/versions?after={after}").status_code in (400, 404)


def test_unknown_paths_and_methods(sqlite_service: Service) -> None:
    found = problem(sqlite_service.http.get("/v1/nothing"), 404, "not_found")
    assert "`/docs` lists" in found["detail"]
    answer = sqlite_service.http.put("/v1/models/m")
    found = problem(answer, 405, "method_not_allowed")
    assert found["detail"] == "this path takes DELETE, GET, HEAD, PATCH alone"
    assert answer.headers["allow"] == "DELETE, GET, HEAD, PATCH"


def test_garbage_on_the_wire_gets_400(sqlite_service: Service) -> None:
    where = urlsplit(str(sqlite_service.http.base_url))
    with socket.create_connection((where.hostname, where.port), timeout=5) as connection:
        connection.sendall(b"GARBAGE\r\n\r\n")
        assert connection.recv(64).startswith(b"HTTP/1.1 400")


def test_every_code_has_its_page(sqlite_service: Service) -> None:
    listed = sqlite_service.http.get("/problems")
    assert "precondition_failed" in listed.text
    page = sqlite_service.http.get("/problems/model_required")
    assert page.headers["content-type"].startswith("text/html")
    assert "Give " in page.text
    problem(sqlite_service.http.get("/problems/no_such_code"), 404, "not_found")


def test_the_docs_page_needs_no_other_server(sqlite_service: Service) -> None:
    page = sqlite_service.http.get("/docs")
    assert page.status_code == 200
    assert "<script" not in page.text
    assert "src=" not in page.text
    assert "/v1/models/{model}/aliases/{alias}" in page.text
