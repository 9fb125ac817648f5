"""The quick way for the usual CSV gives what the strict reader gives, and leaves everything else to it."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.datasets import InputColumn, IntakeLimits
from service.rows import TableRows, read_numbers
from service.rows.csv_reader import read_csv
from service.rows.plain_csv import read_plain

LIMITS = IntakeLimits(rows=100, columns=4, decoded_bytes=1 << 20)


@pytest.mark.parametrize(
    "rest",
    [
        b"1,2\n",
        b"1,2",
        b"1,2\r\n, 3 \r\nNaN,null\r\n",
        b"x,\n,y\n,\n",
        b"a\tb,'c'\n\\n,#\n",
        "ä,\u00a0\n\ufeff,\u2028\n".encode(),
        b"1," + b"9" * 131_072 + b"\n",
    ],
)
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_both_ways_read_the_same(rest, start):
    plain = read_plain(start + b"a,b\n" + rest, LIMITS)
    strict = read_csv(io.BytesIO(start + b'"a",b\n' + rest), LIMITS)
    assert plain is not None
    assert (plain.kind, plain.names, plain.rows) == (strict.kind, strict.names, strict.rows)
    assert list(plain.lines) == list(strict.lines)
    assert [one.to_pylist() for one in plain.columns] == [one.to_pylist() for one in strict.columns]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"a,b",
        b"a,b\n",
        b"a,b\n\n",
        b"a,b\n1,2\n\n3,4\n",
        b"a,b\r\n1,2\r\n\r\n3,4\r\n",
        b"\na,b\n1,2\n",
        b"\r\na,b\n1,2\n",
        b"a,b\n1\n",
        b"a,b\n1,2,3\n",
        b"a,b\n1,\r2\n",
        b"a,b\n1,2\r",
        b'a,b\n1,"2"\n',
        b"a,b\n1,\0\n",
        b"a,b\n1,\xff\n",
        b"a,b\n\xef\xbb\xbf1,2\n",
        b"a,\xff\n1,2\n",
        b"a,a\n1,2\n",
        b"a,\n1,2\n",
        b"a;b\n1;2\n",
        b"a\tb\n1\t2\n",
        b"a,b\n1," + b"9" * 131_073 + b"\n",
        b"a,b,c,d,e\n1,2,3,4,5\n",
        b"a,b\n" + b"1,2\n" * 101,
    ],
)
def test_anything_unusual_is_left_to_the_strict_reader(body):
    assert read_plain(body, LIMITS) is None


ODD = (
    "0 -0 +1 .5 5. 1e5 1E-7 1e-400 1e400 NaN nan -nan nan(1) NA n/a null inf -Infinity 0x10 1_000 "
    "1,5 1.797693134862315807e308 4.9406564584124654e-324 123456789012345678901234567890 x"
)
CELLS = st.one_of(
    st.floats().map(repr),
    st.floats(-1e6, 1e6).map("{:.3f}".format),
    st.integers(-(10**25), 10**25).map(str),
    st.sampled_from([*ODD.split(), "", " 3 ", "\t4"]),
)


@given(st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["a", "", "7"])), min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_numbers_read_at_once_are_those_read_as_text(cells):
    body = ("id,x,y,c\n" + "".join(f"{i},{x},{y},{c}\n" for i, (x, y, c) in enumerate(cells))).encode()
    columns = [InputColumn("x", "number"), InputColumn("y", "number"), InputColumn("c", "category")]
    quick = read_numbers(body, columns, LIMITS)
    if quick is None:
        return
    slow = TableRows(read_csv(io.BytesIO(body), LIMITS))
    assert len(quick) == len(slow) == len(cells)
    assert quick.names == slow.names
    found, expected = quick.decode(columns), slow.decode(columns)
    assert (found.errors, found.failed, found.extra) == (expected.errors, expected.failed, expected.extra)
    for name in ("x", "y"):
        assert found.columns[name].tobytes() == expected.columns[name].tobytes()
    assert found.columns["c"].tolist() == expected.columns["c"].tolist()


def test_a_column_read_as_number_can_still_be_had_as_text():
    body = b"id,x,c\n007,1.50,a\n8,,b\n"
    quick = read_numbers(body, [InputColumn("x", "number"), InputColumn("id", "number")], LIMITS)
    assert quick.decode([InputColumn("x", "number")]).columns["x"][0] == 1.5
    assert [quick.cell(row, "x") for row in (0, 1)] == ["1.50", None]
    assert [quick.cell(row, "id") for row in (0, 1)] == ["007", "8"]
    assert quick.decode([InputColumn("x", "category")]).columns["x"].tolist() == ["1.50", None]
    needed = quick.decode([InputColumn("x", "number", nullable=False)])
    assert [(fault.pointer, fault.code) for fault in needed.errors] == [("/rows/1/x", "missing_value")]


@pytest.mark.parametrize(
    "body", [b"x\ninf\n", b"x\n-nan\n", b"x\n1,2\n", b"x\n" + b"0" * 131_073 + b"\n", b'x\n"1"\n']
)
def test_what_is_not_plainly_numbers_is_read_as_text(body):
    assert read_numbers(body, [InputColumn("x", "number")], LIMITS) is None


def test_without_numbers_nothing_is_gained():
    assert read_numbers(b"x\na\n", [InputColumn("x", "category")], LIMITS) is None
