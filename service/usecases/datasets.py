"""Taking tables in, finding, describing and deleting them."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.store import ArtifactStore
from service.db import audit_log, datasets, idempotency
from service.domain.datasets import Column, Dataset, IntakeLimits, IntakeOptions
from service.domain.errors import (
    ConflictError,
    CostboostError,
    FieldError,
    InvalidError,
    MalformedError,
    NotFoundError,
)
from service.domain.ids import new_id
from service.domain.receipts import Receipt
from service.processes.guard import Ending, Guard, Outcome
from service.processes.nursery import Nursery
from service.usecases.naming import dataset_called

Sessions = sessionmaker[Session]

#: What children that read tables shall find loaded.
PRELOAD = ("service.rows.child", "service.usecases.simulation_child", "service.usecases.batch_child")


@dataclass(frozen=True)
class Upload:
    """A file that has arrived.

    Attributes
    ----------
    path : Path
        Where its bytes are, for the time of the request.
    sha256, bytes : str, int
        Of the file as it was sent.
    """

    path: Path
    media_type: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class Intake:
    """What reading a file needs: where to, who does it, and how much it may use."""

    store: ArtifactStore
    nursery: Nursery
    limits: IntakeLimits
    guard: Guard


def create_dataset(
    sessions: Sessions,
    intake: Intake,
    tenant: str,
    upload: Upload,
    options: IntakeOptions,
    *,
    receipt: Receipt | None = None,
) -> Dataset:
    """Take a file in and keep it; one that is refused leaves nothing behind.

    Raises
    ------
    InvalidError
        The table has faults or is too large, or the options do not fit it.
    MalformedError
        The bytes are not of the media type.
    UnavailableError
        `storage_full`.
    """
    dataset = take_in(intake, tenant, upload, options)
    with kept_unless_refused(intake.store, dataset.content_sha256), sessions() as session:
        datasets.add_dataset(session, dataset)
        idempotency.sign(session, receipt, f"/v1/datasets/{dataset.id}")
        session.commit()
    return dataset


@contextmanager
def kept_unless_refused(store: ArtifactStore, content_sha256: str) -> Iterator[None]:
    """Delete content whose row is refused.

    After any other error there may be a row all the same, since the answer to a commit can be lost; if there
    is none, a sweep finds the bytes.
    """
    try:
        yield
    except CostboostError:
        store.delete(content_sha256)
        raise


def take_in(intake: Intake, tenant: str, upload: Upload, options: IntakeOptions) -> Dataset:
    """Read a file and store its typed columns; the caller adds the row, or deletes the content again."""
    dataset_id = new_id("ds")
    with intake.store.spool() as target:
        found = guarded(
            intake,
            "service.rows.child:take_in",
            {
                "source": str(upload.path),
                "target": str(target),
                "owner": dataset_id,
                "media_type": upload.media_type,
                "options": options.model_dump(mode="json"),
                "limits": asdict(intake.limits),
            },
        )
        content = intake.store.put_file(target)
    sent = {"media_type": upload.media_type, "sha256": upload.sha256, "bytes": upload.bytes}
    return described(
        found, id=dataset_id, tenant_id=tenant, name=options.name, content_sha256=content, **sent
    )


def described(found: Mapping[str, Any], **known: Any) -> Dataset:
    """Make a dataset of what its reading found and what was known before."""
    labels = found["labels"]
    return Dataset(
        **known,
        rows=found["rows"],
        label=labels["column"],
        classes=tuple(labels["counts"]),
        class_counts=labels["counts"],
        positive_class=labels["positive"],
        positive_class_inferred=labels["positive_inferred"],
        columns=tuple(Column(**column) for column in found["columns"]),
        created_at=datetime.now(UTC),
    )


def list_datasets(readers: Sessions, tenant: str, limit: int, after: str | None) -> list[Dataset]:
    """List datasets, newest first."""
    with readers() as session:
        return datasets.list_datasets(session, tenant, limit, after)


def read_dataset(readers: Sessions, tenant: str, called: str) -> Dataset:
    """Read one dataset by its id, or the newest one of a name."""
    with readers() as session:
        found = dataset_called(session, tenant, called)
    if found is None:
        raise NotFoundError("dataset", called)
    return found


def open_content(
    readers: Sessions, store: ArtifactStore, tenant: str, dataset_id: str
) -> tuple[Dataset, BinaryIO]:
    """Open the stored Parquet file; the caller closes it."""
    dataset = read_dataset(readers, tenant, dataset_id)
    return dataset, store.open(dataset.content_sha256)


def profile_dataset(readers: Sessions, intake: Intake, tenant: str, dataset_id: str) -> dict[str, Any]:
    """Describe the values of a dataset, see `service.rows.profile`."""
    dataset, content = open_content(readers, intake.store, tenant, dataset_id)
    with content, intake.store.spool() as copy:
        with copy.open("wb") as file:
            shutil.copyfileobj(content, file)
        payload = {
            "source": str(copy),
            "columns": [asdict(column) for column in dataset.columns],
            "label": dataset.label,
            "classes": list(dataset.classes),
        }
        found: dict[str, Any] = guarded(intake, "service.rows.child:describe", payload)
    return found


def delete_dataset(
    sessions: Sessions, store: ArtifactStore, tenant: str, dataset_id: str, *, by: str
) -> None:
    """Delete a dataset and its bytes.

    Raises
    ------
    ConflictError
        `dataset_in_use`: a training job or a version refers to it.
    """
    with sessions() as session:
        dataset = _dataset(session, tenant, dataset_id, lock=True)
        if datasets.is_in_use(session, dataset):
            raise ConflictError("dataset_in_use", "a training job or a version refers to this dataset")
        datasets.delete_dataset(session, dataset)
        target = f"/v1/datasets/{dataset.id}"
        audit_log.add(session, tenant, by, "dataset.delete", target, name=dataset.name)
        session.commit()
    # After the row, so that no row ever points at nothing. The owner is in the bytes: nobody stores the same.
    store.delete(dataset.content_sha256)


def _dataset(session: Session, tenant: str, dataset_id: str, *, lock: bool = False) -> Dataset:
    found = datasets.find_dataset(session, tenant, dataset_id, lock=lock)
    if found is None:
        raise NotFoundError("dataset", dataset_id)
    return found


class OutOfTimeError(InvalidError):
    """Reading takes longer than somebody who waits shall wait."""


def guarded(intake: Intake, target: str, payload: dict[str, Any]) -> Any:
    """Call a reading function in a guarded child; what it refuses and what it exceeds is raised here."""
    outcome = intake.nursery.run_guarded(target, payload, intake.guard)
    if outcome.ending is Ending.FINISHED:
        return outcome.value
    raise _refusal(outcome, intake.guard)


def _refusal(outcome: Outcome, guard: Guard) -> Exception:
    match outcome.ending:
        case Ending.RAISED if outcome.error is not None:
            return outcome.error
        case Ending.MEMORY_LIMIT:
            return _too_large("reading the table takes more memory than is allowed")
        case Ending.TIME_LIMIT:
            detail = f"reading the table takes longer than {guard.seconds:g} seconds"
            return OutOfTimeError("dataset_too_large", detail, _at_file(detail))
        case Ending.DIED:
            # Native code fell over this file; the same file would do it again.
            detail = "the file cannot be read"
            return MalformedError("malformed", detail, [FieldError("/file", "unreadable", detail)])
        case _:
            return RuntimeError(f"the reading process {outcome.ending}: {outcome.detail}")


def _too_large(detail: str) -> InvalidError:
    return InvalidError("dataset_too_large", detail, _at_file(detail))


def _at_file(detail: str) -> list[FieldError]:
    return [FieldError("/file", "dataset_too_large", detail)]
