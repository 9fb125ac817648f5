"""Batch predictions over HTTP: the decisions of a file are those of `/predict`, row by row."""

import csv
import io
import itertools
import json
import math
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.service.api.test_simulations import REVIEW as LOOK
from tests.service.conftest import Service, problem, table
from tests.service.records import add_version, grown_old

only_sqlite = pytest.mark.parametrize("service", ["sqlite"], indirect=True)
PATH = "/v1/batch-predictions"
COSTS: dict[str, Any] = {"fn": {"per": {"amount": 1.0}}, "fp": 5}


def with_ids(csv_text: str, first_day: int = 2) -> str:
    """The table with an id, a subject and a time for each row, 100 a day."""
    head, *lines = csv_text.splitlines()
    days = [f"2026-03-{first_day + i // 100:02}T10:00:00Z" for i in range(len(lines))]
    rows = [f"tx-{i},c-{i % 50},{days[i]},{line}" for i, line in enumerate(lines)]
    return "\n".join([f"id,customer,at,{head}", *rows]) + "\n"


CSV = with_ids(table(400))
ROLES = '{"id": "id", "customer": "subject", "at": "time"}'


@pytest.fixture(scope="module")
def files(service: Service) -> tuple[Service, str]:
    """The service with a model `files`, and the id of its dataset."""
    options = {"positive_class": "fraud", "roles": ROLES}
    job = service.train("files", CSV, COSTS, options=options, params={"n_estimators": 15})
    assert job["status"] == "succeeded", job
    return service, job["dataset"]


def wait(service: Service, answer: Any) -> dict[str, Any]:
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"{PATH}/{answer.json()['id']}"
    read = service.http.get(answer.headers["location"], headers={"Prefer": "wait=60"})
    found: dict[str, Any] = read.json()
    assert found["done"], found
    return found


def send(service: Service, content: str | bytes, media_type: str = "text/csv", **spec: Any) -> Any:
    files = {"file": ("rows", content, media_type)}
    return service.http.post(PATH, files=files, data={"spec": json.dumps({"model": "files", **spec})})


def output(service: Service, done: dict[str, Any]) -> list[dict[str, Any]]:
    assert done["status"] == "succeeded", done
    answer = service.http.get(f"{PATH}/{done['id']}/output")
    assert answer.status_code == 200
    assert len(answer.content) == done["result"]["bytes"]
    match done["output"]:
        case "csv":
            return list(csv.DictReader(io.StringIO(answer.text)))
        case "parquet":
            rows: list[dict[str, Any]] = pq.read_table(io.BytesIO(answer.content)).to_pylist()
            return rows
        case _:
            streamed: list[dict[str, Any]] = pa.ipc.open_stream(answer.content).read_all().to_pylist()
            return streamed


def rows_of(text: str) -> list[dict[str, Any]]:
    return [
        {
            "amount": float(row["amount"]),
            "hour": int(row["hour"]),
            "merchant": row["merchant"],
            "id": row["id"],
        }
        for row in csv.DictReader(io.StringIO(text))
    ]


def test_a_dataset_gets_the_decisions_of_predict(files: tuple[Service, str]) -> None:
    service, dataset = files
    done = wait(
        service, service.http.post(PATH, json={"model": "files", "dataset": dataset, "output": "parquet"})
    )
    assert done["id"].startswith("bp_")
    assert (done["version"], done["dataset"], done["rows"], done["attempt"]) == (1, dataset, 400, 1)
    assert done["progress"]["fraction"] == 1.0
    found = output(service, done)
    expected = service.predict("files", rows_of(CSV))
    for one, row in zip(expected, found, strict=True):
        assert (row["id"], row["decision"], row["label"]) == (one["id"], one["decision"], one["label"])
        assert row["probability_fraud"] == one["probabilities"]["fraud"]
        assert row["expected_cost_legit"] == one["expected_cost"]["legit"]
        assert (row["score"], row["threshold"]) == (one["score"], one["threshold"])
    result = done["result"]
    assert result["decisions"]["fraud"] == sum(one["decision"] == "fraud" for one in expected)
    paid = math.fsum(one["expected_cost"][one["decision"]] for one in expected)
    assert math.isclose(result["expected_cost"], paid)
    metrics = result["metrics"]
    assert metrics["labelled_rows"] == sum(map(sum, metrics["confusion"])) == 400
    assert (result["rows"], result["failed_rows"], result["review"]) == (400, 0, None)


