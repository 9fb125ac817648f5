"""Databases for runs that kill what uses them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import migrated
from tests.postgresql import Server, find_binaries

#: A crash of the server loses nothing that it has confirmed; the machine itself is not crashed here.
SAFE = ("-c", "fsync=off")


@contextmanager
def database(kind: str, folder: Path) -> Iterator[tuple[str, Server | None]]:
    """Give a database with all tables, and its server if it has one."""
    server = None
    url = f"sqlite:///{folder / 'costboost.db'}"
    with tempfile.TemporaryDirectory(prefix="costboost-pg-", ignore_cleanup_errors=True) as place:
        if kind == "postgresql":
            binaries = find_binaries(Path(place))
            assert binaries is not None, "there is no PostgreSQL on this machine"
            server = Server(binaries, Path(place), SAFE)
            server.start()
            url = server.url
        migrated(url)
        try:
            yield url, server
        finally:
            if server is not None:
                server.stop()
