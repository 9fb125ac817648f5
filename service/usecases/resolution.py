"""From what a request names (a model or none, an alias or a version) to the one version that is meant."""

import re

from sqlalchemy.orm import Session

from service.db import jobs, registry
from service.domain.errors import FieldError, InvalidError, NotFoundError
from service.domain.models import CHAMPION, Model, Version
from service.domain.predictions import Selector
from service.domain.training import NAME_PATTERN, JobStatus, TrainingJob


def resolve(session: Session, selector: Selector) -> tuple[Model, Version]:
    """
    Find the version and its model.

    Raises
    ------
    NotFoundError
        No such model, alias or version.
    InvalidError
        `model_required`: no model is named and there is not exactly one.
    """
    model = _model(session, selector)
    number = selector.version or _pointed_to(session, model, selector.alias or CHAMPION)
    version = registry.find_version(session, model, number)
    if version is None:
        raise NotFoundError("version", str(number))
    return model, version


def _pointed_to(session: Session, model: Model, name: str) -> int:
    alias = registry.find_alias(session, model, name) if re.fullmatch(NAME_PATTERN, name) else None
    if alias is None:
        raise NotFoundError("alias", name)
    return alias.version_number


def _model(session: Session, selector: Selector) -> Model:
    if selector.model is None:
        return _only_model(session, selector.tenant)
    # What is no name (it may hold a NUL) is not brought before the database.
    is_name = re.fullmatch(NAME_PATTERN, selector.model)
    model = registry.find_model(session, selector.tenant, selector.model) if is_name else None
    if model is None:
        why = _first_training(session, selector.tenant, selector.model) if is_name else ""
        raise NotFoundError("model", selector.model, why=why)
    return model


def _first_training(session: Session, tenant: str, name: str) -> str:
    """Say that a model of this name is being made, where one is."""
    for status in (JobStatus.RUNNING, JobStatus.QUEUED):
        if jobs.list_jobs(session, TrainingJob, tenant, 1, status=status, model=name):
            return f" yet: a training that makes it is {status}"
    return ""


def _only_model(session: Session, tenant: str) -> Model:
    found = registry.list_models(session, tenant, 2, None)
    if len(found) != 1:
        fault = FieldError("/model", "model_required", "is required unless there is exactly one model")
        raise InvalidError("model_required", "there is not exactly one model; name one", [fault])
    return found[0]
