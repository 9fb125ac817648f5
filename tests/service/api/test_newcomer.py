"""What a newcomer gets wrong at first: told in words that say what would be right."""

import json
import re
from typing import Any

import pytest

from tests.service.conftest import Service, problem, table

CSV = {"Content-Type": "text/csv"}
JSON = {"Content-Type": "application/json"}
COSTS = {"fn": 20, "fp": 1}
ROW = {"amount": 220.5, "hour": 3, "merchant": "d"}

only_sqlite = pytest.mark.parametrize("service", ["sqlite"], indirect=True)


@pytest.fixture(scope="module")
def dataset(service: Service, fraud_csv: str) -> str:
    return str(service.upload(fraud_csv, name="newcomers")["id"])


@pytest.fixture(scope="module")
def trained(service: Service, dataset: str) -> dict[str, Any]:
    """A finished job on a dataset and costs that are named, with the algorithm left to the service."""
    assert service.http.post("/v1/cost-specs", json={"name": "new-costs", **COSTS}).status_code == 201
    body = {"model": "newcomer", "dataset": "newcomers", "cost_spec": "new-costs"}
    answer = service.http.post("/v1/training-jobs", json=body)
    assert answer.status_code == 202, answer.text
    job = service.wait(answer.json()["id"])
    assert job["status"] == "succeeded", job
    assert job["dataset"] == dataset
    return job


def validate(service: Service, **spec: Any) -> Any:
    return service.http.post("/v1/training-jobs/validate", json={"model": "m", "costs": COSTS, **spec})


def test_names_become_ids_and_auto_an_algorithm(service: Service, trained: dict[str, Any]) -> None:
    default = service.http.get("/v1/algorithms/auto").json()
    assert default["default"] is True
    assert (trained["algorithm"], trained["requested_algorithm"]) == (default["name"], "auto")
    version = service.http.get("/v1/models/newcomer/versions/1").json()
    assert (version["algorithm"], version["requested_algorithm"]) == (default["name"], "auto")
    assert set(version["params"]) == set(default["params"]["properties"])
    assert version["cost_spec"] == service.http.get("/v1/cost-specs/new-costs").json()["id"]
    assert version["dataset"] == service.http.get("/v1/datasets/newcomers").json()["id"]
    listed = service.http.get("/v1/algorithms").json()["data"]
    assert [one["name"] for one in listed if one["default"]] == [default["name"]]


def test_a_finished_job_is_wholly_done(trained: dict[str, Any]) -> None:
    assert trained["progress"]["fraction"] == 1.0


def test_a_prediction_says_which_stored_costs_it_used(service: Service, trained: dict[str, Any]) -> None:
    made = service.http.post("/v1/cost-specs", json={"name": "dearer", "fn": 90, "fp": 1}).json()
    for called in ("dearer", made["id"]):
        body = {"rows": [ROW], "cost_spec": called}
        costs = service.http.post("/v1/models/newcomer/predict", json=body).json()["costs"]
        assert costs == {
            "source": "request",
            "repriced": True,
            "cost_spec": made["id"],
            "revision": made["revision"],
        }
    again = service.http.post("/v1/cost-specs", json={"name": "dearer", "fn": 95, "fp": 1}).json()
    answer = service.http.post("/v1/models/newcomer/predict", json={"rows": [ROW], "cost_spec": "dearer"})
    assert answer.json()["costs"]["cost_spec"] == again["id"]


def test_validate_says_what_would_be_trained(service: Service, dataset: str) -> None:
    plan = validate(service, dataset=dataset).json()
    assert plan["requested_algorithm"] == "auto"
    assert plan["params"]["n_estimators"]
    assert plan["consequences"] == ["flag when p > 0.0476"]
    assert (plan["unreasonable_rows"], plan["warnings"]) == (0, [])


def test_costs_that_never_pay_are_refused_and_some_rows_are_counted(service: Service, dataset: str) -> None:
    never = {"fn": {"per": {"amount": -1}}, "fp": {"per": {"amount": 1}}}
    for path in ("/v1/training-jobs", "/v1/training-jobs/validate"):
        body = {"model": "m", "dataset": dataset, "costs": never}
        found = problem(service.http.post(path, json=body), 422, "unreasonable_costs")
        assert found["errors"][0]["pointer"] == "/costs"
        assert "400 rows" in found["detail"]
    some = {"fn": {"per": {"amount": 1}}, "fp": 5, "tp": 20}
    plan = validate(service, dataset=dataset, costs=some).json()
    assert 0 < plan["unreasonable_rows"] < 400
    assert plan["warnings"][0]["code"] == "unreasonable_costs"


def test_a_row_whose_costs_are_unreasonable_is_warned_of(service: Service, trained: dict[str, Any]) -> None:
    costs = {"fn": {"per": {"amount": 1}}, "fp": 5, "tp": 20}
    rows = [{**ROW, "amount": 10}, ROW]
    low, high = service.predict("newcomer", rows, costs=costs)
    assert low["threshold"] is None
    assert [one["code"] for one in low["warnings"]] == ["unreasonable_costs"]
    assert high["threshold"] is not None
    assert high["warnings"] == []


