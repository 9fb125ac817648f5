"""An uploaded table becomes typed columns with roles and ordered classes, or is refused with reasons."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.domain.datasets import Column, ColumnRole, ColumnType, IntakeLimits, IntakeOptions
from service.domain.errors import listed
from service.rows.cells import Kind
from service.rows.columns import Fault, TypedArray, is_textual
from service.rows.csv_reader import check_separator
from service.rows.doubts import amounts, odd_numbers, set_ids_aside, similar_classes
from service.rows.labels import Labels, labels_of
from service.rows.media import MediaType
from service.rows.raw import Faults, RawTable, refuse
from service.rows.reading import decode_column, infer_type, note_faults, read_raw
from service.rows.roles import DEFAULT_LABEL, needed_types, settle_roles


@dataclass(frozen=True)
class Table:
    """What was read.

    Attributes
    ----------
    columns : dict of arrays of shape (rows,)
        Typed columns, see `service.rows`; the label is a column of canonical text.
    described : tuple of Column
        Type, role and fill of each, in file order.
    """

    rows: int
    columns: dict[str, TypedArray]
    described: tuple[Column, ...]
    labels: Labels


def read_table(path: Path, media_type: MediaType, options: IntakeOptions, limits: IntakeLimits) -> Table:
    """Read, type and check an uploaded table.

    Raises
    ------
    InvalidError
        With the line and column of each fault (the first 20), or a pointer into the options.
    MalformedError
        The bytes are not of the media type.
    """
    with path.open("rb") as file:
        raw = read_raw(file, media_type, limits, as_text=_declared(options))
    if raw.kind == "text":
        check_separator(raw.names)
    roles = settle_roles(raw.names, options)
    if not raw.rows:
        raise refuse("empty_body", "the table has no rows")
    faults = Faults()
    columns, kinds = dict[str, TypedArray](), dict[str, Kind]()
    for index, name in enumerate(raw.names):
        kinds[name], columns[name] = _typed(raw, index, roles[name], options, faults)
    faults.refuse("some cells are not what their columns are")
    ids = set_ids_aside(roles, kinds, columns, options)
    if "feature" not in roles.values():
        raise refuse("no_feature", f"no feature is left: {listed(ids)} look like ids", at="/roles")
    label = next(name for name in raw.names if roles[name] == "label")
    labels = labels_of(label, columns[label], options)
    doubts = _doubts(raw, kinds, ids, labels, options)
    described = tuple(
        _describe(name, kinds[name], roles[name], columns[name], doubts[name]) for name in raw.names
    )
    return Table(raw.rows, columns, described, labels)


def _declared(options: IntakeOptions) -> set[str]:
    """Columns that may be something else than what their cells look like."""
    labels = {name for name, role in options.roles.items() if role == "label"}
    return (
        {options.label or DEFAULT_LABEL}
        | labels
        | {name for name, kind in options.types.items() if kind != "number"}
    )


def _doubts(
    raw: RawTable, kinds: dict[str, Kind], ids: dict[str, str], labels: Labels, options: IntakeOptions
) -> dict[str, dict[str, str]]:
    """What is odd about each column, code to detail."""
    found: dict[str, dict[str, str]] = {}
    for index, name in enumerate(raw.names):
        odd = odd_numbers(raw, index, kinds[name], options)
        told = {
            "looks_like_id": ids.get(name),
            "mostly_numbers": odd,
            "looks_like_amounts": amounts(raw, index, kinds[name], options),
            "similar_classes": similar_classes(labels.counts) if name == labels.column else None,
        }
        found[name] = {code: detail for code, detail in told.items() if detail}
    return found


def _typed(
    raw: RawTable, index: int, role: ColumnRole, options: IntakeOptions, faults: Faults
) -> tuple[Kind, TypedArray]:
    name = raw.names[index]
    kind, found = _kind_of(raw, index, role, options)
    column = np.empty(0)
    if not found:
        column, found = decode_column(raw, index, kind)
    note_faults(faults, raw, name, kind, found or _role_faults(role, kind, column))
    allowed = needed_types(role)
    if not found and allowed and kind not in allowed:
        detail = f"a {role} column is {' or '.join(allowed)}"
        odd = odd_numbers(raw, index, kind, options) or amounts(raw, index, kind, options)
        faults.add("wrong_type", f"{detail}; {odd}" if odd else detail, column=name)
    return kind, column


def _kind_of(raw: RawTable, index: int, role: ColumnRole, options: IntakeOptions) -> tuple[Kind, list[Fault]]:
    if role == "label":
        return "label", []
    declared = options.types.get(raw.names[index])
    if declared is not None:
        return declared, []
    inferred, flaws = infer_type(raw, index)
    # What nobody computes with may be as mixed as it likes.
    return ("category", []) if flaws and role in ("id", "subject", "ignore") else (inferred, flaws)


def _role_faults(role: ColumnRole, kind: Kind, column: TypedArray) -> list[Fault]:
    """What a column of this role must not hold."""
    if role in ("label", "weight", "group", "time"):
        code = "missing_label" if role == "label" else "missing_value"
        found = [(int(row), code) for row in np.flatnonzero(missing(column))]
        if found or role != "weight":
            return found
    if role == "weight" and kind == "number":
        return [(int(row), "negative_weight") for row in np.flatnonzero(column < 0)]
    return []


def missing(column: TypedArray) -> TypedArray:
    """Mask of the cells that hold nothing."""
    if column.dtype == object:
        return np.array([value is None for value in column])
    return np.isnan(column)


def _describe(name: str, kind: Kind, role: ColumnRole, column: TypedArray, doubts: dict[str, str]) -> Column:
    holes = missing(column)
    given = column[~holes] if holes.any() else column
    distinct = len(set(given)) if is_textual(kind) else _distinct(given)
    column_type: ColumnType = "category" if kind == "label" else kind
    return Column(name, column_type, role, int(holes.sum()), distinct, doubts)


def _distinct(numbers: TypedArray) -> int:
    """How many different ones; `np.unique` would copy them twice more."""
    ordered = np.sort(numbers)
    return len(ordered[:1]) + int(np.count_nonzero(ordered[1:] != ordered[:-1]))