@only_sqlite
@pytest.mark.parametrize(("media_type", "out"), [("text/csv", "csv"), ("application/x-ndjson", "arrow")])
def test_a_file_without_labels_is_decided(files: tuple[Service, str], media_type: str, out: str) -> None:
    service, _ = files
    rows = rows_of(CSV)[:50]
    text = "\n".join(map(json.dumps, rows))
    if media_type == "text/csv":
        text = "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]) + "\n"
    done = wait(service, send(service, text, media_type, output=out))
    found, expected = output(service, done), service.predict("files", rows)
    assert [row["decision"] for row in found] == [one["decision"] for one in expected]
    assert [float(row["probability_fraud"]) for row in found] == [
        one["probabilities"]["fraud"] for one in expected
    ]
    assert [row["id"] for row in found] == [row["id"] for row in rows]
    assert (done["dataset"], done["result"]["metrics"], done["result"]["warnings"]) == (None, None, [])


@only_sqlite
def test_a_file_is_known_by_the_column_that_was_the_id_in_training(service: Service) -> None:
    text = with_ids(table(100)).replace("id,", "order,", 1)
    roles = ROLES.replace('"id":', '"order":')
    service.train("orders", text, COSTS, options={"roles": roles}, params={"n_estimators": 2})
    found = output(service, wait(service, send(service, text, model="orders")))
    assert [row["id"] for row in found] == [f"tx-{i}" for i in range(100)]
    rows = [{**row, "order": row["id"]} for row in rows_of(CSV)[:3]]
    for row in rows:
        row.pop("id")
    told = service.predict("orders", [*rows, {**rows[0], "id": 7}])
    assert [(one["id"], one["warnings"]) for one in told] == [*((f"tx-{i}", []) for i in range(3)), (7, [])]
    alone = service.predict("orders", rows[:1], record="durable")[0]
    record = service.http.get(f"/v1/predictions/{alone['prediction_id']}").json()
    assert (alone["id"], record["row_id"]) == ("tx-0", "tx-0")
    nameless = {name: value for name, value in rows[0].items() if name != "order"}
    assert "id" not in service.predict("orders", [nameless])[0]
    assert "id" not in service.predict("orders", [{**nameless, "order": ["no", "id"]}])[0]
    path, csv = "/v1/models/orders/predict", {"Content-Type": "text/csv"}
    lines = service.http.post(path, content=text, headers=csv).text.splitlines()
    assert [lines[0].split(",")[0], lines[1].split(",")[0]] == ["id", "tx-0"]


def test_reviews_keep_to_their_capacity_within_the_file(files: tuple[Service, str]) -> None:
    service, _ = files
    daily = {**LOOK, "review": {**LOOK["review"], "capacity": {"max": 3, "per": "day"}}}
    done = wait(service, send(service, with_ids(table(400, seed=5)), costs=daily, output="parquet"))
    found = output(service, done)
    looked = [i for i, row in enumerate(found) if row["decision"] == "look"]
    for day in range(4):
        assert 0 < sum(day * 100 <= i < (day + 1) * 100 for i in looked) <= 3
    review = done["result"]["review"]
    assert review["rows"] == len(looked)
    assert review["shadow_price"] > 0
    assert done["result"]["metrics"]["labelled_rows"] == 400
    few = wait(service, send(service, with_ids(table(400, seed=5)), costs=LOOK, capacity={"max": 5}))
    price = few["result"]["review"]["shadow_price"]
    priced = {**LOOK, "review": {**LOOK["review"], "shadow_price": price}}
    one_by_one = service.predict("files", rows_of(with_ids(table(400, seed=5))), costs=priced)
    assert [one["decision"] for one in one_by_one] == [row["decision"] for row in output(service, few)]


@only_sqlite
def test_reasons_and_priors_and_stored_costs(files: tuple[Service, str]) -> None:
    service, dataset = files
    service.http.post("/v1/cost-specs", json={"name": "strict-files", "fn": 500, "fp": 10})
    more: dict[str, Any] = {"priors": {"fraud": 0.01}, "explain": {"top": 2}, "cost_spec": "strict-files"}
    done = wait(
        service,
        service.http.post(PATH, json={"dataset": dataset, "model": "files", "output": "arrow", **more}),
    )
    assert done["cost_spec"].startswith("cs_")
    for one, row in zip(service.predict("files", rows_of(CSV), **more), output(service, done), strict=True):
        assert row["decision"] == one["decision"]
        assert row["baseline"] == one["baseline"]
        told = [(row[f"reason_{k}"], row[f"contribution_{k}"]) for k in (1, 2)]
        assert told == [(reason["feature"], reason["contribution"]) for reason in one["reasons"]]


@only_sqlite
def test_categories_that_training_never_saw_are_counted(files: tuple[Service, str]) -> None:
    service, _ = files
    head, *lines = CSV.splitlines()
    place = head.split(",").index("merchant")
    for row in range(3):
        cells = lines[row].split(",")
        lines[row] = ",".join([*cells[:place], "never seen", *cells[place + 1 :]])
    (told,) = wait(service, send(service, "\n".join([head, *lines]) + "\n"))["result"]["warnings"]
    assert (told["code"], told["rows"]) == ("unknown_category", 3)
    assert "merchant" in told["detail"]
    assert "never seen" not in told["detail"]


