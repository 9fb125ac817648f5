"""What must be known before figures are relied on, in sentences under codes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from service.domain.errors import MAX_LISTED_ERRORS, listed
from service.domain.models import ModelView
from service.domain.nearest import nearest

#: Rows of a class below which its figures say little.
FEW_ROWS: Final = 100

Caution = tuple[str, str]


def cautions_of_test(counts: Mapping[str, int], metrics: Mapping[str, Any]) -> list[Caution]:
    """All of a version that was tested on so many rows of each class, with these metrics."""
    return [*few_rows(counts), *unproven(metrics), *one_sided(metrics)]


def cautions_of_model(view: ModelView) -> Iterator[Caution]:
    """What its settings name and nobody finds: an alias may still come, a misspelt one never will."""
    shadow, aliases = view.model.shadow_alias, [alias.name for alias in view.aliases]
    if shadow is not None and shadow not in aliases:
        nothing = f"there is no alias {shadow}, so nothing decides unseen"
        yield "unknown_alias", f"`shadow_alias`: {nothing}{_meant([shadow], aliases)}"
    unknown = sorted(view.model.reason_codes.keys() - view.features)
    if unknown:
        yield (
            "unknown_column",
            "`reason_codes`: neither the newest version nor one that an alias points to learned from "
            f"{listed(unknown)}, so no reason has their codes{_meant(unknown, view.features)}",
        )


def _meant(unknown: Sequence[str], known: Iterable[str]) -> str:
    near = dict.fromkeys(name for one in unknown[:MAX_LISTED_ERRORS] for name in nearest(one, known))
    return f"; did you mean {listed(near)}?" if near else ""


def few_rows(counts: Mapping[str, int]) -> Iterator[Caution]:
    """Classes with so few rows that their figures say little."""
    for name, rows in counts.items():
        if rows < FEW_ROWS:
            told = f"1 row of class {name} is" if rows == 1 else f"{rows} rows of class {name} are"
            yield "few_rows", f"only {told} in the test part: its figures say little"


def unproven(metrics: Mapping[str, Any]) -> Iterator[Caution]:
    """Whether a version may cost as much as deciding the same always."""
    interval = metrics.get("savings_ci95")
    if metrics.get("savings") is not None and interval is None:
        yield (
            "unproven_savings",
            "it is not shown that it saves money: too few rows for an interval of savings",
        )
    elif interval is not None and interval[0] <= 0:
        yield (
            "unproven_savings",
            "it is not shown that it saves money: the interval of its savings reaches down to the cheapest "
            "constant decision",
        )


def one_sided(metrics: Mapping[str, Any]) -> Iterator[Caution]:
    """Whether a version decides the same for every row of its test part."""
    confusion = metrics.get("confusion") or []
    if sum(any(column) for column in zip(*confusion, strict=True)) == 1:
        yield (
            "one_decision",
            "every row of the test part is decided alike: look whether the costs of the two mistakes are "
            "swapped",
        )
