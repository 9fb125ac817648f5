"""`/predict` over HTTP: who answers, with which numbers, and what is refused."""

import json
import math
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from service.db import registry
from service.main import environment
from tests.service.conftest import Service, problem, table

only_sqlite = pytest.mark.parametrize("service", ["sqlite"], indirect=True)
ROW = {"amount": 220.5, "hour": 3, "merchant": "d"}
ROWS = [{"amount": 7.25 * i, "hour": i % 24, "merchant": "abcd"[i % 4]} for i in range(500)]
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def cards(service: Service, fraud_csv: str) -> Service:
    """The service with a model `cards` of two classes, trained at 20 : 1."""
    job = service.train("cards", fraud_csv, {"fn": 20, "fp": 1}, options={"positive_class": "fraud"})
    assert job["status"] == "succeeded", job
    return service


@pytest.fixture(scope="module")
def animals(service: Service) -> Service:
    """The service with a model `animals` of three classes."""
    costs = {
        "classes": ["a", "b", '50% "c"'],
        "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]],
        "orientation": "rows_true",
    }
    job = service.train("animals", table(classes=("a", "b", '"50% ""c"""')), costs)
    assert job["status"] == "succeeded", job
    return service


def test_a_row_gets_all_that_is_promised(cards: Service) -> None:
    answer = cards.http.post("/v1/models/cards/predict", json={"rows": [{"id": "tx-1", **ROW}]})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["model"], body["version"]) == ("cards", 1)
    assert body["costs"] == {"source": "training", "repriced": False}
    [one] = body["predictions"]
    p = one["probabilities"]["fraud"]
    assert 0 < p < 1
    assert math.isclose(sum(one["probabilities"].values()), 1.0)
    assert math.isclose(one["log_odds"], math.log(p / (1 - p)), rel_tol=1e-9)
    assert math.isclose(one["threshold"], 1 / 21)
    assert one["thresholds_exact"] is True
    assert math.isclose(one["thresholds"]["legit"], 20 / 21)
    assert math.isclose(one["expected_cost"]["legit"], 20 * p)
    assert math.isclose(one["expected_cost"]["fraud"], 1 - p)
    assert one["decision"] == one["label"] == ("fraud" if p > 1 / 21 else "legit")
    assert (one["id"], one["decision_source"], one["warnings"]) == ("tx-1", "expected_cost", [])


def test_the_three_paths_answer_alike(cards: Service) -> None:
    body = {"model": "cards", "rows": [ROW]}
    answers = [
        cards.http.post("/predict", json=body),
        cards.http.post("/v1/predict", json={**body, "alias": "champion"}),
        cards.http.post("/v1/models/cards/predict", json={"rows": [ROW]}),
        cards.http.post("/v1/models/cards/predict?alias=champion", json=body),
        cards.http.post("/v1/models/cards/predict?version=1", json={"rows": [ROW]}),
        cards.http.post("/predict", json={**body, "version": 1}),
    ]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1


def test_a_row_alone_and_in_a_batch_of_500_gets_identical_numbers(cards: Service) -> None:
    together = cards.predict("cards", ROWS)
    alone = [cards.predict("cards", [row])[0] for row in ROWS[::7]]
    assert together[::7] == alone


@only_sqlite
@pytest.mark.parametrize(
    "row",
    [
        {"id": "a", **ROW, "colour": "red", "shade": 1},
        {"id": None, **ROW, "merchant": "never seen"},
        {"id": 7.5, "amount": None, "hour": 3, "merchant": None},
        {"amount": 10**300, "hour": -0.0, "merchant": 3},
    ],
)
def test_an_odd_row_is_answered_alone_as_among_others(cards: Service, row: dict[str, Any]) -> None:
    alone, among = cards.predict("cards", [row])[0], cards.predict("cards", [row, ROW])[0]
    assert json.dumps(alone) == json.dumps(among)


