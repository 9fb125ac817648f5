"""NDJSON in and NDJSON out, part by part: however many rows come, memory holds those of one part."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from service.api.accept import preferred
from service.api.errors import status_of
from service.api.problems import problem
from service.api.raw_headers import header
from service.artifacts.store import ArtifactStore
from service.domain.errors import CostboostError, FieldError, InvalidError, MalformedError
from service.rows import MEDIA_TYPES, media_type_of
from service.rows.json_reader import MAX_LINE_BYTES
from service.rows.media import NDJSON

#: A part ends after as many rows as one request may bring, or usually so many bytes.
PART_BYTES: Final = 4 << 20
#: Bodies up to this size never see the disk.
MEMORY_BYTES: Final = 1 << 20
_CHUNK: Final = 1 << 20
_ROW: Final = re.compile(r"/rows/(\d+)")

#: Rows as bytes, and how many came before, to their predictions as bytes and their number.
Decide = Callable[[bytes], Awaitable[tuple[bytes, int]]]


def is_streamed(scope: Scope) -> bool:
    """Whether rows come as NDJSON and are answered so."""
    try:
        given = media_type_of(header(scope, b"content-type") or "")
        return given == NDJSON == preferred(header(scope, b"accept") or "", MEDIA_TYPES, given)
    except CostboostError:  # refused by the handler
        return False


@dataclass
class Body:
    """
    The body of a request in a nameless file, and how much of it was read.

    Attributes
    ----------
    size : int
        Bytes without the empty lines at its end.
    """

    file: BinaryIO
    size: int
    rows: int = 0
    lines: int = 0

    @property
    def is_over(self) -> bool:
        """Whether all rows were read."""
        return self.file.tell() >= self.size

    def part(self, most_rows: int, most_bytes: int) -> bytes:
        """The next lines, up to so many rows."""
        part, rows = bytearray(), 0
        while rows < most_rows and len(part) < most_bytes and (line := self.file.readline(MAX_LINE_BYTES)):
            part += line
            rows += not line.isspace()
        return bytes(part)

    def moved(self, error: CostboostError) -> CostboostError:
        """An error of a part with rows and lines of the whole body."""
        return type(error)(
            error.code, error.detail, [self._moved(one) for one in error.errors], error.errors_total
        )

    def _moved(self, fault: FieldError) -> FieldError:
        at = _ROW.sub(lambda row: f"/rows/{int(row[1]) + self.rows}", fault.pointer, count=1)
        return replace(fault, pointer=at, line=None if fault.line is None else fault.line + self.lines)


async def received(request: Request, store: ArtifactStore) -> Body:
    """Take the body in: first whole, for many clients do not read before they have sent everything."""
    size, written, pending = 0, 0, bytearray()
    with _kept(store.scratch(MEMORY_BYTES)) as file:
        async for chunk in request.stream():
            pending += chunk
            if len(pending) >= _CHUNK:
                size = _end_of_rows(pending, written, size)
                written += len(pending)
                await anyio.to_thread.run_sync(file.write, bytes(pending))
                pending.clear()
        file.write(pending)
        file.seek(0)
        return Body(file, _end_of_rows(pending, written, size))


def _end_of_rows(chunk: bytearray, start: int, before: int) -> int:
    """Where the last row ends, when the chunk that begins at `start` is looked at too."""
    content = len(chunk.rstrip())
    return start + content if content else before


@contextmanager
def _kept(file: BinaryIO) -> Iterator[BinaryIO]:
    """Close a file that is not handed on, because something went wrong."""
    try:
        yield file
    except BaseException:
        file.close()
        raise


async def answer_in_parts(
    request: Request,
    body: Body,
    store: ArtifactStore,
    decide: Decide,
    *,
    most_rows: int,
    most_bytes: int = PART_BYTES,
    is_whole: bool,
) -> Response:
    """
    Answer rows in their order.

    Parameters
    ----------
    most_rows, most_bytes : int
        A part ends after as many.
    is_whole : bool
        Nothing is sent before every row was decided, so that a fault anywhere refuses all of them. Otherwise
        what a row cannot answer for ends the answer with a line `{"problem": …}`.
    """
    with _kept(body.file):
        answers = _answers(body, decide, most_rows, most_bytes)
        first = await anext(answers)
        if not (is_whole or body.is_over):
            return _Parts(_told(request, first, answers), body.file)
        with _kept(store.scratch(MEMORY_BYTES)) as found:
            found.write(first)
            async for answer in answers:
                await anyio.to_thread.run_sync(found.write, answer)
            body.file.close()
            if found.tell() == len(first):
                found.close()
                return Response(first, media_type=NDJSON, headers={"Vary": "Accept"})
            found.seek(0)
            return _Parts(_chunks(found), found)


async def _answers(body: Body, decide: Decide, most_rows: int, most_bytes: int) -> AsyncIterator[bytes]:
    is_first = True
    while is_first or not body.is_over:
        part = await anyio.to_thread.run_sync(body.part, most_rows, most_bytes)
        if not part.strip() and not (is_first and body.is_over):
            continue
        try:
            answer, rows = await decide(part)
        except (InvalidError, MalformedError) as error:
            raise body.moved(error) from None
        body.rows, body.lines, is_first = body.rows + rows, body.lines + part.count(b"\n"), False
        yield answer


async def _told(request: Request, first: bytes, answers: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    try:
        async for answer in answers:
            yield answer
    except CostboostError as error:
        told = problem(
            request,
            status_of(error),
            error.code,
            error.detail,
            errors=error.errors,
            errors_total=error.errors_total,
        )
        yield b'{"problem":%b}\n' % bytes(told.body).strip()


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


class _Parts(StreamingResponse):
    """An answer that comes out of a file, which is closed with it."""

    def __init__(self, parts: AsyncIterator[bytes] | Iterator[bytes], file: BinaryIO) -> None:
        super().__init__(parts, media_type=NDJSON, headers={"Vary": "Accept"})
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()
