"""CPU seconds of several works, run in turn in one process."""

import gc
import time
from collections.abc import Callable, Mapping

Work = Callable[[], object]
Clock = Callable[[], float]


def interleaved(
    works: Mapping[str, Work], repeats: int, clock: Clock = time.process_time
) -> dict[str, list[float]]:
    """Run every work `repeats` times, in turn, each turn beginning with another one.

    Neighbours on the machine then slow all of them alike.

    Parameters
    ----------
    works : mapping of name to callable
        Warm: nothing is run before it counts.
    repeats : int
    clock : callable
        CPU seconds of this process, of all its threads.

    Returns
    -------
    dict of name to list of float
        Seconds, one for each turn.
    """
    seconds: dict[str, list[float]] = {name: [] for name in works}
    names = list(works)
    for turn in range(repeats):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            gc.collect()
            began = clock()
            works[name]()
            seconds[name].append(clock() - began)
    return seconds


def calls_filling(work: Work, seconds: float, clock: Clock = time.process_time) -> int:
    """Find out how many calls in a row take at least so long; a power of two.

    The first call does not count: it may compile.
    """
    work()
    calls = 1
    while True:
        began = clock()
        for _ in range(calls):
            work()
        if clock() - began >= seconds:
            return calls
        calls *= 2


def per_call(
    works: Mapping[str, Work], repeats: int, seconds: float = 0.02, clock: Clock = time.process_time
) -> dict[str, list[float]]:
    """Seconds of one call: as `interleaved`, but each sample is the mean of as many calls as fill `seconds`.

    Finding out how many warms every work up.
    """
    calls = {name: calls_filling(work, seconds, clock) for name, work in works.items()}
    many = {name: _repeated(work, calls[name]) for name, work in works.items()}
    samples = interleaved(many, repeats, clock)
    return {name: [value / calls[name] for value in values] for name, values in samples.items()}


def _repeated(work: Work, calls: int) -> Work:
    def run() -> None:
        for _ in range(calls):
            work()

    return run
