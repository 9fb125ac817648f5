"""Partitions on the workers of a Dask cluster: one actor on each."""

import copy
import pickle
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from types import TracebackType
from typing import Any, Self

from costboost.boosting._rounds import Callback
from costboost.partitioned.fitting import Booster, fit_partitioned
from costboost.partitioned.partition import Partition, Source

__all__ = ["OnDask", "WorkerLostError", "fit_on_dask"]

#: How often workers are looked after while one is waited for, and how long one that does not answer may
#: still be listed, in seconds.
_LOOK_SECONDS, _LISTED_SECONDS = 2.0, 10.0
#: How long the first worker is waited for, in seconds.
_FIRST_SECONDS = 60.0


class WorkerLostError(RuntimeError):
    """A worker is gone, and the rows it held with it."""


class OnDask:
    """Partitions that are actors on the workers of a cluster; see `Crew`.

    Parameters
    ----------
    client : distributed.Client
    sources : sequence of callables
        Each returns a `Rows`. They are sent to workers, which read: this process holds no row. Workers take
        turns, in the order of their addresses.

    Raises
    ------
    WorkerLostError
        From every method, if a worker dies; then there is nothing left but to begin anew.
    """

    def __init__(self, client: Any, sources: Sequence[Source]) -> None:
        self._client = client
        client.wait_for_workers(1, timeout=_FIRST_SECONDS)
        self._workers = sorted(client.nthreads())[: len(sources)]
        shares = [sources[first :: len(self._workers)] for first in range(len(self._workers))]
        # Held: an actor ends with the last reference to it.
        self._futures = [
            client.submit(_Seat, share, workers=[worker], actor=True, pure=False, allow_other_workers=False)
            for worker, share in zip(self._workers, shares, strict=True)
        ]
        self._seats = [self._waited_for(*pair) for pair in zip(self._futures, self._workers, strict=True)]

    def ask(self, method: str, *args: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of every partition, all at the same time, and wait for the answers."""
        shared, each = _packed(args), own or [()] * len(self._seats)
        try:
            with (
                self._client.as_current()
            ):  # else an actor looks for the default client, which may be another
                asked = [
                    seat.ask(method, shared, _packed(further))
                    for seat, further in zip(self._seats, each, strict=True)
                ]
        except RuntimeError as error:  # of an actor that is known to be lost; others only begin to answer
            raise WorkerLostError(str(error)) from error
        return [
            pickle.loads(self._waited_for(*pair))  # noqa: S301  what our own actors packed
            for pair in zip(asked, self._workers, strict=True)
        ]

    def close(self) -> None:
        """Let the workers forget their rows."""
        self._client.cancel(self._futures, force=True)
        self._futures, self._seats = [], []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _waited_for(self, future: Any, worker: str) -> Any:
        while True:
            try:
                return future.result(timeout=_LOOK_SECONDS)
            except TimeoutError:
                if worker not in self._client.nthreads():
                    raise WorkerLostError(worker) from None
            except (OSError, RuntimeError, CancelledError) as error:
                # What a source or a kernel raises may be of these kinds too; Dask knows it of a source.
                if getattr(future, "status", "") != "error" and self._soon_gone(worker):
                    raise WorkerLostError(worker) from error
                raise

    def _soon_gone(self, worker: str) -> bool:
        """Whether a worker is no longer listed, or soon is not: that takes the scheduler a moment."""
        end = time.monotonic() + _LISTED_SECONDS
        while worker in self._client.nthreads():
            if time.monotonic() > end:
                return False
            time.sleep(_LOOK_SECONDS / 10)
        return True


class _Seat:
    """A partition on a worker. It is asked in bytes, for arrays that Dask unpacks cannot be written to."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._partition = Partition(sources)

    def ask(self, method: str, shared: bytes, own: bytes) -> bytes:
        """Call a method of the partition."""
        args = (*pickle.loads(shared), *pickle.loads(own))  # noqa: S301  from whoever started this actor
        return _packed(getattr(self._partition, method)(*args))


def _packed(value: Any) -> bytes:
    return pickle.dumps(value, protocol=5)


def fit_on_dask(
    booster: Booster,
    sources: Sequence[Source],
    client: Any,
    callback: Callback | None = None,
    *,
    attempts: int = 4,
) -> Booster:
    """Fit a booster on a Dask cluster, to rows that its workers read; see `fit_partitioned`.

    When a worker dies, all begins anew on those that are left: what comes out is the same to the bit.

    Parameters
    ----------
    booster : CostSensitiveBooster
    sources : sequence of callables
        Each returns a `Rows`; at least as many as there are workers, or some have nothing to do.
    client : distributed.Client
    callback : callable, optional
        As in `fit`; it hears of a round again if all begins anew.
    attempts : int, default 4
        How often is begun.

    Returns
    -------
    booster

    Raises
    ------
    WorkerLostError
        If a worker died at each attempt.
    """
    for attempt in range(1, attempts + 1):
        trial = copy.deepcopy(booster)  # each begins with the same random state
        try:
            with OnDask(client, sources) as crew:
                fit_partitioned(trial, crew, callback)
        except WorkerLostError:
            if attempt == attempts:
                raise
        else:
            booster.__dict__.update(vars(trial))
            break
    return booster
