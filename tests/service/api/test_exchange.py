"""A version goes from one installation to another as one file, and no other file gets in."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from service.artifacts.store import ArtifactStore
from service.domain.errors import ConflictError
from tests.service.conftest import Service, problem, table
from tests.service.records import grown_old

ZIP = {"Content-Type": "application/zip"}
ROWS = [{"amount": 500.0, "hour": 3, "merchant": "d"}, {"amount": 5.0, "hour": 12, "merchant": None}]
PATH = "/v1/models/travelled/versions"


@pytest.fixture(scope="module")
def exported(service: Service) -> bytes:
    """A version of a model as a file."""
    costs = {"fn": {"per": {"amount": 1.0}}, "fp": 5}
    job = service.train("traveller", table(300), costs, params={"n_estimators": 10})
    assert job["status"] == "succeeded", job
    answer = service.http.get("/v1/models/traveller/versions/1/export")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    assert int(answer.headers["content-length"]) == len(answer.content)
    return answer.content


def taken_in(service: Service, data: bytes, path: str = PATH, **headers: str) -> httpx2.Response:
    return service.http.post(path, content=data, headers={**ZIP, **headers})


def rewritten(data: bytes, change: dict[str, Any], *, compress: bool = False) -> bytes:
    """The file with other parts: bytes, None to leave one out, or a function of the bytes that are there."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, new in change.items():
        parts[name] = new(parts[name]) if callable(new) else new
    target = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(target, "w", kind) as archive:
        for name, part in parts.items():
            if part is not None:
                archive.writestr(name, part)
    return target.getvalue()


def with_manifest(data: bytes, **change: Any) -> bytes:
    def edit(text: bytes) -> bytes:
        return json.dumps({**json.loads(text), **change}).encode()

    return rewritten(data, {"manifest.json": edit})


def with_part(data: bytes, name: str, part: bytes) -> bytes:
    """The file with another part, and a manifest that says so."""
    digest = hashlib.sha256(part).hexdigest()

    def edit(text: bytes) -> bytes:
        manifest = json.loads(text)
        return json.dumps(manifest | {"files": manifest["files"] | {name: digest}}).encode()

    return rewritten(data, {name: part, "manifest.json": edit})


