"""Faults that pydantic finds, said in our words: what would be right, never the value that was sent."""

import re
from collections.abc import Mapping
from typing import Any, Final, Self, get_args

from pydantic import BaseModel, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

_OBJECT: Final = frozenset({"model_type", "model_attributes_type", "dict_type", "dataclass_type"})
_KNOWN: Final = frozenset(get_args(core_schema.ErrorType))

#: Text on one line.
ONE_LINE: Final = r"^[^\x00-\x1f\x7f]+$"
#: Pattern of a field -> what it asks for.
PATTERNS: Final[dict[str, str]] = {
    r"^[a-z0-9][a-z0-9._-]{0,63}$": (
        "must be 1 to 64 of a-z, 0-9, '.', '_' and '-', and begin with a letter or digit"
    ),
    r"^[A-Z]{3}$": "must be a currency code of three capital letters, such as EUR",
    ONE_LINE: "must be text on one line, without control characters",
}

_NUMBER, _WHOLE = "must be a number", "must be a whole number"
_TRUTH, _TEXT, _LIST, _THING = "must be true or false", "must be text", "must be a list", "must be an object"
#: Type of an error -> our words; `{name}` is a value of its context.
_WORDS: Final[dict[str, str]] = {
    "missing": "is required",
    "extra_forbidden": "there is no field of this name here",
    "none_required": "must be null",
    "finite_number": "must be a finite number",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "string_type": _TEXT,
    "string_unicode": _TEXT,
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
    "mapping_type": _THING,
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "json_invalid": "is not JSON",
} | dict.fromkeys(_OBJECT, _THING)


def words(error: Mapping[str, Any]) -> str:
    """Say in our words what an error of `ValidationError.errors()` means; errors of our own already do."""
    kind, context = str(error["type"]), error.get("ctx", {})
    if kind == "string_pattern_mismatch":
        return PATTERNS.get(context["pattern"], "is not spelled as it should be")
    if kind in _WORDS:
        said = _WORDS[kind].format(**{name: _short(value) for name, value in context.items()})
        return re.sub(r"\b1 (item|character)s", r"1 \1", said)
    return "is not as it should be" if kind in _KNOWN else str(error["msg"])


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


class Telling(BaseModel):
    """A model that names its fields to who sends another one, or no object at all."""

    @model_validator(mode="wrap")
    @classmethod
    def _tell(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(value)
        except ValidationError as error:
            raise ValidationError.from_exception_data(
                error.title, [_retold(one, cls) for one in error.errors(include_url=False)]
            ) from None


def _retold(error: Mapping[str, Any], model: type[BaseModel]) -> InitErrorDetails:
    place, kind, sent = error["loc"], str(error["type"]), error["input"]
    if kind == "extra_forbidden" and len(place) == 1:
        told = custom("unknown_field", f"{_WORDS[kind]}; known are {_fields(model)}")
    elif kind in _OBJECT and not place:
        told = custom("wrong_type", f"{_THING}; its fields are {_fields(model)}")
    elif kind in _KNOWN:
        return InitErrorDetails(type=kind, loc=place, input=sent, ctx=error.get("ctx", {}))
    else:
        told = custom(kind, str(error["msg"]))
    return InitErrorDetails(type=told, loc=place, input=sent)


def custom(code: str, message: str) -> PydanticCustomError:
    """Make an error of our own; braces in its message are no places to fill in."""
    return PydanticCustomError(code, "{message}", {"message": message})


def _fields(model: type[BaseModel]) -> str:
    return ", ".join(field.alias or name for name, field in model.model_fields.items())
