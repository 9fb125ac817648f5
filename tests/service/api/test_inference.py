"""The Open Inference Protocol as a client of another server would speak it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from service.usecases import api_keys
from tests.service.api.test_predictions import ROWS
from tests.service.conftest import NewDatabase, Service, running, settings_for, table

only_sqlite = pytest.mark.parametrize("service", ["sqlite"], indirect=True)
INFER = "/v2/models/tensors/infer"


@pytest.fixture(scope="module")
def tensors(service: Service) -> Service:
    """The service with a model `tensors` of three columns, and `matrix` of numbers alone."""
    more: dict[str, Any] = {"options": {"positive_class": "fraud"}, "params": {"n_estimators": 10}}
    assert service.train("tensors", table(), {"fn": 20, "fp": 1}, **more)["status"] == "succeeded"
    numbers = "\n".join(",".join(line.split(",")[i] for i in (0, 1, 3)) for line in table().splitlines())
    assert service.train("matrix", numbers + "\n", {"fn": 20, "fp": 1}, **more)["status"] == "succeeded"
    return service


def named(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One tensor a column."""
    n = len(rows)
    return [
        {"name": "merchant", "shape": [n], "datatype": "BYTES", "data": [row["merchant"] for row in rows]},
        {"name": "amount", "shape": [n, 1], "datatype": "FP64", "data": [[row["amount"]] for row in rows]},
        {"name": "hour", "shape": [n], "datatype": "INT64", "data": [row["hour"] for row in rows]},
    ]


def outputs(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    return {one["name"]: one for one in answer.json()["outputs"]}


def test_named_tensors_get_what_predict_answers(tensors: Service) -> None:
    rows = ROWS[:50]
    answer = tensors.http.post(INFER, json={"id": "42", "inputs": named(rows)})
    found, expected = outputs(answer), tensors.predict("tensors", rows)
    body = answer.json()
    assert (body["id"], body["model_name"], body["model_version"]) == ("42", "tensors", "1")
    assert list(found) == ["decision", "probabilities", "score", "expected_cost"]
    assert found["decision"]["data"] == [one["decision"] for one in expected]
    assert (found["decision"]["datatype"], found["decision"]["shape"]) == ("BYTES", [50])
    assert found["score"]["data"] == [one["score"] for one in expected]
    assert found["probabilities"]["shape"] == [50, 2]
    assert found["probabilities"]["data"] == [p for one in expected for p in one["probabilities"].values()]
    assert found["expected_cost"]["data"] == [c for one in expected for c in one["expected_cost"].values()]


@only_sqlite
def test_a_matrix_has_the_columns_of_the_schema(tensors: Service) -> None:
    described = tensors.http.get("/v2/models/matrix").json()
    order = [one["name"] for one in described["inputs"]]
    data = [[row[name] for name in order] for row in ROWS[:40]]
    flat = [value for row in data for value in row]
    tensor = {"name": "x", "shape": [40, 2], "datatype": "FP64"}
    for given in (data, flat):
        answer = tensors.http.post("/v2/models/matrix/infer", json={"inputs": [{**tensor, "data": given}]})
        rows = [{"amount": row["amount"], "hour": row["hour"]} for row in ROWS[:40]]
        assert outputs(answer)["score"]["data"] == [one["score"] for one in tensors.predict("matrix", rows)]


@only_sqlite
@pytest.mark.parametrize(
    ("datatype", "most"), [("INT8", 127), ("UINT8", 255), ("FP16", 65504), ("FP32", 1e38)]
)
def test_the_largest_number_of_a_datatype_is_read(tensors: Service, datatype: str, most: float) -> None:
    found = outputs(
        tensors.http.post(INFER, json={"inputs": changed(2, datatype=datatype, data=[most, None])})
    )
    rows = [ROWS[0] | {"hour": most}, ROWS[1] | {"hour": None}]
    assert found["score"]["data"] == [one["score"] for one in tensors.predict("tensors", rows)]


@only_sqlite
def test_only_what_is_asked_for_is_given_in_that_order(tensors: Service) -> None:
    wanted = [{"name": "score"}, {"name": "decision", "parameters": {"binary_data": False}}]
    answer = tensors.http.post(
        "/v2/models/tensors/versions/1/infer", json={"inputs": named(ROWS[:3]), "outputs": wanted}
    )
    assert list(outputs(answer)) == ["score", "decision"]


@only_sqlite
def test_it_says_what_it_is(tensors: Service, wait_until: Callable[..., None]) -> None:
    http = tensors.http
    assert http.get("/v2").json()["name"] == "costboost"
    assert http.get("/v2/health/live").json() == {"live": True}
    wait_until(lambda: http.get("/v2/health/ready").json() == {"ready": True})
    assert http.get("/v2/models/tensors/ready").json() == {"name": "tensors", "ready": True}
    assert http.get("/v2/models/tensors/versions/1/ready").status_code == 200
    described = http.get("/v2/models/tensors/versions/1").json()
    assert (described["name"], described["versions"], described["platform"]) == (
        "tensors",
        ["1"],
        "costboost",
    )
    types = {one["name"]: one["datatype"] for one in described["inputs"]}
    assert types == {"amount": "FP64", "hour": "FP64", "merchant": "BYTES"}
    assert [one["shape"] for one in described["outputs"]] == [[-1], [-1, 2], [-1], [-1, 2]]


def changed(place: int, **fields: Any) -> list[dict[str, Any]]:
    found = named(ROWS[:2])
    found[place] |= fields
    return found


WRONG: list[tuple[Any, int]] = [
    ({}, 400),
    ({"inputs": []}, 400),
    ({"inputs": 3}, 400),
    ({"inputs": named(ROWS[:2]), "outputs": [{"name": "mood"}]}, 400),
    ({"inputs": named(ROWS[:2]), "outputs": [{"name": "score"}] * 2}, 400),
    ({"inputs": named(ROWS[:2]), "more": 1}, 400),
    ({"inputs": changed(0, shape=[3])}, 400),
    ({"inputs": changed(0, shape=[-2])}, 400),
    ({"inputs": changed(0, shape=[2, 2])}, 400),
    ({"inputs": changed(0, name="shoe")}, 400),
    ({"inputs": changed(0, name="hour")}, 400),
    ({"inputs": changed(0, datatype="COMPLEX")}, 400),
    ({"inputs": changed(0, datatype="INT64")}, 400),
    ({"inputs": changed(2, datatype="BOOL")}, 400),
    ({"inputs": changed(1, data=None)}, 400),
    ({"inputs": changed(0, shape=[1], data=["a"])}, 400),
    ({"inputs": named(ROWS[:2])[1:]}, 422),
    ({"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP64", "data": [1, 2]}]}, 400),
    ({"inputs": changed(2, datatype="INT8", data=[1, 128])}, 400),
    ({"inputs": changed(2, datatype="UINT64", data=[1, -1])}, 400),
    ({"inputs": changed(1, datatype="FP16", data=[[1.0], [7e4]])}, 400),
    ({"inputs": changed(1, datatype="FP32", data=[[1.0], [10**40]])}, 400),
    ({"inputs": changed(1, data=[[1.0, 2.0], []])}, 400),
    ({"inputs": changed(1, data=[[1.0], 2.0])}, 400),
    ({"inputs": changed(1, parameters={"binary_data_size": 16})}, 400),
    ({"inputs": named(ROWS[:2]), "parameters": {"binary_data_output": "yes"}}, 400),
    ({"inputs": named(ROWS[:2]), "outputs": [{"name": "score", "parameters": {"binary_data": 1}}]}, 400),
    ({"inputs": changed(0, shape=[10**9])}, 413),
]


