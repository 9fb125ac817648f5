"""Puts the HTTP application together: routers, error handlers, the layers around every request."""

from fastapi import FastAPI
from starlette.middleware import Middleware

from service.api import errors
from service.api.middleware import OriginGuard, RequestContext, RequestLimits
from service.api.routes import StrictRoute
from service.wiring import Wiring

DESCRIPTION = "Cost-sensitive boosting: train on a table and its costs, get the decision that costs least."


def create_app(wiring: Wiring) -> FastAPI:
    """Build the application over the given database, store and queue."""
    settings = wiring.settings
    layers = [
        Middleware(RequestContext),
        Middleware(
            RequestLimits,
            max_upload_bytes=settings.max_upload_bytes,
            max_predict_bytes=settings.max_predict_bytes,
        ),
        Middleware(OriginGuard),
    ]
    app = FastAPI(
        title="Costboost",
        description=DESCRIPTION,
        version="0.1.0",
        openapi_url="/openapi.json",
        docs_url=None,
        redoc_url=None,
        middleware=layers,
        redirect_slashes=False,
    )
    app.router.route_class = StrictRoute
    app.state.wiring = wiring
    errors.install(app)
    return app
