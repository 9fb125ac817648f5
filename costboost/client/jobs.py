"""Jobs: trainings, batch predictions and tables taken in, which go on while nobody waits."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO

from costboost.client.errors import JobError
from costboost.client.results import Result

if TYPE_CHECKING:
    from costboost.client.clients import AsyncClient, Client

#: Where jobs of a kind are found, by how their ids begin.
PATHS = {"job": "/v1/training-jobs", "bp": "/v1/batch-predictions", "in": "/v1/intake-jobs"}

#: Is told each time how a job stands.
Watcher = Callable[["JobState"], None]


@dataclass(frozen=True, kw_only=True)
class JobState(Result):
    """How a job stands; once it is done it has either a result or an error."""

    id: str
    status: str
    done: bool
    attempt: int
    progress: dict[str, Any] | None
    queue_position: int | None
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def succeeded(self) -> bool:
        """Whether it ended with a result."""
        return self.status == "succeeded"

    @property
    def outcome(self) -> Mapping[str, Any]:
        """The result.

        Raises
        ------
        JobError
            It has none.
        """
        if not self.succeeded or self.result is None:
            when = "" if self.done else " when it was last looked at; `wait()` returns it as it ends"
            told = {"code": self.status, "detail": f"the job was {self.status}{when}"}
            raise JobError(self.id, self.error or told)
        return self.result


@dataclass(frozen=True, kw_only=True)
class Job(JobState):
    """A job of a `Client`."""

    client: "Client" = field(repr=False, compare=False)

    def wait(self, timeout: float | None = None, progress: bool | Watcher = False) -> "Job":
        """Wait for the end; see `Client.wait`."""
        return self.client.wait(self.id, timeout, progress)

    def cancel(self) -> "Job":
        """Ask the job to end."""
        return self.client.cancel(self.id)


@dataclass(frozen=True, kw_only=True)
class AsyncJob(JobState):
    """A job of an `AsyncClient`."""

    client: "AsyncClient" = field(repr=False, compare=False)

    async def wait(self, timeout: float | None = None, progress: bool | Watcher = False) -> "AsyncJob":
        """Wait for the end; see `Client.wait`."""
        return await self.client.wait(self.id, timeout, progress)

    async def cancel(self) -> "AsyncJob":
        """Ask the job to end."""
        return await self.client.cancel(self.id)


def path_of(job_id: str) -> str:
    """Where a job is found.

    Raises
    ------
    ValueError
        The id is none of a job.
    """
    kind = job_id.partition("_")[0]
    if kind not in PATHS or "/" in job_id:
        raise ValueError("the id of a job begins with job_, bp_ or in_")
    return f"{PATHS[kind]}/{job_id}"


class ProgressBar:
    """Draws how a job stands on one line of a terminal; elsewhere it writes a line when the phase changes.

    Parameters
    ----------
    stream : text file, optional
        The error stream if left out, so that a result can go through a pipe.
    """

    WIDTH = 24

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty()
        self.phase = ""

    def __call__(self, job: JobState) -> None:
        """Draw how a job stands."""
        given = job.progress or {}
        phase = job.status if job.done or not given else str(given["phase"])
        self.draw(phase, 1.0 if job.succeeded else float(given.get("fraction", 0.0)), is_last=job.done)

    def draw(self, phase: str, fraction: float, *, is_last: bool) -> None:
        """Draw what is done, and which share of the whole before it."""
        phase = phase.replace("_", " ")
        if self.live:
            full = round(self.WIDTH * fraction)
            bar = "━" * full + "─" * (self.WIDTH - full)
            self.stream.write(f"\r{bar} {fraction:>4.0%} {phase}\033[K" + ("\n" if is_last else ""))
        elif phase != self.phase:
            self.stream.write(f"{phase}\n")
        self.phase = phase
        self.stream.flush()


def watcher_of(progress: bool | Watcher) -> Watcher:
    """Who is told; True draws a bar."""
    if callable(progress):
        return progress
    return ProgressBar() if progress else lambda _: None
