"""What is known about how good a version is, beyond the figures of its row."""

from typing import Any, Literal

from sqlalchemy.orm import Session, sessionmaker

from service import learning
from service.artifacts.store import ArtifactStore
from service.domain.errors import ConflictError
from service.domain.models import Version
from service.usecases.models import read_version

Sessions = sessionmaker[Session]
#: The rows set aside, or those that were trained on, each judged by what was fitted without it.
Part = Literal["test", "out_of_fold"]


def read_report(
    readers: Sessions, store: ArtifactStore, tenant: str, model: str, number: int
) -> tuple[Version, dict[str, Any]]:
    """Read the report of a version, see `service.learning.report`.

    Raises
    ------
    ConflictError
        `no_report`: it was trained before reports were kept.
    """
    version = read_version(readers, tenant, model, number)
    if version.report_sha256 is None:
        raise _no_report()
    return version, learning.load_report(store.read(version.report_sha256))


def open_test_part(store: ArtifactStore, version: Version) -> learning.TestPart:
    """Read what was said about the rows of the test part.

    Raises
    ------
    ConflictError
        `no_report`.
    """
    if version.test_part_sha256 is None:
        raise _no_report()
    return learning.load_test_part(store.read(version.test_part_sha256))


def read_outcomes(store: ArtifactStore, version: Version, report: dict[str, Any]) -> dict[str, Any]:
    """Count and price the rows of the test part by what is true and what was, or would be, decided.

    See `service.learning.outcome_tables`; its thresholds are those of the report.
    """
    table = report["curves"]["test"].get("thresholds")
    part = open_test_part(store, version)
    return learning.outcome_tables(part, None if table is None else table["threshold"])


def _no_report() -> ConflictError:
    detail = "this version has no report: it was made before reports were kept; train it again"
    return ConflictError("no_report", detail)
