"""The Prometheus figures of the API process, all named `costboost_…`."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

REGISTRY = CollectorRegistry()

REQUESTS = Counter(
    "costboost_requests", "Requests answered.", ["method", "route", "status"], registry=REGISTRY
)
REQUEST_SECONDS = Histogram(
    "costboost_request_seconds",
    "Seconds from the first byte of a request to the end of its answer.",
    ["method", "route"],
    registry=REGISTRY,
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60),
)
DECISIONS = Counter(
    "costboost_decisions",
    "Rows decided, by the class that the decision serves.",
    ["model", "version", "label"],
    registry=REGISTRY,
)


def job_figures(counts: Mapping[str, int]) -> bytes:
    """Training jobs by status in Prometheus' text form; counted in the database, so a restart loses none."""
    registry = CollectorRegistry()
    gauge = Gauge("costboost_training_jobs", "Training jobs, by status.", ["status"], registry=registry)
    for status, count in counts.items():
        gauge.labels(status).set(count)
    return generate_latest(registry)
