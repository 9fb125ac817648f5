"""/v1/models/{model}/performance: what decisions cost in the end, beside what was expected."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import AliasPath, BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from service.api.context import Tenant, Wired
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.domain.errors import FieldError, InvalidError
from service.domain.outcomes import Moment, Span, Window
from service.usecases import drift as drifting
from service.usecases import performance
from service.usecases.drift import VersionDrift
from service.usecases.performance import Performance

router = APIRouter(route_class=StrictRoute, tags=["performance"])

DEFAULT_SPAN = timedelta(days=90)
LONGEST_SPANS: dict[Window, timedelta] = {"day": timedelta(days=400), "week": timedelta(days=2800)}
LONGEST_SPAN = timedelta(days=12_000)

_REALISED: JsonDict = {
    "mean": 1.9,
    "ci95": [1.2, 2.6],
    "bounds": [0.9, 14.0],
    "method": "inverse_propensity",
    "rows": 9000,
    "known": 8200,
    "reason": None,
}
_PART: JsonDict = {
    "since": "2026-01-01T00:00:00Z",
    "until": "2026-04-01T00:00:00Z",
    "decisions": 9000,
    "labelled": 8200,
    "let_through": 12,
    "expected_cost": 1.7,
    "realised_cost": _REALISED,
    "above_expected": {**_REALISED, "mean": 0.2, "ci95": [-0.5, 0.9], "bounds": [-0.8, 12.3]},
    "by_decision": [
        {
            "decision": "fraud",
            "decisions": 600,
            "let_through": 12,
            "labelled": 12,
            "labelled_share": 0.02,
            "expected_cost": 4.1,
            "realised_cost": 4.6,
        }
    ],
    "by_maturity": [
        {"days": 30, "decisions": 6000, "labelled": 5600, "expected_cost": 1.7, "realised_cost": _REALISED}
    ],
}
EXAMPLE: JsonDict = {
    "model": "card-fraud",
    "since": "2026-01-01T00:00:00Z",
    "until": "2026-04-01T00:00:00Z",
    "window": "week",
    "truncated": False,
    "versions": [{"version": 7, "total": _PART, "windows": []}],
    "comparisons": [
        {
            "champion": 7,
            "challenger": 8,
            "pairs": 4000,
            "differing": 90,
            "expected_difference": -0.1,
            "difference": {**_REALISED, "mean": -0.21, "ci95": [-0.4, -0.02], "bounds": [-0.5, 0.3]},
        }
    ],
}


class _Out(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class RealisedOut(_Out):
    """A mean cost, as far as labels let it be known."""

    mean: float | None = Field(description="Money a row; null where it cannot be known.")
    ci95: tuple[float, float] | None = Field(description="Null where too few rows tell its spread.")
    bounds: tuple[float, float] = Field(description="Hold whatever the missing labels are.")
    method: Literal["observed", "inverse_propensity", "not_identifiable"]
    rows: int
    known: int = Field(description="Rows whose cost is known.")
    reason: str | None = Field(description="Why `mean` is null, and what would make it known.")


class ByDecisionOut(_Out):
    """Rows for which the rule chose one action."""

    decision: str
    decisions: int
    let_through: int = Field(description="Of them, let through by the control share.")
    labelled: int
    labelled_share: float
    expected_cost: float = Field(description="Mean.")
    realised_cost: float | None = Field(description="Mean of the labelled rows alone.")


class ByMaturityOut(_Out):
    """Decisions at least `days` old, with the labels that came within so many days."""

    days: int
    decisions: int
    labelled: int
    expected_cost: float | None
    realised_cost: RealisedOut | None


class PartOut(_Out):
    """Decisions of one version in one stretch of time."""

    since: Annotated[datetime, Field(validation_alias=AliasPath("span", "since"))]
    until: Annotated[datetime, Field(validation_alias=AliasPath("span", "until"))]
    decisions: int
    labelled: int
    let_through: int
    expected_cost: float = Field(description="Mean of what the version expected of its decisions.")
    realised_cost: RealisedOut
    above_expected: RealisedOut = Field(description="How much more a row cost than was expected of it.")
    by_decision: list[ByDecisionOut]
    by_maturity: list[ByMaturityOut]


class DriftOut(_Out):
    """How far a sample is from the test part."""

    psi: float = Field(description="Population stability index: below 0.1 little, above 0.25 much.")
    psi_by_chance: float = Field(description="What it is on average where nothing has moved.")
    ks: float | None = Field(description="Largest distance of the distribution functions; null: categories.")
    reference: int = Field(description="Rows of the test part that were looked at.")
    sample: int
    missing_reference: float
    missing: float


class ClassDriftOut(_Out):
    """What is said of one class."""

    name: str
    probability: DriftOut
    calibration: RealisedOut = Field(
        description="How much more often the class came than its probabilities said: shares, no money."
    )


class InputDriftOut(_Out):
    """One column."""

    name: str
    drift: DriftOut


class VersionDriftOut(_Out):
    """Decisions of a version beside the rows that were set aside to test it."""

    classes: list[ClassDriftOut] = Field(description="Of two classes the positive one.")
    inputs: list[InputDriftOut] | None = Field(
        description="What moved most comes first; null where the records hold no rows (`record_rows`)."
    )


class VersionPerformanceOut(_Out):
    """One version."""

    version: int
    total: PartOut
    windows: list[PartOut] = Field(description="Newest first; windows without decisions are left out.")
    drift: VersionDriftOut | None = Field(default=None, description="Where `drift` asks for it.")


class ComparisonOut(_Out):
    """Two versions on the same rows; below 0 the challenger costs less."""

    champion: int = Field(description="The version that answered.")
    challenger: int = Field(description="The version that decided unseen.")
    pairs: int
    differing: int = Field(description="Rows that the two decided differently.")
    expected_difference: float = Field(description="As the champion's probabilities see it.")
    difference: RealisedOut


class PerformanceOut(_Out):
    """What decisions cost in the end."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    model: str
    since: datetime
    until: datetime
    window: Window
    truncated: bool = Field(
        description="There were more decisions than are looked at; the oldest are left out."
    )
    versions: list[VersionPerformanceOut] = Field(description="Newest first.")
    comparisons: list[ComparisonOut]

    @classmethod
    def of(
        cls, model: str, window: Window, found: Performance, drifts: Sequence[VersionDrift] = ()
    ) -> "PerformanceOut":
        """Show it."""
        moved = {one.version: VersionDriftOut.model_validate(one) for one in drifts}
        versions = [VersionPerformanceOut.model_validate(one) for one in found.versions]
        return cls(
            model=model,
            since=found.span.since,
            until=found.span.until,
            window=window,
            truncated=found.truncated,
            versions=[one.model_copy(update={"drift": moved.get(one.version)}) for one in versions],
            comparisons=[ComparisonOut.model_validate(one) for one in found.comparisons],
        )


