"""The only door to the job engine (DBOS Transact): it brings a job to a worker, and nothing more.

The engine claims, orders and limits; the rows of `training_jobs` are the truth. What travels through it is
the id of a job, so its tables can be thrown away and filled again from ours.
"""

import logging
from collections.abc import Callable

from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions
from sqlalchemy import Engine
from sqlalchemy.orm import Session

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

Handler = Callable[[str], None]


class JobQueue:
    """The side of those who hand jobs in: enqueue, cancel.

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
            retry_connection_errors=False,
        )

    def enqueue(self, session: Session, job_id: str) -> None:
        """Put a job in the queue, in the caller's transaction."""
        options = EnqueueOptions(
            workflow_name=WORKFLOW, queue_name=QUEUE, workflow_id=job_id, app_version=JOB_PROTOCOL
        )
        self._client.enqueue_in_transaction(session, options, job_id)

    def cancel(self, job_id: str) -> None:
        """Take a waiting job out of the queue; call it after the transaction that ended the job."""
        self._client.cancel_workflow(job_id)


def migrate_engine(url: str) -> None:
    """Make or renew the engine's own tables, with its own command."""
    DBOS.migrate(url)
    _quiet()


def _quiet() -> None:
    """Let the engine say only what an operator must know, through the logging of the service."""
    logger = logging.getLogger("dbos")
    logger.handlers = []
    logger.propagate = True
    logger.setLevel(logging.WARNING)
