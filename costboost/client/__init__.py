"""The Python client of the service: `Client`, and `AsyncClient` for programs built on asyncio.

Needs the extra `client`; nothing else of the library imports it, and it imports nothing else of the library.
"""

from costboost.client.clients import AsyncClient, Client
from costboost.client.errors import ApiError, ClientError, Fault, JobError, UnreachableError
from costboost.client.jobs import AsyncJob, Job
from costboost.client.results import (
    Algorithm,
    Alias,
    ApiKey,
    CostSpecRevision,
    Dataset,
    Model,
    Prediction,
    Predictions,
    Version,
)

__all__ = [
    "Algorithm",
    "Alias",
    "ApiError",
    "ApiKey",
    "AsyncClient",
    "AsyncJob",
    "Client",
    "ClientError",
    "CostSpecRevision",
    "Dataset",
    "Fault",
    "Job",
    "JobError",
    "Model",
    "Prediction",
    "Predictions",
    "UnreachableError",
    "Version",
]
