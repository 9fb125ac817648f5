"""Answers on the output stream: aligned columns for people, JSON for programs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import typer


def show(
    documents: Iterable[Mapping[str, Any]], columns: Sequence[str], *, limit: int, as_json: bool
) -> None:
    """A list, of which people see the columns, and programs everything."""
    found = list(islice(documents, limit))
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    rows = [[title.upper() for title in columns], *([cell(one, name) for name in columns] for one in found)]
    write_rows(rows)


def show_one(document: Mapping[str, Any], names: Sequence[str], *, as_json: bool) -> None:
    """One document, of which people see what is named, and programs everything."""
    if as_json:
        typer.echo(json.dumps(document, indent=2))
        return
    write_rows([[name, cell(document, name)] for name in names if name in document])


def write_rows(rows: Sequence[Sequence[str]]) -> None:
    """Cells in columns as wide as they need to be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def cell(document: Mapping[str, Any], name: str) -> str:
    """A value in one line; of something larger its names and values."""
    value = document.get(name)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={one}" for key, one in value.items() if not isinstance(one, Mapping | list))
    if isinstance(value, list | tuple):
        return ", ".join(str(one) for one in value)
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def money(value: float | None) -> str:
    """An amount of money: two decimals, and below a tenth as many as show two digits."""
    if value is None:
        return "-"
    return f"{value:,.2f}" if value == 0 or abs(value) >= 0.1 else f"{value:.2g}"


def share(value: float | None) -> str:
    """A share in percent, with its sign."""
    return "-" if value is None else f"{value:+.1%}"


def metrics_rows(metrics: Mapping[str, Any]) -> list[list[str]]:
    """What matters first of the metrics of a version: money."""
    interval = metrics.get("savings_ci95")
    sure = f"  (95 %: {share(interval[0])} to {share(interval[1])})" if interval else ""
    return [
        ["cost per row", money(metrics.get("expected_cost"))],
        ["cost of the test part", money(metrics.get("total_cost"))],
        ["best constant decision", money(metrics.get("baseline_cost"))],
        ["saved against it", f"{share(metrics.get('savings'))}{sure}"],
        ["ROC AUC", cell(metrics, "roc_auc")],
    ]
