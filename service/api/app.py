"""Puts the HTTP application together: routers, error handlers, the layers around every request."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio
from fastapi import FastAPI
from starlette.middleware import Middleware

from service.api import (
    algorithms,
    aliases,
    api_keys,
    audit_log,
    batch_predictions,
    cost_specs,
    datasets,
    decision_records,
    errors,
    evaluations,
    exchange,
    feedback,
    inference,
    intake_jobs,
    models,
    openapi,
    pages,
    performance,
    predictions,
    probes,
    simulations,
    subjects,
    training_jobs,
    versions,
    webhooks,
)
from service.api.heads import HeadAsGet
from service.api.middleware import OriginGuard, RequestContext, RequestLimits
from service.api.rates import Rates
from service.api.telemetry import telemetry
from service.api.threads import batch_threads
from service.usecases.access import KeyRing
from service.usecases.recording import Recorder
from service.usecases.scoring import Scoring
from service.usecases.shadowing import Shadows
from service.wiring import Wiring

DESCRIPTION = "Cost-sensitive boosting: train on a table and its costs, get the decision that costs least."

#: Routes are tried in this order, after those of predictions, which must be quick.
ROUTERS = (
    datasets.router,
    intake_jobs.router,
    cost_specs.router,
    algorithms.router,
    training_jobs.router,
    models.router,
    versions.router,
    evaluations.router,
    exchange.router,
    aliases.router,
    feedback.router,
    decision_records.router,
    simulations.router,
    batch_predictions.router,
    inference.router,
    inference.probes,
    performance.router,
    api_keys.router,
    audit_log.router,
    webhooks.router,
    subjects.router,
    probes.router,
    pages.router,
)


class CostboostApp(FastAPI):
    """The application; its OpenAPI document is completed by us."""

    def openapi(self) -> dict[str, object]:
        """Give the OpenAPI document."""
        return openapi.document(self)


def create_app(wiring: Wiring) -> FastAPI:
    """Build the application over the given database, store and queue."""
    settings = wiring.settings
    layers = [
        Middleware(HeadAsGet),
        Middleware(RequestContext),
        Middleware(
            RequestLimits,
            max_upload_bytes=settings.max_upload_bytes,
            max_predict_bytes=settings.max_predict_bytes,
        ),
    ]
    if not settings.needs_keys:
        layers.append(Middleware(OriginGuard))
    app = CostboostApp(
        title="Costboost",
        description=DESCRIPTION,
        version=version("costboost"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=layers,
        lifespan=_lifespan,
        telemetry=telemetry(os.environ),
    )
    app.state.wiring = wiring
    app.state.stopping = False
    app.state.keys, app.state.needs_keys = KeyRing(wiring.readers), settings.needs_keys
    per_minute = settings.max_requests_per_minute
    app.state.rates = Rates(per_minute) if per_minute else None
    app.state.scoring = Scoring(wiring.readers, wiring.store)
    app.state.recorder = Recorder(wiring.sessions)
    app.state.shadows = Shadows(app.state.scoring, app.state.recorder)
    for quick in (predictions.router, inference.direct):  # not included: that would match each route twice
        app.router.routes.extend(quick.routes)
    for router in ROUTERS:
        app.include_router(router)
    errors.install(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    threads: list[Scoring | Recorder | Shadows] = [app.state.scoring, app.state.recorder, app.state.shadows]
    for one in threads:
        one.start()
    app.state.wiring.nursery.warm()
    app.state.batches = batch_threads()
    try:
        yield
    finally:
        for one in reversed(threads):  # a shadow still records, a record is still written
            await anyio.to_thread.run_sync(one.stop)