def test_a_batch_of_three_classes_answers_like_its_rows(animals: Service) -> None:
    together = animals.predict("animals", ROWS[:300])
    assert together[::50] == [animals.predict("animals", [row])[0] for row in ROWS[:300:50]]
    one = together[0]
    assert set(one["score"]) == set(one["log_odds"]) == {"a", "b", '50% "c"'}
    assert (one["threshold"], one["thresholds"], one["thresholds_exact"]) == (None, None, False)


def test_columns_in_any_order_give_the_same(cards: Service) -> None:
    assert cards.predict("cards", [dict(reversed(ROW.items()))]) == cards.predict("cards", [ROW])


def test_costs_of_the_request_move_decisions_and_never_probabilities(cards: Service) -> None:
    before = cards.predict("cards", ROWS)
    dear_misses = cards.predict("cards", ROWS, costs={"fn": 500, "fp": 1})
    dear_alarms = cards.predict("cards", ROWS, costs={"fn": 1, "fp": 500})
    for one, misses, alarms in zip(before, dear_misses, dear_alarms, strict=True):
        assert one["probabilities"] == misses["probabilities"] == alarms["probabilities"]
        assert one["score"] == misses["score"]

    def flagged(predictions: list[dict[str, Any]]) -> int:
        return sum(one["label"] == "fraud" for one in predictions)

    assert flagged(dear_misses) > flagged(before) > flagged(dear_alarms)


def test_a_thousand_times_the_costs_decide_the_same(cards: Service) -> None:
    once = cards.predict("cards", ROWS, costs={"fn": 7, "fp": 2, "tp": 1, "tn": -0.5})
    thousand = cards.predict("cards", ROWS, costs={"fn": 7000, "fp": 2000, "tp": 1000, "tn": -500})
    assert [one["decision"] for one in once] == [one["decision"] for one in thousand]


def test_costs_can_depend_on_the_row(cards: Service) -> None:
    costs = {"fn": {"per": {"amount": 1.0}}, "fp": 50}
    answer = cards.http.post(
        "/predict", json={"model": "cards", "rows": [ROW, {**ROW, "amount": 0}], "costs": costs}
    )
    assert answer.json()["costs"] == {"source": "request", "repriced": True}
    dear, free = answer.json()["predictions"]
    assert math.isclose(dear["threshold"], 50 / (50 + ROW["amount"]))
    assert (free["threshold"], free["thresholds"], free["decision"]) == (None, None, "legit")


def test_a_cost_column_is_needed_where_costs_read_it(cards: Service) -> None:
    costs = {"fn": {"per": {"loss": 1.0}}, "fp": 5}
    answer = cards.http.post("/predict", json={"model": "cards", "rows": [ROW], "costs": costs})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/rows/0/loss"
    priced = cards.predict("cards", [{**ROW, "loss": 95.0}], costs=costs)
    assert math.isclose(priced[0]["threshold"], 0.05)


def test_a_stored_cost_spec_prices_again(cards: Service) -> None:
    spec = cards.http.post("/v1/cost-specs", json={"name": "strict", "fn": 500, "fp": 10}).json()
    by_id = cards.predict("cards", ROWS[:20], cost_spec=spec["id"])
    assert by_id == cards.predict("cards", ROWS[:20], costs={"fn": 500, "fp": 10})
    assert by_id == cards.predict("cards", ROWS[:20], cost_spec=spec["id"])


def test_a_threshold_overrides_the_costs(cards: Service) -> None:
    for one in cards.predict("cards", ROWS[:50], threshold=0.5, costs={"fn": 1000, "fp": 1}):
        assert one["decision_source"] == "threshold"
        assert one["threshold"] == 0.5
        assert one["label"] == ("fraud" if one["probabilities"]["fraud"] > 0.5 else "legit")


def test_priors_move_probabilities(cards: Service) -> None:
    [before], [rare] = cards.predict("cards", [ROW]), cards.predict("cards", [ROW], priors={"fraud": 0.004})
    assert rare["probabilities"]["fraud"] < before["probabilities"]["fraud"]
    assert rare["score"] == before["score"]


