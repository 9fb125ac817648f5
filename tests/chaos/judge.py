"""The judge of a chaos run: reads the event log, and nothing else, and says what was not as promised.

`python -m tests.chaos.judge FILE` judges a log once more.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.chaos.ledger import Event, read_log

FINAL = frozenset({"succeeded", "failed", "cancelled"})


def judge(events: Sequence[Event]) -> list[str]:
    """Say what was broken, in words; an empty list when all was kept."""
    kinds: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        kinds[event["event"]].append(event)
    return [
        *_answers(kinds["asked"], kinds["accepted"], kinds["refused"]),
        *_ends(kinds["asked"], kinds["accepted"], kinds["job"]),
        *_commits(kinds["job"], kinds["version"]),
        *_steps(kinds["step"], kinds["job"]),
        *(f"left behind: {event['what']}" for event in kinds["left"]),
    ]


def _answers(asked: list[Event], accepted: list[Event], refused: list[Event]) -> Iterator[str]:
    """Each request is accepted in the end, and as one job however often it is sent."""
    ids: dict[str, set[str]] = defaultdict(set)
    for event in accepted:
        ids[event["key"]].add(event["job"])
    for event in asked:
        if len(ids[event["key"]]) != 1:
            yield f"request {event['key']} became jobs {sorted(ids[event['key']])}"
    for event in refused:
        yield f"request {event['key']} was answered {event['status']}: {event['body']}"


def _ends(asked: list[Event], accepted: list[Event], jobs: list[Event]) -> Iterator[str]:
    """Each accepted job is there and has the end that was to be expected; there are no others."""
    expected = {event["key"]: event["ends"] for event in asked}
    found = {event["job"]: event for event in jobs}
    known = {event["job"]: expected[event["key"]] for event in accepted}
    for job, end in known.items():
        if job not in found:
            yield f"{job} was accepted and is lost"
        elif found[job]["status"] not in FINAL:
            yield f"{job} has no end: it is {found[job]['status']}, attempt {found[job]['attempt']}"
        elif found[job]["status"] != end:
            was = found[job]
            yield f"{job} is {was['status']} after {was['deaths']} deaths, not {end}: {was['error']}"
    for job in found.keys() - known.keys():
        yield f"{job} is there and was never answered"


def _commits(jobs: list[Event], versions: list[Event]) -> Iterator[str]:
    """A job that succeeded has one version, another none."""
    count: dict[str, int] = defaultdict(int)
    for event in versions:
        count[event["job"]] += 1
    for event in jobs:
        right = int(event["status"] == "succeeded")
        if count[event["job"]] != right:
            yield f"{event['job']} is {event['status']} and has {count[event['job']]} versions"


def _steps(steps: list[Event], jobs: list[Event]) -> Iterator[str]:
    """Each step begins where the last one ended; attempts count up; after an end there is nothing more."""
    stands: dict[str, tuple[str | None, int | None]] = defaultdict(lambda: (None, None))
    for step in sorted(steps, key=lambda one: one["seq"]):
        job, after = step["job"], (step["status"], step["attempt"])
        before = (step["old_status"], step["old_attempt"])
        if before != stands[job]:
            yield f"{job} went from {before} to {after}, but stood at {stands[job]}"
        if before[0] in FINAL:
            yield f"{job} went on to {after} after its end {before}"
        if before[1] is not None and after[1] - before[1] not in _counts(before[0], after[0]):
            yield f"{job} went from {before} to {after}: the attempts do not add up"
        stands[job] = after
    for event in jobs:
        if stands[event["job"]] != (event["status"], event["attempt"]):
            yield f"{event['job']} stands elsewhere than its last step: {stands[event['job']]}"


def _counts(before: str, after: str) -> tuple[int, ...]:
    """By how much a step may raise the number of the attempt."""
    if after != "running":
        return (0,)
    # From running to running it is a note of progress, or an attempt after a death.
    return (1,) if before == "queued" else (0, 1)


def main(path: str) -> int:
    """Judge a file; 0 when all was kept."""
    faults = judge(read_log(Path(path)))
    print(*faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
