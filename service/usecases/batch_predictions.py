"""Batch predictions as those see them who ask for them: checked and queued; and their files."""

from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.store import ArtifactStore
from service.db import datasets, idempotency
from service.db import jobs as rows_of_jobs
from service.domain.batch_predictions import BatchPrediction, BatchSpec
from service.domain.cost_specs import AnyCosts
from service.domain.costs import Capacity
from service.domain.datasets import Dataset
from service.domain.errors import ConflictError, InvalidError
from service.domain.ids import new_id
from service.domain.models import Version
from service.domain.predictions import Selector
from service.domain.receipts import Receipt
from service.learning import PricedCosts
from service.logs import request_id
from service.queue import JobQueue
from service.usecases import jobs
from service.usecases.datasets import Intake, Upload, guarded, kept_unless_refused
from service.usecases.jobs import JobView
from service.usecases.labelled_rows import check_inputs, no_review_action, no_time_column
from service.usecases.naming import dataset_called, unknown_dataset
from service.usecases.scoring import Loaded, Scoring

Sessions = sessionmaker[Session]
BatchView = JobView[BatchPrediction]
TAKE_ROWS = "service.usecases.batch_child:take_rows"


@dataclass(frozen=True)
class _Costs:
    """Costs in force: ready, and as they were written (None: those of training)."""

    priced: PricedCosts
    spelled: AnyCosts | None
    cost_spec: str | None


@dataclass(frozen=True)
class _Asked:
    """What is asked for, once it is clear what is meant."""

    spec: BatchSpec
    loaded: Loaded
    costs: _Costs
    capacity: Capacity | None

    @property
    def needs_time(self) -> bool:
        """Whether reviews are counted by time."""
        return self.capacity is not None and self.capacity.per != "file"


@dataclass(frozen=True)
class _Rows:
    """Where the rows are, and what the child must know to read them."""

    sha256: str
    dataset_id: str | None
    rows: int
    columns: list[dict[str, str]]
    id: str | None
    label: str | None
    time: str | None
    subject: str | None


def submit(
    sessions: Sessions,
    readers: Sessions,
    scoring: Scoring,
    intake: Intake,
    *,
    queue: JobQueue,
    tenant: str,
    spec: BatchSpec,
    upload: Upload | None,
    queued_jobs: int,
    receipt: Receipt | None = None,
) -> BatchView:
    """
    Check what is asked for, and write job and queue entry in one transaction.

    Raises
    ------
    NotFoundError
        No such model, alias or version.
    InvalidError
        Costs, priors, dataset or rows do not fit the version.
    TooManyError
        The tenant has as many jobs waiting as it may.
    """
    loaded = scoring.load(Selector(tenant, spec.model, spec.alias, spec.version))
    costs = _costs(scoring, loaded, spec)
    loaded.predictor.shares(spec.priors)
    asked = _Asked(spec, loaded, costs, _capacity(spec, costs))
    job_id = new_id("bp")
    with readers() as session:
        trained_on = _trained_on(session, loaded.version)
        dataset = None if spec.dataset is None else dataset_called(session, tenant, spec.dataset)
    if upload is None:
        rows = _dataset_rows(asked, dataset)
    else:
        rows = _file_rows(intake, asked, upload, job_id, trained_on)
    job = _job(job_id, tenant, asked, rows)
    own = nullcontext() if rows.dataset_id else kept_unless_refused(intake.store, rows.sha256)
    with own, sessions.begin() as session:
        _require_dataset(session, rows, tenant)
        jobs.require_room(session, tenant, queued_jobs)
        rows_of_jobs.add(session, job)
        queue.enqueue(session, job.id)
        idempotency.sign(session, receipt, f"/v1/batch-predictions/{job.id}")
        return jobs.view(session, job)


def open_output(
    readers: Sessions, store: ArtifactStore, tenant: str, job_id: str
) -> tuple[BatchPrediction, BinaryIO]:
    """
    Open the file of decisions; the caller closes it.

    Raises
    ------
    ConflictError
        `not_done`: it has none, or not yet.
    """
    with readers() as session:
        job = jobs.find(session, BatchPrediction, tenant, job_id)
    if job.output_sha256 is None:
        raise ConflictError("not_done", f"the batch prediction is {job.status}: it has no output")
    return job, store.open(job.output_sha256)


def _costs(scoring: Scoring, loaded: Loaded, spec: BatchSpec) -> _Costs:
    if spec.costs is not None:
        return _Costs(loaded.predictor.cost_spec(spec.costs), spec.costs, None)
    if spec.cost_spec is not None:
        priced = scoring.load_costs(loaded, spec.cost_spec)
        return _Costs(priced.costs, priced.spelled, priced.cost_spec)
    return _Costs(loaded.predictor.costs, None, None)


