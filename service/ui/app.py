"""Puts the pages beside the API in one application."""

from fastapi import FastAPI
from starlette.middleware import Middleware

from service.ui import (
    assets,
    cases,
    comparisons,
    costs,
    datasets,
    jobs,
    keys,
    monitoring,
    overview,
    problem_pages,
    session,
    simulations,
    trainings,
    versions,
    webhooks,
)

ROUTERS = (
    overview.router,
    session.router,
    datasets.router,
    costs.router,
    trainings.router,
    jobs.router,
    simulations.router,
    comparisons.router,
    monitoring.router,
    versions.router,
    cases.router,
    keys.router,
    webhooks.router,
    assets.router,
    overview.missing,
)


def install(app: FastAPI) -> FastAPI:
    """Add the pages to an application, and give it back."""
    for router in ROUTERS:
        app.include_router(router)
    # Around all that refuses, but within what makes a GET of a HEAD.
    app.user_middleware.insert(1, Middleware(problem_pages.ProblemPages))
    return app
