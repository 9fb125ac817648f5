"""The event log: what was asked, answered, broken and left, and each step that a job took in the database.

Steps are written by triggers, in the transactions of those who take them, so that none is missing however
its process ends. Everything else is written here, a line of JSON for each event.
"""

import json
import threading
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

Event = dict[str, Any]

_TABLE = """CREATE TABLE chaos_steps (
    seq {serial}, job TEXT, old_status TEXT, old_attempt INTEGER, status TEXT, attempt INTEGER)"""
_STEP = "INSERT INTO chaos_steps (job, old_status, old_attempt, status, attempt) VALUES"
_SQLITE = (
    _TABLE.format(serial="INTEGER PRIMARY KEY AUTOINCREMENT"),
    f"""CREATE TRIGGER chaos_asked AFTER INSERT ON training_jobs BEGIN
    {_STEP} (NEW.id, NULL, NULL, NEW.status, NEW.attempt); END""",
    f"""CREATE TRIGGER chaos_moved AFTER UPDATE ON training_jobs BEGIN
    {_STEP} (NEW.id, OLD.status, OLD.attempt, NEW.status, NEW.attempt); END""",
)
_POSTGRESQL = (
    _TABLE.format(serial="bigserial PRIMARY KEY"),
    f"""CREATE FUNCTION chaos_step() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'INSERT' THEN {_STEP} (NEW.id, NULL, NULL, NEW.status, NEW.attempt);
    ELSE {_STEP} (NEW.id, OLD.status, OLD.attempt, NEW.status, NEW.attempt); END IF;
    RETURN NULL; END $$""",
    """CREATE TRIGGER chaos_step AFTER INSERT OR UPDATE ON training_jobs
    FOR EACH ROW EXECUTE FUNCTION chaos_step()""",
)
_VERSIONS = "SELECT job_id, artifact_sha256, report_sha256, test_part_sha256 FROM versions"


class Log:
    """Events, kept in memory and in a file; many threads may add some."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events: list[Event] = []
        self._lock = threading.Lock()
        self._began = time.monotonic()

    def add(self, event: str, **content: Any) -> None:
        """Write one event."""
        entry = {"event": event, "at": round(time.monotonic() - self._began, 3), **content}
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            self.events.append(entry)
            file.write(json.dumps(entry) + "\n")


def observe(database: Engine) -> None:
    """Let the database note each step of each job from now on."""
    with database.begin() as connection:
        for statement in _SQLITE if database.dialect.name == "sqlite" else _POSTGRESQL:
            connection.exec_driver_sql(statement)


def copy_steps(database: Engine, log: Log) -> None:
    """Add to the log what the database has noted, and how every job stands at the end."""
    with database.begin() as connection:
        for step in connection.execute(text("SELECT * FROM chaos_steps ORDER BY seq")).mappings():
            log.add("step", **step)
        for row in connection.execute(
            text("SELECT id, status, attempt, worker_deaths, error FROM training_jobs")
        ):
            log.add("job", job=row[0], status=row[1], attempt=row[2], deaths=row[3], error=str(row[4]))
        for job, *names in connection.execute(text(_VERSIONS)):
            log.add("version", job=job, artifacts=names)


def read_log(path: Path) -> list[Event]:
    """Read a log that was written earlier."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
