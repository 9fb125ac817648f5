"""`costboost doctor`: what it finds sound, what it finds wanting, and the words it has for a cure."""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from service import doctor, queue
from service.doctor import Finding, examine
from service.domain.errors import UnavailableError
from service.settings import Settings
from service.wiring import migrate, wire
from tests.service.conftest import settings_for


def found(settings: Settings, name: str) -> Finding:
    """What it says of one thing; kernels come last and are not looked at."""
    return next(finding for finding in examine(settings) if finding.name == name)


def test_what_is_sound_needs_no_cure(database_url: str, tmp_path: Path) -> None:
    settings = settings_for(database_url, tmp_path)
    wiring = wire(settings)
    migrate(wiring)
    wiring.close()
    for name in ("python", "libraries", "processors", "store", "database"):
        finding = found(settings, name)
        assert finding.ok, finding
        assert not finding.cure


def test_a_database_without_the_schema(empty_database_url: str, tmp_path: Path) -> None:
    finding = found(settings_for(empty_database_url, tmp_path), "database")
    assert finding.ok == empty_database_url.startswith("sqlite")  # where the first start makes it
    assert "costboost migrate" in finding.cure


def test_a_database_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    url = "postgresql://costboost:secret@127.0.0.1:1/costboost"
    finding = found(settings_for(url, tmp_path, database_wait_seconds=0.1), "database")
    assert not finding.ok
    assert "COSTBOOST_DATABASE_URL" in finding.cure
    assert "secret" not in finding.found + finding.cure
    assert "127.0.0.1:1" in finding.found


def test_a_file_that_is_no_database_and_one_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("no database, and much longer than the header of one would be" * 20)
    for name in ("notes", "absent"):
        path = tmp_path / f"{name}.db"
        finding = found(settings_for(f"sqlite:///{path}", tmp_path), "database")
        assert finding.ok == (name == "absent")  # `costboost serve` makes that one
        assert finding.cure
        assert path.exists() == (name == "notes")
    (tmp_path / "file").touch()
    nowhere = found(settings_for(f"sqlite:///{tmp_path}/file/a.db", tmp_path), "database")
    assert (nowhere.ok, "COSTBOOST_DATABASE_URL" in nowhere.cure) == (False, True)


@pytest.mark.parametrize(
    ("python", "sqlite", "is_sound"),
    [((3, 11), (3, 40, 1), True), ((3, 12), (3, 42, 0), True), ((3, 13), (3, 40, 1), False)],
)
def test_an_sqlite_that_the_queue_cannot_use_is_named_and_not_migrated(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    python: tuple[int, ...],
    sqlite: tuple[int, ...],
    is_sound: bool,
) -> None:
    fault = queue.sqlite_fault(python, sqlite)
    assert (fault is None) is is_sound
    for module in (queue, doctor):
        monkeypatch.setattr(module, "sqlite_fault", lambda: fault)
    if fault is not None:
        url = f"sqlite:///{tmp_path}/db"
        with pytest.raises(UnavailableError, match=r"3\.42"):
            queue.migrate_engine(url)
        finding = found(settings_for(url, tmp_path), "database")
        assert (finding.ok, finding.found, finding.cure) == (False, fault, queue.SQLITE_CURE)


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where the folder should be")
    finding = found(settings_for(f"sqlite:///{tmp_path}/a.db", tmp_path), "store")
    assert not finding.ok
    assert "COSTBOOST_STORE_URL" in finding.cure


def test_more_jobs_than_processors(tmp_path: Path) -> None:
    settings = settings_for(f"sqlite:///{tmp_path}/a.db", tmp_path).model_copy(update={"workers": 4096})
    finding = found(settings, "processors")
    assert not finding.ok
    assert "COSTBOOST_WORKERS" in finding.cure


def test_libraries_that_do_not_go_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["numpy<1", "no-such-library>=2", "pyarrow<1 ; extra == 'service'", "ruff<0 ; extra == 'dev'"]
    monkeypatch.setattr(metadata, "requires", lambda _: wanted)
    finding = found(settings_for(f"sqlite:///{tmp_path}/a.db", tmp_path), "libraries")
    assert not finding.ok
    assert [name in finding.found for name in ("numpy", "no-such-library", "pyarrow", "ruff")] == [1, 1, 1, 0]
    assert "pip install -c constraints.txt '.[service]'" in finding.cure


@pytest.mark.parametrize(("workers", "status"), [(1, 0), (4096, 1)])
def test_the_command_ends_with_1_if_anything_is_missing_that_does_not_heal_itself(
    tmp_path: Path, workers: int, status: int
) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "service.cli", "doctor", "--json", f"--data-dir={tmp_path}"],
        env=os.environ | {"COSTBOOST_WORKERS": str(workers)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == status, ended.stderr
    said = json.loads(ended.stdout)
    assert said["ok"] == (status == 0)
    looked_at = ["python", "libraries", "processors", "store", "database", "kernels"]
    assert [one["name"] for one in said["findings"]] == looked_at
    store, database = said["findings"][-3:-1]
    assert (store["ok"], "is not there yet" in store["found"]) == (True, True)
    assert not list(tmp_path.iterdir())  # to look makes nothing
    assert (database["ok"], "`costboost serve` makes it" in database["cure"]) == (True, True)
    assert ended.stderr == ""
