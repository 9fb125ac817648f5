"""From a table to decisions through HTTP, with a real worker: what must hold whatever is inside."""

import json
import random
import time
from typing import Any

import pytest

from tests.service.conftest import Service, problem, table

COSTS = {"fn": 20, "fp": 1}
FEW = {"n_estimators": 20}
#: What is shown does not depend on the database.
only_sqlite = pytest.mark.parametrize("service", ["sqlite"], indirect=True)
ROWS = [{"amount": 11.5 * i, "hour": (5 * i) % 24, "merchant": "abcd"[i % 4]} for i in range(60)]


def train(service: Service, name: str, csv: str, **more: Any) -> None:
    job = service.train(
        name, csv, COSTS, params=FEW, options={"positive_class": more.pop("positive", "fraud")}, **more
    )
    assert job["status"] == "succeeded", job


def numbers(predictions: list[dict[str, Any]], positive: str = "fraud") -> list[tuple[float, float, bool]]:
    return [(one["probabilities"][positive], one["score"], one["label"] == positive) for one in predictions]


@pytest.fixture(scope="module")
def expected(service: Service, fraud_csv: str) -> list[tuple[float, float, bool]]:
    """What the model `plain` says, to compare others with."""
    train(service, "plain", fraud_csv)
    return numbers(service.predict("plain", ROWS))


def test_a_job_tells_its_story(service: Service, fraud_csv: str) -> None:
    dataset = service.upload(fraud_csv, name="story", positive_class="fraud")
    spec = {
        "model": "story",
        "dataset": dataset["id"],
        "costs": COSTS,
        "algorithm": "adacost",
        "params": FEW,
        "seed": 7,
    }
    answer = service.http.post("/v1/training-jobs", json=spec)
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/v1/training-jobs/{answer.json()['id']}"
    assert "retry-after" in answer.headers
    job = service.http.get(answer.headers["location"], headers={"Prefer": "wait=30"}).json()
    assert (job["status"], job["done"], job["error"]) == ("succeeded", True, None)
    assert job["result"]["version"] == 1
    version = service.http.get("/v1/models/story/versions/1").json()
    assert (version["algorithm"], version["seed"]) == ("adacost", 7)
    assert version["params"].items() >= FEW.items()
    assert (version["dataset"], version["dataset_sha256"]) == (dataset["id"], dataset["sha256"])
    assert 0 < version["metrics"]["roc_auc"] <= 1
    schema = service.http.get("/v1/models/story/versions/1/schema").json()
    assert {column["name"] for column in schema["columns"]} == {"amount", "hour", "merchant"}
    assert service.predict("story", [schema["example"]])
    assert service.http.delete(f"/v1/datasets/{dataset['id']}").status_code == 409


def test_whoever_saw_a_job_end_gets_its_version(service: Service, fraud_csv: str) -> None:
    for number in (1, 2, 3):
        train(service, "seen-at-its-end", fraud_csv, on_success={"alias": "champion"}, seed=number)
        answer = service.http.post("/predict", json={"model": "seen-at-its-end", "rows": ROWS[:1]})
        assert answer.json()["version"] == number


@only_sqlite
def test_numbers_near_the_largest_float_train_or_are_told(service: Service) -> None:
    rows = [f"{'-' if i % 3 else ''}1e308,{i % 7},{i % 2}" for i in range(120)]
    job = service.train("huge", "\n".join(["b,c,label", *rows]) + "\n", COSTS, params=FEW)
    assert job["status"] == "succeeded", job
    order = {"model": "squares", "dataset": job["dataset"], "costs": COSTS, "algorithm": "mixture"}
    ended = service.wait(service.http.post("/v1/training-jobs", json=order).json()["id"])
    assert (ended["status"], ended["error"]["code"]) == ("failed", "invalid_data"), ended
    assert ended["error"]["detail"].endswith("numbers beyond 1e+100: b")
    dear = [f"{i},1e101,{i % 2}" for i in range(120)]
    options = {"roles": json.dumps({"c": "cost"})}
    body = {"fn": {"per": {"c": 1}}, "fp": 1}
    dataset = service.upload("\n".join(["b,c,label", *dear]) + "\n", **options)
    answer = service.http.post(
        "/v1/training-jobs",
        json={"model": "dear", "dataset": dataset["id"], "costs": body, "algorithm": "cgada", "params": FEW},
    )
    if answer.status_code == 202:
        ended = service.wait(answer.json()["id"])
        assert (ended["status"], ended["error"]["code"]) == ("failed", "invalid_data")
    else:
        assert answer.status_code == 422, answer.text


