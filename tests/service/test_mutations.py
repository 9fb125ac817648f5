"""What comes from outside, mutated: rows, costs, models and CSV are understood or refused, nothing else.

A few hundred mutations of each here; `make fuzz` tries a hundred thousand.
"""

import csv
import functools
import io
import json
import os
import re
import sys
import threading
from typing import Any

import msgspec
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from costboost import persistence
from costboost.model import CostSensitiveModel
from costboost.persistence import ArtifactError, load_scorer
from costboost.registry import make
from service.domain.costs import COSTS
from service.domain.datasets import InputColumn, IntakeLimits
from service.domain.errors import InvalidError, MalformedError
from service.domain.predictions import decode
from service.rows import decode_rows
from service.rows.csv_reader import read_csv
from service.usecases.cost_specs import meaning_of

MUTATIONS = int(os.environ.get("FUZZ_MUTATIONS") or 150)
many = settings(
    max_examples=MUTATIONS,
    deadline=None,
    derandomize="FUZZ_MUTATIONS" not in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
)
LIMITS = IntakeLimits(rows=1000, columns=50, decoded_bytes=1 << 24)

#: Values that other values are replaced by: those at the edges first.
ODD: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([None, True, False, 0, -1, 1, 1e308, -1e308, 5e-324, 2**53 + 1, 2**70, "", "0", [], {}]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["legit", "fraud", "review", "amount", "rows_true", "per", "max", "fixed"]),
)
NESTED = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for key, item in inner for one in places(item, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = replaced(copied[path[0]], path[1:], new)
    return copied


@st.composite
def mutated(draw: st.DrawFn, originals: list[Any]) -> Any:
    """One of some JSON values with up to three of its parts replaced, by odd values or by other parts."""
    value = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.sampled_from(places(value)[1:] or [()]))
        other = functools.reduce(lambda inner, key: inner[key], draw(st.sampled_from(places(value))), value)
        value = replaced(value, at, draw(NESTED | st.just(other)))
    return value


SCHEMA = (
    InputColumn("amount", "number", nullable=False),
    InputColumn("age", "number"),
    InputColumn("zip", "category"),
    InputColumn("new", "boolean"),
    InputColumn("at", "timestamp"),
)
ROW = {"amount": 12.5, "age": 30, "zip": "01234", "new": True, "at": "2026-01-02T03:04:05Z", "id": "tx"}


@many
@given(mutated([[ROW], [ROW, dict(reversed(ROW.items()))], [ROW | {"age": None}] * 3]))
def test_rows(rows: Any) -> None:
    body = json.dumps({"rows": rows}).encode()
    try:
        sent = decode(body).rows
        decoded = decode_rows(sent, SCHEMA)
    except (InvalidError, MalformedError):
        return
    assert decoded.faults.total >= len(decoded.errors)
    assert bool(decoded.failed) == bool(decoded.faults.total)
    sound = [row for row in range(decoded.n) if row not in decoded.failed]
    for column in SCHEMA:
        values = decoded.columns[column.name]
        assert len(values) == decoded.n
        for row in sound:
            # A cell that is there is read as it is; one that is not, or is an empty text, is missing.
            given_cell, value = sent[row].get(column.name), values[row]
            is_missing = value is None or value != value
            assert is_missing == (given_cell in (None, "")), (column.name, given_cell, value)
            if column.type == "number" and given_cell is not None:
                assert value == float(given_cell)


