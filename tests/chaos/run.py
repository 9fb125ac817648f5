"""One chaos run: a fleet, clients, faults by a seed, and at the end everything that the judge must know."""

import hashlib
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from service.db.engine import READ_ONLY
from service.db.tables import CheckpointRow, TrainingJobRow
from service.queue import ENGINE_TABLES
from service.settings import load_settings
from service.wiring import Wiring, wire
from tests.chaos.client import Client
from tests.chaos.fleet import Fleet
from tests.chaos.judge import FINAL, judge
from tests.chaos.ledger import Log, copy_steps, observe
from tests.chaos.target import POISON
from tests.postgresql import Server, free_port
from tests.service.conftest import table

#: Least and most seconds between two faults of a kind.
FAULTS: Mapping[str, tuple[float, float]] = {
    "kill_worker": (1.0, 5.0),
    "kill_api": (20.0, 60.0),
    "pause_worker": (10.0, 30.0),
    "crash_database": (20.0, 60.0),
    "empty_queue": (15.0, 45.0),
}
#: A worker that never lives as long as a fit takes ends none: those who train get more time.
FAULTS_OF_FITS = {name: (3.0 * least, 3.0 * most) for name, (least, most) in FAULTS.items()}
#: The engine's migrations stay; without them it could not say what its own tables look like.
EMPTIED = sorted(ENGINE_TABLES - {"dbos_migrations"})
#: Of others to our database.
_CONNECTIONS = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@dataclass(frozen=True)
class Plan:
    """What is run.

    Attributes
    ----------
    kind : str
        "fit": jobs train; "pass": they only pass through.
    poison : int
        How many jobs beside the others kill each worker that takes them.
    deaths : int
        After how many a job is failed; large enough that only poison gets there.
    patience : float
        Seconds without any job coming to its end, after which the rest counts as lost.
    most : int
        Faults of each kind at most, so that a slow machine has not more to do than a fast one.
    """

    seed: int
    jobs: int
    kind: str = "pass"
    poison: int = 0
    workers: int = 3
    slots: int = 4
    clients: int = 3
    per_second: float = 20.0
    lease: float = 3.0
    deaths: int = 12
    patience: float = 300.0
    faults: Mapping[str, tuple[float, float]] = field(default_factory=lambda: FAULTS)
    most: int = 1_000_000


def run(plan: Plan, url: str, folder: Path, server: Server | None = None) -> list[str]:
    """Run a plan on a database that has all tables, and return the judge's verdict.

    Parameters
    ----------
    folder : Path
        Store, temporary files and the log `events.jsonl` are kept there.
    server : Server, optional
        The PostgreSQL of the database, which is then crashed too.
    """
    log = Log(folder / "events.jsonl")
    log.add("plan", seed=plan.seed, jobs=plan.jobs, kind=plan.kind, poison=plan.poison, database=url)
    environment = _environment(plan, url, folder)
    wiring = wire(load_settings(environment))
    rng = random.Random(plan.seed)
    observe(wiring.database)
    fleet = Fleet(environment, folder, workers=plan.workers, kind=plan.kind, log=log, rng=rng)
    api = f"http://127.0.0.1:{environment['COSTBOOST_PORT']}"
    clients = _clients(plan, api, log)
    try:
        for client in clients:
            client.start()
        Storm(plan, fleet, wiring.database, log, rng, server).rage()
        fleet.stop()
    finally:
        fleet.kill()
        for client in clients:
            client.stopping.set()
            client.join()
    copy_steps(wiring.database, log)
    _look_for_leftovers(wiring, log)
    wiring.close()
    return judge(log.events)