def test_other_columns_and_classes_are_warned_of(service: Service, trained: dict[str, Any]) -> None:
    csv = table(classes=("good", "bad")).replace("merchant", "seller")
    found = validate(service, model="newcomer", dataset=service.upload(csv)["id"])
    told = {one["code"]: one["detail"] for one in found.json()["warnings"]}
    assert set(told) == {"other_columns", "other_classes"}
    assert "seller" in told["other_columns"]
    assert "merchant" in told["other_columns"]


@only_sqlite
def test_columns_like_ids_and_odd_numbers_are_told(service: Service) -> None:
    lines = [f"tx-{i},{'unknown' if i % 4 == 0 else i},€ {i % 7}.50,{i % 2}" for i in range(80)]
    csv = "\n".join(["ref,amount,paid,label", *lines]) + "\n"
    made = service.upload(csv)
    roles = {column["name"]: column["role"] for column in made["columns"]}
    assert roles == {"ref": "id", "amount": "feature", "paid": "feature", "label": "label"}
    told = {(one["code"], one["column"]): one["detail"] for one in made["warnings"]}
    assert set(told) == {
        ("looks_like_id", "ref"),
        ("mostly_numbers", "amount"),
        ("looks_like_amounts", "paid"),
    }
    assert "line 2, 6, 10" in told["mostly_numbers", "amount"]
    assert service.http.get(f"/v1/datasets/{made['id']}").json()["warnings"] == made["warnings"]
    kept = service.upload(csv, roles='{"ref": "feature"}')
    assert kept["columns"][0]["role"] == "feature"
    for column, again in (("amount", "line 2, 6, 10"), ("paid", "such as 54.67")):
        costs = {"fn": {"per": {column: 1}}, "fp": 1}
        found = problem(validate(service, dataset=made["id"], costs=costs), 422, "wrong_type")
        assert again in found["errors"][0]["detail"]


@only_sqlite
@pytest.mark.parametrize(
    ("body", "query", "code", "words"),
    [
        ("a;b;label\n1;2;0\n2;3;1\n", "", "csv_syntax", "semicolons"),
        ("a;b;label\n1,5;2;0\n2;3,5;1\n", "", "csv_syntax", "semicolons"),
        ("a|b|label\n1|2|0\n2|3|1\n", "", "csv_syntax", "vertical bars"),
        ("a\tlabel\n1\t0\n2\t1\n", "", "csv_syntax", "tabs"),
        ("a,b,label1,2,03,4,1", "", "empty_body", "--data-binary"),
        (
            "a,b,fraud\n1,2,0\n3,4,1\n",
            "",
            "label_absent",
            "say which one tells the class; the columns are a, b, fraud",
        ),
        ("a,label\n1,no\n2,yes\n", "?positive_class=1", "unknown_class", "they are no, yes"),
    ],
)
def test_tables(service: Service, body: str, query: str, code: str, words: str) -> None:
    answer = service.http.post(f"/v1/datasets{query}", content=body, headers=CSV)
    assert words in problem(answer, 422, code)["detail"]


def test_a_misspelled_column_in_costs(service: Service, trained: dict[str, Any]) -> None:
    costs = {"fn": {"per": {"amuont": 1}}, "fp": 5}
    answer = service.http.post("/v1/models/newcomer/predict", json={"rows": [ROW], "costs": costs})
    [fault] = problem(answer, 422, "unknown_column")["errors"]
    assert fault["pointer"] == "/costs/fn/per/amuont"
    assert "amount, hour, merchant" in fault["detail"]


def test_a_misspelled_column_in_a_row(service: Service, trained: dict[str, Any]) -> None:
    row = {"amount": 1, "hour": 2, "merchnt": "a"}
    answer = service.http.post("/v1/models/newcomer/predict", json={"rows": [row]})
    found = problem(answer, 422, "invalid_rows")
    assert found["detail"] == "/rows/0/merchant: the column is missing; the row has merchnt"


def test_unknown_parameters_and_fields_list_the_known(service: Service, dataset: str) -> None:
    found = problem(validate(service, dataset=dataset, params={"rounds": 5}), 422, "invalid_param")
    assert "n_estimators" in found["detail"]
    found = problem(validate(service, dataset=dataset, epochs=5), 422, "invalid")
    assert "known are model, dataset" in found["detail"]
    answer = service.http.post("/predict", json={"rows": [ROW], "row": 1})
    assert "known are model, alias" in problem(answer, 422, "invalid")["detail"]
    answer = service.http.post("/predict", json={"rows": 5})
    assert problem(answer, 422, "invalid")["detail"] == "/rows: must be a list, not a whole number"


@only_sqlite
@pytest.mark.parametrize("path", ["/predict", "/v1/cost-specs", "/v1/training-jobs"])
def test_where_a_body_ceases_to_be_json(service: Service, path: str) -> None:
    answer = service.http.post(path, content='{\n "rows": [1,\n  oops]}', headers=JSON)
    assert "line 3, column 3" in problem(answer, 400, "malformed")["detail"]


