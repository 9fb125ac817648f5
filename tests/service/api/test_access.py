"""API keys: who may ask, for what, and what they see of others; generated from the OpenAPI document."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from sqlalchemy import text, update

from service.db.tables import ApiKeyRow
from service.domain.access import SCOPES
from service.usecases import access, api_keys
from tests.service.conftest import (
    DATABASES,
    NewDatabase,
    Service,
    problem,
    running,
    settings_for,
)

#: Of no tenant; in the form of each kind of id.
NOWHERE = {
    "dataset": "ds_00000000-0000-7000-8000-000000000000",
    "cost_spec": "cs_00000000-0000-7000-8000-000000000000",
    "job": "job_00000000-0000-7000-8000-000000000000",
    "intake_job": "in_00000000-0000-7000-8000-000000000000",
    "model": "no-such-model",
    "version": "1",
    "alias": "champion",
    "prediction": "pred_00000000-0000-7000-8000-000000000000",
    "batch_prediction": "bp_00000000-0000-7000-8000-000000000000",
    "api_key": "key_00000000-0000-7000-8000-000000000000",
    "webhook": "wh_00000000-0000-7000-8000-000000000000",
}
#: Bodies that would be fine if what the path names existed.
BODIES = {
    "predict_with_model": {"rows": [{"amount": 1, "hour": 1, "merchant": "a"}]},
    "put_alias": {"version": 1},
    "change_model": {"description": "of another tenant"},
}
#: Operations that make what their path names, or for which it need not be there.
WITHOUT_404 = {"import_version", "erase_subject"}
#: Parameters of paths that name nothing of a tenant.
SHARED = {"name", "subject"}


@dataclass(frozen=True)
class Guarded:
    """A service with keys, and what the tenant `ours` has."""

    service: Service
    admins: dict[str, str]
    ours: dict[str, str]

    def key(self, scopes: Sequence[Any], tenant: str = "ours") -> str:
        """Make a key."""
        return api_keys.create_key(self.service.wiring.sessions, tenant, "test", scopes, by="cli")[1]

    def ask(self, method: str, path: str, token: str | None, **sent: Any) -> httpx2.Response:
        """Send a request with a key."""
        headers = dict(sent.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.service.http.request(method, path, headers=headers, **sent)

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Every method and path of the document that needs a key."""
        document = self.service.http.get("/openapi.json").json()
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if "security" in operation:
                    yield method.upper(), path, operation


@pytest.fixture(scope="module", params=DATABASES)
def guarded(
    request: pytest.FixtureRequest,
    new_database: NewDatabase,
    tmp_path_factory: pytest.TempPathFactory,
    fraud_csv: str,
) -> Iterator[Guarded]:
    settings = settings_for(new_database(request.param), tmp_path_factory.mktemp("keys"), auth="keys")
    with running(settings, with_worker=True) as service:
        admins = {
            tenant: api_keys.create_key(service.wiring.sessions, tenant, "admin", ["admin"], by="cli")[1]
            for tenant in ("ours", "theirs")
        }
        service.http.headers["Authorization"] = f"Bearer {admins['ours']}"
        quick = {"algorithm": "adacost", "params": {"n_estimators": 2}}
        job = service.train("guarded", fraud_csv, {"fn": 20, "fp": 1}, **quick)
        assert job["status"] == "succeeded", job
        spec = service.http.post("/v1/cost-specs", json={"name": "guarded", "fn": 5, "fp": 1}).json()
        rows = [{"amount": 1, "hour": 1, "merchant": "a"}]
        [decided] = service.predict("guarded", rows, record="durable")
        asked = {"model": "guarded", "dataset": job["dataset"]}
        batch = service.http.post("/v1/batch-predictions", json=asked).json()
        intake = service.http.post(
            "/v1/datasets",
            content=fraud_csv.encode(),
            headers={"Content-Type": "text/csv", "Prefer": "respond-async"},
        ).json()
        keys = service.http.get("/v1/api-keys").json()["data"]
        webhook = service.http.post("/v1/webhooks", json={"url": "https://hooks.example/"}).json()
        del service.http.headers["Authorization"]
        ours = {
            "dataset": job["dataset"],
            "cost_spec": spec["id"],
            "job": job["id"],
            "intake_job": intake["id"],
            "model": "guarded",
            "version": "1",
            "alias": "champion",
            "prediction": decided["prediction_id"],
            "batch_prediction": batch["id"],
            "api_key": keys[0]["id"],
            "webhook": webhook["id"],
        }
        yield Guarded(service, admins, ours)