@only_sqlite
def test_a_label_that_is_no_class_is_warned_of(files: tuple[Service, str]) -> None:
    service, _ = files
    head, *lines = CSV.splitlines()
    for row, label in ((0, "stolen"), (1, "lost"), (2, "")):
        lines[row] = lines[row].rpartition(",")[0] + f",{label}"
    result = wait(service, send(service, "\n".join([head, *lines]) + "\n"))["result"]
    assert [(one["code"], one["rows"]) for one in result["warnings"]] == [("unknown_class", 2)]
    assert result["metrics"]["labelled_rows"] == 397
    assert "stolen" not in json.dumps(result)


@only_sqlite
def test_a_row_whose_costs_cannot_be_computed_is_empty(files: tuple[Service, str]) -> None:
    service, _ = files
    gone = CSV.splitlines()
    cells = gone[1].split(",")
    cells[3] = ""
    holes = service.upload("\n".join([gone[0], ",".join(cells), *gone[2:]]) + "\n", roles=ROLES)
    body = {"model": "files", "dataset": holes["id"], "output": "parquet"}
    done = wait(service, service.http.post(PATH, json=body))
    assert (done["result"]["failed_rows"], done["result"]["metrics"]["labelled_rows"]) == (1, 399)
    first, second, *_ = output(service, done)
    assert (first["id"], first["decision"], first["probability_fraud"]) == ("tx-0", None, None)
    assert second["decision"] is not None


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"model": "files"}, "/dataset", "missing"),
    ({"dataset": "nobody"}, "/dataset", "unknown_dataset"),
    ({"dataset": "nobody", "output": "xlsx"}, "/output", "literal_error"),
    ({"dataset": "nobody", "costs": {"fn": 1, "fp": -9}}, "/costs/fp", "unreasonable_costs"),
    ({"dataset": "nobody", "priors": {"nobody": 1}}, "/priors/nobody", "unknown_class"),
    ({"dataset": "nobody", "capacity": {"max": 1}}, "/capacity", "no_review_action"),
    ({"dataset": "nobody", "cost_spec": "nobody"}, "/cost_spec", "unknown_cost_spec"),
    ({"dataset": "nobody", "explain": {"top": 0}}, "/explain/top", "greater_than_equal"),
    ({"dataset": "nobody", "shoe": 1}, "/shoe", "unknown_field"),
]


@only_sqlite
@pytest.mark.parametrize(
    ("body", "place", "code"), WRONG, ids=[f"{place}-{code}" for _, place, code in WRONG]
)
def test_what_does_not_fit_is_refused_at_once(
    files: tuple[Service, str], body: dict[str, Any], place: str, code: str
) -> None:
    answer = files[0].http.post(PATH, json={"model": "files", **body})
    assert answer.status_code == 422, answer.text
    assert (place, code) in {(one["pointer"], one["code"]) for one in answer.json()["errors"]}


@only_sqlite
def test_faults_of_a_file_have_their_lines(files: tuple[Service, str]) -> None:
    service, _ = files
    wrong = "amount,hour,merchant\n1,2,a\nx,3,b\n4,y,c\n"
    found = problem(send(service, wrong), 422, "invalid_rows")
    assert [(one["line"], one["column"]) for one in found["errors"]] == [(3, "amount"), (4, "hour")]
    problem(send(service, "amount,hour\n1,2\n"), 422, "invalid_rows")
    problem(send(service, wrong, label="nobody"), 422, "invalid_rows")
    good = "amount,hour,merchant\n1,2,a\n"
    assert (
        problem(send(service, good, label="nobody"), 422, "label_absent")["errors"][0]["pointer"] == "/label"
    )
    daily = {**LOOK, "review": {**LOOK["review"], "capacity": {"max": 3, "per": "day"}}}
    problem(send(service, good, costs=daily), 422, "invalid_rows")
    problem(service.http.post(PATH, json={"model": "nobody", "dataset": "x"}), 404, "not_found")
    form = service.http.post(PATH, files={"file": ("rows", good, "text/csv")}, data={"mood": "1"})
    assert problem(form, 422, "invalid")["errors"][0]["pointer"] == "/mood"