def test_a_tag_without_quotes(service: Service, trained: dict[str, Any]) -> None:
    for tag in ("abc", 'W/abc, "x"'):
        answer = service.http.patch(
            "/v1/models/newcomer", json={"description": "x"}, headers={"If-Match": tag}
        )
        assert "double quotes" in problem(answer, 400, "malformed")["detail"]


@only_sqlite
def test_json_ends_with_a_newline(service: Service, trained: dict[str, Any]) -> None:
    answers = [
        service.http.get("/v1/models/newcomer"),
        service.http.get("/v1/nothing"),
        service.http.post("/v1/models/newcomer/predict", json={"rows": [ROW]}),
        service.http.get("/livez"),
    ]
    for answer in answers:
        assert answer.content.endswith(b"}\n")
        assert int(answer.headers["content-length"]) == len(answer.content)


@only_sqlite
def test_head_wherever_get_is(service: Service, trained: dict[str, Any]) -> None:
    job = f"/v1/training-jobs/{trained['id']}"
    paths = ["/livez", "/v1/models", "/v1/models/newcomer/versions/1/artifact", job, f"{job}/events", "/docs"]
    for path in paths:
        head, got = service.http.head(path), service.http.get(path)
        assert (head.status_code, head.content) == (200, b""), path
        assert head.headers.get("content-length") == got.headers.get("content-length")
        assert head.headers["content-type"] == got.headers["content-type"]
    stream = service.http.head(f"{job}/events", headers={"Accept": "text/event-stream"})
    assert (stream.status_code, stream.content) == (200, b"")
    assert service.http.head("/predict").status_code == 405


#: A table of more columns than a message lists, of which the last ones are meant.
WIDE = ",".join([*(f"column_{i}" for i in range(30)), "amount", "label"]) + "\n" + ("1," * 31 + "{}\n") * 2


@only_sqlite
@pytest.mark.parametrize(
    "option", [{"label": "Lable"}, {"roles": '{"amuont": "ignore"}'}, {"types": '{"AMOUNT": "number"}'}]
)
def test_the_column_that_is_meant_is_proposed_though_it_is_not_listed(
    service: Service, option: dict[str, str]
) -> None:
    answer = service.http.post("/v1/datasets", params=option, content=WIDE.format(0, 1), headers=CSV)
    [fault] = answer.json()["errors"]
    assert fault["code"] in ("label_absent", "unknown_column")
    assert fault["detail"].endswith(f"did you mean {'label' if 'label' in option else 'amount'}?")


@only_sqlite
def test_a_name_that_is_nearly_right_is_answered_by_the_right_one(
    service: Service, trained: dict[str, Any], dataset: str, fraud_csv: str
) -> None:
    http = service.http
    costs = {"fn": {"per": {"amuont": 1.0}}, "fp": 5}
    path = "/v1/models/newcomer"
    near = fraud_csv.replace("amount", "amuont")
    spec = json.dumps({"model": "newcomer", "label": "lable"})
    answers = [
        validate(service, dataset=dataset, costs=costs),
        validate(service, dataset=dataset, split={"kind": "time", "column": "amuont"}),
        http.post(f"{path}/predict", json={"rows": [ROW], "costs": costs}),
        http.post(f"{path}/versions/1/simulations", json={"costs": costs}),
        http.get(f"{path}/versions/1/card", params={"by": "amuont"}),
        http.post(
            "/v1/batch-predictions", files={"spec": (None, spec), "file": ("f.csv", fraud_csv, "text/csv")}
        ),
    ]
    for answer in answers:
        assert answer.status_code == 422, answer.text
        assert re.search("did you mean (amount|label)\\?", answer.json()["errors"][0]["detail"]), answer.text
    tables = {"text/csv": near, "application/json": '{"rows": [{"amuont": 1, "hour": 2, "merchant": "a"}]}'}
    for media_type, rows in tables.items():
        answer = http.post(f"{path}/predict", content=rows, headers={"Content-Type": media_type})
        assert "has amuont" in answer.json()["errors"][0]["detail"]
    other = fraud_csv.replace(",", ";")
    problem(http.post(f"{path}/predict", content=other, headers=CSV), 422, "csv_syntax")


def test_reasons_are_asked_for_by_an_object(service: Service, trained: dict[str, Any]) -> None:
    answer = service.http.post("/v1/models/newcomer/predict", json={"rows": [ROW], "explain": 3})
    (error,) = problem(answer, 422, "invalid")["errors"]
    assert (error["pointer"], '{"top": 3}' in error["detail"]) == ("/explain", True), error


def test_a_model_that_is_still_being_made_is_told_from_one_that_nobody_makes(
    fresh_service: Service, fraud_csv: str
) -> None:
    http = fresh_service.http  # nobody works off its queue
    body = {"model": "coming", "dataset": fresh_service.upload(fraud_csv)["id"], "costs": COSTS}
    assert http.post("/v1/training-jobs", json=body).status_code == 202
    for name, told in (
        ("coming", "no such model yet: a training that makes it is queued"),
        ("x", "no such model"),
    ):
        answer = http.post(f"/v1/models/{name}/predict", json={"rows": [ROW]})
        assert problem(answer, 404, "not_found")["detail"] == told
