"""The Prometheus figures of the API process, all named `costboost_…`."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest

from service.usecases.monitoring import Figures

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
    ["tenant", "model", "version", "label"],
    registry=REGISTRY,
)


EXPECTED_COST = Gauge(
    "costboost_expected_cost",
    "Sum of what the decisions of this process were expected to cost; benefits count below 0.",
    ["tenant", "model", "version"],
    registry=REGISTRY,
)
_STAGES = Histogram(
    "costboost_predict_stage_seconds",
    "Seconds of the parts of a prediction: read the body, score and decide, keep a record, write the answer.",
    ["stage"],
    registry=REGISTRY,
    buckets=(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10),
)
READ, SCORE, RECORD, WRITE = (_STAGES.labels(stage) for stage in ("read", "score", "record", "write"))
UNSHADOWED = Counter(
    "costboost_unshadowed_requests",
    "Recorded requests that no challenger decided, because too many waited.",
    registry=REGISTRY,
)


def figures_of(tenant: str) -> bytes:
    """Figures in Prometheus' text form: those of the service, and of what has a tenant those of this one."""
    return generate_latest(_OfTenant(tenant))


class _OfTenant:
    """The registry as one tenant may see it."""

    def __init__(self, tenant: str) -> None:
        self._tenant = tenant

    def collect(self) -> Iterator[Metric]:
        """Give each figure without the samples of other tenants."""
        for metric in REGISTRY.collect():
            metric.samples = [
                one for one in metric.samples if one.labels.get("tenant", self._tenant) == self._tenant
            ]
            yield metric


def work_figures(found: Figures, waiting_records: int) -> bytes:
    """How the work stands in Prometheus' text form; read anew at each scrape."""
    registry = CollectorRegistry()

    def gauge(name: str, meaning: str, value: float) -> None:
        Gauge(f"costboost_{name}", meaning, registry=registry).set(value)

    jobs = Gauge("costboost_training_jobs", "Training jobs, by status.", ["status"], registry=registry)
    batches = Gauge(
        "costboost_batch_predictions", "Batch predictions, by status.", ["status"], registry=registry
    )
    intakes = Gauge("costboost_intake_jobs", "Intake jobs, by status.", ["status"], registry=registry)
    for counted, counts in ((jobs, found.jobs), (batches, found.batches), (intakes, found.intakes)):
        for status, count in counts.items():
            counted.labels(status).set(count)
    going_on = "Running training jobs that go on from what an earlier attempt has kept."
    gauge("resumed_training_jobs", going_on, found.resumed)
    oldest = "Seconds that the first job of the queue has waited."
    gauge("oldest_queued_job_seconds", oldest, found.oldest_queued_seconds)
    gauge("workers", "Workers that nobody has declared dead.", found.workers)
    if found.heartbeat_seconds is not None:
        silence = "Seconds since the last word of the worker that is silent the longest."
        gauge("worker_heartbeat_age_seconds", silence, found.heartbeat_seconds)
    gauge("pending_deliveries", "Webhook deliveries that have not arrived yet.", found.deliveries)
    gauge("waiting_records", "Decision records of this process not written yet.", waiting_records)
    return generate_latest(registry)
