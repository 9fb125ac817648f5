"""Versions from one installation to another, as one file that is checked and never executed."""

import hashlib
import json
import math
import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy.orm import Session, sessionmaker

from service import learning
from service.artifacts.store import ArtifactStore
from service.db import audit_log, idempotency, models
from service.domain import strict_json
from service.domain.errors import ConflictError, FieldError, InvalidError, MalformedError, pointer
from service.domain.exports import FILES, MANIFEST, MODEL, REPORT, TEST_PART, Manifest, origin_of
from service.domain.faults import field_errors
from service.domain.models import Version
from service.domain.receipts import Receipt
from service.domain.reports import Report
from service.domain.training import SettledSpec
from service.rows import decode_row
from service.usecases import ingredients
from service.usecases.evaluations import read_report
from service.usecases.models import read_version

Sessions = sessionmaker[Session]

_MAX_MANIFEST_BYTES: Final = 8 << 20
#: Of a ZIP archive: the beginning of a part, with the lengths of what follows it, and the last record.
_PART: Final = struct.Struct("<26x2H")
_END: Final = struct.Struct("<4s8xI4xH")
#: The same for each entry, so that the same version gives the same file.
_MOMENT: Final = (1980, 1, 1, 0, 0, 0)


def export(
    readers: Sessions, store: ArtifactStore, tenant: str, name: str, number: int, *, target: Path
) -> None:
    """Write a version to `target`: manifest, model, report and test part, but no row of its dataset.

    Raises
    ------
    ConflictError
        `no_report`; `artifact_missing` or `artifact_corrupt`.
    """
    version, _ = read_report(readers, store, tenant, name, number)
    files = dict(zip(FILES, (store.read(digest) for digest in version.artifacts), strict=True))
    with readers() as session:
        manifest = _manifest(session, tenant, name, version, files)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for entry, data in {MANIFEST: manifest, **files}.items():
            archive.writestr(zipfile.ZipInfo(entry, _MOMENT), data)


def _manifest(session: Session, tenant: str, name: str, version: Version, files: dict[str, bytes]) -> bytes:
    dataset, costs, currency = ingredients.of_version(session, tenant, version)
    told = version.spec.model_dump(mode="json") | {"costs": costs.model_dump(mode="json"), "cost_spec": None}
    manifest = Manifest(
        format=1,
        model=name,
        version=version.number,
        created_at=version.created_at,
        spec=SettledSpec.model_validate(told),
        schema=dict(version.schema),
        metrics=dict(version.metrics),
        library_versions=version.library_versions,
        training_seconds=version.training_seconds,
        dataset=replace(dataset, tenant_id=""),
        currency=currency,
        files={entry: hashlib.sha256(data).hexdigest() for entry, data in files.items()},
    )
    return json.dumps(manifest.model_dump(mode="json", by_alias=True), sort_keys=True, indent=1).encode()


def import_version(
    sessions: Sessions,
    readers: Sessions,
    store: ArtifactStore,
    tenant: str,
    name: str,
    *,
    source: Path,
    by: str,
    receipt: Receipt | None = None,
) -> Version:
    """Make the next version of a model out of what :func:`export` wrote, elsewhere or here.

    Raises
    ------
    MalformedError
        The file is none of these.
    InvalidError
        A hash is another, or its parts do not belong together.
    """
    manifest, files = _read(source)
    _check(manifest, files)
    now = datetime.now(UTC)
    digests = [store.put(files[entry]) for entry in FILES]
    # Where no row is written after all, a sweep finds the bytes: somebody else may have stored the same.
    with sessions() as session:
        number = models.add_imported(
            session, tenant, name, by, now, **_content(manifest, name, digests, len(files[MODEL]))
        )
        target = f"/v1/models/{name}/versions/{number}"
        audit_log.add(session, tenant, by, "version.import", target, artifact_sha256=digests[0])
        idempotency.sign(session, receipt, target)
        session.commit()
    return read_version(readers, tenant, name, number)


def _content(manifest: Manifest, name: str, digests: list[str], size: int) -> dict[str, Any]:
    return {
        "dataset_sha256": manifest.dataset.sha256,
        "spec": manifest.spec.model_copy(update={"model": name}),
        "schema": manifest.schema_,
        "metrics": manifest.metrics,
        "library_versions": dict(manifest.library_versions),
        "training_seconds": manifest.training_seconds,
        "artifact_sha256": digests[0],
        "artifact_bytes": size,
        "report_sha256": digests[1],
        "test_part_sha256": digests[2],
        "origin": origin_of(manifest),
    }


def _read(source: Path) -> tuple[Manifest, dict[str, bytes]]:
    try:
        with zipfile.ZipFile(source) as archive:
            _check_archive(source, archive)
            parts = {info.filename: archive.read(info) for info in archive.infolist()}
    except (
        zipfile.BadZipFile,
        struct.error,
        NotImplementedError,
        EOFError,
        OSError,
        ValueError,
        RuntimeError,
    ) as error:
        raise _malformed("it is not a ZIP archive, or damaged") from error
    value = strict_json.parse(parts.pop(MANIFEST), at=f"/{MANIFEST}", what=f"`{MANIFEST}`")
    try:
        return Manifest.model_validate(value), parts
    except ValidationError as error:
        faults = field_errors(error.errors(), value, pointer(MANIFEST))
        raise InvalidError("invalid", "the manifest is not sound", faults) from None


