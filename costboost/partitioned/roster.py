"""Which rows are where."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.partitioned.crew import Crew

__all__ = ["Roster"]


@dataclass(frozen=True)
class Roster:
    """The crew, and how many rows each partition has."""

    crew: Crew
    sizes: tuple[int, ...]

    def ask(self, method: str, *args: Any, rows: Sequence[NDArray[Any]] = ()) -> list[Any]:
        """Call a method of every partition; of `rows`, each gets the values of its own, after `args`."""
        if not rows:
            return self.crew.ask(method, *args)
        ends = np.cumsum(self.sizes)[:-1]
        parts = [np.split(values, ends) for values in rows]
        return self.crew.ask(method, *args, own=list(zip(*parts, strict=True)))

    def sums(self, method: str, *args: Any, rows: Sequence[NDArray[Any]] = ()) -> Any:
        """Call a method of every partition and add the answers up, integers or arrays of them."""
        return sum(self.ask(method, *args, rows=rows))
