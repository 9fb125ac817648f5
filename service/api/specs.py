"""A training spec as it comes in: a JSON body, or the part `spec` of a form."""

from collections.abc import Mapping

from starlette.requests import Request

from service.domain import strict_json
from service.domain.errors import FieldError, InvalidError
from service.domain.faults import checked
from service.domain.training import TrainingSpec


async def read_spec(request: Request) -> TrainingSpec:
    """Read a JSON body.

    Raises
    ------
    UnsupportedMediaTypeError, MalformedError, InvalidError
    """
    return checked(TrainingSpec, await request.json())


def read_spec_part(fields: Mapping[str, str]) -> TrainingSpec:
    """Read the part `spec` of a form, whose dataset is another part."""
    if "spec" not in fields:
        raise _wrong("/spec", "missing", "a part with the training spec is required")
    value = strict_json.parse(fields["spec"], at="/spec", what="the part `spec`")
    if not isinstance(value, dict):
        raise _wrong("/spec", "wrong_type", "must be a JSON object")
    if "dataset" in value:
        raise _wrong("/dataset", "unknown_field", "the form brings its dataset itself")
    # Its id is known once the table is read; everything else is checked before.
    return checked(TrainingSpec, {**value, "dataset": "ds_of_this_form"})


def _wrong(pointer: str, code: str, detail: str) -> InvalidError:
    return InvalidError("invalid", "1 field is wrong", [FieldError(pointer, code, detail)])