def test_extra_columns_and_unknown_categories_are_warned_of(cards: Service) -> None:
    rows = [{**ROW, "merchant": "zz", "shoe_size": 43}, ROW]
    strange, plain = cards.predict("cards", rows)
    assert strange["warnings"] == [
        {"code": "unknown_column", "feature": "shoe_size"},
        {"code": "unknown_category", "feature": "merchant"},
    ]
    assert plain["warnings"] == []


def test_missing_values_are_answered(cards: Service) -> None:
    [one] = cards.predict("cards", [{"amount": None, "hour": None, "merchant": None}])
    assert one["decision"] in ("legit", "fraud")


def test_a_row_with_a_fault_can_be_answered_with_null(cards: Service) -> None:
    rows = [{"id": 1, **ROW}, {"id": 2, "amount": "canary", "hour": 1, "merchant": "a"}, {"id": 3, **ROW}]
    answer = cards.http.post("/predict", json={"model": "cards", "rows": rows, "on_row_error": "null"}).json()
    good, bad, other = answer["predictions"]
    assert (good["id"], bad["id"], other["id"]) == (1, 2, 3)
    assert (bad["decision"], bad["probabilities"], bad["score"]) == (None, None, None)
    assert {**good, "id": 3} == other
    assert (answer["errors"][0]["pointer"], answer["errors_total"]) == ("/rows/1/amount", 1)
    assert "canary" not in str(answer)


def test_when_all_rows_have_faults_all_are_null(cards: Service) -> None:
    body = {"model": "cards", "rows": [{}, 3], "on_row_error": "null"}
    answer = cards.http.post("/predict", json=body).json()
    assert [one["decision"] for one in answer["predictions"]] == [None, None]


def test_a_cost_that_is_not_finite_is_the_fault_of_its_row(cards: Service) -> None:
    rows = [
        {**ROW, "loss": 1.0},
        {**ROW, "amount": "x", "loss": 1.0},
        {**ROW, "loss": 1e300},
        {**ROW, "loss": 2.0},
    ]
    body = {"model": "cards", "costs": {"fn": {"per": {"loss": 1e10}}, "fp": 5}}
    found = cards.http.post("/predict", json={**body, "rows": rows[::2]})
    assert problem(found, 422, "cost_not_finite")["errors"][0]["pointer"] == "/rows/1"
    answer = cards.http.post("/predict", json={**body, "rows": rows, "on_row_error": "null"}).json()
    assert [one["decision"] is None for one in answer["predictions"]] == [False, True, True, False]
    assert {one["pointer"] for one in answer["errors"]} == {"/rows/1/amount", "/rows/2"}


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"rows": [{"hour": 1, "merchant": "a"}]}, "/rows/0/amount", "missing_column"),
    ({"rows": [ROW, {**ROW, "amount": "12"}]}, "/rows/1/amount", "wrong_type"),
    ({"rows": [{**ROW, "merchant": ["a"]}]}, "/rows/0/merchant", "wrong_type"),
    ({"rows": [{**ROW, "id": {}}]}, "/rows/0/id", "wrong_type"),
    ({"rows": [5]}, "/rows/0", "wrong_type"),
    ({"rows": []}, "/rows", "too_few"),
    ({"rows": {}}, "/rows", "wrong_type"),
    ({}, "/rows", "missing"),
    ({"rows": [ROW], "tenant_id": 1}, "/tenant_id", "unknown_field"),
    ({"rows": [ROW], "version": "1"}, "/version", "wrong_type"),
    ({"rows": [ROW], "version": 0}, "/version", "out_of_range"),
    ({"rows": [ROW], "version": 2**70}, "/version", "out_of_range"),
    ({"rows": [ROW], "version": 1, "alias": "champion"}, "/version", "exclusive"),
    ({"rows": [ROW], "model": "other"}, "/model", "exclusive"),
    ({"rows": [ROW], "model": ""}, "/model", "too_short"),
    ({"rows": [ROW], "alias": ""}, "/alias", "too_short"),
    ({"rows": [ROW], "threshold": 1.5}, "/threshold", "out_of_range"),
    ({"rows": [ROW], "on_row_error": "skip"}, "/on_row_error", "unknown_value"),
    ({"rows": [ROW], "priors": {"fraud": 2}}, "/priors/fraud", "out_of_range"),
    ({"rows": [ROW], "priors": {"nobody": 0.5}}, "/priors/nobody", "unknown_class"),
    ({"rows": [ROW], "costs": {"fn": 1}}, "/costs/fp", "missing"),
    ({"rows": [ROW], "costs": {"fn": 1, "fp": "x"}}, "/costs/fp", "cost_cell"),
    ({"rows": [ROW], "costs": {"fn": -1, "fp": 5}}, "/costs/fn", "unreasonable_costs"),
    ({"rows": [ROW], "costs": {"fn": 1, "fp": 1}, "cost_spec": "cs_1"}, "/cost_spec", "exclusive"),
    ({"rows": [ROW], "cost_spec": "cs_1"}, "/cost_spec", "unknown_cost_spec"),
    ({"rows": [ROW], "explain": {"top": 0}}, "/explain/top", "out_of_range"),
    ({"rows": [ROW], "explain": {"best": 3}}, "/explain/best", "unknown_field"),
    ({"rows": [ROW], "explain": True}, "/explain", "wrong_type"),
    ({"rows": [ROW], "record": "often"}, "/record", "unknown_value"),
    ({"rows": [ROW], "record": 3}, "/record", "wrong_type"),
]


