"""Queries over datasets."""

from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import delete, exists, or_, select
from sqlalchemy.orm import Session

from service.db.tables import BatchPredictionRow, DatasetRow, TrainingJobRow, VersionRow
from service.domain.datasets import Column, Dataset


def add_dataset(session: Session, dataset: Dataset) -> None:
    """Insert a new dataset, in the caller's transaction."""
    session.add(DatasetRow(**_columns(dataset)))
    session.flush()


def find_dataset(session: Session, tenant: str, dataset_id: str, *, lock: bool = False) -> Dataset | None:
    """Find a tenant's dataset; `lock` keeps it from being deleted until the transaction ends."""
    query = select(DatasetRow).where(DatasetRow.tenant_id == tenant, DatasetRow.id == dataset_id)
    row = session.scalars(query.with_for_update() if lock else query).one_or_none()
    return None if row is None else _value(row)


def newest_of_name(session: Session, tenant: str, name: str) -> Dataset | None:
    """Find the newest dataset of a name."""
    query = select(DatasetRow).where(DatasetRow.tenant_id == tenant, DatasetRow.name == name)
    row = session.scalars(query.order_by(DatasetRow.id.desc()).limit(1)).one_or_none()
    return None if row is None else _value(row)


def list_datasets(session: Session, tenant: str, limit: int, after: str | None) -> list[Dataset]:
    """List a tenant's datasets, newest first, with ids below `after`."""
    query = (
        select(DatasetRow).where(DatasetRow.tenant_id == tenant).order_by(DatasetRow.id.desc()).limit(limit)
    )
    rows = session.scalars(query if after is None else query.where(DatasetRow.id < after))
    return [_value(row) for row in rows]


def is_in_use(session: Session, dataset: Dataset) -> bool:
    """Whether a training job, a version or a batch prediction that is not over refers to the dataset."""
    job = exists().where(TrainingJobRow.dataset_id == dataset.id)
    version = exists().where(VersionRow.dataset_id == dataset.id)
    batch = exists().where(
        BatchPredictionRow.dataset_id == dataset.id, BatchPredictionRow.finished_at.is_(None)
    )
    return bool(session.scalar(select(or_(job, version, batch))))


def delete_dataset(session: Session, dataset: Dataset) -> None:
    """Delete one dataset."""
    session.execute(delete(DatasetRow).where(DatasetRow.id == dataset.id))


def _value(row: DatasetRow) -> Dataset:
    given: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(Dataset)}
    given["classes"] = tuple(row.classes)
    # JSONB orders keys in its own way: the order of classes is that of `classes`.
    given["class_counts"] = {label: row.class_counts[label] for label in row.classes}
    given["columns"] = tuple(Column(**column) for column in row.columns)
    return Dataset(**given)


def _columns(dataset: Dataset) -> dict[str, Any]:
    plain = asdict(dataset)
    return plain | {"classes": list(dataset.classes), "columns": list(plain["columns"])}
