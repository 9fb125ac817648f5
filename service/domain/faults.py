"""Where a validation error stands: pydantic's `loc` turned into an RFC 6901 pointer, without any value."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from service.domain.errors import FieldError, InvalidError, pointer
from service.domain.wording import words

Model = TypeVar("Model", bound=BaseModel)


def field_errors(errors: Sequence[Mapping[str, Any]], body: Any, prefix: str = "") -> list[FieldError]:
    """
    Translate pydantic's errors.

    Parameters
    ----------
    errors : sequence of mappings
        `ValidationError.errors()`, or FastAPI's, whose `loc` begins with "body", "query", "path", "header".
    body : Any
        The decoded body; tells the fields in a `loc` from the names of union members.
    prefix : str
        Pointer of the value that was validated, when it is a part of the body.

    Returns
    -------
    list of FieldError
        One for each place and code.
    """
    found: dict[tuple[str, str], FieldError] = {}
    inner = {tuple(error["loc"][:-1]) for error in errors}
    for error in errors:
        if error["type"] == "too_short" and tuple(error["loc"]) in inner:
            continue  # items with a fault were not counted
        place = prefix + _pointer(error["loc"], body, missing=error["type"] == "missing")
        code = _code(error)
        found.setdefault((place, code), FieldError(place, code, words(error)))
    return list(found.values())


def checked(kind: type[Model], plain: Any) -> Model:
    """Make a value of plain ones.

    Raises
    ------
    InvalidError
        With the place of each fault.
    """
    try:
        return kind.model_validate(plain)
    except ValidationError as error:
        raise refusal(field_errors(error.errors(), plain)) from None


def refusal(errors: Sequence[FieldError]) -> InvalidError:
    """Make the answer to fields that are wrong."""
    return InvalidError("invalid", counted(errors), errors)


def counted(errors: Sequence[FieldError]) -> str:
    """Say how many fields are wrong."""
    return "1 field is wrong" if len(errors) == 1 else f"{len(errors)} fields are wrong"


def _code(error: Mapping[str, Any]) -> str:
    code = str(error["type"])
    return {"extra_forbidden": "unknown_field"}.get(code, code)


def _pointer(loc: Sequence[int | str], body: Any, *, missing: bool) -> str:
    if loc and loc[0] in ("query", "path", "header", "cookie"):
        return pointer(*loc)
    tokens = loc[1:] if loc and loc[0] == "body" else loc
    kept, value = list[int | str](), body
    for position, token in enumerate(tokens):
        if _leads_into(value, token):
            value = value[token]
        elif not (missing and position == len(tokens) - 1):
            continue  # the name of a union member, not of a field
        kept.append(token)
    return pointer(*kept)


def _leads_into(value: Any, token: int | str) -> bool:
    if isinstance(value, list):
        return isinstance(token, int) and token < len(value)
    return isinstance(value, dict) and token in value
