"""The binary tensors of the Open Inference Protocol, packed here by numpy as stock clients pack them."""

import json
import struct
from typing import Any

import numpy as np
import pytest

from tests.service.api.test_inference import named, outputs
from tests.service.api.test_predictions import ROWS
from tests.service.conftest import Service, table

only_sqlite = pytest.mark.parametrize("service", ["sqlite"], indirect=True)
INFER = "/v2/models/binary/infer"
HEAD = "Inference-Header-Content-Length"
DTYPES = {"FP64": "<f8", "FP32": "<f4", "INT64": "<i8", "INT16": "<i2"}


@pytest.fixture(scope="module")
def tensors(service: Service) -> Service:
    """The service with a model `binary`."""
    options = {"positive_class": "fraud"}
    job = service.train(
        "binary", table(200), {"fn": 20, "fp": 1}, options=options, params={"n_estimators": 5}
    )
    assert job["status"] == "succeeded", job
    return service


def packed(datatype: str, data: list[Any]) -> bytes:
    if datatype == "BYTES":
        return b"".join(struct.pack("<I", len(text.encode())) + text.encode() for text in data)
    return np.array(data, DTYPES[datatype]).tobytes()


def post(service: Service, inputs: list[dict[str, Any]], data: bytes, **more: Any) -> Any:
    head = json.dumps({"inputs": inputs, **more}).encode()
    return service.http.post(INFER, content=head + data, headers={HEAD: str(len(head))})


def as_bytes(inputs: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], bytes]:
    told, parts = list[dict[str, Any]](), list[bytes]()
    for one in inputs:
        parts.append(packed(one["datatype"], list(np.ravel(np.array(one["data"], dtype=object)))))
        plain = {name: value for name, value in one.items() if name != "data"}
        told.append(plain | {"parameters": {"binary_data_size": len(parts[-1])}})
    return told, b"".join(parts)


def test_bytes_in_and_out_have_the_numbers_of_json(tensors: Service) -> None:
    rows = ROWS[:40]
    expected = outputs(tensors.http.post(INFER, json={"inputs": named(rows)}))
    inputs, data = as_bytes(named(rows))
    assert outputs(post(tensors, inputs, data)) == expected
    answer = post(tensors, inputs, data, parameters={"binary_data_output": True})
    assert answer.headers["content-type"] == "application/octet-stream"
    length = int(answer.headers[HEAD])
    at = length
    for one in json.loads(answer.content[:length])["outputs"]:
        size = one["parameters"]["binary_data_size"]
        found = answer.content[at : at + size]
        assert found == packed(one["datatype"], expected[one["name"]]["data"])
        at += size
    assert at == len(answer.content)


@only_sqlite
def test_only_what_is_asked_for_is_binary(tensors: Service) -> None:
    first, *others = named(ROWS[:3])
    inputs, data = as_bytes([first])
    wanted = [{"name": "score", "parameters": {"binary_data": True}}, {"name": "decision"}]
    answer = post(tensors, [*inputs, *others], data, outputs=wanted)
    length = int(answer.headers[HEAD])
    score, decision = json.loads(answer.content[:length])["outputs"]
    assert score["parameters"] == {"binary_data_size": 24}
    assert len(decision["data"]) == 3
    assert "data" not in score


@only_sqlite
def test_a_nan_is_a_missing_value(tensors: Service) -> None:
    holed = named(ROWS[:3])
    holed[1]["data"] = [[float("nan")], [1.0], [2.0]]
    inputs, data = as_bytes(holed)
    missing = [{**row, "amount": amount} for row, amount in zip(ROWS[:3], (None, 1.0, 2.0), strict=True)]
    expected = [one["score"] for one in tensors.predict("binary", missing)]
    assert outputs(post(tensors, inputs, data))["score"]["data"] == expected


def _text(size: int, data: bytes) -> tuple[list[dict[str, Any]], bytes]:
    one = {"name": "merchant", "shape": [1], "datatype": "BYTES", "parameters": {"binary_data_size": size}}
    return [one], data


def _one(name: str, datatype: str, rows: int, data: bytes) -> tuple[list[dict[str, Any]], bytes]:
    told = {
        "name": name,
        "shape": [rows],
        "datatype": datatype,
        "parameters": {"binary_data_size": len(data)},
    }
    return [told], data


WRONG: dict[str, tuple[list[dict[str, Any]], bytes]] = {
    "longer than the body": _text(50, b"abc"),
    "negative": _text(-1, b"abc"),
    "no size": _text(True, b"abc"),
    "left over": _text(5, b"\1\0\0\0aXX"),
    "a text beyond its bytes": _text(5, b"\2\0\0\0a"),
    "a length cut off": _text(3, b"\1\0\0"),
    "no UTF-8": _text(5, b"\1\0\0\0\xff"),
    "odd bytes": (
        [{"name": "amount", "shape": [1], "datatype": "FP64", "parameters": {"binary_data_size": 7}}],
        b"1234567",
    ),
    "twice": (
        [
            {
                "name": "amount",
                "shape": [1],
                "datatype": "FP64",
                "data": [1.0],
                "parameters": {"binary_data_size": 8},
            }
        ],
        b"12345678",
    ),
    "no truth value": _one("hour", "BOOL", 3, b"\0\1\2"),
    "fewer numbers than the shape": _one("hour", "INT16", 3, b"\1\0\2\0"),
    "more numbers than the shape": _one("hour", "INT8", 1, b"\1\0"),
    "fewer texts than the shape": _one("merchant", "BYTES", 2, b"\1\0\0\0a"),
    "more texts than the shape": _one("merchant", "BYTES", 1, b"\1\0\0\0a" * 2),
    "a NUL": _one("merchant", "BYTES", 1, b"\1\0\0\0\0"),
    "another datatype": (
        [{"name": "amount", "shape": [1], "datatype": "BF16", "parameters": {"binary_data_size": 2}}],
        b"12",
    ),
}


@only_sqlite
@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_bytes_that_do_not_fit_are_refused(
    tensors: Service, wrong: tuple[list[dict[str, Any]], bytes]
) -> None:
    answer = post(tensors, *wrong)
    assert (answer.status_code, list(answer.json())) == (400, ["error"])


@only_sqlite
def test_what_is_too_much_is_not_unpacked(tensors: Service) -> None:
    rows = tensors.settings.max_predict_rows + 1
    answer = post(tensors, *_one("hour", "INT8", rows, bytes(rows)))
    assert (answer.status_code, list(answer.json())) == (413, ["error"])
    answer = post(tensors, *_one("amount", "FP64", 1, struct.pack("<d", float("inf"))))
    assert (answer.status_code, list(answer.json())) == (422, ["error"])


@only_sqlite
@pytest.mark.parametrize("length", ["-1", "1e3", "", "999", "٣"])
def test_a_length_must_be_one(tensors: Service, length: str) -> None:
    answer = tensors.http.post(INFER, content=b"{}", headers={HEAD: length.encode()})
    assert (answer.status_code, list(answer.json())) == (400, ["error"])