@only_sqlite
@pytest.mark.parametrize(("body", "status"), WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_what_is_wrong_is_an_error_of_the_protocol(tensors: Service, body: Any, status: int) -> None:
    answer = tensors.http.post(INFER, json=body)
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["error"]
    assert answer.headers["content-type"] == "application/json"


@only_sqlite
def test_unknown_paths_models_and_versions_are_errors_of_the_protocol(tensors: Service) -> None:
    for path in ("/v2/models/nobody", "/v2/models/tensors/versions/9/ready", "/v2/shoe"):
        answer = tensors.http.get(path)
        assert (answer.status_code, list(answer.json())) == (404, ["error"])
    assert tensors.http.get("/v2/models/tensors/versions/one").status_code == 400
    binary = tensors.http.post(INFER, content=b"{}", headers={"Inference-Header-Content-Length": "2"})
    assert (binary.status_code, list(binary.json())) == (400, ["error"])
    many = named([ROWS[0]] * (tensors.settings.max_predict_rows + 1))
    assert tensors.http.post(INFER, json={"inputs": many}).status_code == 413


@pytest.fixture
def with_keys(new_database: NewDatabase, tmp_path: Any) -> Iterator[Service]:
    """A service that asks for API keys."""
    with running(settings_for(new_database("sqlite"), tmp_path, auth="keys"), with_worker=False) as found:
        yield found


def test_it_is_closed_without_a_key(with_keys: Service) -> None:
    answer = with_keys.http.get("/v2/models/x")
    assert (answer.status_code, list(answer.json())) == (401, ["error"])
    assert with_keys.http.get("/v2/health/live").status_code == 200
    for scope, status in (("data", 403), ("predict", 404)):
        _, token = api_keys.create_key(with_keys.wiring.sessions, "ours", "test", [scope], by="cli")
        headers = {"Authorization": f"Bearer {token}"}
        assert with_keys.http.get("/v2/models/x", headers=headers).status_code == status
