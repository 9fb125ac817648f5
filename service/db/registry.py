"""Queries over models, versions and aliases, as those who read and manage them need."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, delete, exists, func, select, tuple_, union, update
from sqlalchemy.orm import Session

from service.db import webhooks
from service.db.tables import AliasRow, ModelRow, RetiredModelRow, VersionRow
from service.domain.models import Alias, Model, ModelView, Version

Value = TypeVar("Value", Model, Version, Alias)


def find_model(session: Session, tenant: str, name: str, *, lock: bool = False) -> Model | None:
    """Find a model by name; `lock` makes all who change its versions and aliases wait for each other."""
    query = select(ModelRow).where(ModelRow.tenant_id == tenant, ModelRow.name == name)
    row = session.scalars(query.with_for_update() if lock else query).one_or_none()
    return None if row is None else _value(Model, row)


def find_model_by_id(session: Session, tenant: str, model_id: str) -> Model | None:
    """Find a model by its id."""
    query = select(ModelRow).where(ModelRow.tenant_id == tenant, ModelRow.id == model_id)
    row = session.scalars(query).one_or_none()
    return None if row is None else _value(Model, row)


def list_models(session: Session, tenant: str, limit: int, after: str | None) -> list[Model]:
    """List models, newest first, with ids below `after`."""
    query = select(ModelRow).where(ModelRow.tenant_id == tenant).order_by(ModelRow.id.desc()).limit(limit)
    rows = session.scalars(query if after is None else query.where(ModelRow.id < after))
    return [_value(Model, row) for row in rows]


def views(session: Session, models: Sequence[Model]) -> list[ModelView]:
    """Join to each model where its aliases point and which versions it has; three queries at most for all."""
    ids = [model.id for model in models]
    aliases = session.scalars(select(AliasRow).where(AliasRow.model_id.in_(ids)).order_by(AliasRow.name))
    pointers = [_value(Alias, row) for row in aliases]
    counts = select(VersionRow.model_id, func.max(VersionRow.number), func.count())
    counted = session.execute(counts.where(VersionRow.model_id.in_(ids)).group_by(VersionRow.model_id))
    versions = {model_id: (newest, count) for model_id, newest, count in counted}
    coded = {model.id for model in models if model.reason_codes}
    current = {(alias.model_id, alias.version_number) for alias in pointers if alias.model_id in coded}
    current |= {(model_id, versions[model_id][0]) for model_id in coded & versions.keys()}
    features = _features(session, current)
    return [
        ModelView(
            model,
            tuple(alias for alias in pointers if alias.model_id == model.id),
            latest_version=versions.get(model.id, (None, 0))[0],
            versions=versions.get(model.id, (None, 0))[1],
            features=frozenset(features.get(model.id, ())),
        )
        for model in models
    ]


def _features(session: Session, numbers: set[tuple[str, int]]) -> dict[str, set[str]]:
    """Columns that versions learned from, by the id of their model."""
    found: dict[str, set[str]] = {}
    if numbers:
        place = tuple_(VersionRow.model_id, VersionRow.number)
        query = select(VersionRow.model_id, VersionRow.schema).where(place.in_(numbers))
        for model_id, schema in session.execute(query):
            learned = {one["name"] for one in schema["columns"] if one["role"] == "feature"}
            found.setdefault(model_id, set()).update(learned)
    return found


def save_model(session: Session, model: Model) -> None:
    """Write what `Model.changed` changed."""
    session.execute(update(ModelRow).where(ModelRow.id == model.id).values(**_columns(model)))


def delete_model(session: Session, model: Model) -> None:
    """Delete a model with its aliases and versions; the numbers of these are never used again."""
    last = session.scalars(select(ModelRow.last_number).where(ModelRow.id == model.id)).one()
    session.merge(RetiredModelRow(tenant_id=model.tenant_id, name=model.name, last_number=last))
    session.execute(delete(AliasRow).where(*_of(AliasRow, model)))
    session.execute(delete(VersionRow).where(*_of(VersionRow, model)))
    session.execute(delete(ModelRow).where(ModelRow.id == model.id))


def find_version(session: Session, model: Model, number: int) -> Version | None:
    """Find a version by number."""
    query = select(VersionRow).where(*_of(VersionRow, model), VersionRow.number == number)
    row = session.scalars(query).one_or_none()
    return None if row is None else _value(Version, row)


def list_versions(session: Session, model: Model, limit: int | None, below: int | None) -> list[Version]:
    """List versions, newest first, with numbers below `below`."""
    query = select(VersionRow).where(*_of(VersionRow, model))
    if below is not None:
        query = query.where(VersionRow.number < below)
    rows = session.scalars(query.order_by(VersionRow.number.desc()).limit(limit))
    return [_value(Version, row) for row in rows]


def delete_version(session: Session, version: Version) -> None:
    """Delete one version."""
    session.execute(delete(VersionRow).where(VersionRow.id == version.id))


def unused_artifacts(session: Session, digests: Iterable[str]) -> set[str]:
    """Which of these artifacts no version has any more; equal trainings share their bytes."""
    wanted = set(digests)
    names = (VersionRow.artifact_sha256, VersionRow.report_sha256, VersionRow.test_part_sha256)
    used = union(*(select(name).where(name.in_(wanted)) for name in names))
    return wanted - set(session.scalars(used))


def find_alias(session: Session, model: Model, name: str) -> Alias | None:
    """Find an alias of a model."""
    query = select(AliasRow).where(*_of(AliasRow, model), AliasRow.name == name)
    row = session.scalars(query).one_or_none()
    return None if row is None else _value(Alias, row)


def is_aliased(session: Session, version: Version) -> bool:
    """Whether an alias points to the version."""
    query = select(
        exists().where(AliasRow.model_id == version.model_id, AliasRow.version_number == version.number)
    )
    return bool(session.scalar(query))


def save_alias(session: Session, alias: Alias) -> None:
    """Write an alias, new or moved."""
    session.merge(AliasRow(**_columns(alias)))
    _announce(session, alias, alias.version_number)


def delete_alias(session: Session, alias: Alias) -> None:
    """Delete an alias."""
    session.execute(delete(AliasRow).where(AliasRow.id == alias.id))
    _announce(session, alias, None)


def _announce(session: Session, alias: Alias, version: int | None) -> None:
    model = session.scalars(select(ModelRow.name).where(ModelRow.id == alias.model_id)).one()
    webhooks.announce_alias(session, alias.tenant_id, model, alias.name, version=version, reason=alias.reason)


def _of(row: type[AliasRow | VersionRow], model: Model) -> tuple[ColumnElement[bool], ...]:
    """Rows of a model, and of its tenant alone."""
    return row.tenant_id == model.tenant_id, row.model_id == model.id


def _value(kind: type[Value], row: Any) -> Value:
    return kind(**{field.name: getattr(row, field.name) for field in fields(kind)})


def _columns(value: Model | Alias) -> dict[str, Any]:
    return asdict(value)
