"""A kind of error in words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """A kind of error as its page shows it."""

    title: str
    meaning: str
    remedy: str
