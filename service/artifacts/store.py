"""What every store of artifacts can do; where the bytes lie is chosen by `service.wiring`."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol

#: Bytes that were stored, or stored again, since may belong to a row that is about to be written: who deletes
#: the last row that names them leaves them to the sweep.
YOUNG_SECONDS = 3600.0


class ArtifactStore(Protocol):
    """Bytes under the sha256 of what they are: written whole or not at all, checked when they are read.

    Attributes
    ----------
    where : str
        For messages: the folder or the address.
    """

    where: str

    def put(self, data: bytes) -> str:
        """Store bytes and return their sha256 (hex).

        Raises
        ------
        UnavailableError
            `storage_full` or `storage_unavailable`; nothing is left behind.
        """

    def put_file(self, path: Path) -> str:
        """Store what a file holds and return its sha256 (hex); a file of :meth:`spool` may be moved."""

    def spool(self) -> AbstractContextManager[Path]:
        """Give a fresh local file to write into; it is gone afterwards unless it was stored."""

    def scratch(self, memory: int) -> BinaryIO:
        """Give a nameless local file, in memory while it has not more bytes than that; closed, it is gone."""

    def open(self, sha256: str) -> BinaryIO:
        """Open an artifact for reading.

        Raises
        ------
        ConflictError
            `artifact_missing`.
        UnavailableError
            `storage_unavailable`.
        """

    def read(self, sha256: str) -> bytes:
        """Read a whole artifact.

        Raises
        ------
        ConflictError
            `artifact_missing`, or `artifact_corrupt` when the bytes are not those that were stored.
        UnavailableError
            `storage_unavailable`.
        """

    def exists(self, sha256: str) -> bool:
        """Whether the artifact is there."""

    def delete(self, sha256: str) -> None:
        """Remove an artifact; one that is not there is no error."""

    def list(self) -> Iterator[str]:
        """Yield the sha256 of each artifact."""

    def aged(self, seconds: float) -> Iterator[str]:
        """Yield the sha256 of each artifact that nobody has stored, or stored again, for so long."""

    def discard(self, sha256: str, seconds: float) -> bool:
        """Remove an artifact of that age; False when it is gone, or somebody has just stored it again."""

    def delete_incoming(self, seconds: float) -> int:
        """Remove what writers that died have left behind, and tell how many files."""

    def writable(self) -> bool:
        """Whether bytes can be written and made durable now."""
