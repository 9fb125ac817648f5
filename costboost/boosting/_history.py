"""What happened in each round, for those who asked to record it."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["History"]


class History(Sequence[dict[str, Any]]):
    """The rounds of a fit, by number or by name.

    Examples
    --------
    >>> history = History([{"alpha": 0.7, "eps": 0.2}, {"alpha": 0.4, "eps": 0.3}])
    >>> history[1]["eps"], history["alpha"].tolist()
    (0.3, [0.7, 0.4])
    """

    def __init__(self, rounds: Sequence[dict[str, Any]] = ()) -> None:
        self.rounds = list(rounds)

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> "History": ...
    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...
    def __getitem__(self, key: int | slice | str) -> Any:
        """Return one round, some rounds, or one quantity over all rounds."""
        if isinstance(key, str):
            return np.array([values[key] for values in self.rounds])
        return History(self.rounds[key]) if isinstance(key, slice) else self.rounds[key]

    def __len__(self) -> int:
        return len(self.rounds)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rounds)

    def __repr__(self) -> str:
        names = ", ".join(self.rounds[0]) if self.rounds else ""
        return f"<{len(self)} rounds: {names}>"