def test_the_same_version_is_the_same_file_and_holds_no_row(service: Service, exported: bytes) -> None:
    assert service.http.get("/v1/models/traveller/versions/1/export").content == exported
    with zipfile.ZipFile(io.BytesIO(exported)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert (manifest["model"], manifest["version"], manifest["dataset"]["tenant_id"]) == ("traveller", 1, "")
    assert manifest["spec"]["costs"]["fp"] == 5


def test_it_arrives_as_it_left(service: Service, fresh_service: Service, exported: bytes) -> None:
    answer = taken_in(fresh_service, exported)
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"{PATH}/1"
    there, here = answer.json(), service.http.get("/v1/models/traveller/versions/1").json()
    for name in ("metrics", "artifact_sha256", "params", "costs", "split", "dataset_sha256"):
        assert there[name] == here[name]
    assert (there["training_job"], there["dataset"]) == (None, None)
    assert there["imported_from"]["model"] == "traveller"
    assert here["imported_from"] is None
    assert fresh_service.predict("travelled", ROWS, explain={}) == service.predict(
        "traveller", ROWS, explain={}
    )
    assert fresh_service.http.get("/v1/models/travelled").json()["aliases"] == {"champion": 1}
    for end in ("curves", "schema", "evaluation", "artifact"):
        kept, sent = (
            one.http.get(f"/v1/models/{name}/versions/1/{end}")
            for one, name in ((fresh_service, "travelled"), (service, "traveller"))
        )
        assert kept.status_code == 200, kept.text
        if end != "artifact":
            assert {**kept.json(), "model": ""} == {**sent.json(), "model": ""}
    card = fresh_service.http.get(f"{PATH}/1/card").json()
    assert card["lineage"]["imported_from"] == {"model": "traveller", "version": 1}
    assert card["data"]["dataset"] is None
    assert fresh_service.http.get(f"{PATH}/1/card", headers={"Accept": "text/html"}).status_code == 200
    found = problem(fresh_service.http.get(f"{PATH}/1/card", params={"by": "hour"}), 422, "invalid")
    assert found["errors"][0]["code"] == "no_dataset"


def commented(data: bytes) -> bytes:
    target = io.BytesIO(data)
    with zipfile.ZipFile(target, "a") as archive:
        archive.comment = b"GET / HTTP/1.1"
    return target.getvalue()


def doubled(data: bytes) -> bytes:
    target = io.BytesIO(data)
    with zipfile.ZipFile(target, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("manifest.json", archive.read("manifest.json"))
    return target.getvalue()


def _odd_schemas(schema: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Changes of a schema that something would stumble over later, each with where it is told."""
    return [
        ({"id": 1e308}, "/manifest.json/schema/id"),
        ({"subject": []}, "/manifest.json/schema/subject"),
        ({"actions": ["other", *schema["actions"][1:]]}, "/manifest.json"),
        ({"cost_columns": []}, "/manifest.json"),
        ({"example": {**schema["example"], "amount": "much"}}, "/manifest.json"),
        ({"example": {**schema["example"], "merchant": {}}}, "/manifest.json"),
    ]


def _hostile(data: bytes) -> dict[str, tuple[bytes, int, str]]:
    """Files that must not get in, with status and pointer."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        report = json.loads(archive.read("report.json"))
    shapes = [{**report["shapes"][0], "cuts": [1.0] * 999}]
    other_costs = {**manifest["spec"], "costs": {"fn": 1, "fp": -1}}
    return {
        "nothing": (b"", 400, "/file"),
        "no archive": (b"PK\x03\x04 but no more", 400, "/file"),
        "cut off": (data[: len(data) // 2], 400, "/file"),
        "another part": (rewritten(data, {"model.pkl": b"cos\nsystem\n"}), 400, "/file"),
        "a path": (rewritten(data, {"report.json": None, "../report.json": b"{}"}), 400, "/file"),
        "a part less": (rewritten(data, {"report.json": None}), 400, "/file"),
        "compressed": (rewritten(data, {}, compress=True), 400, "/file"),
        "before it": (b"#!/bin/sh\n" + data, 400, "/file"),
        "after it": (data + b"<script>", 400, "/file"),
        "another after it": (data + data, 400, "/file"),
        "a comment": (commented(data), 400, "/file"),
        "between its parts": (data.replace(b"PK\1\2", b"odd PK\1\2", 1), 400, "/file"),
        "a part twice": (doubled(data), 400, "/file"),
        "manifest no JSON": (rewritten(data, {"manifest.json": b"{"}), 400, "/manifest.json"),
        "manifest a list": (rewritten(data, {"manifest.json": b"[]"}), 422, "/manifest.json"),
        "unknown field": (with_manifest(data, tenant_id="other"), 422, "/manifest.json/tenant_id"),
        "metrics of text": (with_manifest(data, metrics="good"), 422, "/manifest.json/metrics"),
        "metrics without": (
            with_manifest(data, metrics={"rows": 3}),
            422,
            "/manifest.json/metrics/expected_cost",
        ),
        **{
            f"metrics of {name} {number!r:.9}": (
                with_manifest(data, metrics={**manifest["metrics"], name: number}),
                422,
                f"/manifest.json/metrics/{name}",
            )
            for name, number in (
                ("savings", "x"),
                ("savings", 1e308),
                ("total_cost", 10**400),
                ("specificity", "<script>"),
                ("confusion", True),
                ("undefined", 1),
            )
        },
        **{
            f"confusion of {shape}": (
                with_manifest(data, metrics={**manifest["metrics"], "confusion": shape}),
                422,
                "/manifest.json",
            )
            for shape in ([[1]], [[1, 2], [3]])
        },
        **{
            f"schema with {change}": (
                with_manifest(data, schema={**manifest["schema"], **change}),
                422,
                place,
            )
            for change, place in _odd_schemas(manifest["schema"])
        },
        "no example": (
            with_manifest(data, schema={**manifest["schema"], "example": {}}),
            422,
            "/manifest.json/schema",
        ),
        "costs that are none": (with_manifest(data, spec=other_costs), 422, "/manifest.json/spec/costs/fp"),
        "other bytes": (rewritten(data, {"model.safetensors": b"x"}), 422, "/model.safetensors"),
        "no model": (with_part(data, "model.safetensors", b"x" * 99), 422, "/model.safetensors"),
        "no test part": (with_part(data, "test_part.safetensors", b"x" * 99), 422, "/test_part.safetensors"),
        "no report": (with_part(data, "report.json", b"{}"), 422, "/report.json"),
        "odd shapes": (
            with_part(data, "report.json", json.dumps({**report, "shapes": shapes}).encode()),
            422,
            "/report.json",
        ),
        "other classes": (
            with_manifest(data, schema={**manifest["schema"], "classes": ["a", "b"]}),
            422,
            "/manifest.json",
        ),
        "other metrics": (
            with_manifest(data, metrics={**manifest["metrics"], "total_cost": 1.5}),
            422,
            "/manifest.json",
        ),
        "other columns": (
            with_manifest(data, schema={**manifest["schema"], "columns": []}),
            422,
            "/manifest.json",
        ),
    }


def test_what_is_no_exported_version_leaves_nothing(service: Service, exported: bytes) -> None:
    before = sorted(service.wiring.store.list()), service.http.get("/v1/models").json()["data"]
    for told, (data, status, place) in _hostile(exported).items():
        answer = taken_in(service, data)
        assert answer.status_code == status, (told, answer.text)
        assert place in [one["pointer"] for one in answer.json()["errors"]], (told, answer.text)
    assert (sorted(service.wiring.store.list()), service.http.get("/v1/models").json()["data"]) == before


def test_other_media_types_and_names(service: Service, exported: bytes) -> None:
    answer = service.http.post(PATH, content=exported, headers={"Content-Type": "application/json"})
    problem(answer, 415, "unsupported_media_type")
    # Larger than any document may be: it is still its type that is wrong.
    problem(service.http.post(PATH, content=bytes(2 << 20)), 415, "unsupported_media_type")
    problem(taken_in(service, exported, "/v1/models/Travelled/versions"), 422, "invalid")
    problem(service.http.get(f"{PATH}/1/export"), 404, "not_found")


def test_where_a_version_is_deleted_while_it_is_loaded_its_successor_answers(
    service: Service, exported: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    http, store, path = service.http, type(service.wiring.store), "/v1/models/passing"
    for _ in range(3):
        assert taken_in(service, exported, f"{path}/versions").status_code == 201

    def asked_while(delete: Callable[[], None], **asked: int) -> httpx2.Response:
        def read(_store: ArtifactStore, _sha256: str) -> bytes:
            patched.undo()
            delete()
            raise ConflictError("artifact_missing", "the stored bytes are no longer there")

        with monkeypatch.context() as patched:
            patched.setattr(store, "read", read)
            return http.post(f"{path}/predict", json={"rows": ROWS, **asked})

    def promote_the_third_and_delete_the_first() -> None:
        etag = {"If-Match": http.get(f"{path}/aliases/champion").headers["etag"]}
        assert http.put(f"{path}/aliases/champion", json={"version": 3}, headers=etag).status_code == 200
        assert http.delete(f"{path}/versions/1").status_code == 204

    def delete_the_second() -> None:
        assert http.delete(f"{path}/versions/2").status_code == 204

    assert asked_while(promote_the_third_and_delete_the_first).json()["version"] == 3
    problem(asked_while(delete_the_second, version=2), 404, "not_found")
    etag = http.get(path).headers["etag"]
    assert http.delete(path, headers={"If-Match": etag}).status_code == 204


def test_it_can_go_on_and_goes_with_its_bytes(service: Service, exported: bytes) -> None:
    path, store = "/v1/models/onward/versions", service.wiring.store
    key = {"Idempotency-Key": "once"}
    first, again = (taken_in(service, exported, path, **key) for _ in range(2))
    assert (first.json()["id"], again.status_code) == (again.json()["id"], 201)
    onward = service.http.get(f"{path}/1/export").content
    assert taken_in(service, onward, path).json()["version"] == 2
    assert service.http.delete(f"{path}/2").status_code == 204
    assert service.http.get(f"{path}/1/artifact").status_code == 200
    lineage = service.http.get(f"{path}/1/card").json()["lineage"]
    kept = [lineage[name] for name in ("artifact_sha256", "report_sha256", "test_part_sha256")]
    grown_old(store)
    for name in ("onward", "traveller"):
        assert all(store.exists(digest) for digest in kept)
        etag = service.http.get(f"/v1/models/{name}").headers["etag"]
        assert service.http.delete(f"/v1/models/{name}", headers={"If-Match": etag}).status_code == 204
    assert not any(store.exists(digest) for digest in kept)
