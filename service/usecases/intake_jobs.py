"""Tables that are asked to be taken in by a worker."""

from dataclasses import asdict
from datetime import UTC, datetime

from sqlalchemy.orm import Session, sessionmaker

from service.db import idempotency
from service.db import jobs as rows_of_jobs
from service.domain.datasets import IntakeOptions
from service.domain.ids import new_id
from service.domain.intake_jobs import IntakeJob
from service.domain.receipts import Receipt
from service.logs import request_id
from service.queue import JobQueue
from service.usecases import jobs
from service.usecases.datasets import Intake, Upload
from service.usecases.jobs import JobView

Sessions = sessionmaker[Session]
IntakeView = JobView[IntakeJob]


def submit(
    sessions: Sessions,
    intake: Intake,
    *,
    queue: JobQueue,
    tenant: str,
    upload: Upload,
    options: IntakeOptions,
    queued_jobs: int,
    receipt: Receipt | None = None,
) -> IntakeView:
    """
    Keep a file as it is, and write job and queue entry in one transaction.

    Raises
    ------
    TooManyError
        The tenant has as many jobs waiting as it may.
    UnavailableError
        `storage_full`.
    """
    with sessions() as session:  # before the bytes are kept, and once more with the row
        jobs.require_room(session, tenant, queued_jobs)
    source = intake.store.put_file(upload.path)
    order = {
        "dataset": new_id("ds"),
        "source_sha256": source,
        "media_type": upload.media_type,
        "sha256": upload.sha256,
        "bytes": upload.bytes,
        "options": options.model_dump(mode="json"),
        "limits": asdict(intake.limits),
    }
    job = IntakeJob.asked(
        id=new_id("in"),
        tenant_id=tenant,
        order=order,
        source_sha256=source,
        created_at=datetime.now(UTC),
        request_id=request_id(),
    )
    with sessions.begin() as session:
        jobs.require_room(session, tenant, queued_jobs)
        rows_of_jobs.add(session, job)
        queue.enqueue(session, job.id)
        idempotency.sign(session, receipt, f"/v1/intake-jobs/{job.id}")
        return jobs.view(session, job)