@only_sqlite
@pytest.mark.parametrize("estimator", [{"name": "tree", "max_depth": 2}, "svm"], ids=["tree", "svm"])
def test_a_job_chooses_its_weak_learner(service: Service, fraud_csv: str, estimator: Any) -> None:
    name = f"over-{estimator if isinstance(estimator, str) else estimator['name']}"
    params = {"n_estimators": 5, "estimator": estimator}
    job = service.train(name, fraud_csv, COSTS, params=params, options={"positive_class": "fraud"})
    assert job["status"] == "succeeded", job
    kept = service.http.get(f"/v1/models/{name}/versions/1").json()["params"]
    assert {key: kept[key] for key in params} == params
    # A row alone is scored as among others.
    found = service.predict(name, ROWS)
    assert numbers(service.predict(name, ROWS[3:4])) == numbers(found)[3:4]


@only_sqlite
def test_renamed_classes_give_the_same(service: Service, fraud_csv: str, expected: list[Any]) -> None:
    # "bad" sorts before "good", "fraud" before "legit": and the other way round.
    for good, bad in (("good", "bad"), ("aa", "zz")):
        name = f"renamed-{good}"
        train(service, name, fraud_csv.replace("legit", good).replace("fraud", bad), positive=bad)
        assert numbers(service.predict(name, ROWS), bad) == expected


@only_sqlite
def test_permuted_columns_give_the_same(service: Service, fraud_csv: str, expected: list[Any]) -> None:
    turned = "\n".join(",".join(reversed(line.split(","))) for line in fraud_csv.splitlines())
    train(service, "columns", turned)
    assert numbers(service.predict("columns", ROWS)) == expected


@only_sqlite
def test_permuted_rows_give_the_same(service: Service, fraud_csv: str, expected: list[Any]) -> None:
    header, *lines = fraud_csv.splitlines()
    random.Random(1).shuffle(lines)
    train(service, "rows", "\n".join([header, *lines]))
    assert numbers(service.predict("rows", ROWS)) == expected


