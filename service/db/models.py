"""Adding a version to a model, in the transaction that ends its training job or takes it in from a file."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Insert, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from service.db import audit_log, webhooks
from service.db.engine import rows_of
from service.db.tables import AliasRow, ModelRow, RetiredModelRow, VersionRow
from service.domain.ids import new_id
from service.domain.models import CHAMPION
from service.domain.training import TrainingJob


@dataclass(frozen=True)
class _Maker:
    """Whose model gets a version, and who makes it."""

    tenant_id: str
    model: str
    by: str


def add_version(session: Session, job: TrainingJob, at: datetime, **content: Any) -> int:
    """Insert the version that a job made, and let aliases point to it as they should.

    Parameters
    ----------
    content
        The other columns of `versions`: spec, dataset_sha256, schema, metrics, library_versions,
        training_seconds, artifact_sha256, artifact_bytes, report_sha256, test_part_sha256.

    Returns
    -------
    int
        Its number. Two jobs that end at once wait for each other here and get two numbers.
    """
    maker = _Maker(job.tenant_id, job.model, job.id)
    model_id, number = _add(session, maker, at, job_id=job.id, dataset_id=job.dataset_id, **content)
    if (alias := job.spec.on_success.alias) is not None:
        reason = f"trained by {job.id}"
        _point(session, maker, model_id, alias, version_number=number, reason=reason, updated_at=at)
    if (kept := job.spec.on_success.record_rows) is not None:
        settled = {"record_rows": kept, "revision": ModelRow.revision + 1, "updated_at": at}
        session.execute(update(ModelRow).where(ModelRow.id == model_id).values(settled))
    session.flush()
    return number


def add_imported(session: Session, tenant: str, model: str, by: str, at: datetime, **content: Any) -> int:
    """Insert a version that was made elsewhere, and tell its number.

    Parameters
    ----------
    content
        As in :func:`add_version`, and `origin`.
    """
    _, number = _add(session, _Maker(tenant, model, by), at, job_id=None, dataset_id=None, **content)
    session.flush()
    return number


def _add(session: Session, maker: _Maker, at: datetime, **content: Any) -> tuple[str, int]:
    model_id, number, is_first = _next_number(session, maker, at)
    place = {"tenant_id": maker.tenant_id, "model_id": model_id, "number": number, "created_at": at}
    session.add(VersionRow(id=new_id("ver"), **place, **content))
    if is_first:
        reason = "first version"
        _point(session, maker, model_id, CHAMPION, version_number=number, reason=reason, updated_at=at)
    return model_id, number


def _next_number(session: Session, maker: _Maker, at: datetime) -> tuple[str, int, bool]:
    """Count a version of the model, which is made with its first one, and tell whether it was."""
    retired = (RetiredModelRow.tenant_id == maker.tenant_id) & (RetiredModelRow.name == maker.model)
    new = {
        "id": new_id("model"),
        "tenant_id": maker.tenant_id,
        "name": maker.model,
        "description": "",
        "tags": {},
        "revision": 1,
        # Goes on where a deleted model of this name ended.
        "last_number": func.coalesce(select(RetiredModelRow.last_number).where(retired).scalar_subquery(), 0),
        "created_at": at,
        "updated_at": at,
    }
    of_tenant = (ModelRow.tenant_id == maker.tenant_id) & (ModelRow.name == maker.model)
    counted = update(ModelRow).where(of_tenant).values(last_number=ModelRow.last_number + 1)
    while True:
        made = session.scalar(_insert_unless_there(session).values(new).returning(ModelRow.id))
        # The UPDATE holds the row, so nobody else can take the same number.
        if rows_of(session.execute(counted)):
            break
        # The model was deleted between the two statements: now it can be made.
    found = session.execute(select(ModelRow.id, ModelRow.last_number).where(of_tenant)).one()
    return found.id, found.last_number, made is not None


def _insert_unless_there(session: Session) -> Insert:
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(ModelRow).on_conflict_do_nothing(index_elements=["tenant_id", "name"])
    return postgresql.insert(ModelRow).on_conflict_do_nothing(index_elements=["tenant_id", "name"])


def _point(session: Session, maker: _Maker, model_id: str, name: str, **place: Any) -> None:
    of_model = (AliasRow.model_id == model_id) & (AliasRow.name == name)
    moved = update(AliasRow).where(of_model).values(revision=AliasRow.revision + 1, **place)
    if rows_of(session.execute(moved)) == 0:
        session.add(
            AliasRow(id=new_id("alias"), tenant_id=maker.tenant_id, model_id=model_id, name=name, **place)
        )
    told = {"version": place["version_number"], "reason": place["reason"]}
    target = f"/v1/models/{maker.model}/aliases/{name}"
    audit_log.add(session, maker.tenant_id, maker.by, "alias.put", target, **told)
    webhooks.announce_alias(session, maker.tenant_id, maker.model, name, **told)
