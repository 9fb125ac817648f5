"""Rounds of single fits, told as progress of the whole training."""

import threading
from collections.abc import Callable, Mapping

from costboost.boosting._rounds import Callback

#: ``progress(phase, round, rounds, fraction, figures)``: the fraction is that of the whole fit, in [0, 1];
#: the figures are those of the round, by name.
Progress = Callable[[str, int, int, float, Mapping[str, float]], object]


def rounds_of(progress: Progress | None, phase: str, step: int, steps: int) -> Callback | None:
    """Rounds of one of several fits, as progress of the whole."""
    if progress is None:
        return None

    def report(number: int, rounds: int, figures: Mapping[str, float]) -> None:
        progress(phase, number, rounds, (step + number / rounds) / steps, figures)

    return report


class FoldProgress:
    """Folds that are fitted in turn or side by side in threads: of their rounds, those of the first are told.

    Parameters
    ----------
    progress : callable
    folds : int
        A fit on all rows follows them.
    """

    def __init__(self, progress: Progress, folds: int) -> None:
        self._progress, self._folds = progress, folds
        self._done = dict[int, float]()
        self._ended = 0
        self._lock = threading.Lock()

    def rounds_of(self, fold: int) -> Callback:
        """Callback of the fit of one fold."""

        def report(number: int, rounds: int, figures: Mapping[str, float]) -> None:
            with self._lock:
                self._done[fold] = number / rounds
                if fold == min(one for one, share in self._done.items() if share < 1.0 or one == fold):
                    self._progress("out_of_fold", number, rounds, self._share(), figures)

        return report

    def end(self, fold: int) -> None:
        """Note that a fold is through, perhaps before its last round."""
        with self._lock:
            self._done[fold] = 1.0
            self._ended += 1
            self._progress("out_of_fold", self._ended, self._folds, self._share(), {})

    def _share(self) -> float:
        return sum(self._done.values()) / (self._folds + 1)