def filled(path: str, ids: dict[str, str]) -> str:
    for name, value in ids.items():
        path = path.replace(f"{{{name}}}", value)
    return path.replace("{name}", "auto").replace("{subject}", "nobody")


def sent_with(operation: dict[str, Any]) -> dict[str, Any]:
    """A body that can be read, and the precondition that is asked for."""
    sent: dict[str, Any] = {"headers": {"If-Match": "*"}} if "428" in operation["responses"] else {}
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        sent["json"] = BODIES.get(operation["operationId"], {})
    return sent


def test_without_a_key_every_route_is_closed(guarded: Guarded) -> None:
    seen = 0
    for method, path, operation in guarded.operations():
        where = filled(path, guarded.ours)
        for token in (None, "cb_", "cb_00000000-0000-7000-8000-000000000000_" + "0" * 64):
            answer = guarded.ask(method, where, token, **sent_with(operation))
            problem(answer, 401, "unauthorized")
            assert answer.headers["www-authenticate"].startswith("Bearer")
        seen += 1
    assert seen > 25


def test_a_cursor_belongs_to_its_tenant(guarded: Guarded) -> None:
    guarded.key(["predict"])
    path = "/v1/api-keys?limit=1"
    after = guarded.ask("GET", path, guarded.admins["ours"]).json()["next"]
    assert guarded.ask("GET", f"{path}&after={after}", guarded.admins["ours"]).status_code == 200
    problem(guarded.ask("GET", f"{path}&after={after}", guarded.admins["theirs"]), 400, "malformed")


def test_with_another_scope_every_route_is_closed(guarded: Guarded) -> None:
    tokens = {scopes: guarded.key(scopes) for scopes in _scope_sets(guarded)}
    for method, path, operation in guarded.operations():
        opened = _opened_by(operation)
        others = tuple(scope for scope in SCOPES if scope not in {*opened, "admin"})
        if others:
            answer = guarded.ask(method, filled(path, guarded.ours), tokens[others], **sent_with(operation))
            found = problem(answer, 403, "insufficient_scope")
            assert all(scope in found["detail"] for scope in opened)


def _opened_by(operation: dict[str, Any]) -> set[str]:
    return {scope for way in operation["security"] for scope in way["api_key"]}


def _scope_sets(guarded: Guarded) -> set[tuple[str, ...]]:
    return {
        tuple(scope for scope in SCOPES if scope not in {*_opened_by(operation), "admin"})
        for _, _, operation in guarded.operations()
    } - {()}


def test_with_its_scope_every_reading_route_is_open(guarded: Guarded) -> None:
    tokens = {scope: guarded.key([scope]) for scope in SCOPES}
    for method, path, operation in guarded.operations():
        if method != "GET" or "{" in path.replace("{name}", ""):
            continue
        for scope in _opened_by(operation):
            assert guarded.ask(method, filled(path, {}), tokens[scope]).status_code == 200, (path, scope)


def test_what_is_of_another_tenant_answers_as_what_is_not_there(guarded: Guarded) -> None:
    """The tenant `theirs` may do everything, and asks for the ids of `ours`."""
    seen = 0
    for method, path, operation in guarded.operations():
        parameters = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
        if not parameters - SHARED or operation["operationId"] in WITHOUT_404:
            continue
        assert parameters <= set(NOWHERE), f"{path}: a new kind of id belongs into this test"
        answers = [
            _plain(guarded.ask(method, filled(path, ids), guarded.admins["theirs"], **sent_with(operation)))
            for ids in (guarded.ours, NOWHERE)
        ]
        assert answers[0] == answers[1], (method, path)
        assert answers[0][0] == 404, (method, path, answers)
        seen += 1
    assert seen > 15
    for path in ("/v1/datasets/{dataset}", "/v1/cost-specs/{cost_spec}", "/v1/training-jobs/{job}"):
        assert guarded.ask("GET", filled(path, guarded.ours), guarded.admins["ours"]).status_code == 200
    aliases = guarded.ask("GET", "/v1/models/guarded", guarded.admins["ours"]).json()["aliases"]
    assert aliases == {"champion": 1}


def _plain(answer: httpx2.Response) -> tuple[int, Any]:
    """Status and body, without what names the request."""
    body = answer.json() if answer.content else {}
    return answer.status_code, {
        name: value for name, value in body.items() if name not in ("request_id", "instance")
    }


