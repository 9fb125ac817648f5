"""Training on rows that lie in several places, none of which holds them all.

A partition keeps its rows, binned and weighed, and answers with sums of integers. Sums of integers are the
same however rows are parted, so the outcome is that of `fit` on all rows in one place, to the bit.
"""

from costboost.partitioned.calibrating import calibrated
from costboost.partitioned.crew import Crew, Here
from costboost.partitioned.fitting import fit_partitioned
from costboost.partitioned.on_dask import OnDask, WorkerLostError, fit_on_dask
from costboost.partitioned.on_threads import OnThreads, fit_on_threads
from costboost.partitioned.partition import Partition, Rows, Source

__all__ = [
    "Crew",
    "Here",
    "OnDask",
    "OnThreads",
    "Partition",
    "Rows",
    "Source",
    "WorkerLostError",
    "calibrated",
    "fit_on_dask",
    "fit_on_threads",
    "fit_partitioned",
]
