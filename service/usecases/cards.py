"""The card of a version: what it was made of, how good it is, why, and where it ends, in one document."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session, sessionmaker

from service import learning
from service.artifacts.store import ArtifactStore
from service.domain.cautions import few_rows, unproven
from service.domain.costs import Costs
from service.domain.datasets import Column, Dataset, InputColumn
from service.domain.errors import FieldError, InvalidError
from service.domain.models import ModelView, Version
from service.domain.nearest import listed_for
from service.domain.training import SettledSpec
from service.rows import read_parquet
from service.usecases import ingredients
from service.usecases.evaluations import open_test_part, read_report
from service.usecases.models import read_model

Sessions = sessionmaker[Session]

#: Beyond this a model is more often told the answer than clever.
_TOO_GOOD = 0.995
#: Slopes of a calibration line that are as good as 1.
_STRAIGHT = (0.8, 1.25)
_NO_GROUPS = ("id", "subject", "label")


@dataclass(frozen=True)
class _Facts:
    model: ModelView
    version: Version
    dataset: Dataset
    costs: Costs
    currency: str | None
    report: Mapping[str, Any]
    part: learning.TestPart


def read_card(
    readers: Sessions, store: ArtifactStore, tenant: str, name: str, number: int, *, by: str | None = None
) -> dict[str, Any]:
    """Put the card of a version together.

    Parameters
    ----------
    by : str, optional
        Column of the dataset whose groups are told apart.

    Raises
    ------
    ConflictError
        `no_report`.
    InvalidError
        There is no such column, or its values are those of persons.
    """
    facts = _facts(readers, store, tenant, name, number)
    return {
        **_brief(facts),
        "description": facts.model.model.description,
        "tags": dict(facts.model.model.tags),
        "created_at": facts.version.created_at,
        "training": _training(facts),
        "performance": _performance(facts),
        "subgroups": None if by is None else _subgroups(store, facts, by),
        "lineage": _lineage(facts.version),
    }


def read_brief(
    readers: Sessions, store: ArtifactStore, tenant: str, name: str, number: int
) -> dict[str, Any]:
    """What of the card is quick to tell: data, costs, what matters and where it ends.

    Raises
    ------
    ConflictError
        `no_report`.
    """
    return _brief(_facts(readers, store, tenant, name, number))


def _facts(readers: Sessions, store: ArtifactStore, tenant: str, name: str, number: int) -> _Facts:
    version, report = read_report(readers, store, tenant, name, number)
    model, part = read_model(readers, tenant, name), open_test_part(store, version)
    with readers() as session:
        dataset, costs, currency = ingredients.of_version(session, tenant, version)
    return _Facts(model, version, dataset, costs, currency, report, part)


def _brief(facts: _Facts) -> dict[str, Any]:
    number = facts.version.number
    return {
        "model": facts.model.model.name,
        "version": number,
        "aliases": [alias.name for alias in facts.model.aliases if alias.version_number == number],
        "data": _data(facts),
        "costs": _costs(facts),
        "explanation": {key: facts.report[key] for key in ("explained", "method", "importance", "shapes")},
        "limits": list(_limits(facts)),
    }


def _data(facts: _Facts) -> dict[str, Any]:
    dataset, used = facts.dataset, {one["name"] for one in facts.version.schema["columns"]}
    return {
        "dataset": dataset.id or None,
        "name": dataset.name,
        "rows": dataset.rows,
        "test_rows": len(facts.part.codes),
        "label": dataset.label,
        "classes": list(dataset.classes),
        "class_counts": dataset.class_counts,
        "positive_class": dataset.positive_class,
        "columns": [
            {"name": one.name, "type": one.type, "role": one.role, "missing": one.missing}
            for one in dataset.columns
            if one.name in used
        ],
    }


def _costs(facts: _Facts) -> dict[str, Any]:
    prices = learning.cost_spec(facts.costs, facts.dataset.classes, facts.dataset.positive_class)
    return {
        "cost_spec": facts.version.spec.cost_spec,
        "currency": facts.currency,
        "cells": learning.describe(prices),
        "consequences": learning.consequences(prices),
    }


def _training(facts: _Facts) -> dict[str, Any]:
    version, spec = facts.version, facts.version.spec
    found, search = learning.algorithm(spec.algorithm), facts.report.get("search")
    return {
        "algorithm": spec.algorithm,
        "title": None if found is None else found.title,
        "reference": None if found is None else found.reference,
        "params": dict(spec.params),
        "searched_trials": None if search is None else len(search["trials"]),
        "split": spec.split.model_dump(),
        "calibration": spec.calibration,
        "calibration_chosen": facts.report.get("calibration"),
        "decision_rule": spec.decision_rule,
        "min_recall": spec.min_recall,
        "train_costs": spec.train_costs,
        "seed": spec.seed,
        "seconds": version.training_seconds,
        "library_versions": dict(version.library_versions),
    }


def _performance(facts: _Facts) -> dict[str, Any]:
    metrics, curves = dict(facts.version.metrics), facts.report["curves"]["test"]
    calibration = [
        {
            "class": one.get("class", curves["positive_class"]),
            "table": one["calibration"],
            "line": one["calibration_line"],
        }
        for one in curves.get("classes", [curves])
    ]
    return {
        "out_of_fold": metrics.pop("out_of_fold"),
        "test": metrics,
        "figures": learning.figures(facts.part),
        "by_class": learning.by_class(facts.part),
        "calibration": calibration,
    }


def _lineage(version: Version) -> dict[str, Any]:
    return {
        "training_job": version.job_id,
        "imported_from": None
        if version.origin is None
        else {"model": version.origin["model"], "version": version.origin["version"]},
        "dataset": version.dataset_id,
        "dataset_sha256": version.dataset_sha256,
        "cost_spec": version.spec.cost_spec,
        "artifact_sha256": version.artifact_sha256,
        "report_sha256": version.report_sha256,
        "test_part_sha256": version.test_part_sha256,
    }


def _subgroups(store: ArtifactStore, facts: _Facts, by: str) -> dict[str, Any]:
    if facts.version.origin is not None:
        detail = "the version was imported, and the rows it was judged on stayed where it was made"
        fault = FieldError("/query/by", "no_dataset", detail)
        raise InvalidError("invalid", "1 field is wrong", [fault])
    column = _column(facts.dataset, by)
    with store.open(facts.dataset.content_sha256) as content:
        values = read_parquet(content, [InputColumn(column.name, column.type)])[column.name]
    groups = learning.by_group(facts.part, values[facts.part.rows], column.type)
    return {"column": by, "type": column.type, "groups": groups}


def _column(dataset: Dataset, name: str) -> Column:
    column = next((one for one in dataset.columns if one.name == name), None)
    if column is None:
        known = listed_for(name, (one.name for one in dataset.columns))
        detail = f"the dataset has no column of this name; it has {known}"
        fault = FieldError("/query/by", "unknown_column", detail)
        raise InvalidError("invalid", "1 field is wrong", [fault])
    if column.role in _NO_GROUPS:
        fault = FieldError("/query/by", "wrong_role", f"a column of role {column.role} makes no groups")
        raise InvalidError("invalid", "1 field is wrong", [fault])
    return column


def _limits(facts: _Facts) -> Iterator[str]:
    """What must be known before the version is relied on, in sentences."""
    yield from _limits_of_data(facts)
    yield from _limits_of_figures(facts)
    if facts.report["shapes"] is not None:
        yield (
            "A number beyond those of training counts as the nearest of them, and an unknown category as "
            "the rarest ones do: nothing is extrapolated."
        )
    if isinstance(facts.version.spec, SettledSpec):
        yield from facts.version.spec.warnings.values()


def _limits_of_data(facts: _Facts) -> Iterator[str]:
    spec, part = facts.version.spec, facts.part
    yield (
        "The probabilities are those of a population with the classes' shares of training; where these "
        "differ, predictions need `priors`."
    )
    if spec.split.kind == "stratified":
        yield (
            "The test part was drawn at random from the same rows: where later rows, or other rows of the "
            "same person, will be decided, the figures are too good; a split by time or group tells."
        )
    counts = {name: int((part.codes == k).sum()) for k, name in enumerate(part.classes)}
    yield from (_sentence(detail) for _, detail in few_rows(counts))


def _limits_of_figures(facts: _Facts) -> Iterator[str]:
    metrics, search = facts.version.metrics, facts.report.get("search")
    yield from (_sentence(detail) for _, detail in unproven(metrics))
    if (metrics.get("roc_auc") or 0.0) > _TOO_GOOD:
        yield ("It ranks nearly without a mistake: look for a column that is known only after the decision.")
    line = facts.report["curves"]["test"].get("calibration_line")
    if line is not None and not _STRAIGHT[0] <= line["slope"] <= _STRAIGHT[1]:
        far = "too near 0 and 1" if line["slope"] < 1 else "too far from 0 and 1"
        yield f"On the test part the probabilities lie {far} (slope {line['slope']:.2f})."
    if metrics.get("unreasonable_rows"):
        count = metrics["unreasonable_rows"]
        rows = "1 row" if count == 1 else f"{count} rows"
        yield f"In {rows} of the test part a wrong decision costs no more than the right one."
    if search is not None:
        count = len(search["trials"])
        yield f"{count} sets of parameters were tried: of the best the figures out of fold are too good."


def _sentence(detail: str) -> str:
    return f"{detail[0].upper()}{detail[1:]}."
