"""What a dataset is: typed columns with roles, a label with ordered classes, and how labels are spelled."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from service.domain.wording import ONE_LINE, Telling

ColumnType = Literal["number", "category", "boolean", "timestamp", "text"]
ColumnRole = Literal["feature", "label", "weight", "group", "time", "id", "subject", "cost", "ignore"]

#: Roles that at most one column of a dataset can have.
SINGLE_ROLES: tuple[ColumnRole, ...] = ("label", "weight", "group", "time", "id", "subject")
#: A column name longer than this is a mistake (a whole file on one line), not a name.
MAX_NAME_LENGTH = 256
MAX_DATASET_NAME = 200
#: More classes than this is a number to be estimated, not a decision to be taken.
MAX_CLASSES = 100

# A number as people and programs write it; a leading zero makes it text ("01234" is a code, not 1234).
_PLAIN_NUMBER = re.compile(r"[+-]?(0|[1-9]\d{0,99})(\.\d{1,99})?([eE][+-]?\d{1,3})?", re.ASCII)
# Above 2**53 a float no longer tells neighbouring whole numbers apart.
_EXACT_INTEGERS = 2.0**53


def canonical_label(value: object) -> str | None:
    """The one spelling of a label or category: 1, 1.0 and "1.0" are "1", true is "true"; None is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float):
        return _number_text(value)
    text = str(value).strip()
    if text.lower() in ("true", "false"):  # str(True) is "True"
        return text.lower()
    if _PLAIN_NUMBER.fullmatch(text):
        is_integer = not any(mark in text for mark in ".eE")
        return str(int(text)) if is_integer else _number_text(float(text))
    return text or None


def _number_text(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < _EXACT_INTEGERS else repr(value)


def class_order(labels: Sequence[str]) -> tuple[str, ...]:
    """Classes in their default order: numeric when all are integers, else by code point."""
    distinct = set(labels)
    if all(re.fullmatch(r"-?\d+", label, re.ASCII) for label in distinct):
        return tuple(sorted(distinct, key=lambda label: (int(label), label)))
    return tuple(sorted(distinct))


def rarer_class(class_counts: Mapping[str, int]) -> str:
    """The class that is positive when nobody says otherwise; the later one when both are as frequent."""
    return min(reversed(list(class_counts)), key=lambda label: class_counts[label])


Label = Annotated[str, BeforeValidator(lambda value: canonical_label(value) or ""), Field(min_length=1)]
DatasetName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_DATASET_NAME, pattern=ONE_LINE)]


class IntakeOptions(Telling):
    """What may be said about an uploaded table; everything left out is inferred."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: DatasetName = "dataset"
    label: str | None = Field(default=None, description='Label column; default: the column named "label".')
    positive_class: Label | None = Field(default=None, description="For two classes; default: the rarer one.")
    classes: tuple[Label, ...] | None = Field(default=None, max_length=MAX_CLASSES)
    roles: dict[str, ColumnRole] = Field(default_factory=dict)
    types: dict[str, ColumnType] = Field(default_factory=dict)


@dataclass(frozen=True)
class IntakeLimits:
    """How large a table may be once decoded.

    Attributes
    ----------
    rows, columns : int
    decoded_bytes : int
        Bytes of all cells in memory: a compressed file can hold thousands of times its size.
    """

    rows: int
    columns: int
    decoded_bytes: int


@dataclass(frozen=True)
class InputColumn:
    """A column as a table or a row to predict must have it.

    Attributes
    ----------
    nullable : bool
        False for what a cost is computed from: a missing amount has no price.
    optional : bool
        True when the whole column may be absent.
    """

    name: str
    type: ColumnType
    nullable: bool = True
    optional: bool = False


@dataclass(frozen=True)
class Column:
    """A stored column: its type, what it is for, how full it is; `doubts`: what is odd, code to detail."""

    name: str
    type: ColumnType
    role: ColumnRole
    missing: int
    distinct: int
    doubts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Notice:
    """Something that is allowed, but perhaps not meant."""

    code: str
    detail: str
    column: str | None = None


@dataclass(frozen=True)
class Dataset:
    """An uploaded table, typed and kept; never changed.

    Attributes
    ----------
    sha256, bytes : str, int
        Of the file as it was sent.
    content_sha256 : str
        Name of the Parquet artifact that holds the typed columns.
    class_counts : dict
        Rows of each class, in class order.
    positive_class : str or None
        None for more than two classes.
    """

    id: str
    tenant_id: str
    name: str
    media_type: str
    sha256: str
    bytes: int
    content_sha256: str
    rows: int
    label: str
    classes: tuple[str, ...]
    class_counts: dict[str, int]
    positive_class: str | None
    positive_class_inferred: bool
    columns: tuple[Column, ...]
    created_at: datetime

    def columns_of(self, *roles: ColumnRole) -> tuple[Column, ...]:
        """Columns that have one of `roles`, in file order."""
        return tuple(column for column in self.columns if column.role in roles)

    def name_of(self, role: ColumnRole) -> str | None:
        """Name of the column of a role that one column can have."""
        return next((column.name for column in self.columns_of(role)), None)

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """What is odd about its columns, in file order."""
        return tuple(
            Notice(code, detail, column.name)
            for column in self.columns
            for code, detail in column.doubts.items()
        )

    @property
    def input_columns(self) -> tuple[InputColumn, ...]:
        """All columns with their types, as `service.rows` reads and writes them."""
        return tuple(InputColumn(column.name, column.type) for column in self.columns)
