"""What parameters are drawn from, and the draws: the same for the same seed, on every machine."""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

__all__ = ["Choices", "Interval", "draw_params"]

Params: TypeAlias = Mapping[str, Any]

#: Draws that may bring nothing new before a space counts as used up.
_VAIN: Final = 200


@dataclass(frozen=True)
class Interval:
    """Numbers between two bounds, of six digits.

    Parameters
    ----------
    low, high : float
        ``low <= high``; with `log` above 0.
    log : bool, default False
        Whether each factor is as likely as any other, rather than each difference.
    whole : bool, default False
        Whether whole numbers are drawn, both bounds included.

    Examples
    --------
    >>> Interval(1, 4, whole=True).at(0.99), Interval(0.01, 1.0, log=True).at(0.5)
    (4, 0.1)
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ValueError("an interval needs finite bounds, low <= high")
        if self.log and self.low <= 0:
            raise ValueError("an interval of factors lies above 0")

    def at(self, share: float) -> float:
        """The number below which this share of the draws lies; `share` in [0, 1)."""
        low, high = (self.low - 0.5, self.high + 0.5) if self.whole else (self.low, self.high)
        if self.log:
            value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            value = low + share * (high - low)
        return min(max(round(value) if self.whole else float(f"{value:.6g}"), self.low), self.high)


@dataclass(frozen=True)
class Choices:
    """One of a few values, each as likely as the others.

    Examples
    --------
    >>> Choices(("stump", "tree")).at(0.5)
    'tree'
    """

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("there must be a value to choose")

    def at(self, share: float) -> Any:
        """The value at this share of the list; `share` in [0, 1)."""
        return self.values[int(share * len(self.values))]


def draw_params(
    space: Mapping[str, Interval | Choices],
    trials: int,
    seed: int,
    allowed: Callable[[Params], bool] | None = None,
) -> list[dict[str, Any]]:
    """Draw parameters; none twice, so that a small space may give fewer than were asked for.

    Parameters
    ----------
    space : mapping of name to Interval or Choices
    trials : int
    seed : int
        The same seed gives the same draws on every machine.
    allowed : callable, optional
        Tells whether values go together.

    Examples
    --------
    >>> draw_params({"n_estimators": Choices((50, 100))}, 10, seed=0)
    [{'n_estimators': 100}, {'n_estimators': 50}]
    """
    rng = random.Random(seed)  # noqa: S311 - no secret, and the same draws in every release
    drawn, known = list[dict[str, Any]](), set[str]()
    vain = 0
    while len(drawn) < trials and vain < _VAIN:
        # By name, so that the order in which a space is written changes nothing.
        params = {name: space[name].at(rng.random()) for name in sorted(space)}
        key = repr(params)
        if key in known or not (allowed is None or allowed(params)):
            vain += 1
            continue
        known.add(key)
        drawn.append(params)
        vain = 0
    return drawn
