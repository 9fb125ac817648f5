"""A table with amounts, made by rule: late payments of large amounts in some cities are more often fraud."""

from datetime import UTC, datetime

import numpy as np
import pytest

from service.domain.costs import COSTS
from service.domain.datasets import Dataset, InputColumn, IntakeLimits, IntakeOptions
from service.domain.training import TrainingSpec
from service.rows import encode_table, read_table
from service.rows.media import CSV, PARQUET

LIMITS = IntakeLimits(rows=100_000, columns=100, decoded_bytes=1 << 28)
KINDS = {
    "part": "category",
    "when": "timestamp",
    "new": "boolean",
    "city": "category",
    "shop": "category",
    "label": "category",
}


def _columns_of(rows, seed=0, classes=("legit", "fraud")):
    rng = np.random.default_rng(seed)
    amount = np.round(rng.exponential(100.0, rows), 2)
    hour = rng.integers(0, 24, rows).astype(float)
    city = np.array(["ch", "de", "at", "fr"], dtype=object)[rng.integers(0, 4, rows)]
    push = 1.5 * (amount > 150) + 1.0 * (hour < 6) + 0.8 * (city == "fr") + rng.normal(0, 0.6, rows)
    code = np.minimum((push > 1.6).astype(int) + ((push > 2.4) if len(classes) > 2 else 0), len(classes) - 1)
    hour[rng.random(rows) < 0.05] = np.nan
    return {
        "amount": amount,
        "hour": hour,
        "city": city,
        "shop": np.array([f"shop-{i}" for i in rng.integers(0, 40, rows)], dtype=object),
        "when": 1.7e9 + np.arange(rows) * 3600.0,
        "new": (rng.random(rows) < 0.5).astype(float),
        "price": np.full(rows, 7.0),
        "w": rng.integers(1, 3, rows).astype(float),
        "label": np.array(classes, dtype=object)[code],
    }


@pytest.fixture
def columns_of():
    """Make the columns of a table."""
    return _columns_of


@pytest.fixture
def table(tmp_path):
    """Take columns in as the service does; gives the dataset and its typed columns."""

    def take(columns=None, **options):
        columns = _columns_of(400) if columns is None else columns
        schema = [InputColumn(name, KINDS.get(name, "number")) for name in columns]
        path = tmp_path / "table"
        path.write_bytes(encode_table(columns, schema, PARQUET))
        given = {"roles": {"price": "cost", "shop": "group", "w": "weight"}} | options
        found = read_table(path, PARQUET, IntakeOptions.model_validate(given), LIMITS)
        labels = found.labels
        dataset = Dataset(
            id="ds_1",
            tenant_id="default",
            name="t",
            media_type=CSV,
            sha256="0" * 64,
            bytes=1,
            content_sha256="0" * 64,
            rows=found.rows,
            label=labels.column,
            classes=tuple(labels.counts),
            class_counts=labels.counts,
            positive_class=labels.positive,
            positive_class_inferred=labels.positive_inferred,
            columns=found.described,
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        return dataset, found.columns

    return take


@pytest.fixture
def spec():
    """Make a training spec; `n_estimators` small, so that tests are quick."""

    def make(costs=None, **more):
        given = {
            "algorithm": "cgada",
            "params": {"n_estimators": 15},
            "costs": costs or {"fn": 50, "fp": 5},
        } | more
        return TrainingSpec.model_validate({"model": "m", "dataset": "ds_1", **given})

    return make


@pytest.fixture
def spelled():
    return COSTS.validate_python
