"""Lists, a page at a time: the key of the last line leads to the lines before it in time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from fastapi import Query

LIMIT = 50
#: Asked for: one more than is shown tells whether there are more.
FETCH = LIMIT + 1

After = Annotated[str | None, Query(max_length=200, pattern=r"^[A-Za-z0-9_.-]+$")]
Row = TypeVar("Row")


@dataclass(frozen=True)
class Part(Generic[Row]):
    """Some lines of a list; `after` is the key where the next ones begin, None at the end."""

    lines: Sequence[Row]
    after: str | None


def part_of(found: Sequence[Row], key: Callable[[Row], str]) -> Part[Row]:
    """Take the lines to show out of those that were fetched."""
    shown = found[:LIMIT]
    return Part(shown, key(shown[-1]) if len(found) > LIMIT else None)
