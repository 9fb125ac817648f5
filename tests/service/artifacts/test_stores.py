"""What every store promises, asked of the folder and of a bucket on a real server that speaks S3."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import obstore
import pytest
from pydantic import SecretStr

from service.artifacts import bucket
from service.artifacts.folder import FolderStore
from service.artifacts.store import ArtifactStore
from service.domain.errors import ConflictError, UnavailableError
from service.wiring import open_store
from tests.postgresql import free_port
from tests.service.conftest import running, settings_for

DATA = b"some bytes"
DIGEST = hashlib.sha256(DATA).hexdigest()


@pytest.fixture(scope="module")
def s3(wait_until: Callable[..., None]) -> Iterator[str]:
    """Address of a bucket on a server of its own, with the variables that lead there."""
    url = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", url.rpartition(":")[2]]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    variables = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
    }

    def is_made() -> bool:
        try:
            return httpx2.put(f"{url}/artifacts").is_success
        except httpx2.TransportError:
            return False

    try:
        wait_until(is_made, 60)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            yield "s3://artifacts"
    finally:
        server.kill()
        server.wait()


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    if request.param == "folder":
        return open_store((tmp_path / "store").as_uri())
    return open_store(f"{request.getfixturevalue('s3')}/{tmp_path.name}")


def test_round_trip(store: ArtifactStore) -> None:
    assert store.put(DATA) == DIGEST
    assert store.put(DATA) == DIGEST
    assert store.read(DIGEST) == DATA
    with store.open(DIGEST) as file:
        assert file.read() == DATA
        assert file.seek(5) == 5
        assert file.read() == b"bytes"
    assert store.exists(DIGEST)
    assert list(store.list()) == [DIGEST]
    store.delete(DIGEST)
    store.delete(DIGEST)
    assert not store.exists(DIGEST)
    assert list(store.list()) == []


def test_files_are_stored_and_spooled_ones_are_gone(store: ArtifactStore, tmp_path: Path) -> None:
    outside = tmp_path / "upload"
    outside.write_bytes(DATA * 1_000_000)
    digest = store.put_file(outside)
    assert outside.exists()
    assert store.read(digest) == DATA * 1_000_000
    with store.spool() as path:
        path.write_bytes(DATA)
        assert store.put_file(path) == DIGEST
    assert not path.exists()
    assert store.read(DIGEST) == DATA
    assert store.delete_incoming(0.0) == 0


def test_missing_bytes_are_told(store: ArtifactStore) -> None:
    for ask in (store.read, store.open):
        with pytest.raises(ConflictError) as error:
            ask(DIGEST)
        assert error.value.code == "artifact_missing"


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "A" * 64, "a" * 63, f"{DIGEST}\n", "a" * 62 + "/a"])
def test_only_a_digest_is_a_name(store: ArtifactStore, name: str) -> None:
    for ask in (store.read, store.open, store.exists, store.delete):
        with pytest.raises(ValueError, match="not a sha256"):
            ask(name)


def test_only_what_nobody_has_stored_lately_is_discarded(store: ArtifactStore) -> None:
    store.put(DATA)
    assert list(store.aged(3600.0)) == []
    assert not store.discard(DIGEST, 3600.0)
    assert list(store.aged(-60.0)) == [DIGEST]
    assert store.discard(DIGEST, -60.0)
    assert not store.discard(DIGEST, -60.0)
    assert not store.exists(DIGEST)


def test_what_dead_writers_left_is_swept(store: ArtifactStore) -> None:
    with store.spool() as path:
        assert store.delete_incoming(3600.0) == 0
        assert store.delete_incoming(-60.0) == 1
        assert not path.exists()


def test_a_nameless_file_is_gone_when_it_is_closed(store: ArtifactStore) -> None:
    with store.scratch(4) as file:
        file.write(DATA)
        file.seek(0)
        assert file.read() == DATA
    assert store.delete_incoming(-60.0) == 0
    assert list(store.list()) == []


def test_what_is_named_otherwise_is_no_artifact(store: ArtifactStore) -> None:
    store.put(DATA)
    if isinstance(store, FolderStore):
        (store.root / DIGEST[:2] / DIGEST[2:4] / "notes").write_bytes(DATA)
    else:
        obstore.put(store._store, f"{DIGEST[:2]}/{DIGEST[2:4]}/{'0' * 64}", DATA)
    assert list(store.list()) == [DIGEST]


def test_it_can_be_written(store: ArtifactStore) -> None:
    assert store.writable()
    assert list(store.list()) == []


def test_a_local_folder_of_somebody_else_is_not_used(
    s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    real = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: real + 1)
    with pytest.raises(PermissionError, match="belongs to somebody else"):
        bucket.BucketStore(f"{s3}/{tmp_path.name}")


def test_bytes_that_were_changed_in_the_bucket_are_refused(s3: str, tmp_path: Path) -> None:
    store = bucket.BucketStore(f"{s3}/{tmp_path.name}")
    store.put(DATA)
    obstore.put(store._store, bucket._key(DIGEST), b"Some bytes")
    for ask in (store.read, store.open):
        with pytest.raises(ConflictError) as error:
            ask(DIGEST)
        assert error.value.code == "artifact_corrupt"


def test_bytes_stored_again_count_as_young(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = bucket.BucketStore(f"{s3}/{tmp_path.name}")
    store.put(DATA)
    # Only a put without condition mends what somebody has changed: by that it is seen.
    obstore.put(store._store, bucket._key(DIGEST), b"Some bytes")
    store.put(DATA)
    assert bytes(obstore.get(store._store, bucket._key(DIGEST)).bytes()) == b"Some bytes"
    monkeypatch.setattr(bucket, "RENEWED_AFTER", -60.0)
    store.put(DATA)
    assert store.read(DIGEST) == DATA


def test_a_bucket_that_does_not_answer_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setattr(bucket, "PATIENCE", bucket.timedelta(milliseconds=100))
    store = bucket.BucketStore("s3://artifacts")
    assert not store.writable()
    with pytest.raises(UnavailableError) as error:
        store.put(DATA)
    assert error.value.code == "storage_unavailable"
    assert "127.0.0.1" not in str(error.value)


def test_a_service_trains_and_predicts_on_a_bucket(
    s3: str, sqlite_url: str, tmp_path: Path, fraud_csv: str
) -> None:
    settings = settings_for(sqlite_url, tmp_path).model_copy(update={"store_url": f"{s3}/{tmp_path.name}"})
    with running(settings, with_worker=True) as service:
        job = service.train("cards", fraud_csv, {"fn": 5, "fp": 1})
        assert job["status"] == "succeeded", job
        row = {"amount": 10.0, "hour": 3, "merchant": "a"}
        before = service.predict("cards", [row])
        assert before[0]["label"] in ("legit", "fraud")
        dataset = service.http.get("/v1/datasets").json()["data"][0]["id"]
        answer = service.http.get(f"/v1/datasets/{dataset}/content", headers={"Accept": "text/csv"})
        assert len(answer.text.splitlines()) == len(fraud_csv.splitlines())
        assert service.http.get("/readyz").json()["storage"] is True
    assert not (tmp_path / "store").exists()
    # A backup: the file, then the objects; put back elsewhere it decides the same.
    copied = shutil.copy(sqlite_url.removeprefix("sqlite:///"), tmp_path / "copy.db")
    source, target = (bucket.BucketStore(f"{s3}/{name}")._store for name in (tmp_path.name, "elsewhere"))
    for chunk in obstore.list(source):
        for found in chunk:
            obstore.put(target, found["path"], obstore.get(source, found["path"]).bytes())
    restored = settings.model_copy(
        update={"database_url": SecretStr(f"sqlite:///{copied}"), "store_url": f"{s3}/elsewhere"}
    )
    with running(restored, with_worker=False, preload=()) as elsewhere:
        assert elsewhere.predict("cards", [row]) == before
        assert elsewhere.http.get(f"/v1/datasets/{dataset}/content").status_code == 200
