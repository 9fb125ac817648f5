"""Intake jobs: a table that a worker reads, because nobody waits for it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from service.domain.datasets import IntakeOptions
from service.domain.training import Job, JobStatus


@dataclass(frozen=True, kw_only=True)
class IntakeJob(Job):
    """
    One table on its way to become a dataset.

    Attributes
    ----------
    order : dict
        All that the child of an attempt needs, as plain JSON.
    source_sha256 : str or None
        Artifact with the file as it was sent; None once the job is over: nobody needs it any more.
    """

    order: dict[str, Any]
    source_sha256: str | None

    @property
    def options(self) -> IntakeOptions:
        """What was said about the table."""
        return IntakeOptions.model_validate(self.order["options"])

    def took_in(self, at: datetime, dataset_id: str, rows: int) -> Self:
        """End with a dataset."""
        return self.succeeded(at, {"dataset": dataset_id, "rows": rows})

    def _over(self, status: JobStatus, at: datetime, **fields: Any) -> Self:
        return super()._over(status, at, source_sha256=None, **fields)

    @classmethod
    def asked(cls, **fields: Any) -> "IntakeJob":
        """Make the job that was just asked for."""
        return cls(status=JobStatus.QUEUED, **fields)
