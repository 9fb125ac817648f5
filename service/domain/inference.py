"""Tensors of the Open Inference Protocol (version 2): what a request may hold, and the rows they make."""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from service.domain import strict_json
from service.domain.datasets import InputColumn
from service.domain.errors import FieldError, MalformedError, TooLargeError, listed
from service.domain.nearest import listed_for

OUTPUTS: Final = ("decision", "probabilities", "score", "expected_cost")
#: Kinds of Python values that the data of a datatype may be; null is a missing value in all of them.
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "BOOL": (bool,),
    "BYTES": (str,),
    **dict.fromkeys(("FP16", "FP32", "FP64"), (int, float)),
    **dict.fromkeys([f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)], (int,)),
}
#: Least and largest number of a datatype.
_RANGES: Final[dict[str, tuple[float, float]]] = {
    **{f"INT{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"UINT{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    **{"FP16": (-65504.0, 65504.0), "FP32": (-(2.0**128 - 2.0**104), 2.0**128 - 2.0**104)},
    "FP64": (-sys.float_info.max, sys.float_info.max),
}
#: Parameters that say yes or no.
_FLAGS: Final = ("binary_data", "binary_data_output")
SIZE: Final = "binary_data_size"
#: Datatype that a column is described with; any other is read as well if its values fit.
DATATYPES: Final[dict[str, str]] = {
    "number": "FP64",
    "boolean": "BOOL",
    "category": "BYTES",
    "text": "BYTES",
    "timestamp": "BYTES",
}


class Tensor(msgspec.Struct, forbid_unknown_fields=True):
    """A named array; its data may be nested or flat, in row-major order."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Any] | None = None
    parameters: dict[str, Any] = {}

    @property
    def count(self) -> int:
        """Number of values that its shape asks for."""
        return math.prod(self.shape)

    def values(self) -> list[Any]:
        """
        Give its data in row-major order.

        Raises
        ------
        MalformedError
            It has another shape, or is not of the datatype.
        """
        name = listed([self.name])
        if self.data is None or SIZE in self.parameters:
            raise _refused(f"the input {name} needs either data, or bytes and their {SIZE}")
        values = _unnested(self.data, self.shape)
        if values is None:
            raise _refused(f"the data of the input {name} does not fit its shape")
        if not all(value is None or _is_of(value, self.datatype) for value in values):
            raise _refused(f"a value of the input {name} is not of the datatype {self.datatype}")
        return values


class Wanted(msgspec.Struct, forbid_unknown_fields=True):
    """An output that is asked for."""

    name: str
    parameters: dict[str, Any] = {}


class InferBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of an inference."""

    inputs: list[Tensor]
    id: str | None = None
    parameters: dict[str, Any] = {}
    outputs: list[Wanted] = []

    @property
    def wanted(self) -> tuple[str, ...]:
        """Names of the outputs, in the order in which they are asked for; all where none is named."""
        return tuple(output.name for output in self.outputs) or OUTPUTS


def decode(body: bytes) -> InferBody:
    """
    Read a request.

    Raises
    ------
    MalformedError
        It is no JSON, or not what the protocol asks for.
    """
    try:
        found = msgspec.convert(strict_json.parse(body), InferBody)
    except msgspec.ValidationError as error:
        raise _refused(str(error)) from None
    names = [output.name for output in found.outputs]
    unknown = [name for name in names if name not in OUTPUTS]
    if unknown:
        raise _refused(f"there is no output {listed(unknown)}; the outputs are {', '.join(OUTPUTS)}")
    if len(set(names)) < len(names):
        raise _refused("an output is asked for twice")
    for given in (found.parameters, *(output.parameters for output in found.outputs)):
        if wrong := [name for name in _FLAGS if type(given.get(name, False)) is not bool]:
            raise _refused(f"the parameter {wrong[0]} is true or false")
    return found


def rows_of(inputs: Sequence[Tensor], columns: Sequence[InputColumn], most: int) -> list[dict[str, Any]]:
    """
    Put tensors together to rows, at most so many; shapes are looked at before any data.

    Either each tensor is a column, of shape [n] or [n, 1], or there is one of shape [n, d] whose columns are
    those of the version in the order of its schema.

    Raises
    ------
    MalformedError
        A tensor has another shape than its data, another datatype, or is no input.
    TooLargeError
        `too_many_rows`.
    """
    names = [column.name for column in columns]
    if len(inputs) == 1 and len(inputs[0].shape) == 2 and inputs[0].name not in names:
        return _rows_of_matrix(inputs[0], names, most)
    by_name: dict[str, Tensor] = {}
    for tensor in inputs:
        if tensor.name not in names:
            known = listed_for(tensor.name, names)
            raise _refused(f"there is no input {listed([tensor.name])}; the inputs are {known}")
        if tensor.name in by_name:
            raise _refused(f"the input {listed([tensor.name])} comes twice")
        if len(tensor.shape) not in (1, 2) or tensor.shape[1:] not in ([], [1]):
            raise _refused(f"the input {listed([tensor.name])} must have the shape [n] or [n, 1]")
        _check(tensor, most)
        by_name[tensor.name] = tensor
    if len({tensor.count for tensor in by_name.values()}) > 1:
        raise _refused("the inputs have different numbers of rows")
    data = [tensor.values() for tensor in by_name.values()]
    return [dict(zip(by_name, row, strict=True)) for row in zip(*data, strict=True)]


def _rows_of_matrix(tensor: Tensor, names: Sequence[str], most: int) -> list[dict[str, Any]]:
    width = tensor.shape[1]
    if width != len(names):
        raise _refused(f"the input has {width} columns, and the version needs {len(names)}: {listed(names)}")
    _check(tensor, most)
    values = tensor.values()
    starts = range(0, len(values), width)
    return [dict(zip(names, values[start : start + width], strict=True)) for start in starts]


def _check(tensor: Tensor, most: int) -> None:
    if tensor.datatype not in _KINDS:
        name = listed([tensor.name])
        raise _refused(f"the input {name} has a datatype that is not read; known are {', '.join(_KINDS)}")
    if min(tensor.shape) < 0:
        raise _refused(f"the input {listed([tensor.name])} has a negative shape")
    if tensor.shape[0] > most:
        detail = f"more than {most} rows"
        raise TooLargeError("too_many_rows", detail, [FieldError("/inputs", "too_many_rows", detail)])


def _unnested(data: list[Any], shape: Sequence[int]) -> list[Any] | None:
    """Nested or flat data as flat; None where it has another shape."""
    if len(shape) == 2 and len(data) == shape[0] and all(isinstance(row, list) for row in data):
        return [value for row in data for value in row] if {len(row) for row in data} <= {shape[1]} else None
    return data if len(data) == math.prod(shape) else None


def _is_of(value: object, datatype: str) -> bool:
    if not isinstance(value, _KINDS[datatype]) or isinstance(value, bool) != (datatype == "BOOL"):
        return False
    if not isinstance(value, int | float) or datatype == "BOOL":
        return True
    low, high = _RANGES[datatype]
    return low <= value <= high


def described(columns: Sequence[InputColumn]) -> list[Mapping[str, Any]]:
    """Describe inputs as the protocol does."""
    return [{"name": column.name, "datatype": DATATYPES[column.type], "shape": [-1]} for column in columns]


def _refused(detail: str) -> MalformedError:
    return MalformedError("malformed", detail)