@pytest.mark.parametrize("kind", ["dataset", "cost_spec"])
def test_bodies_cannot_name_what_is_of_another_tenant(guarded: Guarded, kind: str) -> None:
    def train(ids: dict[str, str]) -> tuple[int, Any]:
        spec = {"model": "m", "dataset": NOWHERE["dataset"], "costs": {"fn": 5, "fp": 1}}
        if kind == "cost_spec":
            del spec["costs"]
        sent = {**spec, kind: ids[kind]}
        return _plain(guarded.ask("POST", "/v1/training-jobs", guarded.admins["theirs"], json=sent))

    assert train(guarded.ours) == train(NOWHERE)


def test_a_prediction_cannot_name_a_model_of_another_tenant(guarded: Guarded) -> None:
    rows = [{"amount": 1, "hour": 1, "merchant": "a"}]
    own = guarded.ask("POST", "/predict", guarded.key(["predict"]), json={"model": "guarded", "rows": rows})
    assert own.status_code == 200
    theirs = guarded.key(["predict"], "theirs")
    for body in ({"model": "guarded", "rows": rows}, {"model": "no-such-model", "rows": rows}):
        problem(guarded.ask("POST", "/predict", theirs, json=body), 404, "not_found")
    # Nor is it the only one there is, for them.
    problem(guarded.ask("POST", "/predict", theirs, json={"rows": rows}), 422, "model_required")


def test_lists_show_what_is_of_the_tenant_alone(guarded: Guarded) -> None:
    for method, path, _ in guarded.operations():
        if method == "GET" and "{" not in path and path.startswith("/v1/") and path != "/v1/algorithms":
            shown = guarded.ask("GET", path, guarded.admins["theirs"]).text
            assert not any(value in shown for name, value in guarded.ours.items() if "_" in value), path


def test_an_idempotency_key_is_of_its_tenant_and_api_key(guarded: Guarded) -> None:
    body = {"name": "retried", "fn": 5, "fp": 1}
    tokens = [guarded.admins["ours"], guarded.admins["theirs"], guarded.key(["data"])]
    made = [
        guarded.ask("POST", "/v1/cost-specs", token, json=body, headers={"Idempotency-Key": "k"})
        for token in tokens
    ]
    assert [one.status_code for one in made] == [201, 201, 201]
    assert len({one.json()["id"] for one in made}) == 3
    assert not any("idempotency-replayed" in one.headers for one in made)


def test_every_operation_tells_how_it_refuses(guarded: Guarded) -> None:
    for method, path, operation in guarded.operations():
        wanted = {"401", "403"}
        wanted |= {"404"} if "{" in path and operation["operationId"] not in WITHOUT_404 else set()
        wanted |= {"409"} if "201" in operation["responses"] and method == "POST" else set()
        assert wanted <= set(operation["responses"]), (method, path)


def test_every_route_is_counted(guarded: Guarded) -> None:
    for method, path, operation in guarded.operations():
        guarded.ask(method, filled(path, guarded.ours), None, **sent_with(operation))
    figures = guarded.ask("GET", "/metrics", guarded.admins["ours"]).text
    for method, path, _ in guarded.operations():
        counted = f'costboost_requests_total{{method="{method}",route="{path}",status="401"}}'
        assert counted in figures, (method, path)


def test_figures_name_nothing_of_another_tenant(guarded: Guarded) -> None:
    rows = [{"amount": 1, "hour": 1, "merchant": "a"}]
    guarded.ask("POST", "/predict", guarded.admins["ours"], json={"model": "guarded", "rows": rows})
    ours, theirs = (
        guarded.ask("GET", "/metrics", guarded.admins[tenant]).text for tenant in ("ours", "theirs")
    )
    assert 'costboost_decisions_total{label="' in ours
    assert 'model="guarded"' in ours
    assert 'model="guarded"' not in theirs


def test_the_inference_protocol_knows_keys_and_tenants_too(guarded: Guarded) -> None:
    predict = {tenant: guarded.key(["predict"], tenant) for tenant in ("ours", "theirs")}
    for method, path in (
        ("GET", "/v2/models/{model}"),
        ("GET", "/v2/models/{model}/versions/1/ready"),
        ("POST", "/v2/models/{model}/infer"),
    ):
        sent = {"json": {"inputs": []}} if method == "POST" else {}
        where = path.replace("{model}", "guarded")
        assert guarded.ask(method, where, None, **sent).status_code == 401
        assert guarded.ask(method, where, guarded.key(["data"]), **sent).status_code == 403
        assert guarded.ask(method, where, predict["ours"], **sent).status_code in (200, 400)
        nowhere = guarded.ask(method, path.replace("{model}", "no-such-model"), predict["theirs"], **sent)
        foreign = guarded.ask(method, where, predict["theirs"], **sent)
        assert (foreign.status_code, foreign.text) == (nowhere.status_code, nowhere.text)
        assert foreign.status_code in (400, 404)


