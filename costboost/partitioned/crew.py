"""Who is asked: all partitions at once, wherever they are."""

from collections.abc import Sequence
from typing import Any, Protocol

from costboost.partitioned.partition import Partition

__all__ = ["Crew", "Here"]


class Crew(Protocol):
    """The partitions of a training set, in an order that stays."""

    def ask(self, method: str, *args: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of every partition, all at the same time, and wait for the answers.

        Parameters
        ----------
        method : str
            Of `Partition`.
        *args
            For all partitions.
        own : sequence of tuples, optional
            Further arguments, for each partition its own.
        """
        ...


class Here:
    """Partitions in this process, asked one after the other.

    Parameters
    ----------
    partitions : sequence of Partition
    """

    def __init__(self, partitions: Sequence[Partition]) -> None:
        self.partitions = list(partitions)

    def ask(self, method: str, *args: Any, own: Sequence[tuple[Any, ...]] | None = None) -> list[Any]:
        """Call a method of every partition."""
        each = own or [()] * len(self.partitions)
        return [
            getattr(one, method)(*args, *further) for one, further in zip(self.partitions, each, strict=True)
        ]
