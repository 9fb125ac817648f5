"""Training jobs, and the life of jobs of any kind."""

import json
import time
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from costboost.client.asking import Asking, given, path
from costboost.client.exchange import Listing, Pause, Plan, Request, as_json, keyed, listing, operation
from costboost.client.jobs import JobState, Watcher, path_of, watcher_of
from costboost.client.tables import dataset_of, file_of

J = TypeVar("J", bound=JobState)

_LONGEST_WAIT = 20.0
#: What is said of a table that is sent along, and never of the training.
_OF_TABLE = frozenset({"label", "positive_class", "classes", "roles", "types"})


class JobOperations(Asking, Generic[J]):
    """Jobs are of the kind that belongs to the client: `Job` or `AsyncJob`."""

    @abstractmethod
    def _made_job(self, document: Mapping[str, Any]) -> J: ...

    @operation
    def train(
        self,
        /,
        model: str,
        data: Any,
        costs: Mapping[str, Any] | None = None,
        *,
        cost_spec: str | None = None,
        algorithm: str | None = None,
        params: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        **spec: Any,
    ) -> Plan[J]:
        """Ask for a training; the answer is a job to wait for.

        Parameters
        ----------
        model : str
            The name that the new version will belong to.
        data : str, Dataset or table
            Id or name of a dataset, or a table as in `create_dataset`: a `pathlib.Path` is one, a str is not.
        costs : dict, optional
            As in the API.
        cost_spec : str, optional
            Instead of them, the id or name of stored ones.
        algorithm : str, optional
            The default if left out.
        params : dict, optional
            Of the algorithm; `algorithms` has them with their bounds and defaults.
        options : dict, optional
            Of a table: `label`, `positive_class`, `roles` and so on.
        **spec
            Anything else of the API: `split`, `search`, `seed`, `limits`, `on_success`, …

        Raises
        ------
        TypeError
            What belongs to the table, such as `label`, is given beside `options`.
        ValueError
            `data` is a str that names a file.
        """
        if of_table := sorted(_OF_TABLE & spec.keys()):
            raise TypeError(f"{of_table[0]} is said of the table: options={{{of_table[0]!r}: ...}}")
        asked = {"model": model, "costs": costs, "cost_spec": cost_spec, "algorithm": algorithm, **spec}
        body = given({**asked, "params": params and dict(params)})
        if (dataset := dataset_of(data)) is not None:
            request = as_json("POST", path("training-jobs"), {**body, "dataset": dataset}, keyed())
        else:
            fields = {"spec": json.dumps(body), "options": json.dumps(dict(options or {}))}
            request = Request(
                "POST", path("training-jobs"), headers=keyed(), fields=fields, file=("dataset", file_of(data))
            )
        return self._made_job((yield from self._document(request)))

    @operation
    def check_training(self, /, model: str, dataset: str, **spec: Any) -> Plan[dict[str, Any]]:
        """Say what would be trained and on how many rows, without doing it."""
        body = {"model": model, "dataset": dataset, **spec}
        return (yield from self._document(as_json("POST", path("training-jobs", "validate"), body)))

    @listing
    def training_jobs(self, *, status: str | None = None, model: str | None = None) -> Listing[J]:
        """Training jobs, newest first."""
        return Listing(path("training-jobs"), self._made_job, {"status": status, "model": model})

    @listing
    def batch_predictions(self, *, status: str | None = None) -> Listing[J]:
        """Batch predictions, newest first."""
        return Listing(path("batch-predictions"), self._made_job, {"status": status})

    @operation
    def job(self, job_id: str) -> Plan[J]:
        """How a job stands; of any kind."""
        return self._made_job((yield from self._read(path_of(job_id))))

    @operation
    def cancel(self, job_id: str) -> Plan[J]:
        """Ask a job to end; twice is safe."""
        return self._made_job((yield from self._document(Request("POST", f"{path_of(job_id)}/cancel"))))

    @operation
    def wait(self, job_id: str, timeout: float | None = None, progress: bool | Watcher = False) -> Plan[J]:
        """Wait until a job has ended well.

        Parameters
        ----------
        job_id : str
        timeout : float, optional
            Seconds.
        progress : bool or callable
            True draws a bar on the error stream; a callable is given the job each time it is looked at.

        Raises
        ------
        JobError
            It ended otherwise.
        TimeoutError
            It has not ended yet; it goes on.
        """
        watch = watcher_of(progress)
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _LONGEST_WAIT if end is None else max(0.0, end - time.monotonic())
            seconds = min(left, 1.0 if progress else _LONGEST_WAIT)
            asked = Request("GET", path_of(job_id), headers={"Prefer": f"wait={round(seconds)}"})
            job = self._made_job((yield from self._document(asked)))
            watch(job)
            if job.done:
                _ = job.outcome
                return job
            if left == 0.0:
                raise TimeoutError(f"{job_id} is still {job.status} after {timeout:g} s, and goes on")
            yield Pause(min(0.1, left))
