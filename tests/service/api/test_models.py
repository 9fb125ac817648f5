"""Models, versions and aliases over HTTP; the rows are written as a finished training job writes them."""

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import pytest

from service.db.tables import AliasRow, ModelRow, VersionRow
from service.domain.models import Alias, Model, Version
from tests.service import records
from tests.service.conftest import Service, problem, table

Add = Callable[..., int]


@pytest.fixture
def add_version(fresh_service: Service) -> Add:
    """Add a version to a model, and its bytes to the store."""
    return functools.partial(records.add_version, fresh_service.wiring)


@pytest.mark.parametrize(("value", "row"), [(Model, ModelRow), (Version, VersionRow), (Alias, AliasRow)])
def test_the_fields_of_a_value_are_columns(value: type, row: type) -> None:
    assert {field.name for field in fields(value)} <= set(row.__table__.columns.keys())


def test_the_first_version_makes_a_model_and_its_champion(fresh_service: Service, add_version: Add) -> None:
    add_version()
    add_version()
    model = fresh_service.http.get("/v1/models/cards").json()
    assert model["aliases"] == {"champion": 1}
    assert (model["latest_version"], model["versions"]) == (2, 2)
    assert model["created_at"].endswith("Z")


def test_unknown_models_versions_and_aliases_are_not_found(fresh_service: Service, add_version: Add) -> None:
    add_version()
    for path in (
        "/v1/models/other",
        "/v1/models/other/versions",
        "/v1/models/other/versions/1",
        "/v1/models/cards/versions/2",
        "/v1/models/cards/versions/2/schema",
        "/v1/models/cards/versions/2/artifact",
        "/v1/models/cards/aliases/other",
    ):
        problem(fresh_service.http.get(path), 404, "not_found")


def test_lists_are_walked_without_loss_while_rows_are_added(fresh_service: Service, add_version: Add) -> None:
    for number in range(5):
        add_version(f"m{number}")
    first = fresh_service.http.get("/v1/models", params={"limit": 2})
    assert [one["name"] for one in first.json()["data"]] == ["m4", "m3"]
    assert first.json()["has_more"]
    assert first.links["next"]["url"] == f"/v1/models?limit=2&after={first.json()['next']}"
    add_version("late")
    second = fresh_service.http.get(first.links["next"]["url"]).json()
    assert [one["name"] for one in second["data"]] == ["m2", "m1"]
    third = fresh_service.http.get("/v1/models", params={"limit": 2, "after": second["next"]}).json()
    assert [one["name"] for one in third["data"]] == ["m0"]
    assert (third["has_more"], third["next"]) == (False, None)


def test_versions_are_listed_newest_first(fresh_service: Service, add_version: Add) -> None:
    for _ in range(12):
        add_version()
    first = fresh_service.http.get("/v1/models/cards/versions", params={"limit": 7}).json()
    assert [one["version"] for one in first["data"]] == [12, 11, 10, 9, 8, 7, 6]
    rest = fresh_service.http.get("/v1/models/cards/versions", params={"after": first["next"]}).json()
    assert [one["version"] for one in rest["data"]] == [5, 4, 3, 2, 1]


def test_a_model_changes_only_for_who_has_read_it(fresh_service: Service, add_version: Add) -> None:
    add_version()
    http = fresh_service.http
    etag = http.get("/v1/models/cards").headers["etag"]
    change = {"description": "Cards", "tags": {"team": "a"}}
    problem(http.patch("/v1/models/cards", json=change), 428, "precondition_required")
    problem(
        http.patch("/v1/models/cards", json=change, headers={"If-Match": '"x"'}), 412, "precondition_failed"
    )
    answer = http.patch("/v1/models/cards", json=change, headers={"If-Match": etag})
    assert answer.json()["description"] == "Cards"
    assert answer.headers["etag"] != etag
    problem(http.patch("/v1/models/cards", json={}, headers={"If-Match": etag}), 412, "precondition_failed")
    kept = http.patch("/v1/models/cards", json={"tags": {}}, headers={"If-Match": answer.headers["etag"]})
    assert (kept.json()["description"], kept.json()["tags"]) == ("Cards", {})


