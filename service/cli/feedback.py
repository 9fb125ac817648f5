"""`costboost feedback`: what decided rows turned out to be."""

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from service.cli.explaining import UsageError
from service.cli.options import AsJson, Url, client_of
from service.cli.printing import show_one

_NAMES = ("prediction_id", "label", "observed_at", "amount")
#: Items of one request.
_AT_A_TIME = 5_000


def feedback(
    file: Annotated[
        Path,
        typer.Argument(
            exists=True,
            dir_okay=False,
            help="CSV: prediction_id, label; if known observed_at, amount.",
        ),
    ],
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Tell a service what recorded decisions turned out to be; sent twice, labels count once."""
    counts: Counter[str] = Counter()
    with client_of(url) as client:
        items = _items(file)
        while some := list(islice(items, _AT_A_TIME)):
            counts.update(client.give_feedback(some))
    show_one(counts, list(counts), as_json=as_json)


def _items(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8-sig", newline="") as text:
        rows = csv.DictReader(text)
        if not {"prediction_id", "label"} <= set(rows.fieldnames or ()):
            raise UsageError(
                "the file needs a header with the columns prediction_id and label, separated by commas"
            )
        for row in rows:
            item: dict[str, Any] = {name: row[name] for name in _NAMES if row.get(name)}
            if "amount" in item:
                item["amount"] = _number(item["amount"], rows.line_num)
            yield item


def _number(text: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"line {line}: amount must be a number without a sign of money, such as 54.67"
        ) from None


COMMANDS = (feedback,)