def _check_archive(source: Path, archive: zipfile.ZipFile) -> None:
    """Refuse an archive that is more than its parts, or of which a part could grow on being read."""
    parts, whole = archive.infolist(), source.stat().st_size
    if sorted(part.filename for part in parts) != sorted((MANIFEST, *FILES)):
        raise _malformed(f"it must hold {MANIFEST}, {', '.join(FILES)} and nothing else")
    if not _is_bare(source, archive):
        raise _malformed("it must be nothing but its parts: no comment, and no bytes around them")
    if any(not _is_stored(part) or part.file_size > whole for part in parts):
        raise _malformed("its parts must be stored as they are, neither compressed nor encrypted")
    if archive.getinfo(MANIFEST).file_size > _MAX_MANIFEST_BYTES:
        raise _malformed("its manifest is too large")


def _is_stored(part: zipfile.ZipInfo) -> bool:
    return part.compress_type == zipfile.ZIP_STORED and not part.flag_bits & 1


def _is_bare(source: Path, archive: zipfile.ZipFile) -> bool:
    """Whether parts, directory and end follow each other; readers of ZIP pass over what is around them."""
    at = 0
    with source.open("rb") as file:
        for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
            if info.header_offset != at:
                return False
            file.seek(at)
            name_bytes, extra_bytes = _PART.unpack(file.read(_PART.size))
            at += _PART.size + name_bytes + extra_bytes + info.compress_size
        file.seek(-_END.size, os.SEEK_END)
        mark, directory_bytes, comment_bytes = _END.unpack(file.read())
        is_end = mark == b"PK\5\6" and not comment_bytes
        return is_end and at == archive.start_dir == file.tell() - _END.size - directory_bytes


def _malformed(detail: str) -> MalformedError:
    told = f"the file is no exported version: {detail}"
    return MalformedError("malformed", told, [FieldError("/file", "malformed", told)])


def _check(manifest: Manifest, files: dict[str, bytes]) -> None:
    for entry in FILES:
        if hashlib.sha256(files[entry]).hexdigest() != manifest.files.get(entry):
            raise _refused(entry, "hash_mismatch", "is not what the manifest says: its sha256 is another")
    with _refusing(MODEL):
        predictor = learning.load(files[MODEL])
    with _refusing(REPORT):
        _check_report(files[REPORT])
    with _refusing(TEST_PART):
        part = learning.load_test_part(files[TEST_PART])
    dataset, schema = manifest.dataset, manifest.schema_
    said = {
        (tuple(dataset.classes), dataset.positive_class),
        (tuple(schema["classes"]), schema["positive_class"]),
        (predictor.classes, predictor.positive),
        (part.classes, None if part.positive is None else part.classes[part.positive]),
    }
    columns = {(one["name"], one["type"]) for one in schema["columns"]}
    if len(said) > 1 or set(dataset.class_counts) != set(dataset.classes):
        raise _refused(MANIFEST, "other_classes", "its parts are about different classes")
    if columns != {(column.name, column.type) for column in predictor.inputs()}:
        raise _refused(MANIFEST, "other_columns", "its schema has other columns than the model")
    actions = tuple(action.name for action in predictor.costs.actions)
    if (part.actions, part.serves) != (actions, tuple(predictor.costs.serves)):
        raise _refused(TEST_PART, "other_actions", "decides among other actions than the model")
    if tuple(schema["actions"]) != actions or set(schema["cost_columns"]) != predictor.costs.columns:
        raise _refused(MANIFEST, "other_actions", "its schema has other actions or costs than the model")
    if decode_row(schema["example"], predictor.inputs()) is None:
        raise _refused(MANIFEST, "other_columns", "the example of its schema is no row of the model")
    _check_metrics(manifest, part)
    assert manifest.spec.costs is not None
    learning.cost_spec(
        manifest.spec.costs, predictor.classes, predictor.positive, at="/manifest.json/spec/costs"
    )


def _check_metrics(manifest: Manifest, part: learning.TestPart) -> None:
    """Refuse metrics that say something else than the rows they are of."""
    said, found = manifest.metrics.get("total_cost"), learning.total_cost(part)
    is_same = isinstance(said, int | float) and math.isclose(said, found, rel_tol=1e-6, abs_tol=1e-6)
    for metrics in (manifest.metrics, manifest.metrics["out_of_fold"]):
        confusion = metrics.get("confusion")
        shape = None if confusion is None else [len(row) for row in confusion]
        is_same = is_same and shape in (None, [len(part.actions)] * len(part.classes))
    if manifest.metrics["rows"] != len(part.codes) or not is_same:
        raise _refused(MANIFEST, "other_metrics", f"its metrics are not those of {TEST_PART}")


def _check_report(data: bytes) -> None:
    try:
        Report.model_validate_json(data)
    except ValidationError:
        raise ConflictError("artifact_corrupt", "is not a report") from None


@contextmanager
def _refusing(entry: str) -> Iterator[None]:
    try:
        yield
    except ConflictError:
        raise _refused(entry, "not_sound", "is not what its name says, or damaged") from None


def _refused(entry: str, code: str, detail: str) -> InvalidError:
    return InvalidError("invalid", f"{entry} {detail}", [FieldError(pointer(entry), code, detail)])
