"""Leaks, ids and twins are noticed; honest columns are not."""

import numpy as np
import pytest

from service.domain.datasets import Column
from service.rows.suspicions import suspicions

N = 200
RNG = np.random.default_rng(0)
Y = (RNG.random(N) < 0.3).astype(int)
LABELS = np.array(["no", "yes"], dtype=object)[Y]


def found(values, kind="number", *, alone=False):
    """Codes of what is suspicious about one column beside an honest one."""
    values = np.asarray(values, dtype=object if kind in ("category", "text") else float)
    holes = [value is None or value != value for value in values.tolist()]
    given = [value for value, hole in zip(values.tolist(), holes, strict=True) if not hole]
    columns = {"x": values, "label": LABELS}
    described = [
        Column("x", kind, "feature", sum(holes), len(set(given))),
        Column("label", "category", "label", 0, 2),
    ]
    if not alone:
        columns["honest"] = RNG.normal(size=N)
        described.append(Column("honest", "number", "feature", 0, N))
    return [(one.code, one.column) for one in suspicions(columns, described, "label", ("no", "yes"))]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (RNG.normal(size=N), "number"),
        (Y + RNG.normal(0, 0.8, N), "number"),
        (RNG.integers(0, 9, N).astype(float), "number"),
        (np.array(list("abcd"), dtype=object)[RNG.integers(0, 4, N)], "category"),
        (np.where(RNG.random(N) < 0.2, np.nan, 1.0) * RNG.normal(size=N), "number"),
        (np.where(RNG.random(N) < 0.5, 1.0, 0.0), "boolean"),
        (1.7e9 + np.arange(N) * 60.0, "timestamp"),
    ],
)
def test_honest_columns(values, kind):
    assert found(values, kind) == []


@pytest.mark.parametrize(
    ("values", "kind", "code"),
    [
        (Y * 10.0 + RNG.random(N), "number", "separates_classes"),
        (-Y * 10.0 - RNG.random(N), "number", "separates_classes"),
        (Y.astype(float), "boolean", "separates_classes"),
        (np.array(["kept", "charged back"], dtype=object)[Y], "category", "separates_classes"),
        (np.where(Y == 1, np.nan, RNG.normal(size=N)), "number", "missing_tells_class"),
        (np.arange(N) + 1000.0, "number", "names_rows"),
        (np.array([f"tx-{i}" for i in range(N)], dtype=object), "category", "names_rows"),
        (np.full(N, 7.0), "number", "constant"),
        (np.full(N, np.nan), "number", "constant"),
    ],
)
def test_suspicious_columns(values, kind, code):
    assert found(values, kind) == [(code, "x")]


def test_few_rows_of_a_class_prove_nothing():
    y = np.array([1.0] * 9 + [0.0] * 91)
    labels = np.where(y > 0, "yes", "no").astype(object)
    described = [Column("x", "number", "feature", 0, 2), Column("label", "category", "label", 0, 2)]
    told = suspicions({"x": y, "label": labels}, described, "label", ("no", "yes"))
    assert [one.code for one in told] == ["duplicates"]


def test_twins():
    values = np.arange(N) // 2  # each value twice
    twins = int(sum(2 for i in range(0, N, 2) if Y[i] != Y[i + 1]))
    columns = {"x": values.astype(float), "label": LABELS}
    described = [Column("x", "number", "feature", 0, N // 2), Column("label", "category", "label", 0, 2)]
    told = {one.code: one for one in suspicions(columns, described, "label", ("no", "yes"))}
    assert told["duplicates_disagree"].detail.startswith(f"{twins} rows")
    assert told["duplicates"].detail.startswith(f"{N // 2 - twins // 2} rows")
    assert told["duplicates"].column is None
