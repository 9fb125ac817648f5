"""Chance lets refused rows through where the model says so, and a challenger decides unseen."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.service.api.test_predictions import ROWS
from tests.service.conftest import Service, table

REFUSED = {"amount": 900.0, "hour": 3, "merchant": "d"}


@pytest.fixture(scope="module")
def watched(service: Service) -> Service:
    """The service with two versions of a model `watched`, the second one its challenger."""
    options = {"positive_class": "fraud"}
    small = {"params": {"n_estimators": 5}, "options": options}
    for costs, more in (({"fn": 20, "fp": 1}, {}), ({"fn": 3, "fp": 1}, {"on_success": {"alias": "next"}})):
        job = service.train("watched", table(200), costs, **small, **more)
        assert job["status"] == "succeeded", job
    return service


def change(service: Service, **changes: Any) -> None:
    etag = service.http.get("/v1/models/watched").headers["etag"]
    answer = service.http.patch("/v1/models/watched", json=changes, headers={"If-Match": etag})
    assert answer.status_code == 200, answer.text


def test_a_share_of_what_is_refused_is_let_through(watched: Service) -> None:
    change(watched, control_share=0.5)
    found = watched.predict("watched", [REFUSED] * 200, record="durable")
    sources = Counter(one["decision_source"] for one in found)
    assert set(sources) == {"control", "expected_cost"}
    assert 60 < sources["control"] < 140  # 100 is expected; so far off once in 10^8
    for one in found:
        assert (
            one["decision"] == one["label"] == ("legit" if one["decision_source"] == "control" else "fraud")
        )
    for source, decision in (("control", "legit"), ("expected_cost", "fraud")):
        drawn = next(one for one in found if one["decision_source"] == source)
        record = watched.http.get(f"/v1/predictions/{drawn['prediction_id']}").json()
        assert (record["decision"], record["rule_decision"]) == (decision, "fraud")
        assert record["propensity"] == 0.5
    # What is not recorded teaches nothing, so nothing is let through.
    unrecorded = watched.predict("watched", [REFUSED] * 50)
    assert {one["decision"] for one in unrecorded} == {"fraud"}
    change(watched, control_share=None)
    again = watched.predict("watched", [REFUSED] * 50, record=True)
    assert {one["decision_source"] for one in again} == {"expected_cost"}


def test_what_was_let_through_tells_what_refusing_costs(watched: Service) -> None:
    change(watched, control_share=0.5)
    found = watched.predict("watched", [REFUSED] * 40, record="durable")
    items = [
        {"prediction_id": one["prediction_id"], "label": "fraud"}
        for one in found
        if one["decision_source"] == "control"
    ]
    assert watched.http.post("/v1/feedback", json={"items": items}).json()["accepted"] == len(items)
    total = _performance(watched)["versions"][0]["total"]
    assert total["let_through"] >= len(items)
    assert total["realised_cost"]["method"] == "inverse_propensity"
    assert total["realised_cost"]["mean"] == 0.0  # all of them were fraud: refusing it costs nothing
    change(watched, control_share=None)


def test_a_challenger_decides_unseen(watched: Service, wait_until: Callable[..., None]) -> None:
    change(watched, shadow_alias="next")
    rows = [{"id": index, **row} for index, row in enumerate(ROWS[:60])]
    found = watched.predict("watched", rows, record="durable")
    assert {one["version"] for one in [watched.http.get("/v1/models/watched/aliases/champion").json()]} == {1}
    wait_until(lambda: _pairs(watched) == 60, 10.0)
    [comparison] = _performance(watched)["comparisons"]
    assert (comparison["champion"], comparison["challenger"]) == (1, 2)
    unseen = watched.predict("watched", rows, version=2)
    differing = sum(one["decision"] != two["decision"] for one, two in zip(found, unseen, strict=True))
    assert comparison["differing"] == differing
    assert comparison["expected_difference"] >= 0.0  # nobody expects another's decisions to cost less
    change(watched, shadow_alias="none")
    watched.predict("watched", rows, record="durable")  # a shadow that is not there disturbs nothing
    change(watched, shadow_alias=None)


def _performance(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.http.get("/v1/models/watched/performance").json()
    return found


def _pairs(service: Service) -> int:
    return sum(one["pairs"] for one in _performance(service)["comparisons"])


def test_decisions_are_counted_with_their_cost_and_the_stages_with_their_time(watched: Service) -> None:
    def figure(name: str) -> float:
        lines = watched.http.get("/metrics").text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))

    of_model = 'costboost_expected_cost{model="watched",tenant="default",version="1"}'
    of_writing = 'costboost_predict_stage_seconds_count{stage="write"}'
    before = figure(of_model), figure(of_writing)
    found = watched.predict("watched", ROWS[:5], record=True)
    expected = sum(one["expected_cost"][one["decision"]] for one in found)
    assert figure(of_model) - before[0] == pytest.approx(expected)
    assert figure(of_writing) - before[1] == 1
    assert figure("costboost_worker_heartbeat_age_seconds") < 30


def test_what_has_moved_since_the_test_stands_out(watched: Service) -> None:
    """Rows like those of training, but all of one hour: that column moves, the others do not."""
    change(watched, record_rows=True)
    lines = [line.split(",") for line in table(120, seed=5).splitlines()[1:]]
    rows = [{"amount": float(a), "hour": 3, "merchant": m} for a, _, m, _ in lines]
    watched.predict(
        "watched", [*rows, {"amount": None, "hour": 3, "merchant": "new"}], record="durable", version=2
    )
    answer = watched.http.get("/v1/models/watched/performance", params={"drift": True, "window": "all"})
    versions = {one["version"]: one for one in answer.json()["versions"]}
    inputs = versions[2]["drift"]["inputs"]
    assert inputs[0]["name"] == "hour"
    assert inputs[0]["drift"]["psi"] > 1 > inputs[1]["drift"]["psi"]
    assert inputs[0]["drift"]["ks"] > 0.5
    by_name = {one["name"]: one["drift"] for one in inputs}
    assert (by_name["amount"]["sample"], by_name["merchant"]["ks"]) == (121, None)
    assert by_name["amount"]["missing"] == pytest.approx(1 / 121)
    [fraud] = versions[2]["drift"]["classes"]
    assert fraud["name"] == "fraud"
    assert fraud["probability"]["sample"] == 121
    assert fraud["calibration"]["method"] == "not_identifiable"  # nobody has told a label
    assert versions[1]["drift"]["inputs"] is None or versions[1]["drift"]["classes"]
    change(watched, record_rows=False)
    assert watched.http.get("/v1/models/watched/performance").json()["versions"][0]["drift"] is None
