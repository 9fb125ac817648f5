"""Binary tensors of the Open Inference Protocol: JSON first, then the bytes of each tensor, little-endian."""

import json
import struct
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, Final

from service.domain.errors import MalformedError, listed
from service.domain.inference import SIZE, InferBody, Tensor, decode

#: Code of `struct` for each datatype of a fixed size.
_CODES: Final = {
    "BOOL": "?",
    **{"INT8": "b", "INT16": "h", "INT32": "i", "INT64": "q"},
    **{"UINT8": "B", "UINT16": "H", "UINT32": "I", "UINT64": "Q"},
    **{"FP16": "e", "FP32": "f", "FP64": "d"},
}
_LENGTH: Final = struct.Struct("<I")


class BinaryTensor(Tensor, kw_only=True):
    """A tensor whose data is bytes, which are looked at when its shape is known to be wanted."""

    packed: bytes

    def values(self) -> list[Any]:
        """
        Unpack the data; a floating number that is NaN is a missing value, for bytes have no null.

        Raises
        ------
        MalformedError
            The bytes are not as many values as the shape asks for.
        """
        if self.datatype == "BYTES":
            texts = list(islice(_texts(self, self.packed), self.count + 1))
            if len(texts) != self.count:
                raise _refused(f"the texts of the input {listed([self.name])} do not fit its shape")
            return texts
        code = _CODES[self.datatype]
        if len(self.packed) != self.count * struct.calcsize(f"<{code}"):
            raise _refused(f"the bytes of the input {listed([self.name])} do not fit its shape and datatype")
        if self.datatype == "BOOL" and self.packed.translate(None, b"\0\1"):
            raise _refused(f"a byte of the input {listed([self.name])} is neither 0 nor 1")
        values = struct.unpack(f"<{self.count}{code}", self.packed)
        return [None if value != value else value for value in values]  # noqa: PLR0124  NaN alone


def decode_binary(body: bytes, head: str) -> InferBody:
    """
    Read a request whose first `head` bytes are JSON.

    Raises
    ------
    MalformedError
        Tensors and bytes do not fit each other, or the JSON is not what the protocol asks for.
    """
    if not (head.isascii() and head.isdigit() and int(head[:12]) <= len(body) and len(head) <= 12):
        raise _refused("Inference-Header-Content-Length is not the length of a part of the body")
    asked, at = decode(body[: int(head)]), int(head)
    for place, tensor in enumerate(asked.inputs):
        if SIZE not in tensor.parameters:
            continue
        size = tensor.parameters[SIZE]
        if type(size) is not int or not 0 <= size <= len(body) - at or tensor.data is not None:
            raise _refused(f"the {SIZE} of the input {listed([tensor.name])} does not fit the body")
        packed = body[at : at + size]
        asked.inputs[place] = BinaryTensor(tensor.name, tensor.shape, tensor.datatype, packed=packed)
        at += size
    if at < len(body):
        raise _refused("the body is longer than its inputs")
    return asked


def _texts(tensor: Tensor, data: bytes) -> Iterator[str]:
    at = 0
    try:
        while at < len(data):
            (size,) = _LENGTH.unpack_from(data, at)
            at += _LENGTH.size
            if size > len(data) - at:
                raise _refused(f"a text of the input {listed([tensor.name])} is longer than its bytes")
            text = data[at : at + size].decode()
            if "\0" in text:
                raise _refused(f"a text of the input {listed([tensor.name])} holds a NUL")
            yield text
            at += size
    except (struct.error, UnicodeDecodeError):
        raise _refused(f"the bytes of the input {listed([tensor.name])} are no texts in UTF-8") from None


def binary_outputs(asked: InferBody) -> set[str]:
    """Names of the outputs that shall be sent as bytes."""
    usual = asked.parameters.get("binary_data_output") is True
    told = {output.name: output.parameters.get("binary_data", usual) is True for output in asked.outputs}
    return {name for name in asked.wanted if told.get(name, usual)}


def encode_binary(answer: dict[str, Any], names: Collection[str]) -> tuple[bytes, int]:
    """Write an answer with the data of these outputs as bytes; also give the length of its JSON."""
    parts, outputs = list[bytes](), list[dict[str, Any]]()
    for output in answer["outputs"]:
        if output["name"] not in names:
            outputs.append(output)
            continue
        parts.append(_packed(output["datatype"], output["data"]))
        told = {name: value for name, value in output.items() if name != "data"}
        outputs.append(told | {"parameters": {SIZE: len(parts[-1])}})
    head = json.dumps(answer | {"outputs": outputs}, allow_nan=False).encode()
    return head + b"".join(parts), len(head)


def _packed(datatype: str, data: list[Any]) -> bytes:
    if datatype != "BYTES":
        return struct.pack(f"<{len(data)}{_CODES[datatype]}", *data)
    texts = [text.encode() for text in data]
    return b"".join(_LENGTH.pack(len(text)) + text for text in texts)


def _refused(detail: str) -> MalformedError:
    return MalformedError("malformed", detail)