class Storm:
    """Does to a fleet what the seed says, until every job has its end or nothing moves any more."""

    def __init__(
        self, plan: Plan, fleet: Fleet, database: Engine, log: Log, rng: random.Random, server: Server | None
    ) -> None:
        self._plan, self._fleet, self._database = plan, fleet, database
        # Who counts must not wait for a lock: it is from here that a paused process is let go on.
        self._readers = database.execution_options(**{READ_ONLY: True})
        self._log, self._rng, self._server = log, rng, server
        self._faults: dict[str, Callable[[], None]] = {
            "kill_worker": fleet.kill_worker,
            "kill_api": fleet.kill_api,
            "pause_worker": lambda: fleet.pause_worker(plan.lease + rng.uniform(0.5, 3.0)),
            "empty_queue": self._empty_queue,
        }
        if server is not None:
            self._faults["crash_database"] = self._crash_database
        self._done: Counter[str] = Counter()
        self._due = {name: self._next(name) for name in self._faults if name in plan.faults}

    def rage(self) -> None:
        """Go on to the end."""
        ended, moved_at = -1, time.monotonic()
        total = self._plan.jobs + self._plan.poison
        while ended < total and time.monotonic() < moved_at + self._plan.patience:
            self._fleet.keep()
            for name in [name for name, due in self._due.items() if time.monotonic() > due]:
                self._faults[name]()
                self._done[name] += 1
                self._due[name] = self._next(name)
            count = self._count()
            if count > ended:
                ended, moved_at = count, time.monotonic()
            time.sleep(0.1)

    def _next(self, name: str) -> float:
        if self._done[name] >= self._plan.most:
            return float("inf")
        return time.monotonic() + self._rng.uniform(*self._plan.faults[name])

    def _count(self) -> int:
        ended = select(func.count()).where(TrainingJobRow.status.in_(FINAL))
        try:
            with self._readers.connect() as connection:
                return int(connection.scalar(ended) or 0)
        except SQLAlchemyError:
            return -1

    def _crash_database(self) -> None:
        assert self._server is not None
        number = self._rng.choice([signal.SIGQUIT, signal.SIGKILL])
        self._log.add("crashed", who="database", signal=number)
        self._server.stop(number)
        time.sleep(self._rng.uniform(0.0, 3.0))
        self._server.start()

    def _empty_queue(self) -> None:
        """Forget everything that the queue knows."""
        if self._fleet.has_paused:
            return
        self._log.add("emptied", who="queue")
        schema = "" if self._server is None else "dbos."
        try:
            with self._database.begin() as connection:
                for name in EMPTIED:
                    connection.execute(text(f"DELETE FROM {schema}{name}"))
        except SQLAlchemyError as error:
            self._log.add("spared", who="queue", error=type(error).__name__)


def _environment(plan: Plan, url: str, folder: Path) -> dict[str, str]:
    values = {
        "database_url": url,
        "store_url": (folder / "store").as_uri(),
        "port": free_port(),
        "workers": plan.slots,
        "lease_seconds": plan.lease,
        "beat_seconds": plan.lease / 6,
        "max_worker_deaths": plan.deaths,
        "max_queued_jobs": 1_000_000,
        "job_memory_mb": 1024,
        # Fits are quick here: nearly each fold is kept, and most attempts go on from another.
        "checkpoint_seconds": 0.05,
        "log_level": "warning",
    }
    return {f"COSTBOOST_{name.upper()}": str(value) for name, value in values.items()}


def _clients(plan: Plan, url: str, log: Log) -> list[Client]:
    specs = {f"chaos-{number}": spec for number, spec in enumerate(_specs(plan))}
    shares = [dict(list(specs.items())[share :: plan.clients]) for share in range(plan.clients)]
    csv, pace = table(150), plan.per_second / plan.clients
    return [
        Client(url, csv, share, per_second=pace, log=log, seed=plan.seed + number)
        for number, share in enumerate(shares)
    ]


def _specs(plan: Plan) -> list[dict[str, Any]]:
    rng = random.Random(plan.seed)
    fast = {"costs": {"fn": 5, "fp": 1}, "algorithm": "cgada", "params": {"n_estimators": 5}}
    specs: list[dict[str, Any]] = [{"model": f"m{number % 7}", **fast} for number in range(plan.jobs)]
    specs += [{"model": POISON, **fast} for _ in range(plan.poison)]
    rng.shuffle(specs)
    return specs


def _look_for_leftovers(wiring: Wiring, log: Log) -> None:
    """Artifacts that rows name but that are not there; files and connections that nobody has any more."""
    names = {name for event in log.events if event["event"] == "version" for name in event["artifacts"]}
    for name in sorted(names):
        path = wiring.store.root / name[:2] / name[2:4] / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != name:
            log.add("left", what=f"a version whose artifact {name} is missing or damaged")
    with wiring.readers() as session:
        for name in session.scalars(select(CheckpointRow.content_sha256)):
            if not wiring.store.exists(name):
                log.add("left", what=f"a checkpoint whose artifact {name} is missing")
    log.add("swept", files=wiring.store.delete_incoming(0.0))
    known = set(wiring.store.list())
    for path in wiring.store.root.rglob("*"):
        if path.is_file() and path.name not in known:
            log.add("left", what=f"file {path}")
    if wiring.database.dialect.name == "postgresql":
        wiring.database.dispose()
        with wiring.database.connect() as connection:
            count = connection.scalar(text(_CONNECTIONS))
        if count:
            log.add("left", what=f"{count} connections")
