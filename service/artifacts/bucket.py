"""Artifacts in a bucket of S3, or of what speaks like it: named by the sha256 of their bytes.

Region, endpoint and credentials come from the variables that every tool for S3 reads (`AWS_REGION`,
`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, …), or from the machine's role.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final, cast
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, GenericError
from obstore.store import S3Store

from service.artifacts.digests import digest_of, require_sha256
from service.artifacts.folder import delete_old
from service.domain.errors import ConflictError, UnavailableError

#: So long a bucket that does not answer is asked again, within one call.
PATIENCE: Final = timedelta(seconds=20)
#: An artifact that is stored again counts as young again when it is older than this; no sweep comes so early.
RENEWED_AFTER: Final = 3600.0
_PROBE: Final = "probe"


class BucketStore:
    """Keep bytes under `aa/bb/<sha256>` below an address.

    An object appears whole or not at all. It is made by a conditional put, so that of two writers of the same
    bytes one makes it and the other finds it.

    Parameters
    ----------
    url : str
        `s3://bucket` or `s3://bucket/prefix`.
    """

    def __init__(self, url: str) -> None:
        self.where = url
        self._store = S3Store.from_url(
            url,
            client_options={"allow_http": _is_plain(), "connect_timeout": "5s", "timeout": "300s"},
            retry_config={"retry_timeout": PATIENCE},
        )
        self._incoming = Path(tempfile.gettempdir()) / f"costboost-{os.getuid()}-{urlsplit(url).netloc}"
        self._incoming.mkdir(mode=0o700, exist_ok=True)
        if self._incoming.stat().st_uid != os.getuid():
            raise PermissionError(f"{self._incoming} belongs to somebody else")

    def put(self, data: bytes) -> str:
        """Store bytes and return their sha256 (hex)."""
        digest = hashlib.sha256(data).hexdigest()
        self._keep(digest, data)
        return digest

    def put_file(self, path: Path) -> str:
        """Store what a file holds and return its sha256 (hex)."""
        digest = digest_of(path)
        self._keep(digest, path)
        return digest

    @contextmanager
    def spool(self) -> Iterator[Path]:
        """Give a fresh local file to write into; it is gone afterwards."""
        descriptor, name = tempfile.mkstemp(dir=self._incoming)
        os.close(descriptor)
        path = Path(name)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def scratch(self, memory: int) -> BinaryIO:
        """Give a nameless local file, in memory while it is small; closed, it is gone."""
        return cast(BinaryIO, tempfile.SpooledTemporaryFile(memory, dir=str(self._incoming)))

    def open(self, sha256: str) -> BinaryIO:
        """Fetch an artifact, check it, and give it as a local file that is gone when it is closed."""
        with self._answered(), self.spool() as path:
            seen = hashlib.sha256()
            with path.open("wb") as file:
                for chunk in obstore.get(self._store, _key(sha256)).stream():
                    seen.update(chunk)
                    file.write(chunk)
            if seen.hexdigest() != sha256:
                raise ConflictError("artifact_corrupt", "the stored bytes are not those that were written")
            return path.open("rb")

    def read(self, sha256: str) -> bytes:
        """Read a whole artifact."""
        with self._answered():
            data = bytes(obstore.get(self._store, _key(sha256)).bytes())
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ConflictError("artifact_corrupt", "the stored bytes are not those that were written")
        return data

    def exists(self, sha256: str) -> bool:
        """Whether the artifact is there."""
        return self._age(sha256) is not None

    def delete(self, sha256: str) -> None:
        """Remove an artifact; one that is not there is no error."""
        with self._answered():
            obstore.delete(self._store, _key(sha256))

    def list(self) -> Iterator[str]:
        """Yield the sha256 of each artifact."""
        return self.aged(float("-inf"))

    def aged(self, seconds: float) -> Iterator[str]:
        """Yield the sha256 of each artifact that nobody has stored, or stored again, for so long."""
        with self._answered():
            for chunk in obstore.list(self._store, chunk_size=1000):
                for found in chunk:
                    path = found["path"]
                    name = path.rpartition("/")[2]
                    is_old = time.time() - found["last_modified"].timestamp() >= seconds
                    if path != _PROBE and is_old and path == _key(name):
                        yield name

    def discard(self, sha256: str, seconds: float) -> bool:
        """Remove an artifact of that age; False when it is gone, or somebody has just stored it again.

        S3 cannot look and remove in one step. Whoever stores the same bytes in the milliseconds between has
        them removed; the age, a day, and the mark of an earlier sweep make that as good as impossible.
        """
        age = self._age(sha256)
        if age is None or age < seconds:
            return False
        self.delete(sha256)
        return True

    def delete_incoming(self, seconds: float) -> int:
        """Remove local files that processes that died have left behind, and tell how many."""
        return delete_old(self._incoming, seconds)

    def writable(self) -> bool:
        """Whether an object can be written now."""
        try:
            obstore.put(self._store, _PROBE, b"probe", use_multipart=False)
        except (obstore.exceptions.BaseError, OSError):
            return False
        return True

    def _keep(self, sha256: str, content: bytes | Path) -> None:
        with self._answered():
            try:
                obstore.put(self._store, _key(sha256), content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                # The same bytes; written again they count as stored just now, so that no sweep removes them.
                if (self._age(sha256) or 0.0) >= RENEWED_AFTER:
                    obstore.put(self._store, _key(sha256), content, use_multipart=False)

    def _age(self, sha256: str) -> float | None:
        """Seconds since it was stored; None when it is not there."""
        with self._answered():
            try:
                found = obstore.head(self._store, _key(sha256))
            except FileNotFoundError:
                return None
        return time.time() - found["last_modified"].timestamp()

    @contextmanager
    def _answered(self) -> Iterator[None]:
        """Say in our words that the bucket has not what is asked for, or does not answer."""
        try:
            yield
        except FileNotFoundError:
            raise ConflictError("artifact_missing", "the stored bytes are no longer there") from None
        except GenericError:
            # Its text names addresses of the inside.
            raise UnavailableError("storage_unavailable", "the store cannot be reached just now") from None


def _key(sha256: str) -> str:
    require_sha256(sha256)
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


def _is_plain() -> bool:
    """Whether the endpoint was named as one without TLS, as within one machine or one private network."""
    return any(
        os.environ.get(name, "").startswith("http://") for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT")
    )
