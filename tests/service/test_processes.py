"""Guarded children: they answer, refuse, and end when they must, with all that they started."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from service.domain.errors import InvalidError
from service.processes import watch
from service.processes.guard import Ending, Guard
from service.processes.nursery import Nursery
from service.worker import PRELOAD
from tests.service.conftest import PROMPT

HERE = str(Path(__file__).parent)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery(
        ["json", "child_targets", "child_targets:remember", "no.such.module"],
        {"PYTHONPATH": HERE, "COSTBOOST_PROOF": "seen"},
    ) as nursery:
        yield nursery


def wait_until(condition: Any, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def ended(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_value_and_messages(nursery: Nursery) -> None:
    seen: list[Any] = []
    outcome = nursery.run_guarded("child_targets:double", 21, Guard(), seen.append)
    assert outcome.ending is Ending.FINISHED
    assert outcome.value == {"twice": 42}
    assert seen == [{"at": 1}, {"at": 2}]
    assert nursery.groups() == []


def test_large_payload_and_value(nursery: Nursery) -> None:
    text = "x" * 3_000_000
    outcome = nursery.run_guarded("child_targets:double", text, Guard())
    assert outcome.value == {"twice": text * 2}


def test_error_of_the_domain_arrives_whole(nursery: Nursery) -> None:
    outcome = nursery.run_guarded("child_targets:refuse", None, Guard())
    assert outcome.ending is Ending.RAISED
    assert isinstance(outcome.error, InvalidError)
    assert (outcome.error.code, str(outcome.error), outcome.error.errors_total) == ("invalid", "no good", 7)
    assert outcome.error.errors[0].line == 3


@pytest.mark.parametrize(
    ("target", "kind"),
    [("crash", "KeyError"), ("not_json", "ValueError"), ("absent", "AttributeError")],
)
def test_other_errors_tell_their_kind_alone(nursery: Nursery, target: str, kind: str) -> None:
    outcome = nursery.run_guarded(f"child_targets:{target}", None, Guard())
    assert (outcome.ending, outcome.error, outcome.detail) == (Ending.RAISED, None, kind)
    assert outcome.frames
    assert "secret" not in repr(outcome)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_death(nursery: Nursery, number: int) -> None:
    assert nursery.run_guarded("child_targets:die", number, Guard()).ending is Ending.DIED


def test_death_is_seen_although_another_holds_its_socket(nursery: Nursery) -> None:
    start = time.monotonic()
    assert nursery.run_guarded("child_targets:orphan", None, Guard()).ending is Ending.DIED
    assert time.monotonic() - start < PROMPT


@pytest.mark.parametrize("target", ["double", "refuse", "answer_and_leave_one"])
def test_an_answer_written_just_before_the_end_counts(
    nursery: Nursery, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """The watcher may be paused between its last look at the socket and its look at the child."""
    is_alive = watch._alive

    def paused(pid: int) -> bool:
        wait_until(lambda: not is_alive(pid))
        return False

    monkeypatch.setattr(watch, "_alive", paused)
    monkeypatch.setattr(watch.Child, "_receive", _nothing_at_first(watch.Child._receive))
    outcome = nursery.run_guarded(f"child_targets:{target}", 21, Guard())
    assert outcome.ending is (Ending.RAISED if target == "refuse" else Ending.FINISHED)


def _nothing_at_first(receive: Any) -> Any:
    seen = list[watch.Child]()

    def later(child: watch.Child) -> bytes | None:
        if child in seen:
            return bytes(data) if (data := receive(child)) is not None else None
        seen.append(child)
        return None

    return later


def test_time_limit(nursery: Nursery) -> None:
    start = time.monotonic()
    assert nursery.run_guarded("child_targets:sleep", None, Guard(seconds=0.3)).ending is Ending.TIME_LIMIT
    assert 0.3 <= time.monotonic() - start < PROMPT


def test_memory_limit(nursery: Nursery) -> None:
    outcome = nursery.run_guarded("child_targets:swell", None, Guard(seconds=20, memory_bytes=200 << 20))
    assert outcome.ending is Ending.MEMORY_LIMIT


def test_address_cap(nursery: Nursery) -> None:
    outcome = nursery.run_guarded("child_targets:leap", 8 << 30, Guard(seconds=20, memory_bytes=100 << 20))
    assert outcome.ending is Ending.MEMORY_LIMIT
    assert outcome.detail == "MemoryError"


def test_cancel_kills_the_group(nursery: Nursery) -> None:
    pids: list[int] = []
    stop = threading.Event()

    def on_message(message: dict[str, Any]) -> None:
        pids.append(message["pid"])
        stop.set()

    start = time.monotonic()
    outcome = nursery.run_guarded("child_targets:family", None, Guard(), on_message, stop.is_set)
    assert outcome.ending is Ending.CANCELLED
    assert time.monotonic() - start < PROMPT
    wait_until(lambda: ended(pids[0]))


def test_surroundings(nursery: Nursery) -> None:
    outcome = nursery.run_guarded("child_targets:environment", "COSTBOOST_PROOF", Guard(nice=5))
    # Where sessions are scheduled in groups, niceness alone would count within the child's own session only.
    group = outcome.value.pop("autogroup")
    assert group == "" or group.endswith(f" nice {os.nice(0) + 5}\n")
    assert outcome.value == {"nice": os.nice(0) + 5, "group": True, "env": "seen"}


def test_a_killed_nursery_takes_its_children_along_and_is_replaced(nursery: Nursery) -> None:
    def kill(message: dict[str, Any]) -> None:
        os.kill(psutil.Process(message["pid"]).ppid(), signal.SIGKILL)

    assert nursery.run_guarded("child_targets:sleep", None, Guard(seconds=5), kill).ending is Ending.DIED
    assert nursery.run_guarded("child_targets:double", 1, Guard()).value == {"twice": 2}


def test_children_die_with_their_owner() -> None:
    script = (
        "from service.processes.nursery import Nursery, Guard\n"
        "with Nursery() as n:\n"
        "    n.run_guarded('child_targets:family', None, Guard(), lambda m: print(m['pid'], flush=True))\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([HERE, *filter(None, sys.path)])},
    )
    assert owner.stdout is not None
    with owner, owner.stdout:
        grandchild = int(owner.stdout.readline())
        child = psutil.Process(grandchild).ppid()
        owner.kill()
    wait_until(lambda: ended(child) and ended(grandchild))


def test_an_owner_killed_before_it_is_answered_leaves_nothing() -> None:
    owner, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours, of_child = socket.socketpair()
    with theirs, of_child:
        socket.send_fds(owner, [b"spawn"], [of_child.fileno()])
        owner.close()
        command = [sys.executable, "-m", "service.processes.server", str(theirs.fileno())]
        nursery = subprocess.Popen(command, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE)
    with ours:
        _, told = nursery.communicate(timeout=30)
        assert (nursery.returncode, told) == (0, b"")
        # The child, which would wait for its orders, has let go of its end.
        ours.settimeout(30)
        assert ours.recv(1) == b""


def test_many_at_a_time(nursery: Nursery) -> None:
    values: list[Any] = []
    threads = [
        threading.Thread(
            target=lambda n=n: values.append(nursery.run_guarded("child_targets:double", n, Guard()).value)
        )
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(value["twice"] for value in values) == list(range(0, 40, 2))


def test_children_find_what_was_prepared(nursery: Nursery) -> None:
    assert nursery.run_guarded("child_targets:recall", None, Guard()).value == "prepared"


def test_a_nursery_with_all_that_training_needs_has_one_thread() -> None:
    with Nursery(PRELOAD, {"PYTHONPATH": HERE}) as heavy:
        outcome = heavy.run_guarded("child_targets:owner", None, Guard(seconds=100))
        assert psutil.Process(outcome.value).num_threads() == 1


def test_a_child_starts_quickly(nursery: Nursery) -> None:
    nursery.run_guarded("child_targets:double", 1, Guard())
    start = time.monotonic()
    for _ in range(10):
        nursery.run_guarded("child_targets:double", 1, Guard())
    assert time.monotonic() - start < PROMPT