BINARY = [
    {"fn": 500, "fp": 10},
    {"fn": {"per": {"amount": 1.0}, "min": 15}, "fp": {"fixed": 5, "per": {"amount": 0.02}, "max": 99}},
    {"fn": 5, "fp": 1, "tp": -2, "tn": 0.5},
]
OTHERS = [
    {"classes": ["a", "b", "c"], "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]], "orientation": "rows_true"},
    {
        "classes": ["legit", "fraud"],
        "actions": ["approve", {"name": "block", "for": "fraud"}, {"name": "review", "kind": "review"}],
        "costs": [
            {"true": "fraud", "action": "approve", "cost": {"per": {"amount": 1}}},
            {"true": "legit", "action": "block", "cost": 10},
        ],
        "review": {
            "fee": 3.5,
            "accuracy": {"fraud": 0.95, "legit": 0.99},
            "capacity": {"max": 400, "per": "day"},
            "shadow_price": 0.5,
        },
    },
]


@many
@given(mutated([*BINARY, *OTHERS]))
def test_costs(written: Any) -> None:
    try:
        costs = COSTS.validate_python(written)
    except ValidationError:
        return
    assert COSTS.validate_python(json.loads(COSTS.dump_json(costs))) == costs
    try:
        meaning = meaning_of(costs)
    except InvalidError:
        return
    json.dumps(msgspec.to_builtins(vars(meaning)), allow_nan=False)


FLOATS = [0.0, -1.0, 2.0, np.nan, np.inf, 1e308]


@functools.lru_cache
def artifact() -> bytes:
    rng = np.random.default_rng(0)
    amount, zip_code = rng.lognormal(3, 1, 120), np.array(["01", "02", "zürich"] * 40, dtype=object)
    y = (amount > 25) ^ (rng.random(120) < 0.2)
    model = CostSensitiveModel(make("cgada", {"n_estimators": 4}), calibration="isotonic")
    return persistence.dump(model.fit({"amount": amount, "zip": zip_code}, np.where(y, "fraud", "legit")))


@functools.lru_cache
def opened() -> tuple[dict[str, Any], dict[str, Any]]:
    return persistence._verified(artifact())


#: What no model may bring about while it is read: code, other programs, files, the network.
FORBIDDEN = (
    "exec",
    "compile",
    "import",
    "open",
    "os.",
    "subprocess.",
    "socket.",
    "pickle.",
    "marshal.",
    "ctypes.",
)
events: list[str] = []
watching = threading.local()


def notice(event: str, arguments: tuple[Any, ...]) -> None:
    if getattr(watching, "is_on", False) and event.startswith(FORBIDDEN):
        events.append(event)


@functools.lru_cache
def watch() -> None:
    """Have Python tell what it does; a hook stays for as long as the process."""
    load_scorer(artifact())  # what it imports late is there now
    sys.addaudithook(notice)


def read(sealed: bytes) -> Any:
    """Load a model, and see to it that nothing but that happens."""
    watch()
    watching.is_on = True
    try:
        return load_scorer(sealed)
    finally:
        watching.is_on = False
        assert events == []


def test_what_would_be_forbidden_is_noticed() -> None:
    watch()
    watching.is_on = True
    eval("1")
    watching.is_on = False
    assert "exec" in events
    events.clear()


@many
@given(st.data())
def test_models(data: st.DataObject) -> None:
    """Parts of a model are replaced and its digest made right again: what is loaded can decide."""
    header, arrays = opened()
    if data.draw(st.booleans()):
        part = data.draw(st.sampled_from(["scorer", "model"]))
        header = header | {part: data.draw(mutated([header[part]]))}
    else:
        name = data.draw(st.sampled_from(sorted(arrays)))
        values = np.array(arrays[name])
        if values.size:
            at = data.draw(st.integers(0, values.size - 1))
            few = [0, 1, -1, 2, 127] if values.dtype.kind in "iub" else FLOATS
            values[at] = np.array(data.draw(st.sampled_from(few))).astype(values.dtype)
        arrays = arrays | {name: values[: data.draw(st.sampled_from([None, 0, 1, -1]))]}
    try:
        sealed = persistence._signed(header, arrays)
    except (TypeError, ValueError, AttributeError):
        return  # cannot even be written
    try:
        scorer = read(sealed)
    except ArtifactError:
        return
    rows = {"amount": np.array([1.0, 40.0, np.nan]), "zip": np.array(["01", None, "new"], dtype=object)}
    try:
        probabilities = scorer.decide(rows).scores.probabilities
    except KeyError:
        return  # it asks for another column
    assert np.isfinite(probabilities).all()


#: Pieces of CSV, sound and not.
PIECES = (
    *(b",", b"\n", b"\r\n", b'"', b'""', b'"x"', b"a", b"1.5"),
    *(b" ", b"\t", b";", b"\0", b"\xff", b"\r", b"=", "é".encode()),
)
_END = re.compile(r"\r*\n|\r+\Z|\Z")


def reference(text: str, width: int) -> list[list[str]] | None:
    """Read RFC 4180 sign by sign, in the slowest way; None where it is none or a row has another width."""
    rows, at = list[list[str]](), 0
    while at < len(text):
        if (end := _END.match(text, at)) is not None:
            at = end.end()
            continue
        row = list[str]()
        while True:
            if text[at : at + 1] == '"':
                cell = re.compile(r'"((?:[^"]|"")*)"').match(text, at)
                if cell is None:
                    return None
                row.append(cell[1].replace('""', '"'))
            else:
                cell = re.compile(r"[^,\r\n]*").match(text, at)
                assert cell is not None
                row.append(cell[0])
            at = cell.end()
            if text[at : at + 1] != ",":
                break
            at += 1
        end = _END.match(text, at)
        if end is None or len(row) != width:
            return None
        rows.append(row)
        at = end.end()
    return rows


@many
@given(st.lists(st.sampled_from(PIECES), max_size=25), st.sampled_from([b"a,b\n", b'"a",b\r\n']))
def test_csv(pieces: list[bytes], head: bytes) -> None:
    rest = b"".join(pieces)
    try:
        text = rest.decode()
        expected = None if "\0" in text else reference(text, 2)
    except UnicodeDecodeError:
        expected = None
    try:
        found = read_csv(io.BytesIO(head + rest), LIMITS)
    except InvalidError:
        assert not expected, rest
        return
    cells = [list(row) for row in zip(*(column.to_pylist() for column in found.columns), strict=True)]
    assert cells == expected
    assert cells == [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    assert list(found.lines or ()) == sorted(set(found.lines or ()))


def test_the_reference_knows_csv() -> None:
    assert reference('1,"2\n""x"""\r\n\n3,4', 2) == [["1", '2\n"x"'], ["3", "4"]]
    assert reference('1,"2"x\n', 2) is None
    assert reference('1,"2\n', 2) is None
    assert reference("1\n", 2) is None
