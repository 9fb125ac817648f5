"""The folder keeps bytes whole or not at all, under their sha256."""

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from service.artifacts import folder
from service.artifacts.folder import FolderStore
from service.domain.errors import ConflictError, UnavailableError

DATA = b"some bytes"
DIGEST = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def files(store: FolderStore) -> list[Path]:
    return [path for path in store.root.rglob("*") if path.is_file()]


def test_round_trip(store: FolderStore) -> None:
    assert store.put(DATA) == DIGEST
    assert store.put(DATA) == DIGEST
    assert store.read(DIGEST) == DATA
    assert store.exists(DIGEST)
    assert list(store.list()) == [DIGEST]
    assert files(store) == [store.root / DIGEST[:2] / DIGEST[2:4] / DIGEST]
    store.delete(DIGEST)
    store.delete(DIGEST)
    assert not store.exists(DIGEST)
    assert list(store.list()) == []


def test_files_are_copied_and_spooled_ones_moved(store: FolderStore, tmp_path: Path) -> None:
    outside = tmp_path / "upload"
    outside.write_bytes(DATA)
    assert store.put_file(outside) == DIGEST
    assert outside.exists()
    with store.spool() as path:
        path.write_bytes(b"other")
        digest = store.put_file(path)
        assert not path.exists()
    assert store.read(digest) == b"other"
    assert len(files(store)) == 2


def test_an_abandoned_spool_file_is_gone(store: FolderStore) -> None:
    with store.spool() as path:
        path.write_bytes(DATA)
    assert files(store) == []


def test_what_is_stored_again_while_it_is_discarded_stays(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(DATA)
    (kept,) = files(store)
    os.utime(kept, (0, 0))
    real = folder.age_of

    def age_of(path: Path) -> float:
        monkeypatch.setattr(folder, "age_of", real)
        age = real(path)
        store.put(DATA)
        return age

    monkeypatch.setattr(folder, "age_of", age_of)
    assert not store.discard(DIGEST, 3600.0)
    assert files(store) == [kept]
    assert store.read(DIGEST) == DATA


def test_corrupt_bytes_are_refused(store: FolderStore) -> None:
    store.put(DATA)
    files(store)[0].write_bytes(b"Some bytes")
    with pytest.raises(ConflictError) as error:
        store.read(DIGEST)
    assert error.value.code == "artifact_corrupt"


def test_missing_bytes_are_told(store: FolderStore) -> None:
    with pytest.raises(ConflictError) as error:
        store.read(DIGEST)
    assert error.value.code == "artifact_missing"


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "A" * 64, "a" * 63, f"{DIGEST}\n", "a" * 62 + "/a"])
def test_only_a_digest_becomes_a_path(store: FolderStore, name: str) -> None:
    with pytest.raises(ValueError, match="not a sha256"):
        store.open(name)


@pytest.mark.parametrize("step", ["fsync", "replace", "mkdir"])
def test_no_room_leaves_nothing(store: FolderStore, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def full(*_args: Any, **_options: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(
        *{"fsync": (os, "fsync"), "replace": (Path, "replace"), "mkdir": (Path, "mkdir")}[step], full
    )
    with pytest.raises(UnavailableError) as error:
        store.put(DATA)
    monkeypatch.undo()
    assert error.value.code == "storage_full"
    assert files(store) == []
    assert store.put(DATA) == DIGEST


def test_bytes_and_their_folder_are_synced_before_the_name_is_told(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real_sync, real_replace = folder._sync, Path.replace

    def sync(path: Path) -> None:
        steps.append(f"sync {path.parent.name if path.is_file() else 'folder'}")
        real_sync(path)

    def replace(path: Path, target: Path) -> Path:
        steps.append("rename")
        return real_replace(path, target)

    monkeypatch.setattr(folder, "_sync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    store.put(DATA)
    assert steps[0] == "sync incoming"
    assert steps[-2:] == ["rename", "sync folder"]


def test_a_file_that_has_just_gone_is_not_old(tmp_path: Path) -> None:
    assert folder.age_of(tmp_path / "gone") == 0.0


def test_writable(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.writable()

    def refuse(*_args: Any) -> int:
        raise OSError(errno.EROFS, "read-only")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert not store.writable()
    assert files(store) == []