def test_an_unchanged_model_is_not_sent_again(fresh_service: Service, add_version: Add) -> None:
    add_version()
    first = fresh_service.http.get("/v1/models/cards")
    again = fresh_service.http.get("/v1/models/cards", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    add_version()
    changed = fresh_service.http.get("/v1/models/cards", headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200


def test_if_match_never_holds_for_an_alias_that_is_absent(fresh_service: Service, add_version: Add) -> None:
    add_version("cards")
    path = "/v1/models/cards/aliases/new"
    for tag in ('"x"', "*"):
        answer = fresh_service.http.put(path, json={"version": 1}, headers={"If-Match": tag})
        problem(answer, 412, "precondition_failed")
    assert fresh_service.http.get(path).status_code == 404


def test_the_first_put_of_an_alias_needs_no_etag_and_a_move_does(
    fresh_service: Service, add_version: Add
) -> None:
    add_version()
    add_version()
    http, path = fresh_service.http, "/v1/models/cards/aliases/challenger"
    made = http.put(path, json={"version": 1})
    assert (made.status_code, made.headers["location"]) == (201, path)
    problem(http.put(path, json={"version": 2}), 428, "precondition_required")
    problem(http.put(path, json={"version": 2}, headers={"If-None-Match": "*"}), 412, "precondition_failed")
    moved = http.put(
        path, json={"version": 2, "reason": "better"}, headers={"If-Match": made.headers["etag"]}
    )
    assert (moved.status_code, moved.json()["version"], moved.json()["reason"]) == (200, 2, "better")
    stale = http.put(path, json={"version": 1}, headers={"If-Match": made.headers["etag"]})
    problem(stale, 412, "precondition_failed")
    assert http.get(path).json()["version"] == 2
    assert http.get(path, headers={"If-None-Match": moved.headers["etag"]}).status_code == 304


@pytest.mark.parametrize(
    ("name", "body", "pointer"),
    [
        ("challenger", {"version": 9}, "/version"),
        ("challenger", {"version": 0}, "/version"),
        ("challenger", {"version": "1"}, "/version"),
        ("challenger", {"version": 2**40}, "/version"),
        ("challenger", {}, "/version"),
        ("challenger", {"version": 1, "weight": 0.5}, "/weight"),
        ("Challenger", {"version": 1}, "/path/alias"),
    ],
)
def test_a_wrong_alias_is_invalid(
    fresh_service: Service, add_version: Add, name: str, body: dict, pointer: str
) -> None:
    add_version()
    found = problem(fresh_service.http.put(f"/v1/models/cards/aliases/{name}", json=body), 422, "invalid")
    assert found["errors"][0]["pointer"] == pointer
    assert fresh_service.http.get("/v1/models/cards").json()["aliases"] == {"champion": 1}


def test_of_two_who_move_an_alias_at_once_one_wins(fresh_service: Service, add_version: Add) -> None:
    for _ in range(9):
        add_version()
    http, path = fresh_service.http, "/v1/models/cards/aliases/champion"
    etag = http.get(path).headers["etag"]
    with ThreadPoolExecutor(8) as pool:
        moves = pool.map(
            lambda number: http.put(path, json={"version": number}, headers={"If-Match": etag}), range(2, 10)
        )
        statuses = sorted(answer.status_code for answer in moves)
    assert statuses == [200] + [412] * 7


def test_of_two_who_make_an_alias_at_once_one_makes_it(fresh_service: Service, add_version: Add) -> None:
    add_version()
    with ThreadPoolExecutor(8) as pool:
        puts = pool.map(
            lambda _: fresh_service.http.put("/v1/models/cards/aliases/a", json={"version": 1}), range(8)
        )
        statuses = sorted(answer.status_code for answer in puts)
    assert statuses == [201] + [428] * 7


def test_an_aliased_version_stays_and_another_goes_with_its_bytes(
    fresh_service: Service, add_version: Add
) -> None:
    add_version()
    add_version()
    http, store = fresh_service.http, fresh_service.wiring.store
    problem(http.delete("/v1/models/cards/versions/1"), 409, "alias_in_use")
    digest = http.get("/v1/models/cards/versions/2").json()["artifact_sha256"]
    records.grown_old(store)
    assert http.delete("/v1/models/cards/versions/2").status_code == 204
    assert not store.exists(digest)
    problem(http.get("/v1/models/cards/versions/2"), 404, "not_found")
    assert add_version() == 3, "a number is never used again"


def test_bytes_that_two_versions_share_stay_with_the_other(fresh_service: Service, add_version: Add) -> None:
    add_version(data=b"same")
    add_version(data=b"same")
    assert fresh_service.http.delete("/v1/models/cards/versions/2").status_code == 204
    assert fresh_service.http.get("/v1/models/cards/versions/1/artifact").content == b"same"


def test_bytes_that_an_equal_training_has_just_stored_stay_for_its_row(
    fresh_service: Service, add_version: Add
) -> None:
    add_version()
    add_version(data=b"equal")
    store = fresh_service.wiring.store
    records.grown_old(store)
    digest = store.put(b"equal")
    assert fresh_service.http.delete("/v1/models/cards/versions/2").status_code == 204
    assert store.read(digest) == b"equal"


def test_a_deleted_alias_frees_its_version(fresh_service: Service, add_version: Add) -> None:
    add_version()
    http, path = fresh_service.http, "/v1/models/cards/aliases/champion"
    problem(http.delete(path), 428, "precondition_required")
    etag = http.get(path).headers["etag"]
    assert http.delete(path, headers={"If-Match": etag}).status_code == 204
    problem(http.get(path), 404, "not_found")
    assert http.delete("/v1/models/cards/versions/1").status_code == 204
    made = http.get("/v1/models/cards").json()
    assert (made["latest_version"], made["versions"], made["aliases"]) == (None, 0, {})


def test_a_model_goes_with_all_it_has(fresh_service: Service, add_version: Add) -> None:
    add_version()
    add_version()
    http = fresh_service.http
    problem(http.delete("/v1/models/cards"), 428, "precondition_required")
    etag = http.get("/v1/models/cards").headers["etag"]
    records.grown_old(fresh_service.wiring.store)
    assert http.delete("/v1/models/cards", headers={"If-Match": etag}).status_code == 204
    problem(http.get("/v1/models/cards"), 404, "not_found")
    assert list(fresh_service.wiring.store.list()) == []
    # Caches may hold what was answered about the old versions for a year, so their numbers are gone.
    assert add_version() == 3
    assert http.get("/v1/models/cards").json()["aliases"] == {"champion": 3}
    problem(http.delete("/v1/models/cards", headers={"If-Match": etag}), 412, "precondition_failed")


def test_a_version_shows_what_made_it_and_never_changes(fresh_service: Service, add_version: Add) -> None:
    add_version(data=b"model bytes")
    http = fresh_service.http
    answer = http.get("/v1/models/cards/versions/1")
    version = answer.json()
    assert "immutable" in answer.headers["cache-control"]
    assert (
        http.get("/v1/models/cards/versions/1", headers={"If-None-Match": answer.headers["etag"]}).status_code
        == 304
    )
    assert (version["costs"], version["algorithm"], version["training_seconds"]) == (
        {"fn": 5, "fp": 1, "tp": 0, "tn": 0},
        "auto",
        1.5,
    )
    assert http.get("/v1/models/cards/versions/1/evaluation").json()["metrics"] == {"roc_auc": 0.9}
    assert http.get("/v1/models/cards/versions/1/schema").json() == {"columns": []}
    artifact = http.get("/v1/models/cards/versions/1/artifact")
    assert (artifact.content, artifact.headers["content-length"]) == (b"model bytes", "11")


def test_version_numbers_that_no_database_holds_are_invalid(fresh_service: Service) -> None:
    for number in ("0", "-1", "1.5", "x", str(2**31), "9" * 30):
        answer = fresh_service.http.get(f"/v1/models/cards/versions/{number}")
        problem(answer, 422, "invalid")


def test_how_decisions_are_watched_is_said_by_the_model(fresh_service: Service, add_version: Add) -> None:
    add_version()
    http = fresh_service.http
    first = http.get("/v1/models/cards")
    watched = {"record_rows": True, "retention_days": 30, "shadow_alias": "challenger"}
    assert {name: first.json()[name] for name in watched} == {
        "record_rows": False,
        "retention_days": None,
        "shadow_alias": None,
    }
    changed = http.patch("/v1/models/cards", json=watched, headers={"If-Match": first.headers["etag"]})
    assert watched.items() <= changed.json().items()
    etag = changed.headers["etag"]
    off = http.patch("/v1/models/cards", json={"retention_days": None}, headers={"If-Match": etag})
    assert (off.json()["retention_days"], off.json()["record_rows"]) == (None, True)
    for wrong in ({"retention_days": 0}, {"control_share": 0.9}, {"shadow_alias": "No"}, {"record_rows": 1}):
        refused = http.patch("/v1/models/cards", json=wrong, headers={"If-Match": off.headers["etag"]})
        assert problem(refused, 422, "invalid")["errors"][0]["pointer"] == f"/{next(iter(wrong))}"


def test_settings_that_name_what_is_not_there_are_kept_and_said(
    fresh_service: Service, add_version: Add
) -> None:
    for names in (["amount", "hour"], ["amount", "zip"], ["amount"]):
        add_version(schema={"columns": [{"name": one, "role": "feature"} for one in names]})
    http = fresh_service.http
    assert http.get("/v1/models/cards").json()["warnings"] == []
    change = {
        "shadow_alias": "chalenger",
        "reason_codes": {"Amount": "A", "amount": "A", "hour": "H", "zip": "Z"},
    }
    changed = http.patch("/v1/models/cards", json=change, headers={"If-Match": "*"})
    assert changed.status_code == 200
    alias, column = changed.json()["warnings"]  # nobody looks at the second version any more
    assert (alias["code"], column["code"]) == ("unknown_alias", "unknown_column")
    assert "no alias chalenger" in alias["detail"]
    assert "from Amount, zip, so" in column["detail"]
    assert "did you mean amount?" in column["detail"]
    [listed] = http.get("/v1/models").json()["data"]
    assert listed["warnings"] == changed.json()["warnings"]
    etag = changed.headers["etag"]
    for name in ("chalenger", "challenger"):
        http.put(f"/v1/models/cards/aliases/{name}", json={"version": 2, "reason": "try"})
    now = http.get("/v1/models/cards", headers={"If-None-Match": etag})
    assert [one["detail"].partition("; ")[0].count("zip") for one in now.json()["warnings"]] == [0]


def test_only_of_two_classes_a_share_is_let_through(fresh_service: Service, add_version: Add) -> None:
    add_version()  # its schema names no positive class
    etag = fresh_service.http.get("/v1/models/cards").headers["etag"]
    refused = fresh_service.http.patch(
        "/v1/models/cards", json={"control_share": 0.02}, headers={"If-Match": etag}
    )
    assert problem(refused, 422, "not_binary")["errors"][0]["pointer"] == "/control_share"


def test_a_model_has_a_price_of_reviews_and_codes_of_reasons(service: Service) -> None:
    costs = {
        "classes": ["legit", "fraud"],
        "actions": ["approve", "decline", {"name": "review", "kind": "review"}],
        "costs": [
            {"true": "fraud", "action": "approve", "cost": 1000},
            {"true": "legit", "action": "decline", "cost": 1000},
        ],
        "review": {"fee": 1, "accuracy": {"fraud": 1.0, "legit": 1.0}},
    }
    job = service.train("reviewed", table(300), costs, params={"n_estimators": 10})
    assert job["status"] == "succeeded", job
    rows, http, path = [{"amount": 120.0, "hour": 7, "merchant": "a"}], service.http, "/v1/models/reviewed"
    assert service.predict("reviewed", rows)[0]["decision"] == "review"
    for change, place in (
        ({"review_price": -1}, "/review_price"),
        ({"review_price": True}, "/review_price"),
        ({"reason_codes": {"amount": ""}}, "/reason_codes/amount"),
        ({"reason_codes": None}, "/reason_codes"),
    ):
        found = problem(http.patch(path, json=change, headers={"If-Match": "*"}), 422, "invalid")
        assert found["errors"][0]["pointer"] == place
    change = {"review_price": 1e6, "reason_codes": {"amount": "AA-07"}}
    changed = http.patch(path, json=change, headers={"If-Match": http.get(path).headers["etag"]})
    assert changed.status_code == 200, changed.text
    assert {name: changed.json()[name] for name in change} == change
    [answer] = service.predict("reviewed", rows, explain={})
    assert answer["decision"] in ("approve", "decline")
    codes = {reason["feature"]: reason.get("code") for reason in answer["reasons"]}
    assert codes == {"amount": "AA-07", "hour": None, "merchant": None}
    http.patch(path, json={"review_price": None}, headers={"If-Match": "*"})
    assert service.predict("reviewed", rows)[0]["decision"] == "review"
