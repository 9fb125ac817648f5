"""The classes of a table: which there are, in which order, and which one is positive."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from service.domain.datasets import MAX_CLASSES, IntakeOptions, class_order, rarer_class
from service.domain.errors import FieldError, InvalidError
from service.domain.nearest import listed_for
from service.rows.columns import TypedArray
from service.rows.raw import refuse


@dataclass(frozen=True)
class Labels:
    """The classes of a table.

    Attributes
    ----------
    column : str
        Name of the label column.
    counts : dict
        Rows of each class, in class order.
    positive : str or None
        None for more than two classes.
    """

    column: str
    counts: dict[str, int]
    positive: str | None
    positive_inferred: bool


def labels_of(name: str, column: TypedArray, options: IntakeOptions) -> Labels:
    """Count and order the classes of a label column without gaps.

    Raises
    ------
    InvalidError
        Fewer than two classes or too many; `classes` or `positive_class` do not fit them.
    """
    found = Counter(column)
    if len(found) < 2:
        raise refuse("too_few_classes", "the label has fewer than two classes", column=name)
    if len(found) > MAX_CLASSES:
        raise refuse("too_many_classes", f"the label has more than {MAX_CLASSES} classes", column=name)
    order = options.classes or class_order(list(found))
    if options.classes is not None:
        _check_classes(options.classes, found)
    counts = {label: found[label] for label in order}
    positive = _positive(options.positive_class, counts)
    return Labels(name, counts, positive, options.positive_class is None and positive is not None)


def _positive(given: str | None, counts: Mapping[str, int]) -> str | None:
    if given is None:
        return rarer_class(counts) if len(counts) == 2 else None
    if given not in counts:
        raise refuse(
            "unknown_class",
            f"is not a class of the label; they are {listed_for(given, counts)}",
            at="/positive_class",
        )
    if len(counts) > 2:
        raise refuse("not_binary", "only two classes have a positive one", at="/positive_class")
    return given


def _check_classes(classes: tuple[str, ...], found: Mapping[str, int]) -> None:
    faults = [
        FieldError(
            f"/classes/{i}",
            "unknown_class",
            f"no row has this class; the classes are {listed_for(label, sorted(found))}",
        )
        for i, label in enumerate(classes)
        if label not in found
    ]
    if len(set(classes)) < len(classes):
        faults.append(FieldError("/classes", "duplicate", "a class is named twice"))
    if set(found) - set(classes):
        faults.append(FieldError("/classes", "missing_class", "the label has classes that are not listed"))
    if faults:
        raise InvalidError(faults[0].code, "classes do not fit the label", faults)
