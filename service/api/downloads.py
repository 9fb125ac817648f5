"""Files as answers: sent part by part, closed at the end."""

from collections.abc import Iterator
from typing import BinaryIO, Final

_CHUNK: Final = 1 << 20


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """Read a file to its end, and close it."""
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
