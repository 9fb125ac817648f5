"""Batch predictions: a table in, its decisions out as a file, done by a worker."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from service.domain.cost_cells import STRICT
from service.domain.costs import Capacity, Costs
from service.domain.simulations import Share
from service.domain.training import Job, JobStatus, Name
from service.domain.wording import Telling, custom

OutputFormat = Literal["csv", "parquet", "arrow"]


class Reasons(Telling):
    """How many reasons each row shall have."""

    model_config = STRICT

    top: Annotated[int, Field(ge=1, le=100)] = 3


class BatchSpec(Telling):
    """What is to be predicted with what; needs `dataset` unless a form brings a file."""

    model_config = ConfigDict(**STRICT)

    model: Name | None = Field(default=None, description="May be left out when there is exactly one.")
    alias: Name | None = Field(default=None, description="champion when neither alias nor version is given.")
    version: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    dataset: str | None = Field(default=None, description="Id or name of a dataset; a form brings a file.")
    costs: Costs | None = Field(default=None, description="Instead of those of training.")
    cost_spec: str | None = Field(default=None, description="Id or name of stored costs.")
    priors: dict[str, Share] | None = Field(
        default=None, description="Share of each class where the rows come from."
    )
    capacity: Capacity | None = Field(
        default=None, description="Reviews that can be done; left out: the capacity of the costs."
    )
    explain: Reasons | None = None
    label: str | None = Field(
        default=None,
        description="Column of the true classes in the file, for metrics; left out: that of the training, if "
        "the file has it.",
    )
    output: OutputFormat = "csv"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.costs is not None and self.cost_spec is not None:
            raise custom("exclusive", "give either costs or cost_spec")
        if self.alias is not None and self.version is not None:
            raise custom("exclusive", "give one alias or one version")
        return self


@dataclass(frozen=True, kw_only=True)
class BatchPrediction(Job):
    """
    One requested batch prediction.

    Attributes
    ----------
    model, version : str, int
        Who decides.
    spec : dict
        As it was asked for, as plain JSON.
    order : dict
        All that the child of an attempt needs, as plain JSON: found when it was asked for.
    input_sha256 : str
        Artifact with the typed rows.
    output_sha256 : str or None
        Artifact with the decisions, once it succeeded.
    """

    model: str
    version: int
    dataset_id: str | None
    spec: dict[str, Any]
    order: dict[str, Any]
    input_sha256: str
    output_sha256: str | None = None

    def wrote(self, at: datetime, output_sha256: str, result: dict[str, Any]) -> Self:
        """End with a file."""
        return replace(self.succeeded(at, result), output_sha256=output_sha256)

    @classmethod
    def asked(cls, **fields: Any) -> "BatchPrediction":
        """Make the job that was just asked for."""
        return cls(status=JobStatus.QUEUED, **fields)
