"""Files on their way in: streamed to the store's disk in bounded memory, hashed on the way."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import anyio.to_thread
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.requests import Request

from service.domain import strict_json
from service.domain.datasets import MAX_DATASET_NAME, IntakeOptions
from service.domain.errors import FieldError, InvalidError, MalformedError, pointer
from service.domain.faults import field_errors
from service.rows.media import media_type_of
from service.usecases.datasets import Upload

#: Written at a time, in a thread: neither the event loop nor the memory feels a large file.
_CHUNK: Final = 1 << 20
_MAX_PARTS: Final = 32
#: Options that are JSON where everything is text: in a query and in form fields.
_STRUCTURED: Final = ("roles", "types", "classes")
FORM: Final = "multipart/form-data"


@dataclass(frozen=True)
class Form:
    """A multipart body: its file, what that is called, and its other parts as text."""

    upload: Upload
    fields: dict[str, str]
    called: str | None = None


def is_form(request: Request) -> bool:
    """Whether the body is a multipart form."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM


async def receive_body(request: Request, path: Path) -> Upload:
    """Write the whole body to `path`.

    Raises
    ------
    UnsupportedMediaTypeError
        The body is no table.
    """
    media_type = media_type_of(request.headers.get("content-type", ""))
    return Upload(path, media_type, *await receive_file(request, path))


async def receive_file(request: Request, path: Path) -> tuple[str, int]:
    """Write the whole body to `path`, whatever it is; gives its sha256 and its size."""
    digest, size, pending = hashlib.sha256(), 0, bytearray()
    with path.open("wb") as file:
        async for chunk in request.stream():
            pending += chunk
            if len(pending) >= _CHUNK:
                size += len(pending)
                await anyio.to_thread.run_sync(_write, file, bytes(pending), digest)
                pending.clear()
        size += len(pending)
        await anyio.to_thread.run_sync(_write, file, bytes(pending), digest)
    return digest.hexdigest(), size


async def receive_form(request: Request, path: Path, file_field: str = "file") -> Form:
    """Write the file of a form to `path` and give its other parts.

    Raises
    ------
    InvalidError
        The file is missing, or a part comes twice.
    UnsupportedMediaTypeError
        The file is no table.
    """
    async with request.form(max_files=2, max_fields=_MAX_PARTS, max_part_size=_CHUNK) as form:
        parts = form.multi_items()
        names = [name for name, _ in parts]
        twice = sorted({name for name in names if names.count(name) > 1 and name != "classes"})
        if twice:
            faults = [FieldError(pointer(name), "duplicate", "the part comes twice") for name in twice]
            raise InvalidError("invalid", "a part of the form comes twice", faults)
        file = form.get(file_field)
        if not isinstance(file, UploadFile):
            fault = FieldError(pointer(file_field), "missing", "a part with the file is required")
            raise InvalidError("invalid", "the form has no file", [fault])
        media_type = media_type_of(file.content_type or "", file.filename)
        digest, size = await anyio.to_thread.run_sync(_copy, file.file, path)
        fields = {name: await _text(value) for name, value in parts if name not in (file_field, "classes")}
        listed = [await _text(value) for name, value in parts if name == "classes"]
        if listed:
            fields["classes"] = _joined(listed)
        return Form(Upload(path, media_type, digest, size), fields, called_by(file.filename))


def called_by(filename: str | None) -> str | None:
    """What a table is called by the name of its file: without folders and its ending; None without either."""
    stem = (filename or "").replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    return "".join(filter(str.isprintable, stem)).strip()[:MAX_DATASET_NAME] or None


def read_options(given: Mapping[str, Any], called: str | None = None) -> IntakeOptions:
    """Read intake options from text fields; `options` holds all of them as one JSON object.

    Where no name is given, the table is `called` by its file.

    Raises
    ------
    InvalidError
        An option is unknown or wrong.
    """
    plain = {name: value for name, value in given.items() if name != "options"}
    if "options" in given:
        whole = _parsed("options", given["options"])
        if not isinstance(whole, dict):
            fault = FieldError("/options", "wrong_type", "must be a JSON object")
            raise InvalidError("invalid", "an option is wrong", [fault])
        plain |= whole
    for name in _STRUCTURED:
        if isinstance(plain.get(name), str):
            plain[name] = _parsed(name, plain[name])
    if called is not None:
        plain.setdefault("name", called)
    return validated_options(plain)


def validated_options(plain: Mapping[str, Any]) -> IntakeOptions:
    """Check intake options that are already decoded."""
    try:
        return IntakeOptions.model_validate(plain)
    except ValidationError as error:
        faults = field_errors(error.errors(), dict(plain))
        raise InvalidError("invalid", "an option is wrong", faults) from None


def _write(file: BinaryIO, data: bytes, digest: Any) -> None:
    file.write(data)
    digest.update(data)


def _copy(source: BinaryIO, path: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            _write(file, chunk, digest)
    return digest.hexdigest(), size


async def _text(value: str | UploadFile) -> str:
    if isinstance(value, str):
        return value
    try:
        return (await value.read(_CHUNK)).decode()
    except UnicodeDecodeError:
        raise MalformedError("malformed", "a part of the form is not UTF-8") from None


def _joined(values: list[str]) -> str:
    """Classes named one by one, or all in one JSON array."""
    is_array = len(values) == 1 and values[0].lstrip().startswith("[")
    return values[0] if is_array else json.dumps(values)


def _parsed(name: str, text: str) -> Any:
    return strict_json.parse(text, at=pointer(name), what=f"`{name}`")