def _capacity(spec: BatchSpec, costs: _Costs) -> Capacity | None:
    review = costs.priced.review
    if spec.capacity is not None:
        if review is None:
            raise no_review_action()
        return spec.capacity
    if review is None or review.capacity is None:
        return None
    return Capacity.model_validate({"max": review.capacity, "per": review.per or "file"})


def _trained_on(session: Session, version: Version) -> Dataset | None:
    """The dataset of the training; None where the version came from elsewhere."""
    if version.dataset_id is None:
        return None
    return datasets.find_dataset(session, version.tenant_id, version.dataset_id)


def _dataset_rows(asked: _Asked, dataset: Dataset | None) -> _Rows:
    if asked.spec.dataset is None:
        raise InvalidError.at("/dataset", "missing", "name a dataset, or send a form with a file")
    if dataset is None:
        raise unknown_dataset()
    if asked.spec.label is not None:
        raise InvalidError.at("/label", "exclusive", "a dataset has its label already")
    known = {column.name: column for column in dataset.columns}
    inputs = asked.loaded.predictor.inputs(asked.costs.priced)
    check_inputs(inputs, known)
    row_id, time, subject = (dataset.name_of(role) for role in ("id", "time", "subject"))
    if asked.needs_time and time is None:
        raise _no_time(asked)
    names = [column.name for column in inputs] + [dataset.label]
    names += [name for name in (row_id, time) if name is not None]
    return _Rows(
        sha256=dataset.content_sha256,
        dataset_id=dataset.id,
        rows=dataset.rows,
        columns=[{"name": name, "type": known[name].type} for name in dict.fromkeys(names)],
        id=row_id,
        label=dataset.label,
        time=time,
        subject=subject,
    )


def _file_rows(
    intake: Intake, asked: _Asked, upload: Upload, job_id: str, trained_on: Dataset | None
) -> _Rows:
    if asked.spec.dataset is not None:
        raise InvalidError.at("/dataset", "exclusive", "the form brings a file already")
    time = None if trained_on is None or not asked.needs_time else trained_on.name_of("time")
    row_id = None if trained_on is None else trained_on.name_of("id")
    if asked.needs_time and time is None:
        raise _no_time(asked)
    with intake.store.spool() as target:
        payload = {
            "source": str(upload.path),
            "target": str(target),
            "owner": job_id,
            "media_type": upload.media_type,
            "limits": asdict(intake.limits),
            "inputs": [asdict(column) for column in asked.loaded.predictor.inputs(asked.costs.priced)],
            "label": asked.spec.label or (None if trained_on is None else trained_on.label),
            "label_required": asked.spec.label is not None,
            "id": row_id,
            "time": time,
            "subject": asked.loaded.version.schema.get("subject"),
        }
        found = guarded(intake, TAKE_ROWS, payload)
        sha256 = intake.store.put_file(target)
    return _Rows(
        sha256=sha256,
        dataset_id=None,
        rows=found["rows"],
        columns=found["columns"],
        id=found["id"],
        label=found["label"],
        time=time,
        subject=found["subject"],
    )


def _no_time(asked: _Asked) -> InvalidError:
    assert asked.capacity is not None
    at = "/cost_spec" if asked.spec.cost_spec is not None else "/costs/review/capacity/per"
    return no_time_column(asked.capacity.per, "/capacity/per" if asked.spec.capacity is not None else at)


def _job(job_id: str, tenant: str, asked: _Asked, rows: _Rows) -> BatchPrediction:
    spec, loaded, costs, capacity = asked.spec, asked.loaded, asked.costs, asked.capacity
    order: dict[str, Any] = {
        "artifact_sha256": loaded.version.artifact_sha256,
        "input_sha256": rows.sha256,
        "columns": rows.columns,
        "id": rows.id,
        "label": rows.label,
        "time": rows.time,
        "subject": rows.subject,
        "costs": None if costs.spelled is None else costs.spelled.model_dump(mode="json"),
        "priors": spec.priors,
        "top": None if spec.explain is None else spec.explain.top,
        "capacity": None if capacity is None else capacity.model_dump(mode="json"),
        "output": spec.output,
    }
    return BatchPrediction.asked(
        id=job_id,
        tenant_id=tenant,
        model=loaded.model.name,
        version=loaded.version.number,
        dataset_id=rows.dataset_id,
        spec=spec.model_dump(mode="json") | {"cost_spec": costs.cost_spec, "rows": rows.rows},
        order=order,
        input_sha256=rows.sha256,
        created_at=datetime.now(UTC),
        request_id=request_id(),
    )


def _require_dataset(session: Session, rows: _Rows, tenant: str) -> None:
    """Hold the dataset until the job is written: it may be deleted just now."""
    if rows.dataset_id is None:
        return
    if datasets.find_dataset(session, tenant, rows.dataset_id, lock=True) is None:
        raise unknown_dataset()
