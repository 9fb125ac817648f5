"""The strict reader: JSON that two readers could understand differently is refused with its place."""

from typing import Any

import pytest

from service.domain.errors import InvalidError, MalformedError
from service.domain.predictions import decode
from service.domain.strict_json import MAX_DEPTH, parse

ODD = [
    (b'{"a": [1, NaN]}', "/a/1", "not_a_number"),
    (b'{"a": {"b": -Infinity}}', "/a/b", "not_a_number"),
    (b'{"fn": 1, "fn": 2}', "/fn", "duplicate"),
    (b'{"a": [{"b/c": 1, "b/c": 1}]}', "/a/0/b~1c", "duplicate"),
    (b'{"a": "x\\u0000"}', "/a", "text"),
    (b'{"a": "\\ud83d"}', "/a", "text"),
    (b'{"\\udc00": 1}', "", "text"),
    (b'{"a": 1}\n x', "", "json_syntax"),
    (b'{"a": 1', "", "json_syntax"),
    (b"1" * 5000, "", "json_syntax"),
    (b"", "", "empty"),
    (b" \n", "", "empty"),
    (b'\xef\xbb\xbf{"a": 1}', "", "encoding"),
    ('{"a": 1}'.encode("utf-16"), "", "encoding"),
    (b'{"a": "\xff"}', "", "encoding"),
    (b"[" * 100_000, "", "too_deep"),
]


@pytest.mark.parametrize(("body", "place", "code"), ODD)
def test_what_is_odd_is_refused_with_its_place(body: bytes, place: str, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        parse(body)
    assert [(one.pointer, one.code) for one in caught.value.errors] == [(place, code)]


@pytest.mark.parametrize(("body", "place", "code"), ODD)
def test_predictions_are_read_as_strictly(body: bytes, place: str, code: str) -> None:
    del place, code
    with pytest.raises(MalformedError):
        decode(body)
    if body.strip():
        with pytest.raises(MalformedError):
            decode(b'{"rows": [' + body + b"]}")


def test_all_places_are_named_at_once() -> None:
    with pytest.raises(MalformedError) as caught:
        parse('{"a": NaN, "b": {"c": 1, "c": Infinity}}', at="/spec")
    assert [one.pointer for one in caught.value.errors] == ["/spec/a", "/spec/b/c", "/spec/b/c"]


def test_depth_has_a_limit() -> None:
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(MalformedError, match="levels deep"):
        parse("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


@pytest.mark.parametrize(
    "value", [b'"a\\ud83d\\ude00"', b'{"a": {"b": 1}, "b": {"a": 1}}', b"[1e5, -0.0, null]"]
)
def test_what_is_plain_is_read(value: bytes) -> None:
    assert parse(value) is not None


@pytest.mark.parametrize(
    "body",
    [
        b'{"rows":[],"fn":-Infinity}',
        b'{"fn":1, "rows":[] x',
        b'{"rows":5} trailing',
        b'{"rows":[{"a":1,"a":2}]}',
        b'{"rows":[{"a":1}],"rows":[{"a":1}]}',
        b'{"rows":[{"a":1}],"costs":{"fn":5,"fn":50,"fp":1}}',
        b'{"rows":[{"a":1}],"priors":{"x":0.5,"x":0.4}}',
        b'{"rows":[{"a":"1:2","b":1,"b":2}]}',
        b'{"rows":[{"a" : 1, "a" :2}], "model" :null}',
    ],
)
def test_a_prediction_that_is_half_read_is_read_whole(body: bytes) -> None:
    with pytest.raises(MalformedError):
        decode(body)


@pytest.mark.parametrize(
    "body", [b'{"rows":[{"at":"12:30","a":1}],"model":null}', b'{"rows":[{"a":"\\u00e9"}],"priors":{"x":1}}']
)
def test_a_false_alarm_costs_time_only(body: bytes) -> None:
    assert len(decode(body).rows) == 1


def refusal(body: Any) -> InvalidError:
    with pytest.raises(InvalidError) as caught:
        decode(body)
    return caught.value


def test_numbers_too_large_and_ids_of_no_kind() -> None:
    assert [one.pointer for one in refusal(b'{"rows":[{"b":1,"a":1e999}]}').errors] == ["/rows/0/a"]
    assert [one.pointer for one in refusal(b'{"rows":[{"id":true},{"id":[1]}]}').errors] == [
        "/rows/0/id",
        "/rows/1/id",
    ]
