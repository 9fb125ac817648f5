"""What of a training is over, kept for one that has to begin again."""

from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.learners.tape import Tape

#: Between the name of a fit and how many rounds came before those that are kept under the name.
ROUNDS: Final = ", rounds from "


class Checkpoints(Protocol):
    """Where what is done is kept, for a training that has to begin again.

    That is the out-of-fold scores of a fit that is over, named by its place in the training, and notes of the
    rounds of one that is not. Whoever keeps them gives them back only to a training of the same data,
    parameters and versions of libraries; then nothing comes out differently. Fits in threads keep theirs at
    the same time.
    """

    @property
    def is_due(self) -> bool:
        """Whether it is time to keep what is not over."""

    def find(self, name: str) -> NDArray[Any] | None:
        """What was kept under this name; None if it is to be done."""

    def keep(self, name: str, done: NDArray[Any]) -> None:
        """Take what is done."""


class _Nothing:
    """Keeps nothing."""

    is_due: Final = False

    def find(self, name: str) -> None:
        pass

    def keep(self, name: str, done: NDArray[Any]) -> None:
        pass


NO_CHECKPOINTS: Final[Checkpoints] = _Nothing()


def tape_of(fit: str, checkpoints: Checkpoints) -> Tape | None:
    """Rounds of a fit that were kept; those that follow are kept as they become due."""
    if checkpoints is NO_CHECKPOINTS:
        return None
    known, new = list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    while (part := checkpoints.find(f"{fit}{ROUNDS}{len(known)}")) is not None:
        starts = np.cumsum(part[1 : part[0]])
        known += np.split(part[part[0] :], starts)
    kept = len(known)

    def on_found(note: NDArray[np.int64]) -> None:
        nonlocal kept
        new.append(note)
        if checkpoints.is_due:
            # How many numbers lie before the notes, how long all but the last are, and the notes.
            lengths = [len(new), *(len(one) for one in new[:-1])]
            checkpoints.keep(f"{fit}{ROUNDS}{kept}", np.concatenate([lengths, *new]))
            kept += len(new)
            new.clear()

    return Tape(known, on_found)
