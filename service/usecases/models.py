"""Reading and managing models, their versions and their aliases."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.store import YOUNG_SECONDS, ArtifactStore
from service.db import audit_log, registry
from service.domain.errors import ConflictError, FieldError, InvalidError, NotFoundError
from service.domain.ids import new_id
from service.domain.models import Alias, Model, ModelView, Version

#: Called with the present state inside the transaction, before a change; raises to refuse it.
ModelGuard = Callable[[ModelView], None]
AliasGuard = Callable[[Alias | None], None]

Sessions = sessionmaker[Session]


def list_models(readers: Sessions, tenant: str, limit: int, after: str | None) -> list[ModelView]:
    """List models, newest first."""
    with readers() as session:
        return registry.views(session, registry.list_models(session, tenant, limit, after))


def read_model(readers: Sessions, tenant: str, name: str) -> ModelView:
    """Read one model."""
    with readers() as session:
        return _view(session, _model(session, tenant, name))


def version_numbers(readers: Sessions, model: Model) -> list[int]:
    """List the numbers of a model's versions, the oldest first."""
    with readers() as session:
        return sorted(version.number for version in registry.list_versions(session, model, None, None))


def change_model(
    sessions: Sessions,
    tenant: str,
    name: str,
    guard: ModelGuard,
    changes: Mapping[str, Any],
) -> ModelView:
    """
    Change the fields of a model that are named.

    Raises
    ------
    InvalidError
        A control share for a model of more than two classes: none of them is let through.
    """
    with sessions() as session:
        model = _model(session, tenant, name, lock=True)
        guard(_view(session, model))
        if changes.get("control_share") is not None:
            _require_two_classes(session, model)
        if changes:
            model = model.changed(datetime.now(UTC), changes)
            registry.save_model(session, model)
        view = _view(session, model)
        session.commit()
    return view


def delete_model(
    sessions: Sessions, store: ArtifactStore, tenant: str, name: str, guard: ModelGuard, *, by: str
) -> None:
    """Delete a model with all its aliases and versions, and the bytes that no other version has."""
    with sessions() as session:
        model = _model(session, tenant, name, lock=True)
        guard(_view(session, model))
        versions = registry.list_versions(session, model, None, None)
        registry.delete_model(session, model)
        numbers = [version.number for version in versions]
        audit_log.add(session, tenant, by, "model.delete", _path(name), versions=numbers)
        session.commit()
    _delete_bytes(sessions, store, versions)


def list_versions(readers: Sessions, tenant: str, name: str, limit: int, below: int | None) -> list[Version]:
    """List the versions of a model, newest first."""
    with readers() as session:
        return registry.list_versions(session, _model(session, tenant, name), limit, below)


def read_version(readers: Sessions, tenant: str, name: str, number: int) -> Version:
    """Read one version."""
    with readers() as session:
        return _version(session, _model(session, tenant, name), number)


def delete_version(
    sessions: Sessions, store: ArtifactStore, tenant: str, name: str, number: int, *, by: str
) -> None:
    """
    Delete a version and its bytes.

    Raises
    ------
    ConflictError
        `alias_in_use`: an alias points to it.
    """
    with sessions() as session:
        version = _version(session, _model(session, tenant, name, lock=True), number)
        if registry.is_aliased(session, version):
            raise ConflictError("alias_in_use", "an alias points to this version")
        registry.delete_version(session, version)
        audit_log.add(session, tenant, by, "version.delete", f"{_path(name)}/versions/{number}")
        session.commit()
    _delete_bytes(sessions, store, [version])


def read_alias(readers: Sessions, tenant: str, name: str, alias_name: str) -> Alias:
    """Read where an alias points."""
    with readers() as session:
        return _alias(session, _model(session, tenant, name), alias_name)


def put_alias(
    sessions: Sessions,
    tenant: str,
    name: str,
    alias_name: str,
    guard: AliasGuard,
    *,
    number: int,
    reason: str,
    by: str,
) -> tuple[Alias, bool]:
    """Make an alias or move it, in one transaction; also tells whether it is new."""
    with sessions() as session:
        model = _model(session, tenant, name, lock=True)
        present = registry.find_alias(session, model, alias_name)
        guard(present)
        if registry.find_version(session, model, number) is None:
            fault = FieldError("/version", "unknown_version", "the model has no version of this number")
            raise InvalidError("invalid", "the alias can point only to a version that exists", [fault])
        now = datetime.now(UTC)
        alias = (present or _unplaced(model, alias_name, now)).moved(now, number, reason)
        registry.save_alias(session, alias)
        moved = {"version": number, "before": present and present.version_number, "reason": reason}
        audit_log.add(session, tenant, by, "alias.put", f"{_path(name)}/aliases/{alias_name}", **moved)
        session.commit()
    return alias, present is None


def delete_alias(
    sessions: Sessions, tenant: str, name: str, alias_name: str, guard: Callable[[Alias], None], *, by: str
) -> None:
    """Delete an alias; the version stays."""
    with sessions() as session:
        alias = _alias(session, _model(session, tenant, name, lock=True), alias_name)
        guard(alias)
        registry.delete_alias(session, alias)
        target = f"{_path(name)}/aliases/{alias_name}"
        audit_log.add(session, tenant, by, "alias.delete", target, version=alias.version_number)
        session.commit()


def _require_two_classes(session: Session, model: Model) -> None:
    newest = registry.list_versions(session, model, 1, None)
    if newest and newest[0].schema.get("positive_class") is None:
        detail = "a control share is for two classes, of which the positive one is refused"
        raise InvalidError.at("/control_share", "not_binary", detail)


def _path(name: str) -> str:
    return f"/v1/models/{name}"


def _unplaced(model: Model, name: str, now: datetime) -> Alias:
    return Alias(
        id=new_id("alias"),
        tenant_id=model.tenant_id,
        model_id=model.id,
        name=name,
        version_number=0,
        revision=0,
        reason="",
        updated_at=now,
    )


def _model(session: Session, tenant: str, name: str, *, lock: bool = False) -> Model:
    model = registry.find_model(session, tenant, name, lock=lock)
    if model is None:
        raise NotFoundError("model", name)
    return model


def _view(session: Session, model: Model) -> ModelView:
    return registry.views(session, [model])[0]


def _version(session: Session, model: Model, number: int) -> Version:
    version = registry.find_version(session, model, number)
    if version is None:
        raise NotFoundError("version", str(number))
    return version


def _alias(session: Session, model: Model, name: str) -> Alias:
    alias = registry.find_alias(session, model, name)
    if alias is None:
        raise NotFoundError("alias", name)
    return alias


def _delete_bytes(sessions: Sessions, store: ArtifactStore, versions: Iterable[Version]) -> None:
    # After the commit: a crash in between leaves bytes without a row, never a row without bytes. An equal
    # training or import may have stored the same bytes just now, and write its row next.
    digests = [digest for version in versions for digest in version.artifacts]
    with sessions() as session:
        for digest in registry.unused_artifacts(session, digests):
            store.discard(digest, YOUNG_SECONDS)