def test_probes_and_pages_need_no_key(guarded: Guarded) -> None:
    for path in ("/livez", "/readyz", "/version", "/docs", "/openapi.json", "/problems/unauthorized"):
        assert guarded.ask("GET", path, None).status_code == 200
    problem(guarded.ask("GET", "/metrics", None), 401, "unauthorized")
    problem(guarded.ask("GET", "/metrics", guarded.key(["predict"])), 403, "insufficient_scope")


def test_a_key_that_is_sent_where_none_is_needed_counts(sqlite_service: Service) -> None:
    http = sqlite_service.http
    _, token = api_keys.create_key(sqlite_service.wiring.sessions, "elsewhere", "test", ["data"], by="cli")
    right, wrong = ({"Authorization": f"Bearer {one}"} for one in (token, token[:-1] + "x"))
    made = http.post("/v1/cost-specs", json={"name": "of-elsewhere", "fn": 5, "fp": 1}, headers=right)
    assert made.status_code == 201
    assert http.get("/v1/cost-specs/of-elsewhere", headers=right).status_code == 200
    problem(http.get("/v1/cost-specs/of-elsewhere"), 404, "not_found")
    problem(http.get("/v1/models", headers=right), 403, "insufficient_scope")
    problem(http.get("/v1/cost-specs", headers=wrong), 401, "unauthorized")
    assert http.get("/livez", headers=wrong).status_code == 200


def test_with_keys_any_host_is_served(guarded: Guarded) -> None:
    answer = guarded.ask("GET", "/v1/models", guarded.admins["ours"], headers={"Host": "costboost.example"})
    assert answer.status_code == 200


def test_the_secret_is_shown_once(guarded: Guarded) -> None:
    wish = {"name": "checkout", "scopes": ["predict", "predict"]}
    headers = {"Idempotency-Key": "a-new-key"}
    made = guarded.ask("POST", "/v1/api-keys", guarded.admins["ours"], json=wish, headers=headers)
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    key = made.json()
    assert key["scopes"] == ["predict"]
    assert guarded.ask("GET", "/v1/algorithms", key["key"]).status_code == 200
    again = guarded.ask("POST", "/v1/api-keys", guarded.admins["ours"], json=wish, headers=headers)
    assert again.status_code == 201
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json()["id"] == key["id"]
    secret = key["key"].rpartition("_")[2]
    read = guarded.ask("GET", made.headers["location"], guarded.admins["ours"])
    listed = guarded.ask("GET", "/v1/api-keys", guarded.admins["ours"])
    assert not any(secret in one.text for one in (again, read, listed))
    with guarded.service.wiring.readers() as session:
        kept = str(session.execute(text("SELECT * FROM api_keys")).all())
        kept += str(session.execute(text("SELECT body FROM idempotency_keys")).all())
    assert secret not in kept


@pytest.mark.parametrize(
    ("wish", "place"),
    [
        ({"name": "a", "scopes": []}, "/scopes"),
        ({"name": "a", "scopes": ["root"]}, "/scopes/0"),
        ({"name": "", "scopes": ["data"]}, "/name"),
        ({"scopes": ["data"]}, "/name"),
        ({"name": "a", "scopes": ["data"], "tenant": "ours"}, "/tenant"),
    ],
)
def test_a_wrong_wish(guarded: Guarded, wish: dict[str, Any], place: str) -> None:
    found = problem(guarded.ask("POST", "/v1/api-keys", guarded.admins["ours"], json=wish), 422, "invalid")
    assert found["errors"][0]["pointer"] == place


def test_a_revoked_key_is_dead_at_once_where_it_was_revoked(guarded: Guarded) -> None:
    wish = {"name": "short-lived", "scopes": ["data"]}
    made = guarded.ask("POST", "/v1/api-keys", guarded.admins["ours"], json=wish).json()
    assert guarded.ask("GET", "/v1/datasets", made["key"]).status_code == 200
    path = f"/v1/api-keys/{made['id']}"
    assert guarded.ask("DELETE", path, guarded.admins["ours"]).status_code == 204
    problem(guarded.ask("GET", "/v1/datasets", made["key"]), 401, "unauthorized")
    assert guarded.ask("DELETE", path, guarded.admins["ours"]).status_code == 204
    read = guarded.ask("GET", path, guarded.admins["ours"]).json()
    assert read["revoked_at"] is not None


