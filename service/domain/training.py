"""A training job: what was asked for, where it stands, and how it may move from one status to the next."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, FiniteFloat, JsonValue, model_validator

from service.domain.costs import Costs
from service.domain.errors import ConflictError
from service.domain.searching import SearchSpec
from service.domain.wording import Telling, custom

#: A model or alias name; also the only part of a path a user chooses.
NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]{0,63}$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
FailureCode = Literal["worker_died", "memory_limit", "time_limit", "invalid_data", "storage_full", "internal"]


class _Part(Telling):
    """Part of a request: unknown fields, other types, NaN and infinity are refused; it never changes."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, serialize_by_alias=True
    )


class SplitSpec(_Part):
    """How rows are divided into a test part and folds.

    `column` holds the groups, times or parts; without it the dataset's column of that role is taken.
    """

    kind: Literal["stratified", "group", "time", "predefined"] = Field(
        default="stratified",
        description="`stratified`: each class in its share; `group`: rows of one group stay together; "
        "`time`: the test part is the latest, no row is validated by its future; `predefined`: the column "
        'says "train", "test" or the number of a fold.',
    )
    column: str | None = Field(
        default=None,
        description="Column of the groups, times or parts; left out: the one of the role `group` or `time`.",
    )
    test_fraction: Annotated[FiniteFloat, Field(gt=0.0, lt=1.0)] = Field(
        default=0.2, description="Share of the rows set aside for the evaluation; never trained on."
    )
    folds: Annotated[int, Field(ge=2, le=20)] = Field(
        default=5,
        description="Parts for cross-fitting: the calibration learns from rows the booster did not.",
    )


#: The process of an attempt has 390 MiB when it begins, before it has read a row.
MIN_MEMORY_MB = 512


class Limits(_Part):
    """What one attempt may use; None takes the setting of the service."""

    seconds: Annotated[FiniteFloat, Field(gt=0.0)] | None = Field(
        default=None,
        description="Time of one attempt; left out: `COSTBOOST_JOB_SECONDS`, at most "
        "`COSTBOOST_MAX_JOB_SECONDS`.",
    )
    memory_mb: Annotated[int, Field(ge=MIN_MEMORY_MB, le=1 << 24)] | None = Field(
        default=None,
        description="Memory of one attempt in MiB; left out: `COSTBOOST_JOB_MEMORY_MB`, at most "
        "`COSTBOOST_MAX_JOB_MEMORY_MB`.",
    )


class OnSuccess(_Part):
    """What happens when the version is there."""

    alias: Name | None = Field(
        default=None,
        description="Alias to point at the new version, such as `challenger`. The first version of a model "
        "becomes `champion` by itself.",
    )
    record_rows: bool | None = Field(
        default=None,
        description="Whether decision records of the model shall hold the rows themselves from then on; left "
        "out: as the model has it, of a new one they do not.",
    )


