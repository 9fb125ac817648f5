"""The meaning of single cells: what JSON and CSV say, and what is refused."""

import math

import pytest

from service.rows import cells
from service.rows.cells import CellFaultError

NAN = math.nan


@pytest.mark.parametrize(
    ("kind", "value", "meaning"),
    [
        ("number", 3, 3.0),
        ("number", -0.5, -0.5),
        ("number", None, NAN),
        ("boolean", True, 1.0),
        ("boolean", 0, 0.0),
        ("boolean", None, NAN),
        ("timestamp", "1970-01-02", 86400.0),
        ("timestamp", "1970-01-01T00:00:01.5Z", 1.5),
        ("timestamp", "1970-01-01T01:00:00+01:00", 0.0),
        ("timestamp", "1970-01-01 00:01", 60.0),
        ("timestamp", 1.25, 1.25),
        ("category", "01234", "01234"),
        ("category", 3, "3"),
        ("category", 3.0, "3"),
        ("category", 3.5, "3.5"),
        ("category", True, "true"),
        ("category", "", None),
        ("text", "=cmd()", "=cmd()"),
        ("label", "1.0", "1"),
        ("label", 1.0, "1"),
        ("label", "TRUE", "true"),
        ("label", " a ", "a"),
    ],
)
def test_value(kind, value, meaning):
    found = cells.VALUES[kind](value)
    assert found == meaning or (found != found and meaning != meaning)


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        ("number", "3.0", "wrong_type"),
        ("number", True, "wrong_type"),
        ("number", [1], "wrong_type"),
        ("number", math.inf, "not_finite"),
        ("number", NAN, "not_finite"),
        ("number", 10**400, "not_finite"),
        ("boolean", "true", "wrong_type"),
        ("boolean", 2, "wrong_type"),
        ("timestamp", "yesterday", "wrong_type"),
        ("timestamp", "2024-02-30", "wrong_type"),
        ("timestamp", 1e18, "wrong_type"),
        ("category", {"a": 1}, "wrong_type"),
        ("category", math.inf, "not_finite"),
        ("category", "a\0b", "nul"),
        ("text", "\ud800", "encoding"),
        ("text", "x" * 70_000, "cell_too_long"),
    ],
)
def test_value_refused(kind, value, code):
    with pytest.raises(CellFaultError) as refused:
        cells.VALUES[kind](value)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("kind", "text", "meaning"),
    [
        ("number", " 1.5 ", 1.5),
        ("number", "+2e3", 2000.0),
        ("number", "NA", NAN),
        ("number", "nan", NAN),
        ("number", "", NAN),
        ("boolean", "True", 1.0),
        ("boolean", "0", 0.0),
        ("boolean", "null", NAN),
        ("timestamp", "1970-01-02", 86400.0),
        ("timestamp", "90", 90.0),
        ("category", "NA", "NA"),
        ("category", "3.0", "3.0"),
    ],
)
def test_csv_text(kind, text, meaning):
    found = cells.TEXTS[kind](text)
    assert found == meaning or (found != found and meaning != meaning)


@pytest.mark.parametrize("text", ["1_000", "0x10", "1,5", "\uff11", "--1", "1e", "inf", "1e999"])
def test_csv_text_that_is_no_finite_number(text):
    with pytest.raises(CellFaultError):
        cells.number_text(text)
