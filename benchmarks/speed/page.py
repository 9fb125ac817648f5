"""The page: targets with their numbers, then every table."""

from collections.abc import Sequence
from statistics import median

from .results import OURS, Area, Summary, Table, ratio
from .targets import TARGETS, Target

#: File beside the page -> what it shows.
PLOTS = {
    "speed-training.svg": "CPU of whole fits beside the peers",
    "speed-scoring.svg": "CPU of scoring beside the peers",
    "speed-http.svg": "CPU of the server for one row",
}


def page(summary: Summary, plots: Sequence[str] = ()) -> str:
    """Write the whole page.

    Parameters
    ----------
    summary : Summary
    plots : sequence of str
        Which of `PLOTS` lie beside the page.
    """
    versions = ", ".join(f"{name} {version}" for name, version in summary.versions.items())
    parts = [
        "# Speed beside named peers",
        "Written by `make bench-full`; `make bench` measures the smaller cases in less than ten minutes. A "
        "number is the median of runs that take turns with those of the peers, so that whatever else the "
        "machine does slows all alike. Each method has one thread; CPU time is that of the process with all "
        f"its threads. In brackets: how many times {OURS}'s, the median over pairs of runs.",
        f"{summary.machine}. {versions}.",
        "Running processes in the minute before each area and in its last one (other programs included; wall "
        f"times are worth little where they exceed the cores): {_loads(summary.areas)}.",
        *([summary.note] if summary.note else []),
        _targets(summary),
        *(f"![{PLOTS[name]}]({name})" for name in plots),
        *(_section(table) for table in summary.tables.values()),
    ]
    return "\n\n".join(parts) + "\n"


def _loads(areas: Sequence[Area]) -> str:
    return ", ".join(f"{area.name} {area.load[0]}/{area.load[1]} on {area.when}" for area in areas)


def _targets(summary: Summary) -> str:
    verdicts = [verdict(target, summary) for target in TARGETS]
    reached = sum(one.endswith("| reached |") for one in verdicts)
    measured = sum(not one.endswith("| not measured |") for one in verdicts)
    head = f"## Targets\n\n{reached} of {measured} measured targets are reached.\n\n"
    return head + "\n".join(["| what | target | measured | |", "|---|---|---|---|", *verdicts])


def verdict(target: Target, summary: Summary) -> str:
    """Write the line of a target: reached, not reached, or not measured."""
    bound = f"{target.sense} {number(target.bound)}"
    value = target.value(summary.tables)
    if value is None:
        return f"| {target.says} | {bound} | – | not measured |"
    word = "reached" if target.is_reached(value) else "**not reached**"
    return f"| {target.says} | {bound} | {number(value)} | {word} |"


def _section(table: Table) -> str:
    methods = table.methods
    lines = [
        f"## {table.title}",
        "",
        f"Unit: {table.unit}; less is better." + (f" {table.note}" if table.note else ""),
        "",
        f"| | {' | '.join(methods)} |",
        "|---" * (len(methods) + 1) + "|",
    ]
    rows = {case: " | ".join(_cell(table, case, method) for method in methods) for case in table.cases}
    return "\n".join([*lines, *(f"| {case} | {cells} |" for case, cells in rows.items())])


def _cell(table: Table, case: str, method: str) -> str:
    samples, ours = table.samples(case, method), table.samples(case, OURS)
    if not samples:
        return "–"
    shown = number(median(samples))
    if not table.compared or method == OURS or not ours or min(ours) <= 0:
        return shown
    return f"{shown} ({number(ratio(samples, ours), digits=2)}×)"


def number(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits, without an exponent.

    Examples
    --------
    >>> number(0.012345), number(1234.5), number(3.0), number(0.0)
    ('0.0123', '1,234', '3', '0')
    """
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    if abs(rounded) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{rounded:.10f}".rstrip("0").rstrip(".")
