"""Tensors of the Open Inference Protocol (version 2): what a request may hold, and the rows they make."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from service.domain import strict_json
from service.domain.datasets import InputColumn
from service.domain.errors import MalformedError, listed

OUTPUTS: Final = ("decision", "probabilities", "score", "expected_cost")
#: Kinds of Python values that the data of a datatype may be; null is a missing value in all of them.
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "BOOL": (bool,),
    "BYTES": (str,),
    **dict.fromkeys(("FP16", "FP32", "FP64"), (int, float)),
    **dict.fromkeys([f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)], (int,)),
}
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
    return found


def rows_of(inputs: Sequence[Tensor], columns: Sequence[InputColumn]) -> list[dict[str, Any]]:
    """
    Put tensors together to rows.

    Either each tensor is a column, of shape [n] or [n, 1], or there is one of shape [n, d] whose columns are
    those of the version in the order of its schema.

    Raises
    ------
    MalformedError
        A tensor has another shape than its data, another datatype, or is no input.
    """
    names = [column.name for column in columns]
    if len(inputs) == 1 and len(inputs[0].shape) == 2 and inputs[0].name not in names:
        return _rows_of_matrix(inputs[0], names)
    by_name: dict[str, list[Any]] = {}
    for tensor in inputs:
        if tensor.name not in names:
            raise _refused(f"there is no input {listed([tensor.name])}; the inputs are {listed(names)}")
        if tensor.name in by_name:
            raise _refused(f"the input {listed([tensor.name])} comes twice")
        if len(tensor.shape) not in (1, 2) or tensor.shape[1:] not in ([], [1]):
            raise _refused(f"the input {listed([tensor.name])} must have the shape [n] or [n, 1]")
        by_name[tensor.name] = _flat(tensor)
    if len({len(values) for values in by_name.values()}) > 1:
        raise _refused("the inputs have different numbers of rows")
    return [dict(zip(by_name, row, strict=True)) for row in zip(*by_name.values(), strict=True)]


def _rows_of_matrix(tensor: Tensor, names: Sequence[str]) -> list[dict[str, Any]]:
    width = tensor.shape[1]
    if width != len(names):
        raise _refused(f"the input has {width} columns, and the version needs {len(names)}: {listed(names)}")
    values = _flat(tensor)
    starts = range(0, len(values), width)
    return [dict(zip(names, values[start : start + width], strict=True)) for start in starts]


def _flat(tensor: Tensor) -> list[Any]:
    """Data of a tensor in row-major order, checked against its shape and datatype."""
    name = listed([tensor.name])
    kinds = _KINDS.get(tensor.datatype)
    if kinds is None:
        raise _refused(f"the input {name} has a datatype that is not read; known are {', '.join(_KINDS)}")
    if tensor.data is None:
        raise _refused(f"the input {name} has no data; bytes need their binary_data_size")
    count = 1
    for size in tensor.shape:
        count *= size
    values = _unnested(tensor.data, len(tensor.shape))
    if min(tensor.shape, default=0) < 0 or count != len(values):
        raise _refused(f"the shape of the input {name} does not fit its {len(values)} values")
    is_bool = tensor.datatype == "BOOL"
    for value in values:
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool) != is_bool):
            raise _refused(f"a value of the input {name} is not of the datatype {tensor.datatype}")
    return values


def _unnested(data: list[Any], depth: int) -> list[Any]:
    for _ in range(depth - 1):
        if not all(isinstance(item, list) for item in data):
            break
        data = [value for item in data for value in item]
    return data


def described(columns: Sequence[InputColumn]) -> list[Mapping[str, Any]]:
    """Describe inputs as the protocol does."""
    return [{"name": column.name, "datatype": DATATYPES[column.type], "shape": [-1]} for column in columns]


def _refused(detail: str) -> MalformedError:
    return MalformedError("malformed", detail)