@pytest.mark.parametrize(("body", "pointer", "code"), BAD, ids=[f"{place}-{code}" for _, place, code in BAD])
def test_what_is_wrong_is_refused_with_its_place(
    cards: Service, body: dict[str, Any], pointer: str, code: str
) -> None:
    answer = cards.http.post("/v1/models/cards/predict", json=body)
    assert answer.status_code == 422, answer.text
    problem(answer, 422, answer.json()["code"])
    assert (pointer, code) in {(one["pointer"], one["code"]) for one in answer.json()["errors"]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"rows": [{"amount": NaN}]}',
        b'{"rows": [{"amount": Infinity}]}',
        b"\xff",
        b'{"rows": ' + b"[" * 100_000,
    ],
    ids=["empty", "cut", "NaN", "Infinity", "latin-1", "deep"],
)
def test_what_is_no_json_is_malformed(sqlite_service: Service, body: bytes) -> None:
    problem(sqlite_service.http.post("/predict", content=body, headers=JSON), 400, "malformed")


def test_numbers_beyond_all_bounds_are_refused(cards: Service) -> None:
    body = b'{"rows": [{"amount": 1e999, "hour": 1, "merchant": "a"}]}'
    answer = cards.http.post("/v1/models/cards/predict", content=body, headers=JSON)
    assert answer.status_code in (400, 422)
    huge = cards.http.post("/v1/models/cards/predict", json={"rows": [{**ROW, "amount": 10**400}]})
    assert huge.json()["errors"][0]["pointer"] == "/rows/0/amount"


def test_unknown_models_versions_and_aliases_are_not_found(cards: Service) -> None:
    for path, more in (
        ("/v1/models/nobody/predict", {}),
        ("/v1/models/Not%20a%20name/predict", {}),
        ("/predict", {"model": "nobody"}),
        ("/predict", {"model": "cards", "alias": "nobody"}),
        ("/predict", {"model": "cards", "alias": "no alias"}),
        ("/predict", {"model": "cards", "version": 99}),
    ):
        found = problem(cards.http.post(path, json={"rows": [ROW], **more}), 404, "not_found")
        named = list(more)[-1:]
        assert [one["pointer"] for one in found.get("errors", [])] == [f"/{name}" for name in named]


def test_without_any_model_one_is_required(sqlite_service: Service) -> None:
    problem(sqlite_service.http.post("/predict", json={"rows": [ROW]}), 422, "model_required")


def test_other_media_types_are_refused(sqlite_service: Service) -> None:
    answer = sqlite_service.http.post("/predict", content=b"<x/>", headers={"Content-Type": "text/xml"})
    problem(answer, 415, "unsupported_media_type")
    answer = sqlite_service.http.post("/predict", json={"rows": [ROW]}, headers={"Accept": "text/html"})
    problem(answer, 406, "not_acceptable")


