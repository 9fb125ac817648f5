"""The judge sees each way in which a promise can be broken; one that finds nothing would be worth nothing."""

from typing import Any

import pytest

from tests.chaos.judge import judge
from tests.chaos.ledger import Event


def step(seq: int, before: tuple[Any, Any], after: tuple[str, int], job: str = "j1") -> Event:
    old, new = (
        dict(zip(("old_status", "old_attempt"), before, strict=True)),
        dict(zip(("status", "attempt"), after, strict=True)),
    )
    return {"event": "step", "seq": seq, "job": job, **old, **new}


def kept() -> list[Event]:
    """A job whose first worker dies."""
    return [
        {"event": "asked", "key": "k1", "ends": "succeeded"},
        {"event": "accepted", "key": "k1", "job": "j1"},
        {"event": "job", "job": "j1", "status": "succeeded", "attempt": 2, "deaths": 1, "error": "None"},
        {"event": "version", "job": "j1", "artifacts": []},
        step(1, (None, None), ("queued", 0)),
        step(2, ("queued", 0), ("running", 1)),
        step(3, ("running", 1), ("running", 1)),
        step(4, ("running", 1), ("running", 2)),
        step(5, ("running", 2), ("succeeded", 2)),
    ]


def without(event: str) -> list[Event]:
    return [one for one in kept() if one["event"] != event]


def test_what_is_kept_is_not_blamed() -> None:
    assert judge(kept()) == []


@pytest.mark.parametrize(
    ("events", "fault"),
    [
        (without("job"), "is lost"),
        (without("accepted"), "became jobs []"),
        (without("version"), "has 0 versions"),
        ([*kept(), kept()[3]], "has 2 versions"),
        ([*kept(), {"event": "accepted", "key": "k1", "job": "j2"}], "became jobs ['j1', 'j2']"),
        ([*kept(), {"event": "refused", "key": "k1", "status": 500, "body": ""}], "was answered 500"),
        ([*kept(), {**kept()[2], "job": "j2"}], "never answered"),
        ([*kept()[:2], {**kept()[2], "status": "running"}, *kept()[3:]], "has no end"),
        ([*kept()[:2], {**kept()[2], "status": "failed"}, *kept()[3:]], "not succeeded"),
        ([*kept(), step(6, ("succeeded", 2), ("running", 3))], "after its end"),
        ([*kept()[:-1], step(5, ("running", 2), ("succeeded", 1))], "do not add up"),
        ([*kept()[:-1], step(5, ("running", 1), ("succeeded", 1))], "but stood at"),
        ([*kept(), {"event": "left", "what": "a process"}], "left behind: a process"),
    ],
)
def test_what_is_broken_is_said(events: list[Event], fault: str) -> None:
    assert any(fault in said for said in judge(events)), judge(events)
