"""An attempt while it runs: what its child says, and whether it must end."""

import threading
import time
from collections import deque
from contextlib import suppress

import structlog
from pydantic import ValidationError

from service.domain.training import Job, JobStatus, Progress
from service.processes.watch import Message

#: At most one UPDATE per attempt in this time, in seconds.
PROGRESS_SECONDS = 1.0

log = structlog.get_logger("service.workers")


class Attempt:
    """Shared by the thread that watches the child and the thread that talks to the database.

    Parameters
    ----------
    job : Job
        As it stood when the attempt began.

    Attributes
    ----------
    checkpoints : deque of str
        Artifacts that the child has stored and no row names yet, oldest first.
    has_checkpoints : bool
        Whether this attempt or an earlier one has left any.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.checkpoints = deque[str]()
        self.has_checkpoints = False
        self._lost = threading.Event()
        self._progress: Progress | None = None
        self._written_at = 0.0

    def receive(self, message: Message) -> None:
        """Keep checkpoints and the newest progress; whatever is neither is of no use."""
        match message:
            case {"checkpoint": str(name)}:
                self.has_checkpoints = True
                self.checkpoints.append(name)
            case {"known": [*fits]}:
                self.has_checkpoints = True
                log.info("going on from checkpoints", job_id=self.job.id, attempt=self.job.attempt, fits=fits)
            case _:
                with suppress(ValidationError):
                    self._progress = Progress.model_validate(message)

    def take_progress(self) -> Progress | None:
        """Return progress that is to be written now, once."""
        now = time.monotonic()
        if self._progress is None or now < self._written_at + PROGRESS_SECONDS:
            return None
        taken, self._progress, self._written_at = self._progress, None, now
        return taken

    def compare(self, stand: tuple[int, JobStatus] | None) -> None:
        """Notice a cancel, a newer attempt, or that the job is gone."""
        if stand != (self.job.attempt, JobStatus.RUNNING):
            self._lost.set()

    @property
    def is_lost(self) -> bool:
        """Whether it may no longer write, so that going on is of no use."""
        return self._lost.is_set()
