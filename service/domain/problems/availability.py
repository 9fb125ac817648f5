"""What the service cannot do just now, or for one who asks too much."""

from service.domain.problems.problem import Problem

AVAILABILITY: dict[str, Problem] = {
    "busy": Problem(
        "Busy",
        "Too many large predictions are waiting already.",
        "Send the request again after the seconds of `Retry-After`, or fewer rows at a time.",
    ),
    "rate_limited": Problem(
        "Rate limited",
        "The API key has sent more requests than `COSTBOOST_MAX_REQUESTS_PER_MINUTE` allows.",
        "Send the request again after the seconds of `Retry-After`; many rows fit into one prediction "
        "request.",
    ),
    "too_many_jobs": Problem(
        "Too many jobs",
        "The tenant has as many jobs waiting as `COSTBOOST_MAX_QUEUED_JOBS` allows.",
        "Wait until some have begun, or cancel some: `GET /v1/training-jobs?status=queued`.",
    ),
    "database_unavailable": Problem(
        "Database unavailable",
        "The database cannot be reached just now, or has no free connection.",
        "Send the request again after `Retry-After`. If it lasts: `GET /readyz`, "
        "`COSTBOOST_DATABASE_URL`, and for many clients `COSTBOOST_DATABASE_POOL`.",
    ),
    "storage_unavailable": Problem(
        "Storage unavailable",
        "The folder or bucket in which datasets and models are kept cannot be used just now.",
        "Send the request again after `Retry-After`. If it lasts: `GET /readyz` and `COSTBOOST_STORE_URL`.",
    ),
    "storage_full": Problem(
        "Storage full",
        "No space is left to store this.",
        "Free space where `COSTBOOST_STORE_URL` and `COSTBOOST_DATABASE_URL` lie: delete datasets and "
        "versions that nobody needs. Then send the request again.",
    ),
    "artifact_corrupt": Problem(
        "Artifact corrupt",
        "The stored bytes of the version are not those that training wrote: the disk or somebody "
        "changed them.",
        "Restore the folder of `COSTBOOST_STORE_URL` from a backup, or point the alias at another "
        "version; training again with the same spec and seed gives the same version.",
    ),
    "artifact_missing": Problem(
        "Artifact missing",
        "The stored bytes of the version are no longer there.",
        "Restore the folder of `COSTBOOST_STORE_URL` from a backup, or point the alias at another "
        "version; check that API and worker have the same `COSTBOOST_STORE_URL`.",
    ),
    "internal": Problem(
        "Internal error",
        "Something unexpected: this is a fault of the service, not of the request.",
        "Report the `request_id`; the log of the service has the place under it.",
    ),
}