class TrainingSpec(_Part):
    """What is to be trained; needs `costs` or `cost_spec`. Everything else has a default."""

    # It is request body, stored document and input of the worker in one.
    model: Name = Field(description="Name of the model; training under it again makes its next version.")
    dataset: str = Field(description="Id of the dataset, `ds_…`; in a form the part `dataset` brings it.")
    costs: Costs | None = Field(
        default=None,
        description="What each decision costs; see the three forms. Not together with `cost_spec`.",
    )
    cost_spec: str | None = Field(
        default=None, description="Id of stored costs, `cs_…`. Not together with `costs`."
    )
    algorithm: str = Field(
        default="auto",
        description="Name from `/v1/algorithms`; upper case, `-` and `_` do not matter. `auto`: the default.",
    )
    params: Mapping[str, JsonValue] = Field(
        default_factory=dict,
        description="Parameters of the algorithm; their JSON Schema is under `/v1/algorithms/{name}`.",
    )
    search: SearchSpec | None = Field(
        default=None, description="Parameters to try instead of giving them; left out: none."
    )
    split: SplitSpec = Field(default=SplitSpec(), description="Which rows test and which validate.")
    calibration: Literal["auto", "sigmoid", "isotonic", "none"] = Field(
        default="auto",
        description="How scores become probabilities. `auto`: isotonic when each class has at least 1000 "
        "rows, else sigmoid; `none`: the raw link.",
    )
    decision_rule: Literal["expected_cost", "empirical", "sign"] = Field(
        default="expected_cost",
        description="`expected_cost`: for each row the action of least expected cost; `empirical`: the "
        "threshold on the score that cost least on out-of-fold rows (two classes); `sign`: the vote of "
        "the booster.",
    )
    threshold_aim: Literal["cost", "g_mean", "f1"] = Field(
        default="cost",
        description="With the rule `empirical`: the threshold of the least cost, or of the largest G-mean "
        "or F1.",
    )
    min_recall: Annotated[FiniteFloat, Field(ge=0.0, le=1.0)] | None = Field(
        default=None,
        description="With the rule `empirical`: share of the positive rows that the threshold must find, "
        "out of fold. `metrics.out_of_fold.threshold.extra_cost` says what that costs.",
    )
    train_costs: Literal["class_mean", "row"] = Field(
        default="class_mean",
        description="What the booster learns from. `class_mean`: each class weighs what a mistake in it "
        "costs on average; `row`: each row what a mistake in it costs. Decisions use the costs of the row "
        "both ways.",
    )
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(
        default=0, description="The same dataset, spec and seed give the same version, bit by bit."
    )
    limits: Limits = Field(default=Limits(), description="Time and memory of one attempt.")
    on_success: OnSuccess = Field(default=OnSuccess(), description="What happens when the version is there.")

    @model_validator(mode="after")
    def _one_source_of_costs(self) -> "TrainingSpec":
        if (self.costs is None) == (self.cost_spec is None):
            raise custom("exclusive", "give either costs or cost_spec")
        return self


class KeptLimits(Limits):
    """Limits of a job that is kept: when it was asked for, other bounds may have held."""

    seconds: float | None = None
    memory_mb: int | None = None


class SettledSpec(TrainingSpec):
    """What a job keeps: names became ids, `auto` an algorithm, and each parameter has its value.

    `warnings` holds, code to detail, what was noticed when the job was asked for.
    """

    limits: KeptLimits = KeptLimits()
    requested_algorithm: str | None = None
    warnings: Mapping[str, str] = Field(default_factory=dict)


def requested_algorithm(spec: TrainingSpec) -> str:
    """Algorithm as it was asked for, such as "auto"."""
    asked = spec.requested_algorithm if isinstance(spec, SettledSpec) else None
    return asked or spec.algorithm


class Progress(_Part):
    """Where a running attempt is; `fraction` of the whole attempt, 0 to 1."""

    phase: str
    round: int = 0
    rounds: int = 0
    fraction: float = 0.0
    metrics: Mapping[str, float] = Field(default_factory=dict)


class JobError(_Part):
    """Why a job failed; `errors` are the first faults of what was given to it, as problems list them."""

    code: FailureCode
    detail: str
    errors: list[dict[str, JsonValue]] = Field(default_factory=list)
    errors_total: int = 0


