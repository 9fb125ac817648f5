"""The quick way for the usual CSV gives what the strict reader gives, and leaves everything else to it."""

import io

import pytest

from service.domain.datasets import IntakeLimits
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
