"""What a training has finished, as artifacts: an attempt that dies leaves it to the next one."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

Scores = NDArray[np.float64]

#: Their versions decide what comes out of a fit.
LIBRARIES: Final = ("costboost", "numpy", "scikit-learn", "joblib", "numba", "safetensors")

_KEY: Final = "costboost.checkpoint"
#: An attempt keeps no more than that: the next one reads all of it.
MOST_BYTES: Final = 256 << 20


class Checkpoints:
    """
    Scores of the fits of one job; see `costboost.cross_fitting.Checkpoints`.

    Parameters
    ----------
    stamp : str
        From `stamp_of`; scores of another stamp are not looked at.
    earlier : iterable of bytes
        Artifacts that earlier attempts have left.
    write : callable
        Called with an artifact of all that was finished since the last one.
    seconds : float
        At least so long lies between two of them, and before the first.
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
        self._known = {name: scores for data in earlier for name, scores in _load(data, stamp).items()}
        self._room = MOST_BYTES - sum(scores.nbytes for scores in self._known.values())
        self._pending: dict[str, Scores] = {}
        self._written_at = clock()

    @property
    def known(self) -> list[str]:
        """Names of the fits that were found and not asked for yet."""
        return sorted(self._known)

    def find(self, fit: str) -> Scores | None:
        """Scores of a fit, once: they need not be held here too when the training holds them."""
        return self._known.pop(fit, None)

    def keep(self, fit: str, scores: Scores) -> None:
        """Take the scores of a fit, and write them with others when it is time."""
        self._room -= scores.nbytes
        if self._room < 0:
            return
        self._pending[fit] = np.ascontiguousarray(scores)
        if self._clock() - self._written_at >= self._seconds:
            self._write(safetensors.numpy.save(self._pending, {_KEY: self._stamp}))
            self._pending, self._written_at = {}, self._clock()


def stamp_of(job_id: str, order: dict[str, Any]) -> str:
    """Name what scores depend on: the job with its data, spec and costs, and the versions of libraries."""
    told = {"job": job_id, "order": order, "versions": {name: version(name) for name in LIBRARIES}}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _load(data: bytes, stamp: str) -> dict[str, Scores]:
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    if header.get("__metadata__", {}).get(_KEY) != stamp:
        return {}
    found: dict[str, Scores] = safetensors.numpy.load(data)
    return found
