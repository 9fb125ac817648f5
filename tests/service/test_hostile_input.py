"""Every operation of the OpenAPI document is sent what nobody should send: that is refused, not repeated."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import structlog

from service.api import middleware
from service.db.tables import Base
from tests.service.conftest import Service, problem, table

CANARY = "canary7f3a"
JSON = {"Content-Type": "application/json"}
#: At and beyond what any kind of number holds.
NUMBERS = (-1, 2**63, 2**70, 10**400, 1e308, -1e308, 5e-324, 0.5, True, "1", None, [])
#: Sound requests, so that what is changed in them is what is refused.
SOUND: dict[str, dict[str, Any]] = {
    "PredictRequest": {"model": "hostile", "rows": [{"amount": 1, "hour": 1, "merchant": "a"}]},
    "TrainingSpec": {"model": "hostile", "dataset": "none", "costs": {"fn": 5, "fp": 1}},
    "ModelPatch": {"description": "d"},
    "AliasIn": {"version": 1},
    "FeedbackBody": {"items": [{"prediction_id": "none", "label": "fraud"}]},
    "ModelSimulationSpec": {"model": "hostile"},
    "SimulationSpec": {},
    "BatchSpec": {"model": "hostile", "dataset": "none"},
    "ApiKeyIn": {"name": "k", "scopes": ["data"]},
    "WebhookBody": {"url": "https://hooks.example/"},
    "costs": {"name": "c", "fn": 5, "fp": 1},
}
PATHS = {"model": "hostile", "version": "1", "alias": "champion", "name": "auto"}


class Document:
    """The OpenAPI document of a service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.content: dict[str, Any] = service.http.get("/openapi.json").json()

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Method, path with its parameters filled in, and description of each operation."""
        for path, methods in self.content["paths"].items():
            for method, operation in methods.items():
                filled = path
                for one in operation.get("parameters", ()):
                    if one["in"] == "path":
                        filled = filled.replace(f"{{{one['name']}}}", PATHS.get(one["name"], "none"))
                yield method.upper(), filled, operation

    def bodies(self) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
        """Method and path of each operation that takes an object of JSON, its schema and a sound body."""
        for method, path, operation in self.operations():
            schema = (
                operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            )
            if schema is None or schema.get("format") == "binary":
                continue
            name = schema.get("$ref", "costs").rpartition("/")[2]
            yield method, path, self.content["components"]["schemas"].get(name, {}), SOUND[name]

    def send(self, method: str, path: str, body: Any) -> httpx2.Response:
        """Send a body of JSON, without what a client would refuse to write."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.service.http.request(method, path, content=content, headers={**JSON, "If-Match": "*"})


@pytest.fixture(scope="module")
def document(service: Service) -> Document:
    job = service.train("hostile", table(120), {"fn": 20, "fp": 1}, params={"n_estimators": 2})
    assert job["status"] == "succeeded", job
    return Document(service)


def refused(answer: httpx2.Response, what: object) -> None:
    assert 400 <= answer.status_code < 500, (what, answer.status_code, answer.text)
    assert answer.headers["content-type"] == "application/problem+json", what


def test_what_is_nested_without_end(document: Document) -> None:
    for method, path, _, _ in document.bodies():
        for nested in (b"[" * 50_000, b'{"a":' * 50_000, b'{"rows":' + b"[" * 5_000 + b"]" * 5_000 + b"}"):
            refused(document.send(method, path, nested), (method, path))


def test_what_a_service_says_cannot_be_said_to_it(document: Document) -> None:
    """Fields of its answers and columns of its tables: of a request they are unknown, whatever they hold."""
    schemas = document.content["components"]["schemas"].values()
    names = {name for schema in schemas for name in schema.get("properties", {})}
    names |= {column.name for one in Base.metadata.tables.values() for column in one.columns}
    assert {"tenant_id", "attempt", "status", "created_at", "revoked_at"} <= names
    for method, path, schema, sound in document.bodies():
        taken = set(schema.get("properties", {})) | (set(sound) if schema else names)
        sent = dict.fromkeys(sorted(names - taken))
        found = unknown_fields(document.send(method, path, {**sound, **sent})) if sent else 0
        if found < len(sent):  # it names the first alone
            for name in sent:
                assert unknown_fields(document.send(method, path, {**sound, name: None})), (path, name)


def unknown_fields(answer: httpx2.Response) -> int:
    found = problem(answer, 422, "invalid")
    assert {one["code"] for one in found["errors"]} == {"unknown_field"}, found
    total: int = found["errors_total"]
    return total


def test_numbers_of_any_size(document: Document) -> None:
    """Each field is given each number, and with it each parameter of a query: no answer is a server error."""
    for method, path, schema, sound in document.bodies():
        for name in schema.get("properties", {}) or sound:
            for number in NUMBERS:
                answer = document.send(method, path, {**sound, name: number})
                assert answer.status_code < 500, (method, path, name, number, answer.text)
    for method, path, operation in document.operations():
        if method != "GET" or path == "/metrics":
            continue
        for one in operation.get("parameters", ()):
            if one["in"] == "query":
                for number in (0, -1, 2**70, 10**400, 1e308, "nan", "-Infinity", "1e999", "٣"):
                    answer = document.service.http.get(path, params={one["name"]: str(number)})
                    assert answer.status_code < 500, (path, one["name"], number)


def test_what_is_sent_is_repeated_neither_in_refusals_nor_in_the_log(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[dict[str, Any]] = []
    monkeypatch.setattr(middleware, "write_line", lambda _, fields: lines.append(fields))
    http = document.service.http
    names = ("User-Agent", "Referer", "Cookie", "Idempotency-Key", "If-Match", "Accept", "Prefer", "X-A")
    headers = dict.fromkeys(names, CANARY)
    answers: dict[str, httpx2.Response] = {}
    with structlog.testing.capture_logs() as logged:
        for method, path, operation in document.operations():
            if method == "DELETE" or path in ("/livez", "/readyz", "/version", "/metrics"):
                continue
            parameters = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
            for sent in (
                {"headers": {"Authorization": f"Bearer cb_{CANARY}"}},
                *({"params": {name: CANARY}} for name in [*parameters, "unknown"]),
                {"content": json.dumps({"unknown": CANARY}), "headers": {**JSON, **headers}},
                {"content": json.dumps([CANARY]), "headers": JSON},
                {"content": f'{{"unknown": {CANARY}', "headers": JSON},
                {"content": CANARY, "headers": {"Content-Type": CANARY}},
            ):
                answers[f"{method} {path} {sent}"] = http.request(method, path, **sent)
        for method, path, schema, sound in document.bodies():
            for name in schema.get("properties", {}) or sound:
                for value in (CANARY, [CANARY], {"fn": CANARY}, [{"amount": CANARY, "hour": CANARY}]):
                    answer = document.send(method, path, {**sound, name: value})
                    answers[f"{method} {path} {name} {value}"] = answer
        for csv in (f"a,label\n{CANARY}\n", f'a,label\n"{CANARY},1\n', f"a,label\n{CANARY},1\n"):
            headers = {"Content-Type": "text/csv"}
            answers[csv] = http.post("/v1/datasets", content=csv.encode(), headers=headers)
        http.get(f"/v1/models/{CANARY}")
    for what, answer in answers.items():
        assert answer.status_code < 500, (what, answer.text)
        if answer.status_code >= 400:
            assert CANARY not in answer.text, (what, answer.text)
    assert len(lines) >= len(answers)
    assert CANARY not in json.dumps([*lines, *logged], default=str)
