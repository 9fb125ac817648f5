"""Which column is what, from the options and the names in the file."""

from collections.abc import Sequence

from service.domain.datasets import SINGLE_ROLES, ColumnRole, ColumnType, IntakeOptions
from service.domain.errors import MAX_LISTED_ERRORS, FieldError, InvalidError, listed, pointer
from service.domain.nearest import listed_for

#: Roles whose columns are computed with, and the types that allow it.
_NEEDED_TYPES: dict[ColumnRole, tuple[ColumnType, ...]] = {
    "weight": ("number",),
    "cost": ("number",),
    "time": ("number", "timestamp"),
}
#: The label column of a table that has one of this name and an upload that names none.
DEFAULT_LABEL = "label"


def settle_roles(names: Sequence[str], options: IntakeOptions) -> dict[str, ColumnRole]:
    """Give each column of the file its role.

    Raises
    ------
    InvalidError
        `label_absent`, `no_feature`, `unknown_column`, or a role given twice.
    """
    default: ColumnRole = "feature"
    roles = dict.fromkeys(names, default) | options.roles
    label = options.label or next(
        (name for name, role in options.roles.items() if role == "label"), DEFAULT_LABEL
    )
    faults = _unknown(names, options)
    if label not in names:
        named = "of this name" if options.label else f"`{DEFAULT_LABEL}`: say which one tells the class"
        detail = f"there is no column {named}; the columns are {listed_for(label, names)}"
        faults.append(FieldError("/label", "label_absent", detail))
    if options.roles.get(label, "label") != "label":
        faults.append(FieldError(pointer("roles", label), "conflict", "the label has another role here"))
    roles[label] = "label"
    faults += _given_twice(roles) + _wrong_types(roles, options)
    if "feature" not in roles.values():
        faults.append(FieldError("/roles", "no_feature", "no column is a feature"))
    if faults:
        detail = faults[0].detail if len(faults) == 1 else "the options do not fit the table"
        raise InvalidError(faults[0].code, detail, faults)
    return roles


def needed_types(role: ColumnRole) -> tuple[ColumnType, ...] | None:
    """Types a column of this role may have; None for all."""
    return _NEEDED_TYPES.get(role)


def _unknown(names: Sequence[str], options: IntakeOptions) -> list[FieldError]:
    unknown = [
        (option, name)
        for option, given in (("roles", options.roles), ("types", options.types))
        for name in given
        if name not in names
    ]
    faults = []
    for place, (option, name) in enumerate(unknown):
        # Only of faults that will be listed: comparing names takes its time.
        known = listed_for(name, names) if place < MAX_LISTED_ERRORS else listed(names)
        detail = f"the table has no column of this name; the columns are {known}"
        faults.append(FieldError(pointer(option, name), "unknown_column", detail))
    return faults


def _given_twice(roles: dict[str, ColumnRole]) -> list[FieldError]:
    faults = []
    for single in SINGLE_ROLES:
        holders = [name for name, role in roles.items() if role == single]
        faults += [
            FieldError(pointer("roles", name), "duplicate_role", f"only one column can be the {single}")
            for name in holders[1:]
        ]
    return faults


def _wrong_types(roles: dict[str, ColumnRole], options: IntakeOptions) -> list[FieldError]:
    return [
        FieldError(pointer("types", name), "wrong_type", f"a {roles[name]} column is {' or '.join(allowed)}")
        for name, declared in options.types.items()
        if (allowed := _declarable(roles.get(name, "feature"))) and declared not in allowed
    ]


def _declarable(role: ColumnRole) -> tuple[ColumnType, ...] | None:
    """Types that may be declared for a column; a label is the name of a class, whatever it looks like."""
    return ("category",) if role == "label" else needed_types(role)
