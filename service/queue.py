"""The only door to the job engine (DBOS Transact): it brings a job to a worker, and nothing more.

The engine claims, orders and limits; the rows of `training_jobs` are the truth. What travels through it is
the id of a job, so its tables can be thrown away and filled again from ours. It runs inside our processes
and on our database; nothing of it needs a network or a server.
"""

import logging
import sqlite3
import sys
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Literal

from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer, EnqueueOptions
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from service.domain.errors import UnavailableError
from service.domain.ids import new_id

#: Number of the agreement between those who enqueue and those who run; raised only when they no longer fit.
JOB_PROTOCOL = "1"
APPLICATION = "costboost"
QUEUE = "training-jobs"
WORKFLOW = "run_training_job"
#: Names the engine reserves in a SQLite file that it shares with us.
ENGINE_TABLES = frozenset(
    {
        "application_versions",
        "dbos_migrations",
        "notifications",
        "operation_outputs",
        "queues",
        "streams",
        "workflow_events",
        "workflow_events_history",
        "workflow_input",
        "workflow_output",
        "workflow_schedules",
        "workflow_status",
    }
)

#: The rest is left to the next time.
_FORGOTTEN_AT_ONCE = 5_000

Handler = Callable[[str], None]

#: What helps where :func:`sqlite_fault` finds one.
SQLITE_CURE = "use PostgreSQL, Python 3.11, or a system with a newer SQLite"


class JobQueue:
    """The queue as everybody sees it who does not run jobs.

    Parameters
    ----------
    database : Engine
        Ours; the engine's tables are in the same database, so that one transaction can write both.
    """

    def __init__(self, database: Engine) -> None:
        _quiet()
        self._client = DBOSClient(
            system_database_engine=database,
            serializer=DBOSPortableJSONSerializer(),
            application_name=APPLICATION,
            lazy=True,
            # An outage is answered with 503 here, not waited for.
            retry_connection_errors=False,
        )

    def enqueue(self, session: Session, job_id: str) -> None:
        """Put a job in the queue, in the caller's transaction."""
        # An entry that ended cannot be used again, so each has a name of its own.
        entry = f"{job_id}~{new_id('entry')}"
        options = EnqueueOptions(
            workflow_name=WORKFLOW, queue_name=QUEUE, workflow_id=entry, app_version=JOB_PROTOCOL
        )
        self._client.enqueue_in_transaction(session, options, job_id)

    def cancel(self, job_id: str) -> None:
        """Take a waiting job out of the queue; call it after the transaction that ended the job."""
        waiting = self._client.list_workflows(
            workflow_id_prefix=f"{job_id}~", status="ENQUEUED", load_input=False, load_output=False
        )
        for entry in waiting:
            self._client.cancel_workflow(entry.workflow_id)

    def requeue_dead(self, executor_ids: Collection[str]) -> int:
        """Let others take what dead workers had begun; one caller at a time, outside of any transaction."""
        if not executor_ids:
            return 0
        begun = self._client.list_workflows(
            status="PENDING",
            executor_id=list(executor_ids),
            queue_name=QUEUE,
            load_input=False,
            load_output=False,
        )
        for entry in begun:
            self._client.resume_workflow(entry.workflow_id, queue_name=QUEUE)
        return len(begun)

    def waiting_or_begun(self) -> set[str]:
        """Ids of all jobs that have a live entry."""
        live = self._client.list_workflows(
            status=["ENQUEUED", "PENDING", "DELAYED"], name=WORKFLOW, load_input=False, load_output=False
        )
        return {entry.workflow_id.partition("~")[0] for entry in live}

    def forget(self, before: datetime) -> int:
        """Delete entries that have ended and were made before a moment, and tell how many."""
        ended = self._client.list_workflows(
            status=["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"],
            name=WORKFLOW,
            end_time=before.isoformat(),
            limit=_FORGOTTEN_AT_ONCE,
            load_input=False,
            load_output=False,
        )
        if ended:
            self._client.delete_workflows([entry.workflow_id for entry in ended])
        return len(ended)


def run_worker(url: str, executor_id: str, *, slots: int, poll_seconds: float, handler: Handler) -> None:
    """Start to take jobs: `handler(job_id)` is called in a thread, for at most `slots` jobs at a time.

    It returns at once; jobs are taken until the process ends. The handler must not raise: what becomes of a
    job is written in our rows.
    """
    config = DBOSConfig(
        name=APPLICATION,
        system_database_url=url,
        application_version=JOB_PROTOCOL,
        executor_id=executor_id,
        serializer=DBOSPortableJSONSerializer(),
        run_migrations=False,
        enable_otlp=False,
        # As long as our own sessions may hold a lock while their process is paused.
        sys_db_idle_transaction_timeout_sec=10.0,
        log_level="WARNING",
    )
    DBOS(config=config)
    _quiet()

    # The engine's own count of attempts is switched off: ours is in the row of the job.
    @DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)
    def run(job_id: str) -> None:
        handler(job_id)

    DBOS.listen_queues([QUEUE])
    DBOS.launch()
    _register(slots, poll_seconds, "always_update")


def keep_registered(slots: int, poll_seconds: float) -> None:
    """Write the queue's own row again where it is gone: without it the engine takes no jobs. For workers."""
    _register(slots, poll_seconds, "never_update")


def _register(slots: int, poll_seconds: float, on_conflict: Literal["always_update", "never_update"]) -> None:
    DBOS.register_queue(
        QUEUE, worker_concurrency=slots, polling_interval_sec=poll_seconds, on_conflict=on_conflict
    )


def sqlite_fault(
    python: tuple[int, ...] = sys.version_info[:2], sqlite: tuple[int, ...] = sqlite3.sqlite_version_info
) -> str | None:
    """Why the engine cannot work on SQLite here; None where it can.

    From Python 3.12 on it asks SQLite for parts of seconds, for which one before 3.42 has no word.
    """
    if python < (3, 12) or sqlite >= (3, 42):
        return None
    has = f"this Python {'.'.join(map(str, python))} has SQLite {'.'.join(map(str, sqlite))}"
    return f"{has}, and the job queue needs 3.42 from Python 3.12 on"


def migrate_engine(url: str) -> None:
    """Make or renew the engine's own tables, with its own command.

    Raises
    ------
    UnavailableError
        See :func:`sqlite_fault`.
    """
    if url.startswith("sqlite") and (fault := sqlite_fault()) is not None:
        raise UnavailableError("database_unavailable", f"{fault}: {SQLITE_CURE}")
    DBOS.migrate(url)
    _quiet()


def _quiet() -> None:
    """Let the engine say only what an operator must know, through the logging of the service."""
    logger = logging.getLogger("dbos")
    logger.handlers = []
    logger.propagate = True
    logger.setLevel(logging.WARNING)
