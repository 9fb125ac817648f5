"""What goes wrong in a command beside what does in every process: arguments, and what the service says."""

from service.explaining import FAILED, USAGE, Told, told

#: Statuses beside those of every process.
REFUSED, JOB_FAILED = 3, 4


class UsageError(Exception):
    """An argument is not what it should be."""


def told_of_command(error: Exception) -> Told:
    """Message and status; no message for what is a fault of ours."""
    from costboost.client.errors import ApiError, ClientError, JobError

    match error:
        case UsageError():
            return str(error), USAGE
        case ApiError():
            return f"refused: {error}\n  request {error.request_id}", REFUSED
        case JobError():
            return str(error), JOB_FAILED
        case ClientError():
            return str(error), FAILED
    return told(error)
