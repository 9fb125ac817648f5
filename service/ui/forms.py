"""Forms as they arrive: fields of text, and the numbers in them; where one is wrong its field is named."""

import math
from typing import Annotated
from urllib.parse import unquote_to_bytes

from fastapi import Depends
from starlette.datastructures import UploadFile
from starlette.requests import Request

from service.domain.errors import FieldError, InvalidError, MalformedError, pointer
from service.domain.strict_json import NO_TEXT, is_storable
from service.rows.cells import NUMBER

_MAX_FIELDS = 2_000
_MAX_FIELD_BYTES = 1 << 20


class Form:
    """The fields of a form; an empty one counts as left out.

    Around what somebody types, spaces mean nothing and go. In what data has, they mean something: names of
    columns and classes and cells of rows are read as they are, by `verbatim` and `cells`.
    """

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._verbatim = [(name, text) for name, text in fields if text]
        self._fields = [(name, text.strip()) for name, text in fields if text.strip()]

    def __contains__(self, name: str) -> bool:
        return any(name == one for one, _ in self._fields)

    def text(self, name: str) -> str | None:
        """What a field says; None where it is empty.

        Raises
        ------
        InvalidError
            It comes twice.
        """
        return _only(self._fields, name)

    def required(self, name: str) -> str:
        """What a field says that must say something.

        Raises
        ------
        InvalidError
        """
        text = self.text(name)
        if text is None:
            raise wrong(pointer(name), "missing", "is required")
        return text

    def verbatim(self, name: str) -> str | None:
        """What a field says that names a thing of the data; None where it is empty.

        Raises
        ------
        InvalidError
            It comes twice.
        """
        return _only(self._verbatim, name)

    def texts(self, name: str) -> list[str]:
        """All that a field says."""
        return [text for one, text in self._fields if one == name]

    def ticked(self, name: str) -> list[str]:
        """Boxes of a field that are ticked.

        Raises
        ------
        InvalidError
            None is.
        """
        found = self.texts(name)
        if not found:
            raise wrong(pointer(name), "missing", "tick at least one")
        return found

    def within(self, prefix: str) -> dict[str, str]:
        """Fields `prefix.NAME`, by NAME."""
        return _within(self._fields, prefix)

    def cells(self, prefix: str) -> dict[str, str]:
        """Cells of a row in fields `prefix.NAME`, by NAME, as they are."""
        return _within(self._verbatim, prefix)

    def amount(self, name: str) -> float | None:
        """A number; None where the field is empty.

        Raises
        ------
        InvalidError
        """
        text = self.text(name)
        return None if text is None else read_number(text, pointer(name))

    def whole(self, name: str) -> int | None:
        """A number without a fraction; None where the field is empty.

        Raises
        ------
        InvalidError
        """
        text = self.text(name)
        if text is None:
            return None
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
            raise wrong(pointer(name), "wrong_type", "must be a whole number")
        return int(text)


def _only(fields: list[tuple[str, str]], name: str) -> str | None:
    found = [text for one, text in fields if one == name]
    if len(found) > 1:
        raise wrong(pointer(name), "duplicate", "comes twice")
    return found[0] if found else None


def _within(fields: list[tuple[str, str]], prefix: str) -> dict[str, str]:
    start = f"{prefix}."
    names = dict.fromkeys(name for name, _ in fields if name.startswith(start))
    return {name.removeprefix(start): text for name in names if (text := _only(fields, name)) is not None}


def read_number(text: str, at: str) -> float:
    """Read a number. A comma is refused: some mean thousands by it, others the fraction.

    Raises
    ------
    InvalidError
    """
    written = text.replace(" ", "")
    found = float(written) if is_plain(written) else math.nan
    if not math.isfinite(found):
        raise wrong(
            at,
            "finite_number",
            "must be a number with a point, no comma and no sign of money, such as 1234.5",
        )
    return found


def is_plain(text: str) -> bool:
    """Whether text is a number as people write one; Python reads more, such as `1_0` or other digits."""
    return NUMBER.fullmatch(text) is not None


def wrong(at: str, code: str, detail: str) -> InvalidError:
    """Say what is wrong with one field."""
    return InvalidError("invalid", "a field of the form is wrong", [FieldError(at, code, detail)])


async def _read(request: Request) -> Form:
    if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        _check_encoding(await request.body())
    async with request.form(max_files=0, max_fields=_MAX_FIELDS, max_part_size=_MAX_FIELD_BYTES) as form:
        items = form.multi_items()
        if any(isinstance(one, UploadFile) for _, one in items):
            raise MalformedError("malformed", "this form takes no file")
        fields = [(name, str(one)) for name, one in items]
    if odd := [name for name, text in fields if not is_storable(name + text)]:
        faults = [FieldError(pointer(name), "text", NO_TEXT) for name in odd]
        raise MalformedError("malformed", f"a field of the form {NO_TEXT}", faults)
    return Form(fields)


def _check_encoding(body: bytes) -> None:
    """Refuse what is no UTF-8: the reader of forms would put other letters in its place."""
    try:
        unquote_to_bytes(body).decode()
    except UnicodeDecodeError:
        raise MalformedError("malformed", "the form is not UTF-8") from None


Submitted = Annotated[Form, Depends(_read)]
