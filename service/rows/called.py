"""Rows without an `id`, which go by the column that had the role id in training."""

from collections.abc import Sequence, Set
from typing import Any

from service.domain.datasets import InputColumn
from service.domain.predictions import is_id
from service.rows.decoding import Decoded
from service.rows.sent import ID, Sent


def called_by(sent: Sent, column: str | None) -> Sent:
    """Rows that go by this column where they have no `id`."""
    return sent if column in (None, ID) else CalledRows(sent, str(column))


class CalledRows:
    """Rows as they were sent; the `id` of one that has none is what it holds in `column`."""

    def __init__(self, sent: Sent, column: str) -> None:
        self._sent, self._column = sent, column

    def __len__(self) -> int:
        return len(self._sent)

    @property
    def names(self) -> set[str]:
        """Columns that some row has."""
        names = self._sent.names
        return names | {ID} if self._column in names else names

    def decode(self, columns: Sequence[InputColumn]) -> Decoded:
        """Give the rows their types."""
        return self._sent.decode(columns)

    def has(self, row: int, name: str) -> bool:
        """Whether a row has a column."""
        return self._sent.has(row, name) or (name == ID and self._has_own(row))

    def beyond(self, row: int, known: Set[str]) -> list[str]:
        """Columns of a row that are none of these, sorted."""
        return self._sent.beyond(row, {*known, self._column})

    def cell(self, row: int, name: str) -> Any:
        """What a row holds in a column."""
        is_called = name == ID and not self._sent.has(row, ID) and self._has_own(row)
        return self._sent.cell(row, self._column if is_called else name)

    def _has_own(self, row: int) -> bool:
        """Whether the row holds something in its column that can be an id."""
        return self._sent.has(row, self._column) and is_id(self._sent.cell(row, self._column))
