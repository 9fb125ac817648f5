"""Partitions in this process, one for each of its threads: kernels let go of the interpreter meanwhile."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting._rounds import Callback
from costboost.partitioned.fitting import fit_partitioned
from costboost.partitioned.partition import Partition, Rows

__all__ = ["OnThreads", "fit_on_threads"]

Booster = TypeVar("Booster", bound=CostSensitiveBooster)


class OnThreads:
    """Partitions that are asked at once, each by a thread of its own.

    Parameters
    ----------
    partitions : sequence of Partition
    pool : ThreadPoolExecutor
        With as many threads.
    """

    def __init__(self, partitions: Sequence[Partition], pool: ThreadPoolExecutor) -> None:
        self.partitions, self.pool = list(partitions), pool

    def ask(self, method: str, *args: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of every partition."""
        asked = [partial(getattr(one, method), *args) for one in self.partitions]
        each = own or [()] * len(asked)
        return list(self.pool.map(lambda ask, further: ask(*further), asked, each))


def fit_on_threads(
    booster: Booster, rows: Rows, n_threads: int = 2, callback: Callback | None = None
) -> Booster:
    """Fit a booster with several threads; what it learns is the same to the bit as from `fit`.

    It pays for some hundred rounds over millions of rows: each round waits for all threads.

    Parameters
    ----------
    booster : CostSensitiveBooster
        As in `fit_partitioned`.
    rows : Rows
    n_threads : int, >= 1
    callback : callable, optional
        As in `fit`.

    Raises
    ------
    ValueError
        For what `fit_partitioned` refuses.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost import AdaBoostClassifier
    >>> X = np.arange(8.0)[:, None]
    >>> fit_on_threads(AdaBoostClassifier(n_estimators=3), Rows(X, X[:, 0] > 4)).predict([[9.0]])
    array([ True])
    """
    given = {name: values for name, values in vars(rows).items() if values is not None}
    arrays = {name: np.asarray(values) for name, values in given.items()}
    edges = np.linspace(0, len(arrays["y"]), n_threads + 1).astype(int)
    parts = [{name: values[a:b] for name, values in arrays.items()} for a, b in pairwise(edges)]
    with ThreadPoolExecutor(n_threads, "costboost-rows") as pool:
        partitions = [Partition([partial(Rows, **part)]) for part in parts]
        return fit_partitioned(booster, OnThreads(partitions, pool), callback)