def test_batch_predictions_are_listed_and_read(files: tuple[Service, str]) -> None:
    service, dataset = files
    done = wait(service, service.http.post(PATH, json={"model": "files", "dataset": dataset}))
    listed = service.http.get(PATH, params={"limit": 1, "status": "succeeded"}).json()["data"]
    assert [one["id"] for one in listed] == [done["id"]]
    assert done["id"] not in str(service.http.get("/v1/training-jobs").json())
    problem(service.http.post(f"{PATH}/{done['id']}/cancel"), 409, "conflict")
    problem(service.http.get(f"{PATH}/bp_nobody"), 404, "not_found")
    problem(service.http.get(f"{PATH}/bp_nobody/output"), 404, "not_found")
    problem(service.http.post(f"{PATH}/bp_nobody/cancel"), 404, "not_found")


def test_a_retry_with_a_key_makes_no_second_one(files: tuple[Service, str]) -> None:
    service, dataset = files
    headers = {"Idempotency-Key": "batch-once"}
    first, second = (
        service.http.post(PATH, json={"model": "files", "dataset": dataset}, headers=headers)
        for _ in range(2)
    )
    assert first.json()["id"] == second.json()["id"]
    wait(service, first)


@only_sqlite
def test_one_that_waits_can_be_cancelled_and_has_no_output(
    files: tuple[Service, str], fresh_service: Service
) -> None:
    """Without a worker everything waits; the model comes from the other service."""
    service, _ = files
    artifact = service.http.get("/v1/models/files/versions/1/artifact").content
    add_version(fresh_service.wiring, "files", data=artifact)
    waiting = send(fresh_service, "amount,hour,merchant\n1,2,a\n").json()
    assert (waiting["status"], waiting["queue_position"]) == ("queued", 1)
    problem(fresh_service.http.get(f"{PATH}/{waiting['id']}/output"), 409, "not_done")
    for _ in range(2):
        ended = fresh_service.http.post(f"{PATH}/{waiting['id']}/cancel")
        assert (ended.status_code, ended.json()["status"]) == (202, "cancelled")
    assert ended.json()["error"]["code"] == "cancelled"
    again = send(fresh_service, "amount,hour,merchant\n1,2,a\n").json()
    for one in (waiting, again):
        assert fresh_service.http.delete(f"{PATH}/{one['id']}").status_code == 204
    assert fresh_service.wiring.queue.waiting_or_begun() == set()
    assert fresh_service.http.get(PATH).json()["data"] == []
    assert len(set(fresh_service.wiring.store.list())) == 1  # the model


def test_what_is_deleted_takes_its_files_along(files: tuple[Service, str]) -> None:
    service, _ = files
    store, few = service.wiring.store, "amount,hour,merchant\n1,2,a\n900,3,d\n"
    first, second = (wait(service, send(service, few)) for _ in range(2))
    sizes = [len(set(store.list()))]
    assert output(service, first) == output(service, second)
    grown_old(store)
    for one in (first, second):
        assert service.http.delete(f"{PATH}/{one['id']}").status_code == 204
        problem(service.http.get(f"{PATH}/{one['id']}/output"), 404, "not_found")
        problem(service.http.delete(f"{PATH}/{one['id']}"), 404, "not_found")
        sizes.append(len(set(store.list())))
        if one is first:
            assert output(service, second)  # equal bytes are kept once
    assert [before - after for before, after in itertools.pairwise(sizes)] == [1, 2]
    [entry, *_] = service.http.get("/v1/audit-log").json()["data"]
    assert (entry["action"], entry["target"]) == ("batch_prediction.delete", f"{PATH}/{second['id']}")


def test_a_subject_is_erased_with_the_files_that_hold_it(files: tuple[Service, str]) -> None:
    service, _ = files
    table_of = "customer,amount,hour,merchant\n{},1,2,a\n"
    mine, other = (wait(service, send(service, table_of.format(name))) for name in ("me", "them"))
    plain = wait(service, send(service, "amount,hour,merchant\n1,2,a\n"))
    dataset = service.upload(CSV.replace("c-7,", "me,"), roles=ROLES)["id"]
    held = wait(service, service.http.post(PATH, json={"model": "files", "dataset": dataset}))
    erased = service.http.delete("/v1/subjects/me").json()
    assert (erased["batch_predictions"], [one["id"] for one in erased["datasets"]]) == (2, [dataset])
    for one in (mine, held):
        problem(service.http.get(f"{PATH}/{one['id']}"), 404, "not_found")
    again = wait(service, service.http.post(PATH, json={"model": "files", "dataset": dataset}))
    assert service.http.delete(f"/v1/datasets/{dataset}").status_code == 204
    erased = service.http.delete("/v1/subjects/nobody-at-all").json()
    assert erased["batch_predictions"] == 1  # whom its rows were about cannot be told any more
    problem(service.http.get(f"{PATH}/{again['id']}"), 404, "not_found")
    for one in (other, plain):
        assert output(service, one)