def test_more_rows_than_allowed_are_too_many(cards: Service) -> None:
    body = {"rows": [{}] * (cards.settings.max_predict_rows + 100_000)}
    problem(cards.http.post("/v1/models/cards/predict", json=body), 413, "too_many_rows")


def test_a_body_larger_than_allowed_is_too_large(sqlite_service: Service) -> None:
    size = sqlite_service.settings.max_predict_bytes + 1
    answer = sqlite_service.http.post("/predict", content=b" " * size, headers=JSON)
    problem(answer, 413, "body_too_large")


def test_a_moved_alias_is_seen_within_a_second_by_every_process(cards: Service, fraud_csv: str) -> None:
    """The alias is moved past the process that answers, as another process would."""
    job = cards.train("moving", fraud_csv, {"fn": 20, "fp": 1}, params={"n_estimators": 5})
    cards.train("moving", fraud_csv, {"fn": 20, "fp": 1}, params={"n_estimators": 10})
    assert job["result"]["version"] == 1
    assert cards.http.post("/v1/models/moving/predict", json={"rows": [ROW]}).json()["version"] == 1
    with cards.wiring.sessions() as session:
        model = registry.find_model(session, "default", "moving")
        alias = registry.find_alias(session, model, "champion")
        registry.save_alias(session, alias.moved(datetime.now(UTC), 2, "by hand"))
        session.commit()
    time.sleep(1.0)
    assert cards.http.post("/v1/models/moving/predict", json={"rows": [ROW]}).json()["version"] == 2


def test_a_moved_alias_is_seen_at_once_by_who_moved_it(cards: Service) -> None:
    path = "/v1/models/moving/aliases/champion"
    for number in (1, 2, 1):
        etag = cards.http.get(path).headers["etag"]
        cards.http.put(path, json={"version": number}, headers={"If-Match": etag})
        found = cards.http.post("/v1/models/moving/predict", json={"rows": [ROW]}).json()["version"]
        assert found == number


@only_sqlite
def test_a_corrupt_artifact_is_refused_and_others_serve_on(cards: Service, fraud_csv: str) -> None:
    cards.train("broken", fraud_csv, {"fn": 20, "fp": 1}, params={"n_estimators": 6})
    digest = cards.http.get("/v1/models/broken/versions/1").json()["artifact_sha256"]
    path = cards.wiring.store.root / digest[:2] / digest[2:4] / digest
    path.write_bytes(path.read_bytes()[:-1] + b"X")
    problem(cards.http.post("/v1/models/broken/predict", json={"rows": [ROW]}), 409, "artifact_corrupt")
    path.unlink()
    problem(cards.http.post("/v1/models/broken/predict", json={"rows": [ROW]}), 409, "artifact_missing")
    assert cards.predict("cards", [ROW])


def test_decisions_are_counted(cards: Service) -> None:
    cards.predict("cards", ROWS[:10])
    text = cards.http.get("/metrics").text
    assert 'costboost_decisions_total{label="legit",model="cards",tenant="default",version="1"}' in text


@only_sqlite
def test_a_process_that_answers_loads_neither_compiler_nor_scikit_learn(cards: Service) -> None:
    code = (
        "import os, sys\n"
        "import service.main\n"
        "from starlette.testclient import TestClient\n"
        "from service.api.app import create_app\n"
        "from service.settings import load_settings\n"
        "from service.wiring import wire\n"
        "wiring = wire(load_settings())\n"
        f"rows = {[ROW, ROW | {'amount': None}]!r}\n"
        "with TestClient(create_app(wiring), base_url='http://127.0.0.1') as client:\n"
        "    answer = client.post('/v1/models/cards/predict', json={'rows': rows})\n"
        "    assert answer.status_code == 200, answer.text\n"
        "    assert len(answer.json()['predictions']) == 2\n"
        "wiring.close()\n"
        "print(sorted({'numba', 'sklearn', 'scipy', 'pandas', 'joblib'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment(cards.settings),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
