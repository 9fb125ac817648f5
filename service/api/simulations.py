"""/v1/simulations: what decisions would cost at other prices, priors or capacities."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from service.api.context import Tenant, Wired
from service.api.datasets import intake_of
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.api.versions import PATH, Number
from service.domain.errors import FieldError, InvalidError
from service.domain.predictions import Selector
from service.domain.simulations import ModelSimulationSpec, SimulationSpec
from service.usecases.simulating import Simulated, simulate

router = APIRouter(route_class=StrictRoute, tags=["simulations"])

EXAMPLE: JsonDict = {
    "model": "card-fraud",
    "version": 7,
    "dataset": "ds_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51",
    "rows": 1867,
    "positives": 98,
    "class_counts": {"legit": 1769, "fraud": 98},
    "current": {
        "cost": 7120.5,
        "ci95": [5980.0, 8261.0],
        "cost_per_row": 3.81,
        "decisions": {"approve": 1650, "decline": 217},
    },
    "optimum": {
        "cost": 6240.0,
        "ci95": [5210.0, 7270.0],
        "cost_per_row": 3.34,
        "decisions": {"approve": 1490, "decline": 120, "review": 257},
    },
    "saved": {"cost": 880.5, "ci95": [310.0, 1451.0], "cost_per_row": 0.47},
    "baselines": {"constant": {"approve": 49000.0, "decline": 8845.0, "review": 6534.5}, "perfect": 0.0},
    "table": [
        {"threshold": 0.0, "tp": 98, "fp": 1512, "fn": 0, "tn": 0, "review": 257, "cost": 8100.0},
        {"threshold": 0.41, "tp": 70, "fp": 50, "fn": 9, "tn": 1481, "review": 257, "cost": 6240.0},
    ],
    "review": {"rows": 257, "tied": 0},
    "shadow_price": 1.25,
    "curves": {"roc": {"fpr": [0.0, 1.0], "tpr": [0.0, 1.0], "threshold": [None, 0.0]}, "undefined": {}},
    "warnings": [],
}


class CostOut(BaseModel):
    """Money: a sum over the rows, weighted where rows have weights."""

    cost: float
    ci95: list[float] | None = Field(
        description="95 % interval of the sum: bootstrap (BC_a) of independent rows."
    )
    cost_per_row: float | None


class DecidedOut(CostOut):
    """What decisions cost, and how often each action was chosen."""

    decisions: Mapping[str, int]


class BaselinesOut(BaseModel):
    """What no model and a perfect one would cost."""

    constant: Mapping[str, float] = Field(description="For each action: the cost of always choosing it.")
    perfect: float = Field(description="Every row gets the action that is best for its true class.")


class ThresholdOut(BaseModel):
    """What comes of one threshold."""

    threshold: float
    tp: float
    fp: float
    fn: float
    tn: float
    review: float = Field(description="Rows that the optimum sends to review; the others are cut here.")
    cost: float


class ReviewOut(BaseModel):
    """Reviews of the optimum."""

    rows: int
    tied: int = Field(description="Left out because they are worth as much as others without a place.")


class NoteOut(BaseModel):
    """Something to know when reading the figures."""

    code: str
    detail: str


class SimulationOut(BaseModel):
    """What decisions would cost."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    model: str
    version: int
    dataset: str | None
    rows: int
    positives: int | None = Field(description="null for more than two classes.")
    class_counts: Mapping[str, int]
    current: DecidedOut = Field(description="What the version decides as it is, at the costs of the request.")
    optimum: DecidedOut = Field(description="The decisions of least expected cost, reviews within capacity.")
    saved: CostOut = Field(description="By the optimum against the current decisions, row by row.")
    baselines: BaselinesOut
    table: list[ThresholdOut] | None = Field(description="At most 512 thresholds; null for more classes.")
    review: ReviewOut | None
    shadow_price: float | None = Field(
        description="Least saving for which a review is worth its place: `review.shadow_price` of costs at "
        "prediction; of several periods that of the busiest. null without a review."
    )
    curves: Mapping[str, Any]
    warnings: list[NoteOut]

    @classmethod
    def of(cls, simulated: Simulated) -> "SimulationOut":
        """Show what came out."""
        return cls(
            model=simulated.model.name,
            version=simulated.version.number,
            dataset=None if simulated.dataset is None else simulated.dataset.id,
            warnings=[NoteOut(code=code, detail=detail) for code, detail in simulated.warnings],
            **simulated.found,
        )


@router.post(
    "/v1/simulations",
    operation_id="simulate",
    summary="Ask what decisions would cost",
    responses=responses(400, 404, 409, 413, 415, 422, 503),
)
def simulate_model(*, wired: Wired, tenant: Tenant, spec: ModelSimulationSpec) -> SimulationOut:
    """Try other costs, priors or numbers of reviews on the rows set aside in training, or on a dataset."""
    if spec.alias is not None and spec.version is not None:
        fault = FieldError("/version", "exclusive", "give one alias or one version")
        raise InvalidError("invalid", "the request is not consistent", [fault])
    selector = Selector(tenant, spec.model, spec.alias, spec.version)
    return SimulationOut.of(simulate(wired.readers, intake_of(wired), selector, spec))


@router.post(
    PATH + "/simulations",
    operation_id="simulate_version",
    summary="Ask what decisions of a version would cost",
    responses=responses(400, 404, 409, 413, 415, 422, 503),
)
def simulate_version(
    *, wired: Wired, tenant: Tenant, model: str, version: Number, spec: SimulationSpec
) -> SimulationOut:
    """Try other costs, priors or numbers of reviews on the rows set aside in training, or on a dataset."""
    selector = Selector(tenant, model, None, version)
    return SimulationOut.of(simulate(wired.readers, intake_of(wired), selector, spec))
