"""Training jobs: asked for, and what the child of an attempt does."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from service import learning
from service.artifacts.store import ArtifactStore
from service.db import idempotency
from service.db import jobs as rows_of_jobs
from service.db.datasets import add_dataset
from service.domain.cautions import cautions_of_test
from service.domain.datasets import Dataset, IntakeOptions
from service.domain.ids import new_id
from service.domain.receipts import Receipt
from service.domain.training import TrainingJob, TrainingSpec
from service.logs import request_id
from service.queue import JobQueue
from service.rows import read_parquet
from service.usecases import ingredients, jobs
from service.usecases.datasets import Intake, Upload, kept_unless_refused, take_in
from service.usecases.jobs import JobView
from service.usecases.planning import Ceilings, plan

Sessions = sessionmaker[Session]
TrainingView = JobView[TrainingJob]
#: phase, round, rounds, fraction of the whole
Report = Callable[[str, int, int, float, Mapping[str, float]], None]


def submit(
    sessions: Sessions,
    readers: Sessions,
    store: ArtifactStore,
    *,
    queue: JobQueue,
    tenant: str,
    spec: TrainingSpec,
    ceilings: Ceilings,
    new: Dataset | None = None,
    receipt: Receipt | None = None,
) -> TrainingView:
    """Check a spec, and write job and queue entry in one transaction: once this returns, the job is not lost.

    Parameters
    ----------
    new : Dataset, optional
        The dataset of the spec when it has no row yet: it gets it in the same transaction.

    Raises
    ------
    InvalidError
        With a pointer for everything that would make the job fail.
    TooManyError
        The tenant has as many jobs waiting as it may.
    """
    # Checking may take a while; no write lock is held meanwhile.
    planned = plan(readers, store, tenant, spec, ceilings=ceilings, new=new)
    job = TrainingJob.asked(new_id("job"), tenant, planned.spec, datetime.now(UTC), request_id())
    try:
        with sessions.begin() as session:
            if new is not None:
                add_dataset(session, new)
            jobs.require_room(session, tenant, ceilings.queued_jobs)
            rows_of_jobs.add(session, job)
            queue.enqueue(session, job.id)
            idempotency.sign(session, receipt, f"/v1/training-jobs/{job.id}")
            return jobs.view(session, job)
    except IntegrityError:
        # Where the dataset was deleted between the check and the insert, this says so.
        with readers() as session:
            ingredients.place(session, tenant, planned.spec, new)
        raise


def submit_upload(
    sessions: Sessions,
    readers: Sessions,
    queue: JobQueue,
    tenant: str,
    spec: TrainingSpec,
    *,
    intake: Intake,
    upload: Upload,
    options: IntakeOptions,
    ceilings: Ceilings,
    receipt: Receipt | None = None,
) -> TrainingView:
    """Take a table in and submit a job on it, both or neither; `spec.dataset` is replaced by its id."""
    dataset = take_in(intake, tenant, upload, options)
    placed = spec.model_copy(update={"dataset": dataset.id})
    with kept_unless_refused(intake.store, dataset.content_sha256):
        return submit(
            sessions,
            readers,
            intake.store,
            queue=queue,
            tenant=tenant,
            spec=placed,
            ceilings=ceilings,
            new=dataset,
            receipt=receipt,
        )


def execute(
    store: ArtifactStore,
    order: dict[str, Any],
    report: Report,
    checkpoints: learning.Checkpoints | None = None,
) -> dict[str, Any]:
    """Do what is ordered, in the child: read the dataset, train, store the bytes.

    Returns
    -------
    dict
        Fields of `attempts.NewVersion`, as plain JSON.
    """
    spec, dataset, costs = ingredients.from_json(order)
    report("reading", 0, 0, 0.0, {})
    content = BytesIO(store.read(dataset.content_sha256))
    columns = read_parquet(content, dataset.input_columns)
    trained = learning.fit(spec, dataset, columns, costs, report, checkpoints=checkpoints)
    report("storing", 0, 0, 1.0, {})
    return {
        "dataset_sha256": dataset.sha256,
        "artifact_sha256": store.put(trained.artifact),
        "artifact_bytes": len(trained.artifact),
        "report_sha256": store.put(trained.report),
        "test_part_sha256": store.put(trained.test_part),
        "params": trained.params,
        "search": trained.search,
        "metrics": trained.metrics,
        "warnings": [
            *cautions_of_test(trained.test_counts, trained.metrics),
            *(("training", text) for text in trained.warnings),
        ],
        "schema": trained.schema,
        "library_versions": trained.library_versions,
        "training_seconds": trained.training_seconds,
    }
