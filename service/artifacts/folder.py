"""Artifacts in a local folder: named by the sha256 of their bytes, written whole or not at all."""

import hashlib
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from service.artifacts.digests import SHA256, digest_of, require_sha256
from service.domain.errors import ConflictError, UnavailableError
from service.domain.storage import outage_of, storage_away

_CHUNK = 1 << 20


class FolderStore:
    """Keep bytes under `root/aa/bb/<sha256>`; nothing a user names ever becomes part of a path.

    Files appear by rename after their bytes are on the disk, so a reader sees a whole file or none,
    and two writers of the same bytes do not disturb each other.

    Parameters
    ----------
    root : Path
        The folder; made when absent.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.where = str(root)
        self._incoming = root / "incoming"
        self._incoming.mkdir(parents=True, exist_ok=True)

    def put(self, data: bytes) -> str:
        """Store bytes and return their sha256 (hex).

        Raises
        ------
        UnavailableError
            `storage_full` or `storage_unavailable`; nothing is left behind.
        """
        digest = hashlib.sha256(data).hexdigest()
        with _usable():
            if not self._is_renewed(digest):
                with self.spool() as path:
                    path.write_bytes(data)
                    self._keep(path, digest)
        return digest

    def put_file(self, path: Path) -> str:
        """Store what a file holds and return its sha256 (hex); a file of :meth:`spool` is moved."""
        if path.parent != self._incoming:
            with _usable(), self.spool() as copy, path.open("rb") as source:
                with copy.open("wb") as target:
                    while chunk := source.read(_CHUNK):
                        target.write(chunk)
                return self.put_file(copy)
        with _usable():
            digest = digest_of(path)
            self._keep(path, digest)
        return digest

    @contextmanager
    def spool(self) -> Iterator[Path]:
        """Give a fresh file on the store's disk to write into; it is gone afterwards unless it was stored."""
        path = self._incoming / secrets.token_hex(16)
        with _usable():
            path.touch(mode=0o600, exist_ok=False)
        try:
            yield path
        finally:
            with suppress(OSError):  # a sweep removes it
                path.unlink(missing_ok=True)

    def scratch(self, memory: int) -> BinaryIO:
        """Give a nameless file on the store's disk, in memory while it is small; closed, it is gone."""
        return cast(BinaryIO, tempfile.SpooledTemporaryFile(memory, dir=str(self._incoming)))

    def open(self, sha256: str) -> BinaryIO:
        """Open an artifact for reading; the caller checks what matters to it.

        Raises
        ------
        ConflictError
            `artifact_missing`.
        UnavailableError
            `storage_unavailable`.
        """
        with _usable():
            try:
                return self._path(sha256).open("rb")
            except FileNotFoundError:
                raise ConflictError("artifact_missing", "the stored bytes are no longer there") from None

    def read(self, sha256: str) -> bytes:
        """Read a whole artifact.

        Raises
        ------
        ConflictError
            `artifact_missing`, or `artifact_corrupt` when the bytes are not those that were stored.
        UnavailableError
            `storage_unavailable`.
        """
        with _usable(), self.open(sha256) as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ConflictError("artifact_corrupt", "the stored bytes are not those that were written")
        return data

    def exists(self, sha256: str) -> bool:
        """Whether the artifact is there."""
        return self._path(sha256).is_file()

    def delete(self, sha256: str) -> None:
        """Remove an artifact; one that is not there is no error."""
        with _usable():
            self._path(sha256).unlink(missing_ok=True)

    def list(self) -> Iterator[str]:
        """Yield the sha256 of each artifact."""
        for path in self.root.glob("??/??/*"):
            if SHA256.match(path.name):
                yield path.name

    def aged(self, seconds: float) -> Iterator[str]:
        """Yield the sha256 of each artifact that nobody has stored, or stored again, for so long."""
        return (sha256 for sha256 in self.list() if age_of(self._path(sha256)) >= seconds)

    def discard(self, sha256: str, seconds: float) -> bool:
        """Remove an artifact of that age; False when it is gone, or somebody has just stored it again."""
        path = self._path(sha256)
        if age_of(path) < seconds:
            return False
        aside = self._incoming / secrets.token_hex(16)
        try:
            path.rename(aside)
        except FileNotFoundError:
            return False
        # Whoever stores it from now on writes it anew; whoever did so before has made it young.
        if age_of(aside) < seconds:
            aside.rename(path)
            return False
        aside.unlink()
        return True

    def delete_incoming(self, seconds: float) -> int:
        """Remove what writers that died have left behind, and tell how many files."""
        return delete_old(self._incoming, seconds)

    def writable(self) -> bool:
        """Whether a file can be written and made durable now."""
        try:
            with self.spool() as path:
                path.write_bytes(b"probe")
                _sync(path)
        except (OSError, UnavailableError):
            return False
        return True

    def _is_renewed(self, sha256: str) -> bool:
        """Whether the artifact is there; it then counts as stored just now, so that no sweep removes it."""
        try:
            os.utime(self._path(sha256))
        except FileNotFoundError:
            return False
        return True

    def _path(self, sha256: str) -> Path:
        require_sha256(sha256)
        return self.root / sha256[:2] / sha256[2:4] / sha256

    def _keep(self, path: Path, sha256: str) -> None:
        target = self._path(sha256)
        _sync(path)
        for folder in (target.parent.parent, target.parent):
            if not folder.exists():
                folder.mkdir(exist_ok=True)
                _sync(folder.parent)
        path.replace(target)
        _sync(target.parent)


def delete_old(folder: Path, seconds: float) -> int:
    """Remove the files of that age from a folder, and tell how many."""
    old = [path for path in folder.iterdir() if age_of(path) >= seconds]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def age_of(path: Path) -> float:
    """Seconds since a file was written; a file that has just gone has none."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _usable() -> Iterator[None]:
    """Say in our words that the folder cannot be used; only what is done to it stands within."""
    try:
        yield
    except OSError as error:
        raise outage_of(error) or storage_away(error) from error
