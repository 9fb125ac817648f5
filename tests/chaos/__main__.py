"""`make chaos`: many jobs on each database while everything is killed, paused, crashed and emptied.

The seed is printed, and each run leaves its events in a file that `python -m tests.chaos.judge` judges again.
"""

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.chaos.databases import database
from tests.chaos.ledger import read_log
from tests.chaos.run import FAULTS, FAULTS_OF_FITS, Plan, run


def main() -> int:
    """Run all plans; 0 when the judge found no fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000, help="jobs that only pass through, per database")
    parser.add_argument("--fits", type=int, default=2_000, help="jobs that train, per database")
    parser.add_argument("--poison", type=int, default=3, help="jobs that kill their workers, per database")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    parser.add_argument("--folder", type=Path, help="where logs are kept")
    parser.add_argument("--calm", type=float, default=1.0, help="factor of the pauses between faults")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="costboost-chaos-"))
    print(f"seed {given.seed}, logs in {folder}", flush=True)
    # However this ends, the processes that were started end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    faults = 0
    for kind in given.database or ["sqlite", "postgresql"]:
        for plan in (
            Plan(given.seed, given.jobs, "pass", poison=given.poison, faults=_calmer(FAULTS, given.calm)),
            Plan(given.seed, given.fits, "fit", per_second=5.0, faults=_calmer(FAULTS_OF_FITS, given.calm)),
        ):
            if plan.jobs:
                faults += _report(plan, kind, folder / f"{kind}-{plan.kind}")
    return int(bool(faults))


def _calmer(faults: Mapping[str, tuple[float, float]], factor: float) -> dict[str, tuple[float, float]]:
    return {name: (factor * least, factor * most) for name, (least, most) in faults.items()}


def _report(plan: Plan, kind: str, folder: Path) -> int:
    began = time.monotonic()
    folder.mkdir(parents=True)
    with database(kind, folder) as (url, server):
        verdict = run(plan, url, folder, server)
    seen = Counter(event["event"] for event in read_log(folder / "events.jsonl"))
    told = ", ".join(
        f"{seen[name]} {name}" for name in ("accepted", "killed", "paused", "crashed", "emptied")
    )
    print(f"{kind}, {plan.kind}: {told}; {time.monotonic() - began:.0f} s; {len(verdict)} faults", flush=True)
    print(*verdict[:50], sep="\n", flush=True)
    return len(verdict)


if __name__ == "__main__":
    sys.exit(main())
