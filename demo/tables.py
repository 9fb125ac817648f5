"""The bundled tables: rows to learn from, rows kept back, and what each mistake costs."""

import csv
import gzip
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
COST_COLUMNS = ("cost_fn", "cost_fp", "cost_tp", "cost_tn")
#: Each fourth row is never shown to training.
HELD_OUT_EVERY = 4


@dataclass(frozen=True)
class Table:
    """One data set of the demo.

    Attributes
    ----------
    name : str
        Of the dataset and the model; the file is `data/<file>.csv.gz`.
    costs : dict
        As in the API: a cell is a number, or computed from columns of the row.
    unit : str
        What the costs are counted in.
    """

    name: str
    file: str
    costs: dict[str, Any]
    unit: str

    def rows(self) -> list[dict[str, str]]:
        """All rows as text."""
        text = gzip.decompress((DATA / f"{self.file}.csv.gz").read_bytes()).decode("utf-8")
        return list(csv.DictReader(io.StringIO(text)))

    def training_csv(self) -> bytes:
        """The rows to learn from, as a CSV file."""
        rows = [row for index, row in enumerate(self.rows()) if index % HELD_OUT_EVERY]
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode("utf-8")

    def held_out(self) -> list[dict[str, str]]:
        """The rows kept back, as text."""
        return self.rows()[::HELD_OUT_EVERY]


#: A missed fraud costs its amount, each investigation 10. Half of the frauds are smaller than that.
CARD_FRAUD = Table("card-fraud", "card_fraud", {"fn": {"per": {"Amount": 1}}, "fp": 10, "tp": 10}, "EUR")
#: The official matrix of the data set: a bad credit granted costs five times a good one refused.
GERMAN_CREDIT = Table("german-credit", "german_credit", {"fn": 5, "fp": 1}, "units")


def money(row: dict[str, str], label: str) -> float:
    """What deciding `label` for a row costs, by the cost columns of the file and its true label."""
    cell = ("cost_tn", "cost_fp", "cost_fn", "cost_tp")[2 * int(row["label"]) + int(label)]
    return float(row[cell])


def features(row: dict[str, str], types: dict[str, str]) -> dict[str, Any]:
    """A row as the API wants it: without label and costs, numbers as numbers."""
    return {
        name: (float(row[name]) if row[name] else None) if kind == "number" else row[name]
        for name, kind in types.items()
    }
