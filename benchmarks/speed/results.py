"""What an area measured: tables of samples, kept as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

#: The method that the others are compared with, and the columns beside it that are Costboost too.
OURS = "costboost"

Samples = dict[str, list[float]]


@dataclass(frozen=True)
class Table:
    """Samples of some methods in some cases.

    Parameters
    ----------
    name : str
        What targets call it.
    title, unit : str
        As the page shows them; less is better.
    cases : dict of case to dict of method to list of float
        Samples in the order they were taken: the i-th ones of two methods were taken side by side.
    note : str
        What must be known to read it.
    compared : bool
        Whether the page shows each number as a multiple of ours.
    """

    name: str
    title: str
    unit: str
    cases: dict[str, Samples]
    note: str = ""
    compared: bool = True

    @property
    def methods(self) -> list[str]:
        """Every method of any case, in the order they come, Costboost first."""
        found = dict.fromkeys(method for case in self.cases.values() for method in case)
        return sorted(found, key=lambda method: not method.startswith(OURS))

    def samples(self, case: str, method: str) -> list[float]:
        """Samples of one cell; none if it was not measured."""
        return self.cases.get(case, {}).get(method, [])


def ratio(over: Sequence[float], under: Sequence[float]) -> float:
    """How many times `over` is `under`: the median over pairs of samples taken side by side.

    Examples
    --------
    >>> ratio([4.0, 6.0, 9.0], [2.0, 2.0, 2.0])
    3.0
    """
    if len(over) == len(under):
        return median(one / other for one, other in zip(over, under, strict=True))
    return median(over) / median(under)


@dataclass(frozen=True)
class Area:
    """The tables of one area, when they were measured and how busy the machine was.

    Parameters
    ----------
    load : tuple of two floats
        Mean number of running processes in the minute before the area and in the last one of it.
    """

    name: str
    when: str
    load: tuple[float, float]
    tables: list[Table]


@dataclass(frozen=True)
class Summary:
    """All areas, with the machine, the versions, and how it came about if not by one run of all."""

    machine: str
    versions: dict[str, str]
    areas: list[Area] = field(default_factory=list)
    note: str = ""

    @property
    def tables(self) -> dict[str, Table]:
        """The tables of all areas by name."""
        return {table.name: table for area in self.areas for table in area.tables}


def rounded(cases: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, Samples]:
    """Samples with four significant digits: more are noise."""
    return {
        case: {method: [float(f"{value:.4g}") for value in samples] for method, samples in methods.items()}
        for case, methods in cases.items()
    }


def write(path: Path, thing: Area | Summary) -> None:
    """Write as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(thing), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_area(path: Path) -> Area:
    """Read what `write` wrote."""
    return _area(json.loads(path.read_text(encoding="utf-8")))


def read_summary(path: Path) -> Summary:
    """Read what `write` wrote."""
    plain = json.loads(path.read_text(encoding="utf-8"))
    areas = [_area(area) for area in plain["areas"]]
    return Summary(plain["machine"], plain["versions"], areas, plain.get("note", ""))


def _area(plain: dict[str, Any]) -> Area:
    first, last = plain["load"]
    return Area(plain["name"], plain["when"], (first, last), [Table(**table) for table in plain["tables"]])
