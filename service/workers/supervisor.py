"""Keeps the slots of a worker filled: each job that the queue brings runs in a guarded child."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import structlog
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session, sessionmaker

from service.domain.batch_predictions import BatchPrediction
from service.domain.errors import (
    MAX_LISTED_ERRORS,
    ConflictError,
    FieldError,
    InvalidError,
    MalformedError,
    UnavailableError,
)
from service.domain.intake_jobs import IntakeJob
from service.domain.training import FailureCode, Job, JobError, TrainingJob
from service.processes.guard import Ending, Guard, Outcome
from service.usecases import attempts, checkpoints
from service.wiring import Wiring, choose_compute
from service.workers.attempt import Attempt
from service.workers.slots import Slots

Value = TypeVar("Value")

#: Fits are native code that fills every core they get; answering requests comes first.
NICENESS = 10
#: What a child calls for other jobs than trainings.
TARGETS: dict[type[Job], str] = {
    BatchPrediction: "service.workers.child:predict",
    IntakeJob: "service.workers.child:take_in",
}
_OUTAGES = ("storage_unavailable", "compute_unavailable")
#: Longest pause between two tries to reach the database, in seconds.
LONGEST_PAUSE = 5.0
#: Between two attempts of a job that found no storage or no cluster, in seconds.
OUTAGE_PAUSE = 1.0

log = structlog.get_logger("service.workers")


@dataclass(frozen=True)
class Handling:
    """How a worker treats its jobs.

    Attributes
    ----------
    target : str
        "module:function" that trains, in a child.
    seconds, memory_mb : float, int
        Limits of a job that names none.
    max_deaths : int
        Deaths of processes after which a job fails.
    """

    target: str
    seconds: float
    memory_mb: int
    max_deaths: int


class Supervisor:
    """Runs attempts; many threads are in it at once, one for each job under way."""

    def __init__(self, wiring: Wiring, executor_id: str, handling: Handling) -> None:
        self._wiring = wiring
        self._executor_id = executor_id
        self._handling = handling
        self._running: dict[str, Attempt] = {}
        self._slots = Slots()
        self._stopping = threading.Event()
        self._hurry = threading.Event()

    @property
    def running(self) -> list[Attempt]:
        """The attempts under way."""
        return list(self._running.values())

    def handle(self, job_id: str) -> None:
        """Bring a job to its end, or give it back. Never raises."""
        if job_id in self._running:
            # A second entry of a job that is in good hands.
            return
        while not self._stopping.is_set():
            if self._is_over_after_an_attempt(job_id):
                return
        # Returning would tell the queue that the job is over. It is not: the process ends first.
        threading.Event().wait()

    def stop(self, seconds: float) -> None:
        """Begin nothing new, wait so long for what is under way, then kill it and hand it back."""
        self._stopping.set()
        end = time.monotonic() + seconds
        while self._running and time.monotonic() < end and not self._hurry.is_set():
            time.sleep(0.05)
        self._hurry.set()
        while self._running:
            time.sleep(0.05)

    def hurry(self) -> None:
        """Do not wait any longer for what is under way."""
        self._hurry.set()

    def _is_over_after_an_attempt(self, job_id: str) -> bool:
        sessions, most = self._wiring.sessions, self._handling.max_deaths
        last = self._surely(lambda: attempts.is_last_chance(self._wiring.readers, job_id, most))
        with self._slots.taken(alone=last, give_up=self._stopping.is_set) as held:
            if not held:
                return False
            job = self._surely(lambda: attempts.begin(sessions, job_id, self._executor_id, most))
            return job is None or self._attempt(job)

    def _attempt(self, job: Job) -> bool:
        """Run one attempt; False when the job needs another."""
        attempt = self._running[job.id] = Attempt(job)
        bound = log.bind(job_id=job.id, attempt=job.attempt, request_id=job.request_id)
        bound.info("attempt begins")
        try:
            outcome = self._outcome(attempt)
            bound.info("child ended", ending=outcome.ending, kind=outcome.detail, frames=outcome.frames)
            is_over = self._surely(lambda: self._conclude(attempt, outcome))
            if is_over and attempt.has_checkpoints:
                self._surely(lambda: checkpoints.clear(self._wiring.sessions, self._wiring.store, job.id))
        except Exception as error:
            bound.error("attempt failed unexpectedly", error=type(error).__name__, exc_info=True)
            self._surely(lambda: self._fail(job, "internal", "the attempt failed unexpectedly"))
            return True
        else:
            return is_over
        finally:
            del self._running[job.id]

    def _outcome(self, attempt: Attempt) -> Outcome:
        job = attempt.job
        try:
            order = self._surely(lambda: attempts.order(self._wiring.readers, job))
            left = self._surely(lambda: checkpoints.left(self._wiring.readers, job))
        except InvalidError as error:
            return Outcome(Ending.RAISED, error=error)
        limits, settings = job.limits, self._wiring.settings
        guard = Guard(
            seconds=limits.seconds or self._handling.seconds,
            memory_bytes=(limits.memory_mb or self._handling.memory_mb) << 20,
            nice=NICENESS,
        )
        return self._wiring.nursery.run_guarded(
            TARGETS.get(type(job), self._handling.target),
            {
                "store_url": settings.store_url,
                "compute": asdict(choose_compute(settings)),
                "order": order,
                "checkpoints": {"job_id": job.id, "names": left, "seconds": settings.checkpoint_seconds},
            },
            guard,
            attempt.receive,
            lambda: attempt.is_lost or self._hurry.is_set(),
        )

    def _conclude(self, attempt: Attempt, outcome: Outcome) -> bool:
        job, sessions = attempt.job, self._wiring.sessions
        if outcome.ending is Ending.DIED:
            return False
        if _is_outage(outcome):
            self._stopping.wait(OUTAGE_PAUSE)
            return not attempts.hand_back(sessions, job) and self._settle(job)
        if outcome.ending is Ending.CANCELLED:
            # Lost to a cancel or to a newer attempt; otherwise this worker stops.
            handed_back = not attempt.is_lost and attempts.hand_back(sessions, job)
            return not handed_back and self._settle(job)
        if outcome.ending is Ending.FINISHED:
            return _delivered(sessions, job, outcome.value) or self._settle(job)
        return self._fail(job, *failure_of(outcome))

    def _fail(
        self, job: Job, code: FailureCode, detail: str, errors: Sequence[FieldError] = (), total: int = 0
    ) -> bool:
        listed = [_plain(error) for error in errors[:MAX_LISTED_ERRORS]]
        error = JobError(code=code, detail=detail, errors=listed, errors_total=total)
        return attempts.fail(self._wiring.sessions, job, error) or self._settle(job)

    def _settle(self, job: Job) -> bool:
        attempts.settle(self._wiring.sessions, job)
        return True

    def _surely(self, step: Callable[[], Value]) -> Value:
        """Do a step, and again while the database is away; each is one transaction, safe to repeat."""
        pause = 0.1
        while True:
            try:
                return step()
            except (OperationalError, InterfaceError, PoolTimeoutError) as error:
                log.warning("database unavailable; trying again", error=type(error).__name__)
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)


def _delivered(sessions: sessionmaker[Session], job: Job, value: dict[str, Any]) -> bool:
    """Write what a child has left; False when the attempt may no longer write."""
    if isinstance(job, BatchPrediction):
        return attempts.deliver(sessions, job, **value)
    if isinstance(job, IntakeJob):
        return attempts.take_in(sessions, job, **value)
    assert isinstance(job, TrainingJob)
    return attempts.succeed(sessions, job, attempts.NewVersion(**value))


def _plain(error: FieldError) -> dict[str, Any]:
    return {name: value for name, value in asdict(error).items() if value is not None}


def _is_outage(outcome: Outcome) -> bool:
    """Whether the attempt ended for want of the store or the cluster: the job waits for its return."""
    error = outcome.error
    return isinstance(error, UnavailableError) and error.code in _OUTAGES


def failure_of(
    outcome: Outcome,
) -> tuple[FailureCode, str] | tuple[FailureCode, str, Sequence[FieldError], int]:
    """Say in the words of the contract why an attempt failed, and where the faults are if they were found."""
    if outcome.ending is Ending.TIME_LIMIT:
        return "time_limit", "the attempt took longer than its time limit"
    if outcome.ending is Ending.MEMORY_LIMIT:
        return "memory_limit", "the attempt needed more memory than its limit"
    if isinstance(outcome.error, UnavailableError) and outcome.error.code == "storage_full":
        return "storage_full", outcome.error.detail
    if isinstance(outcome.error, InvalidError | MalformedError):
        return "invalid_data", outcome.error.detail, outcome.error.errors, outcome.error.errors_total
    if isinstance(outcome.error, ConflictError):  # bytes that are lost or damaged
        return "invalid_data", outcome.error.detail
    return "internal", f"the attempt ended with {outcome.detail}"
