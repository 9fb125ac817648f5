"""A CSV taken in quickly is the table that the strict reader makes, and refused with the same faults."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.datasets import IntakeLimits, IntakeOptions
from service.domain.errors import InvalidError
from service.rows.intake import read_table

LIMITS = IntakeLimits(rows=200_000, columns=10, decoded_bytes=1 << 26)
NUMBERS = st.floats(-1e9, 1e9).map(repr) | st.integers(-999, 999).map(str)
#: Columns as they come: of each mostly the one kind of cell, sometimes one of the others.
KINDS = [
    NUMBERS,
    st.sampled_from(["1.5", "", "NA", "nan", "null", "-0.0", "2"]),
    st.sampled_from(["01", "2", "-03", "4"]),
    st.sampled_from(["red", "green", ""]),
    st.sampled_from(["2024-01-01", "2024-02-03T04:05:06Z"]),
    st.sampled_from(["true", "False"]),
]
ODD = st.sampled_from(
    ["inf", "1e400", "-nan", "NAN", " 7", "x", "+1", "1_000", "1,5", "007", "0x1", "\ufeff"]
)
OPTIONS = [
    IntakeOptions(),
    IntakeOptions(types={"a": "category"}, label="label"),
    IntakeOptions(types={"a": "number"}),
    IntakeOptions(roles={"a": "weight", "b": "ignore"}),
    IntakeOptions(label="a", roles={"label": "time"}),
    IntakeOptions(roles={"a": "id", "b": "group"}, types={"b": "text"}),
]


@st.composite
def bodies(draw):
    """Lines of a table with two columns and a label."""
    kinds = [draw(st.sampled_from(KINDS)) for _ in range(2)]
    rows = draw(st.lists(st.tuples(*kinds, st.sampled_from("01")), min_size=1, max_size=12))
    lines = [",".join(row) for row in rows]
    if draw(st.booleans()):
        place, column = draw(st.integers(0, len(rows) - 1)), draw(st.integers(0, 2))
        row = list(rows[place])
        row[column] = draw(ODD)
        lines[place] = ",".join(row)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(lines) + draw(st.sampled_from(["", end]))


def taken_in(path, text, options):
    """Everything that is told about a table, or about why it is refused."""
    path.write_bytes(text.encode())
    try:
        table = read_table(path, "text/csv", options, LIMITS)
    except InvalidError as error:
        return error.code, error.detail, error.errors, error.errors_total
    columns = {name: (one.dtype, one.tolist()) for name, one in table.columns.items()}
    return table.rows, repr(columns), table.described, table.labels


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("twins") / "table.csv"


@given(bodies(), st.sampled_from(OPTIONS))
@settings(max_examples=120, deadline=None)
def test_both_ways_give_the_same(path, rows, options):
    quick = taken_in(path, f"a,b,label\n{rows}", options)
    assert quick == taken_in(path, f'"a",b,label\n{rows}', options)


@pytest.mark.parametrize("last", ["1.25,7,1", "x,7,1", "inf,7,1", "007,7,1", "1,2", "", "1,7,"])
def test_the_end_of_a_file_of_many_blocks_is_looked_at_as_well(path, last):
    rows = "".join(f"{i / 7!r},{i % 91},{i % 2}\n" for i in range(60_000))
    assert len(rows) > 1 << 20
    options = IntakeOptions(roles={"a": "feature"})
    quick = taken_in(path, f"a,b,label\n{rows}{last}\n", options)
    assert quick == taken_in(path, f'"a",b,label\n{rows}{last}\n', options)
