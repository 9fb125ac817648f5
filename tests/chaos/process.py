"""A process of the service as chaos has it: the real one, only less patient.

`python -m tests.chaos.process api`, or `worker fit`, or `worker pass`, whose jobs only pass through.
"""

import sys
from datetime import timedelta

from service.main import serve
from service.settings import load_settings
from service.usecases import idempotency
from service.worker import PRELOAD, TARGET, run
from service.workers import clerk

#: By what a worker of a kind does its jobs, and what its children find done.
KINDS = {"fit": (TARGET, PRELOAD), "pass": ("tests.chaos.target:pass_through", ["tests.chaos.target"])}


def main(role: str, kind: str = "fit") -> None:
    """Run one process."""
    # What a killed process had in hand is asked for again, sooner than a user would.
    idempotency.LEASE, idempotency.BEAT_SECONDS = timedelta(seconds=3), 0.8
    # How soon it is seen that the queue has lost a job.
    clerk.RECONCILE_SECONDS = 2.0
    if role == "api":
        serve(load_settings(), with_worker=False)
    else:
        target, preload = KINDS[kind]
        run(load_settings(), target=target, preload=preload)


if __name__ == "__main__":
    main(*sys.argv[1:])
