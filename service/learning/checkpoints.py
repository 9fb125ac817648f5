"""What a training has finished, as artifacts: an attempt that dies leaves it to the next one."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

#: Scores of a fit that is over, or notes of rounds of one that is not.
Done = NDArray[Any]

#: Their versions decide what comes out of a fit.
LIBRARIES: Final = ("costboost", "numpy", "scikit-learn", "joblib", "numba", "safetensors")

_KEY: Final = "costboost.checkpoint"
#: So many artifacts are written as often as is asked for.
_PIECES: Final = 100
#: An attempt keeps no more than that: the next one reads all of it.
MOST_BYTES: Final = 256 << 20


class Checkpoints:
    """
    What is done of one job; see `costboost.checkpoints.Checkpoints`.

    Parameters
    ----------
    stamp : str
        From `stamp_of`; what has another stamp is not looked at.
    earlier : iterable of bytes
        Artifacts that earlier attempts have left.
    write : callable
        Called with an artifact of all that was finished since the last one.
    seconds : float
        At least so long lies between two of them, and before the first; longer after a hundred, lest days of
        rounds are left in too many pieces.
    clock : callable
        Seconds that only ever grow.
    """

    def __init__(
        self,
        stamp: str,
        earlier: Iterable[bytes],
        write: Callable[[bytes], object],
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stamp, self._write, self._seconds, self._clock = stamp, write, seconds, clock
        self._known = {name: done for data in earlier for name, done in _load(data, stamp).items()}
        self._room = MOST_BYTES - sum(done.nbytes for done in self._known.values())
        self._pending: dict[str, Done] = {}
        self._written_at, self._pieces = clock(), 0
        self._lock = threading.Lock()  # fits in threads keep theirs at the same time

    @property
    def known(self) -> list[str]:
        """Names of what was found and not asked for yet."""
        return sorted(self._known)

    @property
    def fits(self) -> list[str]:
        """Names of the fits of which something was found, be they over or not."""
        from costboost.checkpoints import ROUNDS  # noqa: PLC0415 - only where something is trained

        return sorted({name.partition(ROUNDS)[0] for name in self._known})

    @property
    def is_due(self) -> bool:
        """Whether what is kept now is written at once."""
        return self._clock() - self._written_at >= self._seconds * max(1.0, self._pieces / _PIECES)

    def find(self, name: str) -> Done | None:
        """What is done, once: it need not be held here too when the training holds it."""
        return self._known.pop(name, None)

    def keep(self, name: str, done: Done) -> None:
        """Take what is done, and write it with other such when it is time."""
        with self._lock:
            self._room -= done.nbytes
            if self._room < 0:
                return
            self._pending[name] = np.ascontiguousarray(done)
            if self.is_due:
                self._write(safetensors.numpy.save(self._pending, {_KEY: self._stamp}))
                self._pending, self._written_at, self._pieces = {}, self._clock(), self._pieces + 1


def stamp_of(job_id: str, order: dict[str, Any]) -> str:
    """Name what comes out depends on: the job, its data, spec and costs, and the versions of libraries."""
    told = {"job": job_id, "order": order, "versions": {name: version(name) for name in LIBRARIES}}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _load(data: bytes, stamp: str) -> dict[str, Done]:
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    if header.get("__metadata__", {}).get(_KEY) != stamp:
        return {}
    found: dict[str, Done] = safetensors.numpy.load(data)
    return found
