"""Bodies, queries and headers that could be understood in two ways are refused alike on every route."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.service.conftest import Service, problem

JSON = {"Content-Type": "application/json"}
ROUTES = [
    ("POST", "/predict"),
    ("POST", "/v1/predict"),
    ("POST", "/v1/cost-specs"),
    ("POST", "/v1/cost-specs/validate"),
    ("POST", "/v1/training-jobs"),
    ("POST", "/v1/training-jobs/validate"),
    ("PUT", "/v1/models/m/aliases/champion"),
    ("PATCH", "/v1/models/m"),
]
every_route = pytest.mark.parametrize(("method", "path"), ROUTES, ids=[path for _, path in ROUTES])
BODIES = [
    (b"", ""),
    (b'{"a": 1', ""),
    (b'{"a": 1} x', ""),
    (b'{"rows": [{"a": NaN}]}', "/rows/0/a"),
    (b'{"fn": 5, "fn": 50, "fp": 1}', "/fn"),
    (b'{"params": {"n": 1, "n": 2}}', "/params/n"),
    (b'{"model": "a\\u0000"}', "/model"),
    (b'{"model": "\\ud800"}', "/model"),
    (b"\xef\xbb\xbf{}", ""),
    ("{}".encode("utf-16"), ""),
]

CSV = {"Content-Type": "text/csv"}
TABLE = "a,label\n1,0\n2,1\n3,0\n"


@every_route
@pytest.mark.parametrize(("body", "place"), BODIES)
def test_json_is_read_alike(sqlite_service: Service, method: str, path: str, body: bytes, place: str) -> None:
    answer = sqlite_service.http.request(method, path, content=body, headers=JSON)
    assert place in [one["pointer"] for one in problem(answer, 400, "malformed")["errors"]]


@every_route
@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", None])
def test_other_media_types_are_not_read(
    sqlite_service: Service, method: str, path: str, media_type: str | None
) -> None:
    headers = {} if media_type is None else {"Content-Type": media_type}
    answer = sqlite_service.http.request(method, path, content=b"{}", headers=headers)
    problem(answer, 415, "unsupported_media_type")


FORM_PARTS: list[tuple[dict[str, str], str]] = [
    ({"spec": '{"model": "a\\u0000"}'}, "/spec/model"),
    ({"spec": '{"model": "\\ud800"}'}, "/spec/model"),
    ({"spec": '{"seed": 1, "seed": 2}'}, "/spec/seed"),
    ({"spec": '{"seed": NaN}'}, "/spec/seed"),
    ({"spec": "{"}, "/spec"),
    ({"options": '{"label": "a\\u0000"}'}, "/options/label"),
    ({"options": '{"label": "\\udfff"}'}, "/options/label"),
    ({"types": '{"a": "number", "a": "text"}'}, "/types/a"),
    ({"roles": "[["}, "/roles"),
]


@pytest.mark.parametrize(("parts", "place"), FORM_PARTS)
def test_parts_of_a_form_are_read_as_strictly(
    sqlite_service: Service, parts: dict[str, str], place: str
) -> None:
    spec = {"model": "m", "costs": {"fn": 5, "fp": 1}}
    answer = sqlite_service.http.post(
        "/v1/training-jobs",
        data={"spec": json.dumps(spec), **parts},
        files={"dataset": ("a.csv", "a,label\n1,0\n2,1\n", "text/csv")},
    )
    assert problem(answer, 400, "malformed")["errors"][0]["pointer"] == place


@pytest.mark.parametrize(
    ("body", "place"),
    [({"model": "nobody", "rows": [{"a": 1}]}, "/model")],
)
def test_an_unknown_model_is_pointed_at(sqlite_service: Service, body: dict[str, Any], place: str) -> None:
    found = problem(sqlite_service.http.post("/predict", json=body), 404, "not_found")
    assert [one["pointer"] for one in found["errors"]] == [place]
    in_path = sqlite_service.http.post("/v1/models/nobody/predict", json={"rows": [{"a": 1}]})
    assert "errors" not in problem(in_path, 404, "not_found")


def test_an_empty_cursor_and_an_unknown_parameter(sqlite_service: Service) -> None:
    found = problem(sqlite_service.http.get("/v1/models?after="), 400, "malformed")
    assert found["errors"][0]["pointer"] == "/query/after"
    found = problem(sqlite_service.http.get("/v1/models/m?sort=1"), 400, "unknown_parameter")
    assert found["errors"][0]["pointer"] == "/query/sort"
    assert not found["detail"].endswith(": ")


@pytest.mark.parametrize("limit", ["1.0", "+1", "01", "1_0", " 1", "1e1", "true", "\u0661", ""])
def test_a_whole_number_has_one_spelling(sqlite_service: Service, limit: str) -> None:
    found = problem(sqlite_service.http.get("/v1/models", params={"limit": limit}), 422, "invalid")
    assert [one["pointer"] for one in found["errors"]] == ["/query/limit"]
    assert sqlite_service.http.get(f"/v1/models/m/versions/{quote(limit or 'x')}").status_code == 422
    assert sqlite_service.http.get("/v1/models", params={"limit": "10"}).status_code == 200


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/models?limit=1&limit=2", "limit"),
        ("/v1/models/m/performance?window=day&window=day", "window"),
        ("/v1/predict?alias=a&alias=b", "alias"),
        ("/v1/datasets?name=a&name=b", "name"),
    ],
)
def test_a_parameter_comes_once(sqlite_service: Service, path: str, name: str) -> None:
    """Which of two values counts is anybody's guess; `classes` alone is a list."""
    method = "POST" if "predict" in path or "datasets" in path else "GET"
    answer = sqlite_service.http.request(method, path, content=TABLE, headers=CSV)
    assert [one["pointer"] for one in problem(answer, 400, "malformed")["errors"]] == [f"/query/{name}"]
    classes = sqlite_service.http.post("/v1/datasets?classes=1&classes=0", content=TABLE, headers=CSV)
    assert classes.json()["classes"] == ["1", "0"]


@pytest.mark.parametrize("said", ["charset=utf-16", 'charset="ISO-8859-1"', "header=absent"])
def test_a_csv_that_says_it_is_another_one_is_not_read(sqlite_service: Service, said: str) -> None:
    answer = sqlite_service.http.post(
        "/v1/datasets", content=TABLE, headers={"Content-Type": f"text/csv; {said}"}
    )
    problem(answer, 415, "unsupported_media_type")
    usual = {"Content-Type": 'text/csv; charset="UTF-8"; header=present'}
    assert sqlite_service.http.post("/v1/datasets", content=TABLE, headers=usual).status_code == 201
