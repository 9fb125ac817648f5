"""Queries over what is kept of one subject."""

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from service.db.engine import rows_of
from service.db.tables import DatasetRow, IdempotencyRow, PredictionRow

BATCH = 2_000


def some_records(session: Session, tenant: str, subject: str) -> list[str]:
    """Ids of some decision records of a subject."""
    query = select(PredictionRow.id).where(
        PredictionRow.tenant_id == tenant, PredictionRow.subject == subject
    )
    return list(session.scalars(query.limit(BATCH)))


def forget_answers(session: Session, tenant: str, text: bytes) -> int:
    """
    Delete the bodies of stored answers that hold a text, and tell how many.

    The answers stay without body: a retry is then led to what was made, and makes nothing twice.
    """
    stored = select(IdempotencyRow.id, IdempotencyRow.body).where(
        IdempotencyRow.tenant_id == tenant, IdempotencyRow.body.is_not(None)
    )
    holding = [key for key, body in session.execute(stored) if body is not None and text in body]
    of_keys = (IdempotencyRow.tenant_id == tenant) & IdempotencyRow.id.in_(holding)
    return rows_of(session.execute(update(IdempotencyRow).where(of_keys).values(body=None)))


def datasets_with_subjects(session: Session, tenant: str) -> list[tuple[str, str, str, str]]:
    """Id, name, artifact and subject column of each dataset that has one."""
    query = select(DatasetRow.id, DatasetRow.name, DatasetRow.content_sha256, DatasetRow.columns)
    return [
        (dataset_id, name, content, column["name"])
        for dataset_id, name, content, columns in session.execute(
            query.where(DatasetRow.tenant_id == tenant).order_by(DatasetRow.id)
        )
        for column in columns
        if column["role"] == "subject"
    ]