@router.get(
    "/v1/models/{model}/performance",
    operation_id="read_performance",
    summary="What decisions cost in the end",
    responses=responses(400, 404, 422, 503),
)
def read_performance(
    *,
    wired: Wired,
    tenant: Tenant,
    model: str,
    since: Annotated[Moment | None, Query(description="90 days before `until`, if left out.")] = None,
    until: Annotated[Moment | None, Query(description="Now, if left out.")] = None,
    window: Annotated[Window, Query(description="How the time is cut; all: not at all.")] = "week",
    drift: Annotated[
        bool, Query(description="Also compare probabilities, calibration and inputs with the test part.")
    ] = False,
) -> PerformanceOut:
    """Set what recorded decisions cost beside what was expected of them, by version and window."""
    end = until or datetime.now(UTC)
    begin = since or end - DEFAULT_SPAN
    _check(begin, end, window)
    found = performance.performance(wired.readers, tenant, model, Span(begin, end), window)
    moved = drifting.drift(wired.readers, wired.store, tenant, model, Span(begin, end)) if drift else []
    return PerformanceOut.of(model, window, found, moved)


def _check(since: datetime, until: datetime, window: Window) -> None:
    longest = LONGEST_SPANS.get(window, LONGEST_SPAN)
    if not since < until:
        raise _wrong("since", "order", "must lie before `until`")
    if window != "all" and until - since > longest:
        raise _wrong("since", "out_of_range", f"a {window} as window allows {longest.days} days at most")


def _wrong(name: str, code: str, detail: str) -> InvalidError:
    return InvalidError("invalid", detail, [FieldError(f"/query/{name}", code, detail)])