class JobStatus(StrEnum):
    """Where a training job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def done(self) -> bool:
        """Whether the job has its end and never changes again."""
        return self in (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED)


@dataclass(frozen=True, kw_only=True)
class Job:
    """Work that a worker does. Each method returns the job after a step, or raises ConflictError.

    Attributes
    ----------
    attempt : int
        Number of the newest attempt, 0 before the first. It fences: an older attempt can write nothing.
    worker_deaths : int
        Attempts that ended because a process died under them.
    request_id : str or None
        The request that asked for it: what is logged of the job then leads back to it.
    """

    id: str
    tenant_id: str
    status: JobStatus
    created_at: datetime
    attempt: int = 0
    worker_deaths: int = 0
    progress: Progress | None = None
    result: dict[str, Any] | None = None
    error: JobError | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    heartbeat_at: datetime | None = None
    executor_id: str | None = None
    request_id: str | None = None

    @property
    def limits(self) -> Limits:
        """What one attempt may use."""
        return Limits()

    def started(self, at: datetime, executor_id: str) -> Self:
        """Begin the next attempt."""
        self._require(JobStatus.QUEUED)
        return replace(
            self,
            status=JobStatus.RUNNING,
            attempt=self.attempt + 1,
            started_at=self.started_at or at,
            heartbeat_at=at,
            executor_id=executor_id,
            progress=None,
        )

    def progressed(self, at: datetime, progress: Progress) -> Self:
        """Note how far the attempt is."""
        self._require(JobStatus.RUNNING)
        return replace(self, progress=progress, heartbeat_at=at)

    def lost_worker(self, at: datetime, max_deaths: int) -> Self:
        """Count a death under it: the job waits for its next attempt, or this was one death too many."""
        self._require(JobStatus.RUNNING, JobStatus.CANCELLING)
        if self.status is JobStatus.CANCELLING:
            return self.cancelled(at)
        counted = replace(self, worker_deaths=self.worker_deaths + 1)
        if counted.worker_deaths < max_deaths:
            return counted.handed_back()
        detail = f"{counted.worker_deaths} processes died while they worked on it"
        return counted.failed(at, JobError(code="worker_died", detail=detail))

    def handed_back(self) -> Self:
        """Give the job back to the queue, because its worker is asked to stop."""
        self._require(JobStatus.RUNNING)
        return replace(self, status=JobStatus.QUEUED, executor_id=None, progress=None)

    def cancel_requested(self, at: datetime) -> Self:
        """Ask for the end: a queued job is over at once, a running one when its child is killed."""
        self._require(JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.CANCELLING)
        if self.status is JobStatus.QUEUED:
            return self._over(JobStatus.CANCELLED, at)
        return replace(self, status=JobStatus.CANCELLING)

    def succeeded(self, at: datetime, result: dict[str, Any]) -> Self:
        """End with a result."""
        self._require(JobStatus.RUNNING)
        last = self.progress or Progress(phase="done")
        whole = last.model_copy(update={"phase": "done", "round": last.rounds, "fraction": 1.0})
        return self._over(JobStatus.SUCCEEDED, at, result=result, progress=whole)

    def failed(self, at: datetime, error: JobError) -> Self:
        """End with an error."""
        self._require(JobStatus.RUNNING)
        return self._over(JobStatus.FAILED, at, error=error)

    def cancelled(self, at: datetime) -> Self:
        """End as asked."""
        self._require(JobStatus.CANCELLING)
        return self._over(JobStatus.CANCELLED, at)

    def _over(self, status: JobStatus, at: datetime, **fields: Any) -> Self:
        return replace(self, status=status, finished_at=at, **fields)

    def _require(self, *statuses: JobStatus) -> None:
        if self.status not in statuses:
            raise ConflictError("conflict", f"the job is {self.status}")


@dataclass(frozen=True, kw_only=True)
class TrainingJob(Job):
    """One requested training, of a version of `model`."""

    model: str
    dataset_id: str
    spec: TrainingSpec

    @classmethod
    def asked(
        cls, job_id: str, tenant_id: str, spec: TrainingSpec, at: datetime, request_id: str | None = None
    ) -> "TrainingJob":
        """Make the job that was just asked for."""
        return cls(
            id=job_id,
            tenant_id=tenant_id,
            model=spec.model,
            dataset_id=spec.dataset,
            spec=spec,
            status=JobStatus.QUEUED,
            created_at=at,
            request_id=request_id,
        )

    @property
    def limits(self) -> Limits:
        """What one attempt may use."""
        return self.spec.limits
