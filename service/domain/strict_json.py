"""The one reader of JSON documents: what two readers could understand differently is refused (RFC 7493)."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from service.domain.errors import FieldError, MalformedError, pointer

#: No request has a use for more; every later walk over it may recurse.
MAX_DEPTH: Final = 64
#: Spellings of characters that no database keeps: NUL, and half a surrogate pair.
_SUSPECT: Final = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")

_NO_NUMBER: Final = "is no JSON number; a missing value is null"
_TWICE: Final = "the name comes twice in one object"
NO_TEXT: Final = "holds a NUL or half a surrogate pair"
_DEEP: Final = f"is nested more than {MAX_DEPTH} levels deep"

Fault = tuple[str, str, str]


def parse(body: bytes | str, *, at: str = "", what: str = "the body") -> Any:
    """
    Decode a JSON document of a request.

    Parameters
    ----------
    body : bytes or str
        Bytes must be UTF-8 without a byte order mark.
    at : str
        Pointer of the document, when it is a part of the request.
    what : str
        How the document is called in the answer.

    Raises
    ------
    MalformedError
        Empty, no JSON, NaN or Infinity, a name twice in an object, NUL, half a surrogate pair, too deep;
        its errors point to the places.
    """
    text = _text(body, at, what)
    try:
        value = _STRICT.decode(text)
    except _OddError:
        value = None
    except RecursionError:
        raise _malformed(what, [(at, "too_deep", _DEEP)]) from None
    except json.JSONDecodeError as error:
        raise _syntax(text, error.pos, at, what) from None
    except ValueError:  # whole numbers of thousands of digits
        raise _malformed(what, [(at, "json_syntax", "a number has too many digits")]) from None
    else:
        if not _SUSPECT.search(text) and not _is_deep(value):
            return value
    faults = list(_faults(_LENIENT.decode(text), at, 0))
    if faults:
        raise _malformed(what, faults)
    return value


def _text(body: bytes | str, at: str, what: str) -> str:
    if isinstance(body, bytes):
        try:
            body = body.decode()
        except UnicodeDecodeError as error:
            raise _malformed(what, [(at, "encoding", f"is not UTF-8 at byte {error.start + 1}")]) from None
    if body.startswith("\ufeff"):
        raise _malformed(what, [(at, "encoding", "begins with a byte order mark, which JSON does not have")])
    if not body.strip(" \t\r\n"):
        raise MalformedError("malformed", f"{what} is empty", [FieldError(at, "empty", f"{what} is empty")])
    return body


def _syntax(text: str, position: int, at: str, what: str) -> MalformedError:
    before = text[:position]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return _malformed(what, [(at, "json_syntax", f"{what} is not JSON: see line {line}, column {column}")])


def _malformed(what: str, faults: list[Fault]) -> MalformedError:
    errors = [FieldError(*fault) for fault in faults[:20]]
    return MalformedError("malformed", _told(what, errors[0]), errors, len(faults))


def _told(what: str, fault: FieldError) -> str:
    return fault.detail if fault.detail.startswith(what) else f"{what} cannot be read: {fault.detail}"


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = (one.values() if type(one) is dict else one for one in level if type(one) in (dict, list))
        level = [item for items in inner for item in items if type(item) in (dict, list)]
        if not level:
            return False
    return True


class _OddError(Exception):
    """Something the lenient reader will find the place of."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _OddError
    return found


def _refuse(_: str) -> NoReturn:
    raise _OddError


class _Token(str):
    """NaN, Infinity or -Infinity."""


class _Pairs(list[tuple[str, Any]]):
    """An object with all of its names, also those that come twice."""


_STRICT: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)
_LENIENT: Final = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_Token)


def _faults(value: Any, at: str, depth: int) -> Iterator[Fault]:
    if isinstance(value, _Token):
        yield at, "not_a_number", f"{value} {_NO_NUMBER}"
    elif isinstance(value, str):
        if not is_storable(value):
            yield at, "text", NO_TEXT
    elif isinstance(value, list) and depth == MAX_DEPTH:
        yield at, "too_deep", _DEEP
    elif isinstance(value, _Pairs):
        yield from _faults_of_object(value, at, depth)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults(item, f"{at}/{index}", depth + 1)


def _faults_of_object(pairs: _Pairs, at: str, depth: int) -> Iterator[Fault]:
    seen = set[str]()
    for name, value in pairs:
        if not is_storable(name):
            yield at, "text", f"a name in it {NO_TEXT}"
            continue
        place = at + pointer(name)
        if name in seen:
            yield place, "duplicate", _TWICE
        seen.add(name)
        yield from _faults(value, place, depth + 1)


def is_storable(text: str) -> bool:
    """Whether every database can hold a text: no NUL, no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
