"""Queries over batch predictions beyond those over all jobs: what is to be removed, and what goes with it."""

from collections.abc import Iterable
from datetime import timedelta

from sqlalchemy import and_, delete, select
from sqlalchemy.orm import Session

from service.db.engine import database_time
from service.db.tables import BatchPredictionRow, ModelRow
from service.domain.batch_predictions import BatchPrediction

#: Batch predictions looked for at a time.
BATCH = 100


def remove(session: Session, job: BatchPrediction) -> None:
    """Delete one; an attempt that is under way finds no row to write."""
    mine = (BatchPredictionRow.tenant_id == job.tenant_id) & (BatchPredictionRow.id == job.id)
    session.execute(delete(BatchPredictionRow).where(mine))


def unused_files(session: Session, digests: Iterable[str]) -> set[str]:
    """Which of these artifacts no batch prediction has any more; equal decisions share their bytes."""
    wanted = set(digests)
    outputs = select(BatchPredictionRow.output_sha256).where(BatchPredictionRow.output_sha256.in_(wanted))
    inputs = select(BatchPredictionRow.input_sha256).where(BatchPredictionRow.input_sha256.in_(wanted))
    return wanted - set(session.scalars(outputs.union(inputs)))


def limits(session: Session) -> list[tuple[str, str, timedelta]]:
    """Tenant and name of each model whose batch predictions are not kept for ever, and how old they may be.

    Of a model that was deleted, nothing is kept.
    """
    model = and_(
        ModelRow.tenant_id == BatchPredictionRow.tenant_id, ModelRow.name == BatchPredictionRow.model
    )
    query = select(
        BatchPredictionRow.tenant_id, BatchPredictionRow.model, ModelRow.id, ModelRow.retention_days
    )
    rows = session.execute(query.join(ModelRow, model, isouter=True).distinct())
    return [
        (tenant, name, timedelta(days=days or 0))
        for tenant, name, model_id, days in rows
        if model_id is None or days is not None
    ]


def older(session: Session, tenant: str, model: str, age: timedelta) -> list[str]:
    """Ids of some of a model that have been over for so long."""
    query = select(BatchPredictionRow.id).where(
        BatchPredictionRow.tenant_id == tenant,
        BatchPredictionRow.model == model,
        BatchPredictionRow.finished_at <= database_time(session) - age,
    )
    return list(session.scalars(query.limit(BATCH)))


def with_subjects(session: Session, tenant: str) -> list[tuple[str, str, str]]:
    """Id, artifact of the rows and subject column of each whose rows are about somebody."""
    subject = BatchPredictionRow.order["subject"].as_string()
    query = select(BatchPredictionRow.id, BatchPredictionRow.input_sha256, subject)
    rows = session.execute(query.where(BatchPredictionRow.tenant_id == tenant, subject.is_not(None)))
    return [(job_id, content, column) for job_id, content, column in rows]