@only_sqlite
def test_json_and_csv_give_the_same(service: Service, fraud_csv: str, expected: list[Any]) -> None:
    header, *lines = (line.split(",") for line in fraud_csv.splitlines())
    rows = [dict(zip(header, (float(a), int(h), m, y), strict=True)) for a, h, m, y in lines]
    answer = service.http.post(
        "/v1/datasets",
        params={"positive_class": "fraud"},
        content=json.dumps(rows).encode(),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 201, answer.text
    spec = {
        "model": "json",
        "dataset": answer.json()["id"],
        "costs": COSTS,
        "algorithm": "cgada",
        "params": FEW,
    }
    job = service.wait(service.http.post("/v1/training-jobs", json=spec).json()["id"])
    assert job["status"] == "succeeded"
    assert numbers(service.predict("json", ROWS)) == expected


@only_sqlite
def test_costs_of_training_a_thousand_times_larger_decide_the_same(
    service: Service, fraud_csv: str, expected: list[Any]
) -> None:
    job = service.train(
        "dear", fraud_csv, {"fn": 20_000, "fp": 1000}, params=FEW, options={"positive_class": "fraud"}
    )
    assert job["status"] == "succeeded"
    found = numbers(service.predict("dear", ROWS))
    assert [label for *_, label in found] == [label for *_, label in expected]


@only_sqlite
def test_swapped_costs_of_training_flag_less(service: Service, fraud_csv: str, expected: list[Any]) -> None:
    job = service.train(
        "swapped", fraud_csv, {"fn": 1, "fp": 20}, params=FEW, options={"positive_class": "fraud"}
    )
    assert job["status"] == "succeeded"
    found = numbers(service.predict("swapped", ROWS))
    assert sum(label for *_, label in found) < sum(label for *_, label in expected)


def test_one_request_trains(service: Service, fraud_csv: str) -> None:
    spec = {"model": "one-request", "costs": COSTS, "algorithm": "cgada", "params": FEW}
    answer = service.http.post(
        "/v1/training-jobs",
        data={"spec": json.dumps(spec), "options": json.dumps({"positive_class": "fraud"})},
        files={"dataset": ("cards.csv", fraud_csv.encode(), "text/csv")},
    )
    assert answer.status_code == 202, answer.text
    assert service.wait(answer.json()["id"])["status"] == "succeeded"
    assert service.predict("one-request", ROWS)


@only_sqlite
def test_costs_of_each_row_train_and_decide(service: Service) -> None:
    csv = table(seed=3)
    costs = {"fn": {"per": {"amount": 1.0}, "min": 15}, "fp": {"fixed": 5, "per": {"amount": 0.02}}}
    job = service.train("amounts", csv, costs, params=FEW, options={"positive_class": "fraud"})
    assert job["status"] == "succeeded"
    [one] = service.predict("amounts", [{"amount": 500, "hour": 2, "merchant": "d"}])
    assert one["threshold"] == pytest.approx(15 / 515)


@pytest.mark.parametrize(
    ("body", "content_type", "options"),
    [
        (b"a,label\n1,x\n2\n3,y\n", "text/csv", {}),
        (b"a,a,label\n1,1,x\n2,2,y\n", "text/csv", {}),
        (b"a,label\n1\x00,x\n2,y\n", "text/csv", {}),
        ("a,label\né,x\n2,y\n".encode("latin-1"), "text/csv", {}),
        (b"", "text/csv", {}),
        (b"a,b\n1,2\n", "text/csv", {}),
        (b"a,label\n1,x\n2,x\n", "text/csv", {}),
        (b"a,label\n1,x\n2,y\n", "text/csv", {"positive_class": "z"}),
    ],
    ids=["ragged", "duplicate", "nul", "latin-1", "empty", "no label", "one class", "no such class"],
)
def test_a_bad_table_is_refused_and_leaves_nothing(
    service: Service, body: bytes, content_type: str, options: dict[str, str]
) -> None:
    before = service.http.get("/v1/datasets").json()["data"]
    stored = set(service.wiring.store.list())
    answer = service.http.post(
        "/v1/datasets", params=options, content=body, headers={"Content-Type": content_type}
    )
    assert answer.status_code in (400, 422), answer.text
    problem(answer, answer.status_code, answer.json()["code"])
    assert service.http.get("/v1/datasets").json()["data"] == before
    assert set(service.wiring.store.list()) == stored


BAD_SPECS: list[tuple[dict[str, Any], str]] = [
    ({"costs": {"fn": 1, "fp": 5, "tp": 9}}, "/costs"),
    ({"costs": {"classes": ["a", "b"], "matrix": [[0]], "orientation": "rows_true"}}, "/costs/matrix"),
    ({"costs": {"classes": ["legit", "fraud"], "matrix": [[0, 1], [1, 0]]}}, "/costs/orientation"),
    ({"costs": {"fn": {"per": {"nothing": 1}}, "fp": 1}}, "/costs/fn/per/nothing"),
    ({"algorithm": "no-such"}, "/algorithm"),
    ({"params": {"n_estimators": 0}}, "/params/n_estimators"),
    ({"params": {"n_estimators": "ten"}}, "/params/n_estimators"),
    ({"params": {"nothing": 1}}, "/params/nothing"),
    (
        {"algorithm": "cgada", "params": {"estimator": {"name": "tree", "max_depth": 99}}},
        "/params/estimator/max_depth",
    ),
    ({"dataset": "ds_0"}, "/dataset"),
    ({"model": "Not A Name"}, "/model"),
    ({"tenant_id": "x"}, "/tenant_id"),
]


@pytest.mark.parametrize(("change", "pointer"), BAD_SPECS, ids=[pointer for _, pointer in BAD_SPECS])
def test_a_bad_spec_is_refused_at_once(
    service: Service, fraud_csv: str, change: dict[str, Any], pointer: str
) -> None:
    dataset = service.upload(fraud_csv)
    before = service.http.get("/v1/training-jobs").json()["data"]
    spec = {"model": "bad", "dataset": dataset["id"], "costs": COSTS, **change}
    answer = service.http.post("/v1/training-jobs", json=spec)
    assert answer.status_code == 422, answer.text
    assert any(one["pointer"].startswith(pointer) for one in answer.json()["errors"]), answer.text
    assert service.http.get("/v1/training-jobs").json()["data"] == before


def test_a_cost_that_is_no_json_number_is_malformed(service: Service, fraud_csv: str) -> None:
    dataset = service.upload(fraud_csv)
    body = f'{{"model": "bad", "dataset": "{dataset["id"]}", "costs": {{"fn": NaN, "fp": 1}}}}'
    answer = service.http.post(
        "/v1/training-jobs", content=body.encode(), headers={"Content-Type": "application/json"}
    )
    problem(answer, 400, "malformed")


def long_job(service: Service, csv: str) -> str:
    """Begin a training that burns processor time for long, and wait until it runs."""
    dataset = service.upload(csv, positive_class="fraud")
    spec = {
        "model": "long",
        "dataset": dataset["id"],
        "costs": COSTS,
        "algorithm": "cgada",
        "params": {"n_estimators": 10_000},
    }
    job_id: str = service.http.post("/v1/training-jobs", json=spec).json()["id"]
    end = time.monotonic() + 30
    while service.http.get(f"/v1/training-jobs/{job_id}").json()["progress"] is None:
        assert time.monotonic() < end
        time.sleep(0.05)
    return job_id


def test_while_a_job_burns_answers_come_at_once(service: Service, expected: list[Any]) -> None:
    job_id = long_job(service, table(rows=20_000))
    seconds: list[float] = []
    for row in ROWS:
        begun = time.perf_counter()
        assert service.http.get("/livez").status_code == 200
        service.predict("plain", [row])
        seconds.append(time.perf_counter() - begun)
    assert service.http.get(f"/v1/training-jobs/{job_id}").json()["status"] == "running"
    assert service.http.post(f"/v1/training-jobs/{job_id}/cancel").status_code == 202
    assert sorted(seconds)[len(seconds) // 2] < 1.0  # a fit in this process would hold up each
    assert service.wait(job_id)["status"] == "cancelled"
