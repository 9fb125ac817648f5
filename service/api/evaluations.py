"""/v1/models/{model}/versions/{version}/…: how good a version is, in figures and curves."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from starlette.requests import Request
from starlette.responses import Response

from service.api.accept import preferred
from service.api.card_page import card_content
from service.api.conditions import IMMUTABLE, REVALIDATE
from service.api.context import Tenant, Wired
from service.api.markup import page
from service.api.problems import responses
from service.api.routes import JSON, StrictRoute
from service.api.versions import PATH, Number
from service.usecases import cards, evaluations, models
from service.usecases.evaluations import Part

router = APIRouter(route_class=StrictRoute, tags=["models"])

HTML = "text/html"

Lists = dict[str, list[float | None]]

EXAMPLE: JsonDict = {
    "model": "card-fraud",
    "version": 7,
    "part": "test",
    "positive_class": "fraud",
    "roc": {"fpr": [0.0, 0.02, 1.0], "tpr": [0.0, 0.8, 1.0], "threshold": [None, 0.4, 0.0]},
    "pr": {"recall": [0.8, 1.0], "precision": [0.6, 0.05], "threshold": [0.4, 0.0]},
    "calibration": {
        "low": [0.0, 0.3],
        "high": [0.1, 0.9],
        "mean_probability": [0.02, 0.6],
        "observed_rate": [0.02, 0.58],
        "weight": [1750.0, 117.0],
    },
    "calibration_line": {"slope": 0.97, "intercept": -0.02},
    "cost": {
        "condition": [0.0, 0.5, 1.0],
        "cost": [0.0, 0.04, 0.0],
        "always_positive": [0.0, 0.95, 1.9],
        "always_negative": [0.1, 0.05, 0.0],
    },
    "net_benefit": {"threshold": [0.5], "net_benefit": [0.03], "treat_all": [-0.9], "treat_none": [0.0]},
    "thresholds": {
        "threshold": [0.0, 0.4, 1.0],
        "tp": [98.0, 78.0, 0.0],
        "fp": [1769.0, 52.0, 0.0],
        "fn": [0.0, 20.0, 98.0],
        "tn": [0.0, 1717.0, 1769.0],
        "cost": [8845.0, 6800.0, 49000.0],
    },
    "undefined": {},
    "classes": None,
}


class EvaluationOut(BaseModel):
    """How a version did on rows it was not fitted to."""

    model: str
    version: int
    metrics: Mapping[str, Any] = Field(description="Of the test part and out-of-fold; undefined is null.")


class OneClass(BaseModel):
    """Curves of telling one class from the rest, each of at most 512 points; null where it is undefined."""

    roc: Lists | None = Field(None, description="`fpr`, `tpr`, `threshold`.")
    pr: Lists | None = Field(None, description="`recall`, `precision`, `threshold`.")
    calibration: Lists | None = Field(
        None, description="Predicted probability against observed rate, in ten bins of about one weight."
    )
    calibration_line: dict[str, float] | None = Field(
        None, description="`slope` and `intercept` of the true log-odds in those predicted: 1 and 0 at best."
    )
    cost: Lists | None = Field(
        None, description="Brier cost curve: cost against the operating condition fp / (fp + fn)."
    )
    net_benefit: Lists | None = Field(
        None, description="True positives per row less false ones times the odds of the threshold."
    )
    undefined: dict[str, str] = Field(description="Why a curve is null.")


class ClassCurves(OneClass):
    """Curves of one of several classes."""

    class_: str = Field(alias="class")


class CurvesOut(OneClass):
    """All curves of a version."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})

    model: str
    version: int
    part: Part
    positive_class: str | None
    undefined: dict[str, str] = Field(default_factory=dict, description="Why a curve is null.")
    thresholds: Lists | None = Field(
        None,
        description="Two classes: outcome and cost, in money at the costs of training, of flagging what lies "
        "above each threshold. Counts are sums of weights.",
    )
    classes: list[ClassCurves] | None = Field(
        None, description="More than two classes: the curves of each against the rest."
    )


class CardOut(BaseModel):
    """All that should be known about a version before it is relied on."""

    model: str
    version: int
    description: str
    tags: dict[str, str]
    aliases: list[str] = Field(description="Those that point to it.")
    created_at: datetime
    data: dict[str, Any] = Field(description="Dataset, classes, and the columns that are used.")
    costs: dict[str, Any] = Field(description="Cells, and what they lead to, in words.")
    training: dict[str, Any] = Field(description="Algorithm with its reference, params, split, rule, seed.")
    performance: dict[str, Any] = Field(
        description="`test` and `out_of_fold` metrics; `figures` of the test part, each with `…_ci95`; "
        "`by_class`; `calibration` tables."
    )
    explanation: dict[str, Any] = Field(
        description="`importance` of each column, and `shapes`: which value pushes where."
    )
    subgroups: dict[str, Any] | None = Field(description="Figures of the groups that `?by=` makes.")
    limits: list[str] = Field(description="What must be known before it is relied on.")
    lineage: dict[str, Any] = Field(description="What it was made of, by id and hash.")


@router.get(
    PATH + "/card",
    operation_id="read_version_card",
    summary="Read the card of a version",
    response_model=CardOut,
    responses={
        200: {"description": "The card.", "content": {HTML: {"schema": {"type": "string"}}}},
        **responses(400, 404, 406, 409, 422, 503),
    },
)
def read_card(
    *,
    request: Request,
    response: Response,
    wired: Wired,
    tenant: Tenant,
    model: str,
    version: Number,
    by: Annotated[
        str | None,
        Query(min_length=1, max_length=256, description="Column of the dataset whose groups are told apart."),
    ] = None,
) -> object:
    """Read data, costs, performance with intervals, what matters, limits and lineage; JSON, or a page."""
    kind = preferred(request.headers.get("accept", "*/*"), (JSON, HTML), JSON)
    card = cards.read_card(wired.readers, wired.store, tenant, model, version, by=by)
    headers = {"Cache-Control": REVALIDATE, "Vary": "Accept"}
    if kind == HTML:
        shown = page(f"{model}, version {version}", card_content(card))
        shown.headers.update(headers)
        return shown
    response.headers.update(headers)
    return card


@router.get(
    PATH + "/evaluation",
    operation_id="read_version_evaluation",
    summary="Read the evaluation of a version",
    responses=responses(404, 422, 503),
)
def read_evaluation(
    *, response: Response, wired: Wired, tenant: Tenant, model: str, version: Number
) -> EvaluationOut:
    """Read the metrics on the test part and out-of-fold."""
    found = models.read_version(wired.readers, tenant, model, version)
    response.headers["Cache-Control"] = IMMUTABLE
    return EvaluationOut(model=model, version=found.number, metrics=found.metrics)


@router.get(
    PATH + "/curves",
    operation_id="read_version_curves",
    summary="Read the curves of a version",
    responses=responses(400, 404, 409, 422, 503),
)
def read_curves(
    *,
    response: Response,
    wired: Wired,
    tenant: Tenant,
    model: str,
    version: Number,
    part: Annotated[
        Part,
        Query(description="`test`: the rows set aside; `out_of_fold`: those trained on, each judged unseen."),
    ] = "test",
) -> CurvesOut:
    """Read ROC, precision and recall, calibration, cost, net benefit and thresholds in money."""
    found, report = evaluations.read_report(wired.readers, wired.store, tenant, model, version)
    response.headers["Cache-Control"] = IMMUTABLE
    return CurvesOut(model=model, version=found.number, part=part, **report["curves"][part])
