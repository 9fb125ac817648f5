"""Options of a prediction in the query, where the body is a table and has no room for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from service.domain import strict_json
from service.domain.errors import FieldError, InvalidError, MalformedError, pointer
from service.domain.predictions import PredictOptions, check_options, refusal_of

#: Options that can stand in a query; costs of one's own can only be stored ones.
NAMES: Final = (
    "model",
    "alias",
    "version",
    "cost_spec",
    "priors",
    "threshold",
    "on_row_error",
    "explain",
    "record",
)
NOTHING_ASKED: Final = PredictOptions()


def from_query(parameters: Sequence[tuple[str, str]]) -> PredictOptions:
    """
    Read the options of a query.

    `priors` is a JSON object, `explain` the number of reasons or "all", the others are as in JSON.

    Raises
    ------
    MalformedError
        A parameter comes twice.
    InvalidError
        A value is not what its option takes.
    """
    if not parameters:
        return NOTHING_ASKED
    given = dict(parameters)
    if len(given) < len(parameters):
        names = [name for name, _ in parameters]
        twice = [name for name in given if names.count(name) > 1]
        faults = [
            FieldError(pointer("query", name), "duplicate", "the parameter comes twice") for name in twice
        ]
        raise MalformedError("malformed", "a parameter of the query comes twice", faults)
    try:
        asked = msgspec.convert(_plain(given), PredictOptions, strict=False)
    except msgspec.ValidationError as error:
        raise in_query(refusal_of(error), given) from None
    try:
        check_options(asked)
    except InvalidError as error:
        raise in_query(error, given) from None
    return asked


def joined(asked: PredictOptions, wish: PredictOptions) -> None:
    """
    Add to the options of a body what the query asks for beside model, alias and version.

    Raises
    ------
    InvalidError
        An option stands in both.
    """
    for name in NAMES[3:]:
        value, own = getattr(asked, name), getattr(wish, name)
        if value == getattr(NOTHING_ASKED, name):
            continue
        if own != getattr(NOTHING_ASKED, name):
            detail = "stands in the body too; give it once"
            fault = FieldError(pointer("query", name), "exclusive", detail)
            raise InvalidError("invalid", "an option is given twice", [fault])
        setattr(wish, name, value)


def in_query(error: InvalidError, given: Mapping[str, Any]) -> InvalidError:
    """Point into the query, where the options that are wrong were given."""
    faults = [
        replace(fault, pointer=f"/query{fault.pointer}") if _option(fault) in given else fault
        for fault in error.errors
    ]
    return InvalidError(error.code, error.detail, faults, error.errors_total)


def _option(fault: FieldError) -> str:
    """Name of the option that a fault lies in."""
    return fault.pointer.removeprefix("/").partition("/")[0]


def _plain(given: Mapping[str, str]) -> dict[str, Any]:
    """Values as JSON would have them, as far as text can tell."""
    plain: dict[str, Any] = dict(given)
    if "priors" in given:
        plain["priors"] = strict_json.parse(given["priors"], at="/query/priors", what="priors")
    if "explain" in given:
        plain["explain"] = {} if given["explain"] == "all" else {"top": given["explain"]}
    if given.get("record") in ("true", "false"):
        plain["record"] = given["record"] == "true"
    return plain