def test_and_within_seconds_where_another_process_revoked_it(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "FRESH_SECONDS", 0.3)
    token = guarded.key(["data"])
    assert guarded.ask("GET", "/v1/datasets", token).status_code == 200
    with guarded.service.wiring.sessions.begin() as session:
        session.execute(
            update(ApiKeyRow).where(ApiKeyRow.name == "test").values(revoked_at=ApiKeyRow.created_at)
        )
    time.sleep(0.4)
    problem(guarded.ask("GET", "/v1/datasets", token), 401, "unauthorized")


def test_the_secret_counts_not_only_the_id(guarded: Guarded) -> None:
    token = guarded.key(["data"])
    for wrong in (token[:-1] + ("0" if token[-1] != "0" else "1"), token.rpartition("_")[0] + "_" + "0" * 64):
        for _ in range(2):
            problem(guarded.ask("GET", "/v1/datasets", wrong), 401, "unauthorized")
        assert guarded.ask("GET", "/v1/datasets", token).status_code == 200


@pytest.mark.parametrize("value", ["Basic {0}", "{0}", "Bearer", "Bearer {0} {0}"])
def test_other_headers_are_no_key(guarded: Guarded, value: str) -> None:
    headers = {"Authorization": value.format(guarded.admins["ours"])}
    problem(guarded.ask("GET", "/v1/datasets", None, headers=headers), 401, "unauthorized")


def test_a_refused_request_is_not_read(guarded: Guarded) -> None:
    """The body is refused before any of it is taken in, and the key of a retry is not reserved."""
    big = b"x" * (1 << 20)
    headers = {"Content-Type": "text/csv", "Idempotency-Key": "unread"}
    answer = guarded.ask("POST", "/v1/datasets", None, content=big, headers=headers)
    problem(answer, 401, "unauthorized")


def test_the_audit_log_tells_who_did_what(guarded: Guarded) -> None:
    token = guarded.key(["registry", "data"])
    key_id = "key_" + token.split("_")[1]
    path = "/v1/models/guarded/aliases/second"
    guarded.ask("PUT", path, token, json={"version": 1, "reason": "a trial"})
    guarded.ask("DELETE", path, token, headers={"If-Match": "*"})
    table = b"a,label\n1,0\n2,1\n3,0\n4,1\n"
    dataset = guarded.ask(
        "POST", "/v1/datasets?name=gone", token, content=table, headers={"Content-Type": "text/csv"}
    )
    guarded.ask("DELETE", dataset.headers["location"], token)
    entries = guarded.ask("GET", "/v1/audit-log", guarded.admins["ours"]).json()["data"]
    told = [(one["action"], one["target"]) for one in entries if one["actor"] == key_id]
    assert told == [
        ("dataset.delete", dataset.headers["location"]),
        ("alias.delete", path),
        ("alias.put", path),
    ]
    moved = next(one for one in entries if one["target"] == path and one["action"] == "alias.put")
    assert moved["details"] == {"version": 1, "before": None, "reason": "a trial"}
    first = [one for one in entries if one["target"] == "/v1/models/guarded/aliases/champion"]
    assert [one["actor"] for one in first] == [guarded.ours["job"]]
    made = [one for one in entries if one["action"] == "api_key.create"]
    assert any(one["target"].endswith(key_id) and one["actor"] == "cli" for one in made)


def test_deleting_models_and_versions_is_told(guarded: Guarded) -> None:
    token = guarded.key(["registry", "train", "data"])
    key_id = "key_" + token.split("_")[1]
    service, admin = guarded.service, guarded.admins["ours"]
    service.http.headers["Authorization"] = f"Bearer {admin}"
    try:
        for _ in range(2):
            spec = {"model": "doomed", "dataset": guarded.ours["dataset"], "costs": {"fn": 9, "fp": 1}}
            spec |= {"algorithm": "adacost", "params": {"n_estimators": 2}}
            service.wait(service.http.post("/v1/training-jobs", json=spec).json()["id"])
    finally:
        del service.http.headers["Authorization"]
    assert guarded.ask("DELETE", "/v1/models/doomed/versions/2", token).status_code == 204
    gone = guarded.ask("DELETE", "/v1/models/doomed", token, headers={"If-Match": "*"})
    assert gone.status_code == 204
    entries = guarded.ask("GET", "/v1/audit-log", admin).json()["data"]
    told = [(one["action"], one["target"]) for one in entries if one["actor"] == key_id]
    assert told == [("model.delete", "/v1/models/doomed"), ("version.delete", "/v1/models/doomed/versions/2")]
