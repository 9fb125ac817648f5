"""What tells two bodies apart: media type and hash of the bytes; of a form, those of its parts.

A client that sends a form again chooses another boundary, so the bytes of an honest retry differ.
"""

import hashlib
import json
from typing import Protocol

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header


class Fingerprint(Protocol):
    """Takes a body in as it comes."""

    def update(self, data: bytes, /) -> None:
        """Take the next bytes in."""

    def hexdigest(self) -> str:
        """Name what has come."""


def fingerprint_of(content_type: str) -> Fingerprint:
    """Make the fingerprint that fits the media type of a body."""
    media_type, parameters = parse_options_header(content_type)
    if media_type == b"multipart/form-data" and parameters.get(b"boundary"):
        return FormFingerprint(parameters[b"boundary"])
    return hashlib.sha256(media_type + b"\n")


class FormFingerprint:
    """Name, file name, media type and hash of each part, in whichever order they come."""

    def __init__(self, boundary: bytes) -> None:
        self._raw = hashlib.sha256()
        self._is_form = True
        self._parts: list[tuple[str, str, str, str]] = []
        self._header = self._value = self._disposition = self._type = b""
        self._content = hashlib.sha256()
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_field,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_part_data": self._data,
                "on_part_end": self._end,
            },
        )

    def update(self, data: bytes, /) -> None:
        """Take the next bytes in; what is no form after all is told apart by its bytes."""
        self._raw.update(data)
        if self._is_form:
            try:
                self._parser.write(data)
            except FormParserError:
                self._is_form = False

    def hexdigest(self) -> str:
        """Name what has come."""
        if not self._is_form:
            return self._raw.hexdigest()
        return hashlib.sha256(json.dumps(sorted(self._parts)).encode()).hexdigest()

    def _begin(self) -> None:
        self._disposition, self._type, self._content = b"", b"", hashlib.sha256()

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        elif self._header.lower() == b"content-type":
            self._type, _ = parse_options_header(self._value)
        self._header = self._value = b""

    def _data(self, data: bytes, start: int, end: int) -> None:
        self._content.update(data[start:end])

    def _end(self) -> None:
        _, options = parse_options_header(self._disposition)
        name, file = (options.get(key, b"").decode("latin-1") for key in (b"name", b"filename"))
        self._parts.append((name, file, self._type.decode("latin-1"), self._content.hexdigest()))
